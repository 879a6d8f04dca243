"""An agent that does what its prompt says, written with the official SDK; for tests.

Run as ``python acp_agent.py FOLDER``, which keeps its sessions in ``FOLDER``. The prompt has a line
``DO: [...]`` with a JSON list of steps, each a list: ``["say", "text"]``, ``["think", "text"]``,
``["plan", [["a", true]]]``, ``["tool", {...}]``, ``["ask", {...}]``, ``["read", path]``,
``["write", path, text]``, ``["run", line]``, ``["hang"]``, ``["crash"]``, ``["flood", count]``,
``["garbage"]``. A prompt without such a line is repeated.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import acp
from acp import RequestError, schema

SLOW = os.environ.get("ACP_HANG", "")
"""The stage at which it never answers."""
CODE = 3


class ScriptedAgent:
    """One process, any number of sessions."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._connection: Any = None
        self._cancelled = asyncio.Event()
        self._servers: list[Any] = []

    def on_connect(self, connection: Any) -> None:
        """Keep the way to the client."""
        self._connection = connection

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        """Offer to load sessions."""
        await _hang_at("initialize")
        capabilities = schema.AgentCapabilities(
            load_session=not os.environ.get("ACP_NO_LOAD"),
            prompt_capabilities=schema.PromptCapabilities(image=True),
            mcp_capabilities=schema.McpCapabilities(http=True),
        )
        return schema.InitializeResponse(
            protocol_version=protocol_version, agent_capabilities=capabilities
        )

    async def new_session(
        self, cwd: str, mcp_servers: list[Any] | None = None, **_: Any
    ) -> schema.NewSessionResponse:
        """Begin a session."""
        self._servers = mcp_servers or []
        await _hang_at("new")
        name = f"s{len(list(self._folder.glob('*.json'))) + 1}"
        self._store(name, [cwd])
        modes = [schema.SessionMode(id=mode, name=mode.title()) for mode in ("ask", "code")]
        return schema.NewSessionResponse(
            session_id=name,
            modes=schema.SessionModeState(current_mode_id="ask", available_modes=modes),
        )

    async def load_session(self, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        """Continue a session, and repeat its history."""
        for text in self._stored(session_id)[1:]:
            await self._text(session_id, text)
        return schema.LoadSessionResponse()

    async def set_session_mode(
        self, mode_id: str, session_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        """Take any mode."""
        del mode_id, session_id
        return schema.SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        """Do the steps of the prompt."""
        await _hang_at("prompt")
        self._cancelled.clear()
        text = "\n".join(getattr(block, "text", "[image]") for block in prompt)
        self._store(session_id, [*self._stored(session_id), text])
        script = next((x[4:] for x in text.splitlines() if x.startswith("DO: ")), None)
        steps = [["say", f"You said: {text}"]] if script is None else json.loads(script)
        for step in steps:
            if self._cancelled.is_set():
                return schema.PromptResponse(stop_reason="cancelled")
            try:
                await getattr(self, f"_{step[0]}")(session_id, *step[1:])
            except RequestError as error:
                await self._text(session_id, f"[{step[0]} failed: {error.data}]")
        usage = schema.Usage(total_tokens=15, input_tokens=10, output_tokens=5)
        reason = "cancelled" if self._cancelled.is_set() else "end_turn"
        return schema.PromptResponse(stop_reason=reason, usage=usage)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop."""
        del session_id
        self._cancelled.set()

    async def _say(self, session: str, text: str) -> None:
        await self._text(session, text)

    async def _servers_given(self, session: str) -> None:
        given = [
            f"{server.name} {server.url} {server.headers[0].value.split()[0]}"
            for server in self._servers
        ]
        await self._text(session, "; ".join(given))

    async def _recall(self, session: str) -> None:
        await self._text(session, f"{len(self._stored(session)) - 1} messages")

    async def _think(self, session: str, text: str) -> None:
        await self._update(session, acp.update_agent_thought_text(text))

    async def _plan(self, session: str, entries: list[Any]) -> None:
        items = [
            schema.PlanEntry(
                content=text, priority="medium", status="completed" if done else "pending"
            )
            for text, done in entries
        ]
        await self._update(session, schema.AgentPlanUpdate(session_update="plan", entries=items))

    async def _tool(self, session: str, given: dict[str, Any]) -> None:
        kind = "tool_call" if "title" in given else "tool_call_update"
        model = schema.ToolCallStart if "title" in given else schema.ToolCallProgress
        await self._update(session, model.model_validate({"sessionUpdate": kind, **given}))

    async def _ask(self, session: str, given: dict[str, Any]) -> None:
        options = [
            schema.PermissionOption(option_id=kind, name=kind, kind=kind)
            for kind in ("allow_once", "allow_always", "reject_once")
        ]
        answer = await self._connection.request_permission(
            session_id=session,
            tool_call=schema.ToolCallUpdate.model_validate(given),
            options=options,
        )
        await self._text(session, f"[{getattr(answer.outcome, 'option_id', 'cancelled')}]")

    async def _read(self, session: str, path: str, line: int | None = None) -> None:
        answer = await self._connection.read_text_file(session_id=session, path=path, line=line)
        await self._text(session, f"[read: {answer.content}]")

    async def _write(self, session: str, path: str, text: str) -> None:
        await self._connection.write_text_file(session_id=session, path=path, content=text)
        await self._text(session, "[written]")

    async def _run(self, session: str, line: str, stop: str = "") -> None:
        terminal = await self._connection.create_terminal(session_id=session, command=line)
        name = terminal.terminal_id
        if stop:
            await self._connection.kill_terminal(session_id=session, terminal_id=name)
        end = await self._connection.wait_for_terminal_exit(session_id=session, terminal_id=name)
        output = await self._connection.terminal_output(session_id=session, terminal_id=name)
        await self._connection.release_terminal(session_id=session, terminal_id=name)
        await self._text(session, f"[exit {end.exit_code}: {output.output.strip()}]")

    async def _hang(self, session: str) -> None:
        await self._text(session, "waiting")
        await self._cancelled.wait()

    async def _deaf(self, session: str) -> None:
        await self._text(session, "deaf")
        await asyncio.Event().wait()

    async def _crash(self, session: str) -> None:
        await self._text(session, "bye")
        sys.stderr.write("it broke\n")
        sys.stderr.flush()
        await asyncio.sleep(0)
        os._exit(CODE)

    async def _flood(self, session: str, count: int) -> None:
        for number in range(count):
            await self._tool(session, {"toolCallId": "t", "title": f"Step {number}"})

    async def _garbage(self, session: str) -> None:
        for line in ("not json", '{"jsonrpc": "2.0", "id": 999, "result": {}}', "[]"[:0]):
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        await self._text("another-session", "for somebody else")
        await self._text(session, "fine")

    async def _text(self, session: str, text: str) -> None:
        await self._update(session, acp.update_agent_message_text(text))

    async def _update(self, session: str, update: Any) -> None:
        await self._connection.session_update(session_id=session, update=update)

    def _stored(self, session: str) -> list[str]:
        path = self._folder / f"{Path(session).name}.json"
        if not path.exists():
            raise RequestError.invalid_params({"details": "no such session"})
        return json.loads(path.read_text())

    def _store(self, session: str, texts: list[str]) -> None:
        (self._folder / f"{session}.json").write_text(json.dumps(texts))


async def _hang_at(stage: str) -> None:
    if stage == SLOW:
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(acp.run_agent(ScriptedAgent(Path(sys.argv[1]))))  # pyright: ignore[reportArgumentType]: the SDK looks methods up by name
