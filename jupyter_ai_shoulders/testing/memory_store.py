"""In-memory storage ports: event log, sessions and blobs.

``MemoryStore.cut`` returns the store as a crash would leave it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta

from jupyter_ai_shoulders.core.clock import timestamp
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.events import (
    Event,
    SessionCreate,
    SessionUpdate,
    TurnEnd,
    TurnResume,
    TurnStart,
)
from jupyter_ai_shoulders.wire.ids import BlobHash, SessionId
from jupyter_ai_shoulders.wire.sessions import Session


class FixedClock:
    """A clock that moves only with ``advance``."""

    def __init__(self, start: datetime = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic = 1_000.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds


class CountingIds:
    """Identifiers with a counter: ``turn_1``, then ``part_2``."""

    def __init__(self) -> None:
        self._last = 0

    def new(self, prefix: str) -> str:
        """Return the next identifier."""
        self._last += 1
        return f"{prefix}_{self._last}"


class MemoryBlobs:
    """``Blobs`` in a dictionary."""

    def __init__(self) -> None:
        self.contents: dict[BlobHash, bytes] = {}

    def put(self, content: bytes) -> BlobHash:
        blob = BlobHash(hashlib.sha256(content).hexdigest())
        self.contents[blob] = content
        return blob

    def get(self, blob: BlobHash) -> bytes:
        """Return the bytes. Raises ``NotFound``."""
        try:
            return self.contents[blob]
        except KeyError as error:
            raise NotFound(f"There is no stored content {blob}.") from error


PAGE = 500
"""Events in a page of a replay."""


class MemoryStore:
    """``EventLog`` and ``Sessions`` over lists of events.

    ``before_append`` is called with each event and may raise, as a full disk would;
    ``after_append`` is called with each stored event, like the log's sink.
    """

    def __init__(self) -> None:
        self.events: dict[SessionId, list[Event]] = {}
        self.blobs = MemoryBlobs()
        self.clock = FixedClock()
        self.synced: dict[SessionId, int] = {}
        """Number of synced events per session."""
        self.before_append: Callable[[Event], None] | None = None
        self.after_append: Callable[[LoggedEvent], None] | None = None

    def cut(self, session_id: SessionId, count: int) -> MemoryStore:
        """Return a store with only the first ``count`` events of the session."""
        store = MemoryStore()
        store.blobs = self.blobs
        store.clock = self.clock
        store.events[session_id] = self.events[session_id][:count]
        return store

    def append(self, session_id: SessionId, event: Event) -> LoggedEvent:
        """Stamp and store the event."""
        if self.before_append is not None:
            self.before_append(event)
        events = self._of(session_id)
        stamp = {"seq": len(events) + 1, "session_id": session_id}
        stamped = event.model_copy(update={**stamp, "at": timestamp(self.clock.now())})
        events.append(stamped)
        logged = LoggedEvent(stamped, stamped.model_dump_json())
        if self.after_append is not None:
            self.after_append(logged)
        return logged

    async def sync(self) -> None:
        """Record what is on the disk."""
        for session_id, events in self.events.items():
            self.synced[session_id] = len(events)

    def read(
        self, session_id: SessionId, after: int = 0, limit: int | None = None
    ) -> list[LoggedEvent]:
        """Return events after a sequence number."""
        events = self._of(session_id)[after:]
        wanted = events if limit is None else events[:limit]
        return [LoggedEvent(event, event.model_dump_json()) for event in wanted]

    def replay(self, session_id: SessionId) -> Iterator[list[Event]]:
        """Yield pages of the log."""
        seq = 0
        while page := self.read(session_id, seq, PAGE):
            yield [logged.event for logged in page]
            seq = page[-1].event.seq

    def last_seq(self, session_id: SessionId) -> int:
        """Return the last sequence number."""
        return len(self._of(session_id))

    def find(
        self, types: Collection[str], session_id: SessionId | None = None
    ) -> list[LoggedEvent]:
        """Return the events of these types, of one session or all."""
        logs = self.events.values() if session_id is None else [self._of(session_id)]
        found = [event for events in logs for event in events]
        return [
            LoggedEvent(event, event.model_dump_json()) for event in found if event.type in types
        ]

    def pages(self, types: Collection[str]) -> Iterator[list[LoggedEvent]]:
        """Yield the events of these types, one per page."""
        for logged in self.find(types):
            yield [logged]

    def add(self, session: Session) -> Session:
        self.events[session.id] = []
        self.append(session.id, SessionCreate(session=session))
        return session

    def get(self, session_id: SessionId) -> Session:
        """Return the last logged version of the session."""
        for event in reversed(self._of(session_id)):
            if isinstance(event, SessionCreate | SessionUpdate):
                return event.session
        raise NotFound(f"There is no conversation {session_id}.")

    def update(self, session: Session) -> Session:
        """Log changed fields."""
        self.append(session.id, SessionUpdate(session=session))
        return session

    def needing_recovery(self) -> list[SessionId]:
        """Return the sessions to be recovered after a restart."""
        return [
            session_id
            for session_id, events in self.events.items()
            if _is_open(events)
            or self.get(session_id).status in {"running", "waiting", "interrupted"}
            or self.get(session_id).mode == "bypass"
        ]

    def _of(self, session_id: SessionId) -> list[Event]:
        try:
            return self.events[session_id]
        except KeyError as error:
            raise NotFound(f"There is no conversation {session_id}.") from error


def _is_open(events: list[Event]) -> bool:
    for event in reversed(events):
        if isinstance(event, TurnStart | TurnResume | TurnEnd):
            return not isinstance(event, TurnEnd)
    return False
