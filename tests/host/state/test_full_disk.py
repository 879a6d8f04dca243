"""A disk that fills up at any write of a turn: the turn ends visibly, and accepted data is kept."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError, StateUnavailable
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.errors import storage_errors
from jupyter_ai_shoulders.storage.recovery_attempts import RecoveryAttempts
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, ScriptedProvider, turn
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.events import Event, Notice
from jupyter_ai_shoulders.wire.ids import BlobHash, MessageId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session
from tests.engine.engine_harness import FakeModels, MemoryFile, make_settings, model_spec
from tests.engine.fake_tools import ToolProbe, registry
from tests.storage.store import MovableClock, Published, session
from tests.support.invariants import Evidence, Seen, logs_of, violations

SESSION = SessionId("ses_a")
_WRITES = ("INSERT", "UPDATE", "DELETE", "COMMIT")


@dataclass
class Disk:
    """Counts writes; from a given one on there is no space."""

    full_from: int | None = None
    written: int = 0
    refused: int = 0

    def write(self) -> bool:
        """Return whether there is space for one more write."""
        self.written += 1
        if self.full_from is None or self.written < self.full_from:
            return True
        self.refused += 1
        return False

    def write_file(self) -> None:
        if not self.write():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FillingDatabase(Database):
    """Fails as SQLite and the file system do."""

    def __init__(self, directory: StateDirectory, clock: MovableClock, disk: Disk) -> None:
        super().__init__(directory, clock)
        self.disk = disk

    def _connect(self) -> sqlite3.Connection:
        disk = self.disk

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
                if sql.lstrip().startswith(_WRITES) and not disk.write():
                    error = sqlite3.OperationalError("database or disk is full")
                    error.sqlite_errorcode = sqlite3.SQLITE_FULL
                    raise error
                return super().execute(sql, parameters)

        return sqlite3.connect(
            self.directory.database,
            factory=Connection,
            isolation_level=None,
            check_same_thread=False,
        )

    def flush(self) -> None:
        with storage_errors("bring the conversations to the disk", self.directory.path):
            self.disk.write_file()
        super().flush()

    def checkpoint(self) -> None:
        with storage_errors("fold the log into the database", self.directory.path):
            self.disk.write_file()
        super().checkpoint()


class FillingBlobs(FileBlobs):
    def __init__(self, directory: StateDirectory, disk: Disk) -> None:
        super().__init__(directory)
        self._disk = disk
        self._of = directory

    def put(self, content: bytes) -> BlobHash:
        with storage_errors("store a file", self._of.path):
            self._disk.write_file()
        return super().put(content)


class FillingFile(StateFile):
    def __init__(self, directory: StateDirectory, name: str, disk: Disk) -> None:
        super().__init__(directory, name)
        self._disk = disk
        self._of = directory

    def write(self, text: str) -> None:
        with storage_errors("write a file", self._of.path):
            self._disk.write_file()
        super().write(text)


@dataclass
class EngineProcess:
    """One process on a state directory, with an engine over it whose model plays a script."""

    path: Path
    disk: Disk
    probe: ToolProbe
    script: tuple[object, ...] = ()
    ids: CountingIds = field(default_factory=CountingIds)

    def __post_init__(self) -> None:
        clock, directory = MovableClock(), StateDirectory(self.path)
        self.published = Published()
        self.database = FillingDatabase(directory, clock, self.disk)
        self.blobs = FillingBlobs(directory, self.disk)
        self.log = SqliteEventLog(self.database, self.published, clock, self.blobs.flush)
        self.sessions = SqliteSessions(self.database, self.log, clock)
        self.provider = ScriptedProvider(*self.script)  # type: ignore[arg-type]  # entries of scripts
        self.engine = Engine(
            EngineServices(
                log=self.log,
                sessions=self.sessions,
                blobs=self.blobs,
                models=FakeModels(self.provider, model_spec()),
                tools=registry(self.probe),
                rules=PermissionStore(MemoryFile()),
                clock=clock,
                ids=self.ids,
                settings=make_settings(storage_retry_s=0.01, model_attempts=1),
                background_tasks=BackgroundTasks(self.ids),
            ),
            recoveries=RecoveryAttempts(FillingFile(directory, "recoveries.json", self.disk)),
        )

    @property
    def session(self) -> Session:
        return self.sessions.get(SESSION)

    @property
    def events(self) -> list[Event]:
        return [logged.event for logged in self.log.read(SESSION)]

    async def send(self, name: str) -> None:
        await self.engine.send(SESSION, SendMessage(id=MessageId(name), text=name))

    async def rest(self) -> None:
        """Wait until the session is neither running nor waiting for a retry."""
        await self.engine.settled(SESSION)
        if self.session.status != "running":
            return
        at_rest = asyncio.Event()

        def look() -> None:
            if self.session.status != "running":
                at_rest.set()

        self.published.look = look
        async with asyncio.timeout(5):
            await at_rest.wait()
        self.published.look = None

    async def end(self) -> None:
        await self.engine.stop()
        await self.log.aclose()
        self.database.close()


def seen(*places: EngineProcess) -> list[Seen]:
    return [
        Seen(logged.event.session_id, logged.event.seq, logged.text)
        for place in places
        for logged in place.published.events
    ]


CALLS = turn(
    Say("Let me "),
    Say("see."),
    Call("look", {"path": "a.ipynb"}),
    Call("edit", {"path": "a.ipynb"}),
)
SCRIPT = (CALLS, "Done.", "And again.", "And more.")


async def played(path: Path, disk: Disk) -> tuple[EngineProcess, list[str]]:
    """Play a turn until it settles or fails; return the process and the accepted messages."""
    place = EngineProcess(path, Disk(), ToolProbe(open_in_page={"a.ipynb"}), SCRIPT)
    place.sessions.add(session("a").model_copy(update={"mode": "auto_edit"}))
    place.database.disk.full_from, place.database.disk.written = disk.full_from, 0
    accepted: list[str] = []
    with suppress(StateUnavailable):
        await place.send("first")
        accepted.append("first")
    await place.engine.settled(SESSION)
    return place, accepted


async def writes_of_a_turn(path: Path) -> int:
    place, accepted = await played(path, Disk())
    assert accepted == ["first"]
    assert place.session.status == "idle"
    assert place.probe.started == ["look:a.ipynb", "edit:a.ipynb"]
    await place.end()
    return place.disk.written


async def check_refused(place: EngineProcess) -> None:
    """While there is no space, a message is refused with a reason."""
    with pytest.raises(StateUnavailable) as refused:
        await place.send("while full")
    assert refused.value.info.code == "disk_full"
    assert "full" in refused.value.info.message
    problem = place.database.full()
    assert problem is None or problem.code == "disk_full"


async def check_goes_on(place: EngineProcess, *before: EngineProcess, accepted: list[str]) -> None:
    """With space again the conversation is idle, says so, and accepts a message."""
    await place.rest()
    assert place.database.full() is None
    status = place.session.status
    if status == "interrupted":
        notices = [event.text for event in place.events if isinstance(event, Notice)]
        assert any("The turn was interrupted" in text for text in notices)
    assert status in {"idle", "interrupted", "error"}
    if not accepted:
        await place.send("first")  # again, as the page does
        accepted.append("first")
        await place.rest()
    await place.send("second")
    await place.rest()
    assert place.session.status == "idle"
    await place.end()
    evidence = Evidence(
        logs=logs_of(place.path / "state.db"),
        seen=seen(*before, place),
        accepted=[(SESSION, "first"), (SESSION, "second")],
        effects=place.probe.started,
        blobs=place.blobs,
    )
    assert violations(evidence) == []


@pytest.mark.parametrize("then", ["space returns", "a restart", "a restart on a full disk"])
async def test_a_disk_that_fills_at_any_write_of_a_turn(tmp_path: Path, then: str) -> None:
    writes = await writes_of_a_turn(tmp_path / "whole")
    assert writes > 20
    for number in range(1, writes + 1, 1 if then == "space returns" else 3):
        path = tmp_path / str(number)
        try:
            place, accepted = await played(path, Disk(full_from=number))
            if place.disk.refused == 0:
                await place.end()
                continue
            await check_refused(place)
            if then == "space returns":
                place.disk.full_from = None
                await check_goes_on(place, accepted=accepted)
                continue
            full = place.disk if then == "a restart on a full disk" else Disk()
            await place.end()
            again = EngineProcess(path, full, place.probe, SCRIPT[1:], place.ids)
            await again.engine.start()
            if full.full_from is not None:
                full.full_from = None
            await check_goes_on(again, place, accepted=accepted)
        except (AssertionError, ShouldersError, TimeoutError) as error:
            raise AssertionError(f"write {number} of {writes}: {error!r}") from error
