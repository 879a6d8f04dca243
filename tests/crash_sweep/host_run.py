"""One server's life for a scripted turn: the real host on real files, and a client that remembers.

Made by ``tests.crash_sweep.child_process`` in the process that is killed. What the client learns it
writes down at once, so that it is known after the kill.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
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


@dataclass(frozen=True, slots=True)
class CaseFolders:
    """The folders of one case."""

    folder: Path

    @property
    def workspace(self) -> Path:
        """What is served."""
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
        """What the client learned; ``effects`` is written by cells."""
        return self.folder / "notes"

    @property
    def effects(self) -> Path:
        """One line for each time a cell ran."""
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
        """Return the one there is."""
        return kernel_handle("shared", self._manager)

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        """Return the one there is."""
        return kernel_handle("shared", self._manager)

    async def spec(self, name: str | None) -> KernelSpec:
        return KernelSpec(name or "python3", "Python 3", "python")

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt it, as its own server would."""
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
        """Not needed: no case verifies a notebook."""
        raise NotImplementedError


class Pages(FakeSockets):
    """The pages of the stage."""

    def deleted(self, session: Session) -> None:
        """Nothing to tell."""

    def tools_changed(self) -> None:
        """Nothing to tell."""

    def settings_changed(self, part: SettingsPart) -> None:
        """Nothing to tell."""


class Client:
    """Hears of every event, writes it down, and lets a script wait for one."""

    def __init__(self, place: CaseFolders) -> None:
        self._place = place
        self._stirred = asyncio.Event()
        self.events: list[ev.Event] = []

    def on_event(self, logged: LoggedEvent) -> None:
        """Take note of a committed event."""
        self._place.note("seen", logged.event.session_id, logged.event.seq, logged.text)
        self.events.append(logged.event)
        self._stirred.set()

    async def reached(self, kind: type[ev.Event], count: int = 1) -> ev.Event:
        """Return the ``count``-th event of a kind, waiting for it."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                found = [event for event in self.events if isinstance(event, kind)]
                if len(found) >= count:
                    return found[count - 1]
                self._stirred.clear()
                await self._stirred.wait()


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a scenario changes of the usual stage."""

    kernel: str | None = None
    """The connection file of a kernel that outlives us; None: kernels of our own."""
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
        """Take up what the last process left."""
        await self.host.ready()

    async def close(self) -> None:
        """Stop in order, once."""
        if self._closed:
            return
        self._closed = True
        await self.host.aclose()
        if isinstance(self.kernels, LocalKernels):
            await self.kernels.aclose()

    # what a client does

    def sessions(self) -> list[Session]:
        """Return all sessions."""
        return list(self.host.sessions.page(SessionFilter(), None, 100).sessions)

    def session(self, **fields: Any) -> SessionId:
        """Make a session."""
        return self.host.session_service.create(CreateSession(**fields), owner=None).id

    async def send(self, session: SessionId, text: str, message: str = "m1") -> None:
        """Send a message; it is written down when the server says it has it."""
        command = SendMessage(id=MessageId(message), text=text)
        await self.host.engine.send(session, command)
        self.place.note("accepted", session, message)

    async def say(self, text: str, **fields: Any) -> SessionId:
        """Make a session, send a message, and wait until nothing runs."""
        session = self.session(**fields)
        await self.send(session, text)
        await self.settle(session)
        return session

    async def settle(self, session: SessionId) -> None:
        """Wait until nothing runs, and type what cells ask for meanwhile."""
        typing = asyncio.create_task(self._type(session))
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self.host.engine.settled(session)
        finally:
            typing.cancel()

    async def _type(self, session: SessionId) -> None:
        answered = 0
        while True:
            answered += 1
            asked = await self.client.reached(ev.StdinRequest, answered)
            assert isinstance(asked, ev.StdinRequest)
            with contextlib.suppress(ShouldersError):  # it was answered already
                typed = AnswerInput(text="Ada")
                await self.host.engine.answer_input(session, asked.call_id, typed)

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
        """Answer what waits, as a user would; return whether anything did."""
        engine = self.host.engine
        answered = False
        parses = self.host.sessions.get(session).tools == "parse_only"
        for kind, call_id in self.pending(session):
            if kind == "approval":
                await engine.answer_approval(
                    session, call_id, AnswerApproval(decision="allow", scope=scope)
                )
            elif kind == "question":
                await engine.answer_question(session, call_id, AnswerQuestion(answer="Yes"))
            elif parses and self.host.sessions.get(session).status != "idle":
                await engine.supply_result(session, call_id, SupplyResult(content="42"))
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
        """Type into a cell, and wait until the server had time to keep it."""
        await page.type(cell, text)
        await self.host.live.settle()
        self.place.note("typed", text)


class OpenRooms:
    """The rooms an act opens; they are gone with the process, as a server's are."""

    available = True

    def __init__(self) -> None:
        self.rooms: list[Room] = []

    def all(self) -> Sequence[Room]:
        """See ``Rooms.all``."""
        return self.rooms


class OwnContents:
    """Plain files, until an act puts a contents manager in their place."""

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
    """A scripted turn, and what is in place before it."""

    name: str
    act: Act
    script: Mapping[str, Any] = field(default_factory=dict[str, Any])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    prepare: Act | None = None
    """Done by a process of its own before, whole or killed at ``prepare_until``."""
    prepare_script: Mapping[str, Any] | None = None
    """What the model says meanwhile, if it is something else."""
    prepare_until: str | None = None
    """The name of the point at which the first process dies; None: it ends in order."""
    prepare_at: int = 1
    """Which of its meetings with that point."""
    spoil: Callable[[CaseFolders], None] | None = None
    """Changes the files between the two."""
    shared_kernel: bool = True
    turn_limit: int | None = None
    page_grace: float = 0.05
    run_patience: float | None = None
    """Seconds a step waits for a cell."""
    rewritten: Sequence[str] = ()
    """Files that the turn may change into another valid notebook."""
    outcomes: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """What other files may hold at the end; an empty text: they may be gone."""
    split: bool = False
    """Whether the state directory is on another file system, to which nothing can be renamed."""
    ahead_days: int = 0
    """How far the clock of the swept process is ahead of the one that prepared."""
    sets_aside: bool = False
    """Whether the conversation cannot be read any more, and says so."""
    checkpoint_bytes: int | None = None
