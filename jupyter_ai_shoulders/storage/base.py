"""Storage ports of the event log and the session table.

Implemented in this folder on SQLite; the fakes in ``testing`` use lists.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.ids import BlobHash, SessionId
from jupyter_ai_shoulders.wire.sessions import Session


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """A committed event with its JSON text, encoded once for log, socket and SSE."""

    event: Event
    text: str


class EventSink(Protocol):
    """Receives each event after its commit, in order; must not block or raise."""

    def publish(self, logged: LoggedEvent) -> None:
        """Publish a committed event to clients."""
        ...


class LogTimings(Protocol):
    """Receives how long the log's writes take, in seconds; must not block or raise."""

    def committed(self, seconds: float) -> None:
        """Note a commit; called on the event loop."""
        ...

    def synced(self, seconds: float) -> None:
        """Note a sync to the disk; called in a thread."""
        ...


class EventLog(Protocol):
    """Append-only list of events per session."""

    def append(self, session_id: SessionId, event: Event) -> LoggedEvent:
        """Stamp (seq, session id, time), commit and publish an event; return the logged event.

        Raises ``StateUnavailable`` (disk full, read-only); then nothing was published.
        """
        ...

    async def sync(self) -> None:
        """Return when all earlier events are on disk; never blocks the event loop."""
        ...

    def read(
        self, session_id: SessionId, after: int = 0, limit: int | None = None
    ) -> list[LoggedEvent]:
        """Return events with ``seq > after`` in order. Raises ``NotFound``."""
        ...

    def replay(self, session_id: SessionId) -> Iterator[list[Event]]:
        """Yield the log in pages, for a fold that yields to the event loop between them.

        Pieces of a part that follow each other may be one event, with the ``seq`` of the last, and
        tool progress may be left out. Raises ``NotFound``.
        """
        ...

    def last_seq(self, session_id: SessionId) -> int:
        """Return the last sequence number, 0 for an empty log. Raises ``NotFound``."""
        ...

    def find(
        self, types: Collection[str], session_id: SessionId | None = None
    ) -> list[LoggedEvent]:
        """Return the events of these types, of one session or of all that are not deleted.

        Sessions are in the order of creation, events of a session in the order of ``seq``. Streamed
        types (deltas, tool progress) are not indexed and never returned. Unreadable events are left
        out.
        """
        ...

    def pages(self, types: Collection[str]) -> Iterator[list[LoggedEvent]]:
        """Yield the result of ``find`` for all sessions, a few hundred events at a time."""
        ...


class Sessions(Protocol):
    """The table of sessions."""

    def add(self, session: Session) -> Session:
        """Store a new session and log its ``session-create``."""
        ...

    def get(self, session_id: SessionId) -> Session:
        """Return a session. Raises ``NotFound``."""
        ...

    def update(self, session: Session) -> Session:
        """Store changed fields and log a ``session-update``; return the stored session."""
        ...

    def needing_recovery(self) -> Sequence[SessionId]:
        """Return the sessions that a restart must check.

        Their last turn has no ``turn-end``, or their status says so, or their mode is
        ``bypass``.
        """
        ...


class Blobs(Protocol):
    """Content-addressed bytes: prompts, large outputs, snapshots."""

    def put(self, content: bytes) -> BlobHash:
        """Store ``content`` durably; return its SHA-256 in hex."""
        ...

    def get(self, blob: BlobHash) -> bytes:
        """Return the bytes. Raises ``NotFound``."""
        ...
