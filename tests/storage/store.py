"""A complete store on a directory, wired as in ``host``, with a controllable clock."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.schema.event_rows import checksum
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Session

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


@dataclass
class MovableClock:
    """A clock that moves only on request."""

    moment: datetime = START

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return (self.moment - START).total_seconds()

    def move(self, by: timedelta) -> None:
        self.moment += by


@dataclass
class Published:
    """Records published events, and calls a function for each on request."""

    look: Callable[[], None] | None = None
    events: list[LoggedEvent] = field(default_factory=list[LoggedEvent])

    def publish(self, logged: LoggedEvent) -> None:
        self.events.append(logged)
        if self.look is not None:
            self.look()


class Store:
    """All storage objects of one process on one state directory."""

    def __init__(
        self,
        path: Path,
        clock: MovableClock,
        vfs: str | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.directory = StateDirectory(path)
        self.clock = clock
        self.published = Published()
        self.database = Database(self.directory, clock, vfs)
        self.blobs = FileBlobs(self.directory)
        self.log = SqliteEventLog(self.database, self.published, clock, self.blobs.flush, redact)
        self.sessions = SqliteSessions(self.database, self.log, clock)

    def add(self, name: str, **fields: object) -> Session:
        """Add a session ``ses_<name>``."""
        return self.sessions.add(session(name).model_copy(update=fields))

    def crash(self) -> None:
        """Release the files as the death of the process would: without checkpoint or sync."""
        self.database.close()


OpenStore = Callable[..., Store]


def rewrite_events(connection: sqlite3.Connection, where: str, body: str) -> None:
    """Replace the text of events with a correct checksum, as if by another version."""
    found = connection.execute(f"SELECT id FROM events WHERE {where}").fetchall()
    for (row_id,) in found:
        connection.execute(
            "UPDATE events SET body = ?, checksum = ? WHERE id = ?",
            (body, checksum(row_id, body.encode()), row_id),
        )


def session(name: str) -> Session:
    """Return an unstored session."""
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
