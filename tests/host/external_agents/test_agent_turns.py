"""Turns that an agent of others leads, with an agent that does what its prompt says."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from jupyter_ai_shoulders.acp_client.connection import AgentTimeouts
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.api.agents import PatchAgent
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval, CreateSession, SendMessage
from jupyter_ai_shoulders.wire.conversation.reducer import EMPTY, reduce_event
from jupyter_ai_shoulders.wire.conversation.views import Conversation
from jupyter_ai_shoulders.wire.events import ApprovalRequest, Event, TurnEnd
from jupyter_ai_shoulders.wire.ids import MessageId, ModelId, SessionId
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.host.test_build import NoKernels, NoPages

AGENT = Path(__file__).parents[2] / "simulator" / "acp_agent.py"
SERVER = "http://127.0.0.1:9/shoulders/mcp"
SCRIPTED = ModelId("agent:scripted")


@dataclass
class AgentWorkspace:
    """A host with the scripted agent, and a conversation with it."""

    host: Host
    session: SessionId
    root: Path
    messages: int = 0

    async def send(self, *steps: Sequence[Any], text: str | None = None) -> None:
        """Send a message that has the agent do these steps."""
        self.messages += 1
        said = text if text is not None else f"DO: {json.dumps(steps)}"
        command = SendMessage(text=said, id=MessageId(f"m{self.messages}"))
        await self.host.engine.send(self.session, command)

    async def until(self, found: Callable[[Event], bool], after: int = 0) -> Event:
        """Wait for an event of the conversation."""
        async with asyncio.timeout(30):
            follower = _Follower(found)
            self.host.hub.follow(self.session, follower)
            for logged in self.host.log.read(self.session, after):
                follower.on_event(logged)
            await follower.seen.wait()
            assert follower.event is not None
            return follower.event

    async def turn(self, *steps: Sequence[Any], text: str | None = None) -> str:
        """Run a turn; return the agent's text in it."""
        before = self.host.log.last_seq(self.session)
        await self.send(*steps, text=text)
        await self.until(lambda event: isinstance(event, TurnEnd), before)
        return self.said(before)

    def events(self, after: int = 0) -> list[Event]:
        return [logged.event for logged in self.host.log.read(self.session, after)]

    def said(self, after: int = 0) -> str:
        return "".join(e.text for e in self.events(after) if e.type == "text-delta")

    def view(self) -> Conversation:
        state = EMPTY
        for event in self.events():
            state = reduce_event(state, event)
        return state


class _Follower:
    def __init__(self, found: Callable[[Event], bool]) -> None:
        self._found = found
        self.event: Event | None = None
        self.seen = asyncio.Event()

    def on_event(self, logged: LoggedEvent) -> None:
        if self.event is None and self._found(logged.event):
            self.event = logged.event
            self.seen.set()


@asynccontextmanager
async def agent_workspace(
    folder: Path, *, mode: Mode = "auto_edit", session: SessionId | None = None, **env: str
) -> AsyncGenerator[AgentWorkspace]:
    root, home, kept = (folder / name for name in ("root", "home", "agent"))
    for path in (root, home, kept):
        path.mkdir(exist_ok=True)
    entry = {"command": [sys.executable, str(AGENT), str(kept)], "env": env}
    settings = HostSettings(
        workspace=root,
        state_dir=root / ".shoulders",
        home=home,
        acp_agents={"scripted": entry},
        default_mode=mode,
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    ports = HostPorts(kernels=NoKernels(), pages=NoPages(), environ=environ, mcp_url=lambda: SERVER)
    host = build_host(settings, ports)
    try:
        await host.ready()
        if session is None:
            made = host.session_service.create(CreateSession(model=SCRIPTED), None)
            session = made.id
        yield AgentWorkspace(host, session, root)
    finally:
        await host.aclose()


async def test_text_thoughts_plan_and_activities_are_recorded(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        diff = {"type": "diff", "path": str(here.root / "a.py"), "oldText": "1", "newText": "2"}
        said = await here.turn(
            ("think", "Hm."),
            ("plan", [["Look", True], ["Act", False]]),
            ("tool", {"toolCallId": "t", "title": "Edit a.py", "kind": "edit", "content": [diff]}),
            ("tool", {"toolCallId": "t", "status": "completed"}),
            ("say", "Done."),
        )

        view = here.view()
        [reply] = [message for message in view.messages if message.role == "agent"]
        assert said == "Done."
        assert [(item.text, item.done) for item in view.todo] == [("Look", True), ("Act", False)]
        assert [part.type for part in reply.parts] == ["reasoning", "activity", "text", "end"]
        activity = reply.parts[1]
        assert activity.type == "activity"
        assert (activity.status, activity.kind) == ("completed", "edit")
        assert activity.content[0].model_dump() == {
            "type": "diff",
            "path": "a.py",
            "old": "1",
            "new": "2",
        }
        assert view.agent is not None
        assert (view.agent.agent, view.agent.mode) == ("scripted", "ask")


async def test_a_write_is_a_pending_edit_and_a_read_sees_it(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        path = str(here.root / "a.txt")
        said = await here.turn(("write", path, "one\ntwo\n"), ("read", path, 2))

        assert said == "[written][read: two\n]"
        assert (here.root / "a.txt").read_text() == "one\ntwo\n"
        assert [change.document for change in here.view().changes] == ["a.txt"]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        pytest.param(("write", "/etc/shoulders-test", "x"), "outside", id="outside"),
        pytest.param(("write", "../x", "x"), "outside", id="above"),
        pytest.param(("write", "link/x", "x"), "outside", id="through a link"),
        pytest.param(("write", "a.ipynb", "{}"), "notebook", id="notebook"),
        pytest.param(("read", "a.ipynb"), "notebook", id="notebook read"),
        pytest.param(("read", "missing.txt"), "missing.txt", id="missing"),
    ],
)
async def test_a_refused_request_says_why(tmp_path: Path, step: Sequence[Any], told: str) -> None:
    async with agent_workspace(tmp_path) as here:
        (here.root / "link").symlink_to("/tmp")
        (here.root / "a.ipynb").write_text("{}")
        said = await here.turn(step)

        assert "failed" in said
        assert told in said


async def test_a_command_runs_and_its_output_reaches_the_agent(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, mode="bypass") as here:
        before = here.host.log.last_seq(here.session)
        await here.send(("run", "echo out; exit 3"))
        end = await here.until(lambda e: e.type in {"turn-end", "approval-request"}, before)
        if end.type == "approval-request":
            await answer(here, end)
            await here.until(lambda event: isinstance(event, TurnEnd), before)
        assert here.said(before) == "[exit 3: out]"


async def answer(
    here: AgentWorkspace, request: Event, decision: Literal["allow", "deny"] = "allow"
) -> None:
    assert isinstance(request, ApprovalRequest)
    await here.host.engine.responses.answer_approval(
        here.session, request.call_id, AnswerApproval(decision=decision)
    )


@pytest.mark.parametrize(("decision", "told"), [("allow", "allow_once"), ("deny", "reject_once")])
async def test_a_permission_is_asked_and_its_answer_goes_back(
    tmp_path: Path, decision: Literal["allow", "deny"], told: str
) -> None:
    async with agent_workspace(tmp_path) as here:
        tool = {
            "toolCallId": "t",
            "title": "Run make",
            "kind": "execute",
            "rawInput": {"command": "make all"},
        }
        await here.send(("ask", tool))
        request = await here.until(lambda event: event.type == "approval-request")
        assert request.type == "approval-request"
        assert request.preview == "make all"
        await answer(here, request, decision)
        await here.until(lambda event: isinstance(event, TurnEnd))

        assert here.said() == f"[{told}]"


async def test_plan_mode_refuses_all_but_reads(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, mode="plan") as here:
        (here.root / "a.txt").write_text("text")
        said = await here.turn(("write", "b.txt", "x"), ("run", "ls"), ("read", "a.txt"))

        assert said.count("plan mode") == 2
        assert "[read: text]" in said
        assert not (here.root / "b.txt").exists()


async def test_stop_cancels_the_prompt(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.send(("hang",))
        await here.until(lambda event: event.type == "text-delta")
        await here.host.engine.cancel(here.session)
        end = await here.until(lambda event: isinstance(event, TurnEnd))

        assert isinstance(end, TurnEnd)
        assert end.exit == "cancelled"
        assert await here.turn(("recall",)) == "2 messages"


async def test_a_message_sent_before_the_stop_reaches_the_agent_with_the_next(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path) as here:
        asked = {"toolCallId": "t", "title": "Try", "rawInput": {"command": "true"}}
        await here.send(("ask", asked), ("hang",))
        request = await here.until(lambda event: isinstance(event, ApprovalRequest))
        await here.send(text="mind the gap")
        await answer(here, request)
        await here.until(lambda e: e.type == "text-delta" and "waiting" in e.text)
        await here.host.engine.cancel(here.session)
        await here.until(lambda event: isinstance(event, TurnEnd))

        said = await here.turn(text="hello again")

        assert said.index("mind the gap") < said.index("hello again")


async def test_a_crash_is_an_error_and_the_next_message_continues_the_session(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.turn(("crash",))
        end = here.events()[-1]
        while not isinstance(end, TurnEnd):
            end = await here.until(lambda event: isinstance(event, TurnEnd))
        assert end.error is not None
        assert "it broke" in end.error.message

        assert await here.turn(("recall",)) == "2 messages"


async def test_an_agent_that_cannot_load_says_that_its_memory_is_lost(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, ACP_NO_LOAD="1") as here:
        await here.turn(("crash",))
        assert await here.turn(("recall",)) == "1 messages"
        notices = [event.code for event in here.events() if event.type == "notice"]
        assert "agent_memory_lost" in notices


async def test_a_session_is_loaded_after_a_restart_of_the_server(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.turn(("say", "Hello."))
        session = here.session
    async with agent_workspace(tmp_path, session=session) as again:
        again.messages = 1
        assert await again.turn(("recall",)) == "2 messages"
        assert again.said().count("Hello.") == 1


async def test_a_flood_of_updates_is_joined(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.turn(("flood", 20_000))

        activities = [event for event in here.events() if event.type == "agent-activity"]
        assert activities[-1].title == "Step 19999"
        assert len(activities) <= 5_001


async def test_garbage_and_other_sessions_are_ignored(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        assert await here.turn(("garbage",)) == "fine"


async def test_the_mode_of_a_running_agent_is_changed_and_recorded(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        models = here.host.protocols.agent_models
        with pytest.raises(Conflict, match="not running"):
            await models.change(here.session, PatchAgent(mode="code"))
        await here.turn(("say", "Hello."))

        await models.change(here.session, PatchAgent(mode="code"))

        agent = here.view().agent
        assert agent is not None
        assert agent.mode == "code"


@pytest.mark.parametrize("stage", ["initialize", "new"])
async def test_an_agent_that_does_not_start_in_time_is_an_error(
    tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = partial(AgentTimeouts, initialize=1.5, session=1.5)
    monkeypatch.setattr("jupyter_ai_shoulders.acp_client.connection.AgentTimeouts", short)
    async with agent_workspace(tmp_path, ACP_HANG=stage) as here:
        await here.turn(("say", "Hello."))
        [end] = [event for event in here.events() if isinstance(event, TurnEnd)]

        assert end.error is not None
        assert end.error.code == "provider_timeout"


async def test_an_agent_gets_our_mcp_server_with_a_token_that_ends_with_it(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        assert await here.turn(("servers_given",)) == f"jupyter {SERVER} Bearer"
        tokens = here.host.protocols.access_tokens
        [token] = await tokens.list(None)
        assert token.scopes == ("read", "edit", "run")
    assert await tokens.list(None) == ()
