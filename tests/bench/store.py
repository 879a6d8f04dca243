"""A store on a directory as ``host`` wires it, and sessions to put into it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.host.hub import EventHub
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.log import SqliteEventLog
from jupyter_ai_shoulders.storage.sessions import SqliteSessions
from jupyter_ai_shoulders.wire.events import TextDelta
from jupyter_ai_shoulders.wire.ids import PartId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session


@dataclass(frozen=True, slots=True)
class Store:
    """Log, sessions and blobs on one state directory."""

    log: SqliteEventLog
    sessions: SqliteSessions
    blobs: FileBlobs

    def add(self, name: str) -> SessionId:
        """Add a session of this name."""
        return self.sessions.add(_session(name)).id


@asynccontextmanager
async def open_store(directory: Path) -> AsyncGenerator[Store]:
    """Open a store; all of it is on the disk when it is closed."""
    clock = SystemClock()
    state = StateDirectory(directory)
    database = Database(state, clock)
    blobs = FileBlobs(state)
    log = SqliteEventLog(database, EventHub(), clock, blobs.flush)
    try:
        yield Store(log, SqliteSessions(database, log, clock), blobs)
    finally:
        await log.aclose()
        database.close()


def delta(number: int) -> TextDelta:
    """Return a piece of text as a model sends it."""
    return TextDelta(part_id=PartId("part_0123456789abcdef01234567"), text=f" word{number}")


def _session(name: str) -> Session:
    return Session(
        id=SessionId(f"ses_{name}"),
        kind="chat",
        source="chat",
        title=name,
        model=None,
        mode="ask",
        tools="enabled",
        toolset="full",
        interactive=True,
        status="idle",
        anchor=None,
        owner=None,
        message_count=0,
        last_seq=0,
        tokens_used=0,
        window=None,
        cost_micro_usd=None,
        created_at="",
        updated_at="",
    )
