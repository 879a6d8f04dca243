"""A host with the scripted agent of ``tests/simulator/acp_agent.py``, and conversations with it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.storage.base import LoggedEvent
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

    def another(self, agent: str = "scripted") -> AgentWorkspace:
        """Begin another conversation, with an agent of ``variants``."""
        command = CreateSession(model=ModelId(f"agent:{agent}"))
        made = self.host.session_service.create(command, None)
        return AgentWorkspace(self.host, made.id, self.root)

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

    async def turn_with_answers(
        self, *steps: Sequence[Any], decision: Literal["allow", "deny"] = "allow"
    ) -> TurnEnd:
        """Run a turn in which the user answers all questions alike; return its end."""
        after = self.host.log.last_seq(self.session)
        await self.send(*steps)
        while True:
            event = await self.until(lambda e: isinstance(e, (ApprovalRequest, TurnEnd)), after)
            after = event.seq
            if isinstance(event, TurnEnd):
                return event
            await answer(self, event, decision)

    async def kill_agent(self) -> None:
        """Kill the idle agent, and wait until the server has noticed it."""
        models = self.host.protocols.agent_models
        [pid] = agent_pids()
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(10):
            await asyncio.gather(*models.ending)

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
    folder: Path,
    *,
    mode: Mode = "auto_edit",
    session: SessionId | None = None,
    variants: Mapping[str, Mapping[str, str]] | None = None,
    pages: NoPages | None = None,
    command: Sequence[str] = (),
    proxy: str | None = None,
    **env: str,
) -> AsyncGenerator[AgentWorkspace]:
    """``variants`` are further agents by name, with their variables; ``env`` are the first's.

    ``command`` is another program than the scripted agent, ``proxy`` the address of the model
    proxy, which all use.
    """
    root, home, kept = (folder / name for name in ("root", "home", "agent"))
    for path in (root, home, kept):
        path.mkdir(exist_ok=True)
    words = [*(command or (sys.executable, "-S", "-E", str(AGENT), str(kept)))]
    entry = {"command": words, "proxy": proxy is not None}
    agents = {"scripted": env, **(variants or {})}
    settings = HostSettings(
        workspace=root,
        state_dir=root / ".shoulders",
        home=home,
        acp_agents={name: {**entry, "env": dict(given)} for name, given in agents.items()},
        default_mode=mode,
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    ports = HostPorts(
        kernels=NoKernels(),
        pages=pages or NoPages(),
        environ=environ,
        mcp_url=lambda: SERVER,
        proxy_url=lambda: proxy or None,
    )
    host = build_host(settings, ports)
    try:
        await host.ready()
        if session is None:
            made = host.session_service.create(CreateSession(model=SCRIPTED), None)
            session = made.id
        yield AgentWorkspace(host, session, root)
    finally:
        await host.aclose()


async def answer(
    here: AgentWorkspace, request: Event, decision: Literal["allow", "deny"] = "allow"
) -> None:
    assert isinstance(request, ApprovalRequest)
    await here.host.engine.responses.answer_approval(
        here.session, request.call_id, AnswerApproval(decision=decision)
    )


def agent_pids() -> list[int]:
    """The running agents of this process."""
    found = [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and str(AGENT).encode() in _words(entry)
    ]
    return [pid for pid in found if _is_below(pid, os.getpid())]


def _words(entry: Path) -> list[bytes]:
    try:
        return (entry / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1 and pid != ancestor:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return pid == ancestor
