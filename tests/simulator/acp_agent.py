"""An agent that does what its prompt says, well or badly; for tests.

It uses the standard library only, so that it starts in 30 ms. Run as ``python -S -E acp_agent.py
FOLDER``; it keeps its sessions in ``FOLDER``. The prompt has a line ``DO: [...]`` with a JSON list
of steps, each a list: the name of a method below without its underscore, and its arguments, such as
``["say", "text"]``. A prompt without such a line is repeated, or does what ``ACP_SCRIPT`` says.

Variables: ``ACP_HANG`` is the request that it never answers, ``ACP_CRASH`` the one at which it
ends, ``ACP_DIE_AT`` the number of the message of a prompt that it does not live to send.
``ACP_VERSION`` is its version of the protocol, ``ACP_NAME`` the name that it gives itself,
``ACP_MODES`` its modes. With ``ACP_NO_LOAD`` it cannot load sessions, with ``ACP_LATE_REPLAY`` it
repeats the history after its answer.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any

HANG = os.environ.get("ACP_HANG", "")
CRASH = os.environ.get("ACP_CRASH", "")
DIE_AT = int(os.environ.get("ACP_DIE_AT", "0"))
MODES = os.environ.get("ACP_MODES", "ask code").split()
CODE = 3


class RefusedError(Exception):
    """The client answered with an error."""


class ScriptedAgent:
    """One process, any number of sessions."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing = threading.Lock()
        self._answers: dict[int, queue.Queue[Any]] = {}
        self._requests = 0
        self._sent = 0
        self._cancelled = threading.Event()
        self._servers: list[Any] = []
        self._mode = MODES[0]

    def serve(self) -> None:
        """Answer until the input ends."""
        for line in sys.stdin:
            message = json.loads(line)
            if "method" not in message:
                self._answers.pop(message["id"], queue.Queue[Any]()).put(message)
            elif "id" not in message:
                self._cancelled.set()
            else:
                work = threading.Thread(target=self._answer, args=(message,), daemon=True)
                work.start()
                if message["method"] not in {"session/prompt", HANG}:
                    work.join()

    def _answer(self, message: dict[str, Any]) -> None:
        name = message["method"].replace("/", "_")
        if message["method"] == HANG:
            threading.Event().wait()
        if message["method"] == CRASH:
            os._exit(CODE)
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            answer["result"] = getattr(self, f"on_{name}")(**message["params"])
        except FileNotFoundError:
            answer["error"] = {"code": -32602, "message": "Invalid params", "data": "no session"}
        except (AttributeError, TypeError) as error:  # no such request or step
            answer["error"] = {"code": -32603, "message": str(error)}
        self._put(answer)
        if name == "session_load" and os.environ.get("ACP_LATE_REPLAY"):
            self._replay(message["params"]["sessionId"])

    def on_initialize(self, protocolVersion: int, **_: Any) -> Any:  # noqa: N803 the wire's name
        """Offer to load sessions."""
        return {
            "protocolVersion": int(os.environ.get("ACP_VERSION", protocolVersion)),
            "agentInfo": {"name": os.environ.get("ACP_NAME", "scripted"), "version": "1"},
            "agentCapabilities": {
                "loadSession": not os.environ.get("ACP_NO_LOAD"),
                "promptCapabilities": {"image": True},
                "mcpCapabilities": {"http": True},
            },
        }

    def on_session_new(self, cwd: str, mcpServers: list[Any], **_: Any) -> Any:  # noqa: N803
        """Begin a session."""
        self._servers = mcpServers
        name = f"s{os.getpid()}-{len(list(self._folder.glob('*.json')))}"
        self._store(name, [cwd])
        return {"sessionId": name, **self._modes()}

    def on_session_load(self, sessionId: str, **_: Any) -> Any:  # noqa: N803
        """Continue a session, and repeat its history."""
        self._stored(sessionId)
        if not os.environ.get("ACP_LATE_REPLAY"):
            self._replay(sessionId)
        return self._modes()

    def on_session_set_mode(self, modeId: str, **_: Any) -> Any:  # noqa: N803
        """Take any mode that it has."""
        if modeId not in MODES:
            raise FileNotFoundError(modeId)
        self._mode = modeId
        return {}

    def on_session_prompt(self, sessionId: str, prompt: list[Any], **_: Any) -> Any:  # noqa: N803
        """Do the steps of the prompt."""
        self._cancelled.clear()
        self._sent = 0
        text = "\n".join(block.get("text", "[image]") for block in prompt)
        self._store(sessionId, [*self._stored(sessionId), text])
        always = os.environ.get("ACP_SCRIPT")
        script = next((x[4:] for x in text.splitlines() if x.startswith("DO: ")), always)
        steps = [["say", f"You said: {text}"]] if script is None else json.loads(script)
        for step in steps:
            if self._cancelled.is_set():
                return {"stopReason": "cancelled"}
            try:
                getattr(self, f"_{step[0]}")(sessionId, *step[1:])
            except RefusedError as error:
                self._say(sessionId, f"[{step[0]} failed: {error}]")
        reason = "cancelled" if self._cancelled.is_set() else "end_turn"
        usage = {"totalTokens": 15, "inputTokens": 10, "outputTokens": 5}
        return {"stopReason": reason, "usage": usage}

    # what it does well

    def _say(self, session: str, text: str) -> None:
        self._chunk(session, "agent_message_chunk", text)

    def _think(self, session: str, text: str) -> None:
        self._chunk(session, "agent_thought_chunk", text)

    def _plan(self, session: str, entries: list[Any]) -> None:
        items = [
            {"content": text, "priority": "medium", "status": "completed" if done else "pending"}
            for text, done in entries
        ]
        self._update(session, {"sessionUpdate": "plan", "entries": items})

    def _tool(self, session: str, given: dict[str, Any]) -> None:
        kind = "tool_call" if "title" in given else "tool_call_update"
        self._update(session, {"sessionUpdate": kind, **given})

    def _ask(self, session: str, given: dict[str, Any]) -> None:
        kinds = ("allow_once", "allow_always", "reject_once")
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
        answer = self._request(
            session, "session/request_permission", toolCall=given, options=options
        )
        self._say(session, f"[{answer['outcome'].get('optionId', 'cancelled')}]")

    def _read(self, session: str, path: str, line: int | None = None) -> None:
        answer = self._request(session, "fs/read_text_file", path=path, line=line)
        self._say(session, f"[read: {answer['content']}]")

    def _write(self, session: str, path: str, text: str) -> None:
        self._request(session, "fs/write_text_file", path=path, content=text)
        self._say(session, "[written]")

    def _run(self, session: str, line: str, stop: str = "") -> None:
        terminal = self._request(session, "terminal/create", command=line)["terminalId"]
        if stop:
            self._request(session, "terminal/kill", terminalId=terminal)
        end = self._request(session, "terminal/wait_for_exit", terminalId=terminal)
        output = self._request(session, "terminal/output", terminalId=terminal)["output"]
        self._request(session, "terminal/release", terminalId=terminal)
        self._say(session, f"[exit {end.get('exitCode')}: {output.strip()}]")

    def _servers_given(self, session: str) -> None:
        given = (
            f"{x['name']} {x['url']} {x['headers'][0]['value'].split()[0]}" for x in self._servers
        )
        self._say(session, "; ".join(given))

    def _recall(self, session: str) -> None:
        self._say(session, f"{len(self._stored(session)) - 1} messages")

    def _variable(self, session: str, name: str) -> None:
        self._say(session, os.environ.get(name, "not set"))

    def _which_mode(self, session: str) -> None:
        self._say(session, self._mode)

    def _hang(self, session: str) -> None:
        self._say(session, "waiting")
        self._cancelled.wait()

    # what it does badly

    def _deaf(self, session: str) -> None:
        self._say(session, "deaf")
        threading.Event().wait()

    def _crash(self, session: str) -> None:
        self._say(session, "bye")
        sys.stderr.write("it broke\n")
        sys.stderr.flush()
        os._exit(CODE)

    def _leave_a_child(self, session: str) -> None:
        """End, but leave a child that keeps the output open."""
        del session
        if os.fork():
            os._exit(CODE)
        threading.Event().wait()

    def _flood(self, session: str, count: int) -> None:
        """Update one tool call again and again."""
        for number in range(count):
            self._tool(session, {"toolCallId": "t", "title": f"Step {number}"})

    def _flood_of_calls(self, session: str, count: int) -> None:
        """Begin more and more tool calls, then end the first."""
        for number in range(count):
            self._tool(session, {"toolCallId": f"t{number}", "title": f"Step {number}"})
        self._tool(session, {"toolCallId": "t0", "status": "completed"})

    def _flood_of_terminals(self, session: str, count: int) -> None:
        """Ask for terminals without waiting; say how many answers were of each kind."""
        waiting = [self._ask_for(session, "terminal/create", command="true") for _ in range(count)]
        answers = [each.get() for each in waiting]
        refused = [x["error"]["data"]["details"] for x in answers if "error" in x]
        said = {text: refused.count(text) for text in sorted(set(refused))}
        self._say(session, json.dumps({"started": count - len(refused), **said}))

    def _big(self, session: str, megabytes: int, pieces: int) -> None:
        """Say much in some pieces."""
        for _ in range(pieces):
            self._say(session, "x" * (megabytes * 2**20 // pieces))

    def _raw(self, session: str, line: str) -> None:
        """Send something that is no message of the protocol."""
        del session
        with self._writing:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def _to(self, session: str, other: str, text: str) -> None:
        """Speak in another session."""
        del session
        self._say(other, text)

    def _ask_for_ever(self, session: str, given: dict[str, Any]) -> None:
        """Ask a question whose only answer allows it for ever."""
        options = [{"optionId": "always", "name": "Always", "kind": "allow_always"}]
        asked: dict[str, Any] = {"toolCall": given, "options": options}
        answer = self._request(session, "session/request_permission", **asked)
        self._say(session, json.dumps(answer["outcome"]))

    def _ask_and_end(self, session: str, given: dict[str, Any]) -> None:
        """End the prompt while its question is open."""
        kinds = ("allow_once", "reject_once")
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
        self._ask_for(session, "session/request_permission", toolCall=given, options=options)

    # the wire

    def _chunk(self, session: str, kind: str, text: str) -> None:
        self._update(session, {"sessionUpdate": kind, "content": {"type": "text", "text": text}})

    def _update(self, session: str, update: dict[str, Any]) -> None:
        params = {"sessionId": session, "update": update}
        self._send({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def _request(self, session: str, method: str, **params: Any) -> Any:
        answer = self._ask_for(session, method, **params).get()
        if "error" in answer:
            error = answer["error"]
            raise RefusedError(f"{error['code']} {json.dumps(error.get('data'))}")
        return answer.get("result") or {}

    def _ask_for(self, session: str, method: str, **params: Any) -> queue.Queue[Any]:
        self._requests += 1
        answer = self._answers[self._requests] = queue.Queue[Any]()
        given = {"sessionId": session, **params}
        self._send({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": given})
        return answer

    def _send(self, message: dict[str, Any]) -> None:
        self._sent += 1
        if self._sent == DIE_AT:
            os._exit(CODE)
        self._put(message)

    def _put(self, message: dict[str, Any]) -> None:
        self._raw("", json.dumps(message))

    # its memory

    def _modes(self) -> dict[str, Any]:
        offered = [{"id": mode, "name": mode.title()} for mode in MODES]
        return {"modes": {"currentModeId": self._mode, "availableModes": offered}}

    def _replay(self, session: str) -> None:
        for text in self._stored(session)[1:]:
            self._chunk(session, "user_message_chunk", text)
            self._say(session, f"Replayed: {text}")
            self._tool(session, {"toolCallId": "old", "title": "An old step"})

    def _stored(self, session: str) -> list[str]:
        return json.loads((self._folder / f"{Path(session).name}.json").read_text())

    def _store(self, session: str, texts: list[str]) -> None:
        (self._folder / f"{session}.json").write_text(json.dumps(texts))


if __name__ == "__main__":
    ScriptedAgent(Path(sys.argv[1])).serve()
