"""One server process in a scripted turn: the real host on real files, and a recording client.

Made by ``tests.crash_sweep.child_process`` in the process that is killed. The client writes down at
once what it learns, so that it is known after the kill.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import acp  # noqa: F401 # pyright: ignore[reportUnusedImport]: no child of the zygote imports it
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.core.clock import Clock, SystemClock
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.notebook.backends.disk.contents_manager import Contents
from jupyter_ai_shoulders.notebook.backends.shared.rooms import Room
from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec, RunningKernel
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels, kernel_handle
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.sessions.table import SUB_AGENT, SessionFilter
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    CreateSession,
    SendMessage,
    SupplyResult,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import SettingsPart
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session
from tests.notebook.fake_page import FakePage, FakeSockets
from tests.simulator_process import KEY

WAIT_SECONDS = 30.0
AGENT = Path(__file__).parents[1] / "simulator" / "acp_agent.py"
AGENT_STEPS = (
    ("think", "Hm."),
    ("plan", [["Look", True], ["Act", False]]),
    ("read", "a.py"),
    ("tool", {"toolCallId": "t", "title": "Try it", "kind": "execute", "status": "pending"}),
    ("ask", {"toolCallId": "t", "title": "Try it", "kind": "execute"}),
    ("write", "a.py", "x = 2\n"),
    ("tool", {"toolCallId": "t", "status": "completed"}),
    ("say", "Done."),
)
"""What the agent of another program does in answer to each message."""


@dataclass(frozen=True, slots=True)
class CaseFolders:
    """The folders of one case."""

    folder: Path

    @property
    def workspace(self) -> Path:
        """The served workspace."""
        return self.folder / "workspace"

    @property
    def state(self) -> Path:
        """The state directory."""
        return self.workspace / ".shoulders"

    @property
    def home(self) -> Path:
        """The user's home directory."""
        return self.folder / "home"

    @property
    def notes(self) -> Path:
        """Notes of the client; cells write ``effects``."""
        return self.folder / "notes"

    @property
    def effects(self) -> Path:
        """One line for each run of a cell."""
        return self.notes / "effects"

    def note(self, name: str, *values: object) -> None:
        """Write a line that survives the process."""
        descriptor = os.open(self.notes / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, (json.dumps(values) + "\n").encode())
        os.close(descriptor)

    def noted(self, name: str) -> list[list[Any]]:
        """Return the lines written under a name."""
        path = self.notes / name
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class SharedKernel:
    """A kernel that outlives the process, as one of a Jupyter server does."""

    def __init__(self, connection_file: str) -> None:
        self._process = Path(connection_file).with_suffix(".pid")
        self._manager = AsyncKernelManager(connection_file=connection_file, owns_kernel=False)
        self._manager.load_connection_file()

    async def find(self, path: str) -> KernelHandle | None:
        """Return the kernel."""
        return kernel_handle("shared", self._manager)

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        """Return the kernel."""
        return kernel_handle("shared", self._manager)

    async def spec(self, name: str | None) -> KernelSpec:
        return KernelSpec(name or "python3", "Python 3", "python")

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt the kernel as its server would."""
        os.kill(int(self._process.read_text()), signal.SIGINT)

    async def restart(self, kernel_id: str) -> None:
        raise AssertionError

    async def running(self) -> Sequence[RunningKernel]:
        return ()

    async def installed(self) -> Sequence[KernelSpec]:
        return ()

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        """Fail: no case verifies a notebook."""
        raise NotImplementedError


class Pages(FakeSockets):
    """The pages of the run."""

    def deleted(self, session: Session) -> None:
        """Do nothing."""

    def tools_changed(self) -> None:
        """Do nothing."""

    def settings_changed(self, part: SettingsPart) -> None:
        """Do nothing."""


class Client:
    """Records every event, and lets a script wait for one."""

    def __init__(self, place: CaseFolders) -> None:
        self._place = place
        self._stirred = asyncio.Event()
        self.events: list[ev.Event] = []

    def on_event(self, logged: LoggedEvent) -> None:
        """Record a committed event."""
        self._place.note("seen", logged.event.session_id, logged.event.seq, logged.text)
        self.events.append(logged.event)
        self._stirred.set()

    async def reached(self, kind: type[ev.Event], count: int = 1) -> ev.Event:
        """Wait for the ``count``-th event of a kind and return it."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                found = [event for event in self.events if isinstance(event, kind)]
                if len(found) >= count:
                    return found[count - 1]
                self._stirred.clear()
                await self._stirred.wait()


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings a scenario changes."""

    kernel: str | None = None
    """The connection file of a kernel that outlives the process; None: own kernels."""
    turn_limit: int | None = None
    """Micro-dollars."""
    page_grace: float = 0.05
    run_patience: float | None = None
    clock: Clock = field(default_factory=SystemClock)


class HostRun:
    """A running host; a resource: ``open`` and ``close`` it."""

    def __init__(self, place: CaseFolders, setting: RunSettings) -> None:
        self.place = place
        self.client = Client(place)
        self._closed = False
        self.pages = Pages()
        self.rooms = OpenRooms()
        self.contents = OwnContents()
        kernels = SharedKernel(setting.kernel) if setting.kernel else LocalKernels(place.workspace)
        self.kernels = kernels
        self.clock = setting.clock
        self.host: Host = build_host(
            HostSettings(
                workspace=place.workspace,
                state_dir=place.state,
                home=place.home,
                budget=SpendingLimits(),
                page_timeout=setting.page_grace,
                run_timeout=setting.run_patience,
                acp_agents={"scripted": _agent(place)},
            ),
            HostPorts(
                kernels=kernels,
                pages=self.pages,
                rooms=self.rooms,
                contents=self.contents,
                clock=setting.clock,
                environ={"SIMULATOR_KEY": KEY},
            ),
        )
        self.host.hub.add(self.client)

    async def open(self) -> None:
        """Recover what the last process left."""
        await self.host.ready()

    async def close(self) -> None:
        """Stop cleanly, once."""
        if self._closed:
            return
        self._closed = True
        await self.host.aclose()
        if isinstance(self.kernels, LocalKernels):
            await self.kernels.aclose()

    # actions of the client

    def sessions(self) -> list[Session]:
        """Return all sessions."""
        return list(self.host.sessions.page(SessionFilter(), None, 100).sessions)

    async def open_sub_agents(self) -> list[Session]:
        """Return the sub-agents whose turn is still open shortly after their parents' ended."""
        still_open: list[Session] = []
        for _ in range(100):
            found = self.host.sessions.page(SessionFilter(source=SUB_AGENT), None, 100).sessions
            still_open = [
                each for each in found if each.status in {"running", "waiting", "interrupted"}
            ]
            if not still_open:
                return []
            await asyncio.sleep(0.05)
        return still_open

    def session(self, **fields: Any) -> SessionId:
        """Create a session."""
        return self.host.session_service.create(CreateSession(**fields), owner=None).id

    async def send(self, session: SessionId, text: str, message: str = "m1") -> None:
        """Send a message; note it when the server accepts it."""
        command = SendMessage(id=MessageId(message), text=text)
        await self.host.engine.send(session, command)
        self.place.note("accepted", session, message)

    async def say(self, text: str, **fields: Any) -> SessionId:
        """Create a session, send a message, and wait until nothing runs."""
        session = self.session(**fields)
        await self.send(session, text)
        await self.settle(session)
        return session

    async def settle(self, session: SessionId) -> None:
        """Wait until nothing runs; supply input that cells ask for, allow what sub-agents ask."""
        beside = [
            asyncio.create_task(self._type(session)),
            asyncio.create_task(self._allow_sub_agents(session)),
        ]
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self.host.engine.settled(session)
        finally:
            for task in beside:
                task.cancel()

    async def _allow_sub_agents(self, session: SessionId) -> None:
        """Allow what sub-agents ask, which their parent's turn waits for."""
        while True:
            await self.client.reached(ev.ApprovalRequest)
            for child in self.host.sessions.children(session):
                for kind, call_id in self.pending(child.id):
                    if kind == "approval":
                        with contextlib.suppress(ShouldersError):  # its turn has just ended
                            await self.host.engine.responses.answer_approval(
                                child.id, call_id, AnswerApproval(decision="allow", scope="once")
                            )
            await asyncio.sleep(0.05)

    async def _type(self, session: SessionId) -> None:
        answered = 0
        while True:
            answered += 1
            asked = await self.client.reached(ev.StdinRequest, answered)
            assert isinstance(asked, ev.StdinRequest)
            with contextlib.suppress(ShouldersError):  # already answered
                typed = AnswerInput(text="Ada")
                await self.host.engine.responses.answer_input(session, asked.call_id, typed)

    def pending(self, session: SessionId) -> list[tuple[str, CallId]]:
        """Return what waits for the user: approvals, questions, results to supply."""
        open_calls: dict[CallId, str] = {}
        for logged in self.host.log.read(session):
            match logged.event:
                case ev.ApprovalRequest(call_id=call_id):
                    open_calls[call_id] = "approval"
                case ev.ClarifyRequest(call_id=call_id):
                    open_calls[call_id] = "question"
                case ev.ToolCall(call_id=call_id):
                    open_calls[call_id] = "call"
                case ev.ApprovalAnswer(call_id=call_id):
                    open_calls[call_id] = "call"
                case ev.ClarifyAnswer(call_id=call_id) | ev.ToolResult(call_id=call_id):
                    open_calls.pop(call_id, None)
                case _:
                    pass
        return [(kind, call_id) for call_id, kind in open_calls.items()]

    async def answer_all(self, session: SessionId, *, scope: Any = "once") -> bool:
        """Answer everything that waits; return whether anything did."""
        engine = self.host.engine
        answered = False
        parses = self.host.sessions.get(session).tools == "parse_only"
        for kind, call_id in self.pending(session):
            if kind == "approval":
                await engine.responses.answer_approval(
                    session, call_id, AnswerApproval(decision="allow", scope=scope)
                )
            elif kind == "question":
                await engine.responses.answer_question(
                    session, call_id, AnswerQuestion(answer="Yes")
                )
            elif parses and self.host.sessions.get(session).status != "idle":
                await engine.responses.supply_result(session, call_id, SupplyResult(content="42"))
            else:
                continue
            answered = True
            await self.settle(session)
        return answered

    async def page(self, file: str) -> FakePage:
        """Open a notebook in a page."""
        clock: Any = self.clock
        path = self.place.workspace / file
        page = FakePage("page1", path, self.pages, self.host.live, clock)
        await page.open()
        return page

    async def typed(self, page: FakePage, cell: str, text: str) -> None:
        """Type into a cell, and wait until the server has stored it."""
        await page.type(cell, text)
        await self.host.live.settle()
        self.place.note("typed", text)


def _agent(place: CaseFolders) -> JsonObject:
    words: list[Any] = [sys.executable, "-S", "-E", str(AGENT), str(place.notes)]
    return {"command": words, "env": {"ACP_SCRIPT": json.dumps(AGENT_STEPS)}}


class OpenRooms:
    """The rooms an action opens; like a server's, they end with the process."""

    available = True

    def __init__(self) -> None:
        self.rooms: list[Room] = []

    def all(self) -> Sequence[Room]:
        """See ``Rooms.all``."""
        return self.rooms


class OwnContents:
    """Plain files, until an action installs a contents manager."""

    def __init__(self) -> None:
        self.managed: Contents | None = None

    @property
    def is_plain(self) -> bool:
        """See ``Contents.is_plain``."""
        return self.managed is None

    async def stamp(self, path: str) -> str:
        """See ``Contents.stamp``."""
        assert self.managed is not None
        return await self.managed.stamp(path)

    async def get(self, path: str) -> JsonObject:
        """See ``Contents.get``."""
        assert self.managed is not None
        return await self.managed.get(path)

    async def save(self, path: str, content: JsonObject) -> None:
        """See ``Contents.save``."""
        assert self.managed is not None
        await self.managed.save(path, content)


Act = Callable[[HostRun], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scripted turn and its initial state."""

    name: str
    act: Act
    script: Mapping[str, Any] = field(default_factory=dict[str, Any])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    prepare: Act | None = None
    """Executed by an earlier process, completely or killed at ``prepare_until``."""
    prepare_script: Mapping[str, Any] | None = None
    """The model's script during that, if different."""
    prepare_until: str | None = None
    """The point at which the first process dies; None: it ends cleanly."""
    prepare_at: int = 1
    """Which hit of that point."""
    spoil: Callable[[CaseFolders], None] | None = None
    """Changes files between the two processes."""
    shared_kernel: bool = True
    turn_limit: int | None = None
    page_grace: float = 0.05
    run_patience: float | None = None
    """Seconds a step waits for a cell."""
    rewritten: Sequence[str] = ()
    """Files that the turn may change into another valid notebook."""
    outcomes: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Allowed contents of other files at the end; an empty text: they may be gone."""
    split: bool = False
    """Whether the state directory is on another file system, so that renames to it fail."""
    ahead_days: int = 0
    """Days by which the clock of the swept process is ahead of the first process."""
    quarantines: bool = False
    """Whether the session is quarantined because it cannot be read."""
    checkpoint_bytes: int | None = None
