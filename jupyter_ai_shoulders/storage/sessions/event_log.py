"""The event log on SQLite: an event is committed before it is published.

Written by the engine through the ``EventLog`` port, read by the server for clients that catch up.
"""

from __future__ import annotations

import logging
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from itertools import islice
from time import perf_counter
from typing import Any

from pydantic import ValidationError

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.base import EventSink, LoggedEvent, LogTimings
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.durability import Durability
from jupyter_ai_shoulders.storage.errors import session_not_found
from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.storage.schema.event_rows import (
    COLUMNS,
    EventText,
    event_texts,
    is_intact,
)
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS, UNSTREAMED
from jupyter_ai_shoulders.storage.schema.session_projection import (
    LogTail,
    Projected,
    create_row,
    find_log_tail,
    first_id,
    insert_event,
    last_id,
    project_event,
)
from jupyter_ai_shoulders.storage.sessions.condensed_rows import condensed_events
from jupyter_ai_shoulders.wire.events import (
    Event,
    ReasoningDelta,
    SessionCreate,
    SessionUpdate,
    TextDelta,
    ToolProgress,
    parse_event,
)
from jupyter_ai_shoulders.wire.ids import SessionId

_log = logging.getLogger(__name__)

_STORE = "store an event"
TAILS = 1_000
"""Conversations whose last ``seq`` is kept; reading it again takes 10 µs."""
_CONTENT = ',"type":'
"""What follows ``EventBase``'s fields in an encoded event."""
_COLUMNS = "e.id, CAST(e.body AS BLOB), e.checksum"
PAGE = 200
"""Events read and parsed at once, in about 5 ms."""
_STREAMED = (TextDelta, ReasoningDelta, ToolProgress)
REPLAYED = 500
"""Events of a replay read at once, in less than 5 ms: most are pieces of text."""


class SqliteEventLog:
    """``EventLog`` on the database. One per process; not for use from threads."""

    def __init__(
        self,
        database: Database,
        sink: EventSink,
        clock: Clock,
        flush_blobs: Callable[[], None],
        redact: Callable[[str], str] = str,
        *,
        redact_streamed: Callable[[str], str] | None = None,
    ) -> None:
        """``flush_blobs`` syncs the blobs, before the events that refer to them.

        ``redact`` removes secrets from the text of every event before it is logged or sent to
        clients. ``redact_streamed``, if given, does so for deltas, whose text a ``StreamRedactor``
        has masked already.
        """
        self._database = database
        self._sink = sink
        self._clock = clock
        self._flush_blobs = flush_blobs
        self._redact = redact
        self._redact_streamed = redact_streamed or redact
        self.timings: LogTimings | None = None
        """Receives how long commits and syncs take; those of streamed text are not measured."""
        self._durability = Durability(self._flush, database.checkpoint)
        self._tails: dict[SessionId, LogTail] = {}

    def append(self, session_id: SessionId, event: Event) -> LoggedEvent:
        """Stamp (seq, session id, time), commit and publish an event; return the logged event.

        Raises ``NotFound`` for an unknown session and ``StateUnavailable`` (disk full, read-only);
        then nothing was logged or published.
        """
        tail = self._begin(session_id, event)
        stamped, text = self._redacted(*encode_model(self._stamped(session_id, event, tail)))
        if self.timings is None or isinstance(stamped, _STREAMED):
            tail = self._committed(stamped, text, tail)
        else:
            began = perf_counter()
            tail = self._committed(stamped, text, tail)
            self.timings.committed(perf_counter() - began)
        self._tails[session_id] = LogTail(tail.number, tail.seq + 1)
        self._database.last_event = first_id(tail.number) + tail.seq + 1
        self._durability.note_commit(len(text))
        logged = LoggedEvent(stamped, text)
        self._sink.publish(logged)
        crash_point("log.event.published")
        return logged

    def note_commit(self, size: int) -> None:
        """Record a commit to another table of the database; it is synced with the events."""
        self._durability.note_commit(size)

    async def sync(self) -> None:
        """Return when everything appended so far is on disk. Raises ``StateUnavailable``."""
        await self._durability.sync()

    def read(
        self, session_id: SessionId, after: int = 0, limit: int | None = None
    ) -> list[LoggedEvent]:
        """Return events with ``seq > after`` in order, with notices in place of damaged ones.

        Raises ``NotFound``, and ``StateUnavailable`` with code ``quarantined`` when a newer version
        wrote one of them.
        """
        return [
            LoggedEvent(_parsed(session_id, text), text.text)
            for text in self.texts(session_id, after, limit)
        ]

    def texts(
        self,
        session_id: SessionId,
        after: int = 0,
        limit: int | None = None,
        most_characters: int | None = None,
    ) -> list[EventText]:
        """Return events with ``seq > after`` in order, as encoded. Raises ``NotFound``.

        At most as many as fit ``most_characters``, but at least one. Notices replace damaged and
        lost events, so no number is skipped.
        """
        first, last = self._span(session_id)
        after = min(max(after, 0), last - first)
        rows = self._database.each_row(
            f"SELECT {COLUMNS} FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",  # noqa: S608 constants
            first + after,
            last,
            -1 if limit is None else limit,
        )
        texts: list[EventText] = []
        room = sys.maxsize if most_characters is None else most_characters
        with closing(rows):
            for text in islice(
                event_texts(session_id, rows, after, timestamp(self._clock.now())), limit
            ):
                room -= len(text.text)
                if texts and room < 0:
                    break
                texts.append(text)
        return texts

    def replay(self, session_id: SessionId) -> Iterator[list[Event]]:
        """Yield the log in pages, to be folded; see ``EventLog``.

        Errors and notices are those of ``read``.
        """
        first, last = self._span(session_id)
        seq = 0
        while rows := self._database.rows(
            f"SELECT {COLUMNS}, type FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",  # noqa: S608 constants
            first + seq,
            last,
            REPLAYED,
        ):
            try:
                events = condensed_events(rows, seq)
            except ValidationError:
                events = None
            if events is None:
                events = [logged.event for logged in self.read(session_id, seq, REPLAYED)]
                seq = events[-1].seq
            else:
                seq = rows[-1][0] - first
            yield events

    def last_seq(self, session_id: SessionId) -> int:
        """Return the last sequence number. Raises ``NotFound``."""
        return self._tail(session_id).seq

    def find(
        self, types: Collection[str], session_id: SessionId | None = None
    ) -> list[LoggedEvent]:
        """Return the events of these types, of one session or of all that are not deleted.

        Sessions are in the order of creation, events of a session in the order of ``seq``. Streamed
        types (deltas, tool progress) are not indexed and never returned. Unreadable events are left
        out.
        """
        marks = ", ".join("?" * len(types))
        if session_id is not None:
            rows = self._database.rows(
                f"SELECT {COLUMNS} FROM events WHERE type IN ({marks}) AND {UNSTREAMED} "  # noqa: S608 as below
                "AND id > ? AND id <= ? ORDER BY id",
                *types,
                *self._span(session_id),
            )
            return _readable(rows)
        rows = self._database.rows(
            f"""
            SELECT {_COLUMNS} FROM events e JOIN sessions s ON s.number = e.id >> {SEQ_BITS}
            WHERE e.type IN ({marks}) AND e.{UNSTREAMED} AND s.deleted_at IS NULL
            ORDER BY e.id
            """,  # noqa: S608 only question marks and constants are put in
            *types,
        )
        return _readable(rows)

    def pages(self, types: Collection[str]) -> Iterator[list[LoggedEvent]]:
        """Yield the result of ``find`` for all sessions, ``PAGE`` events at a time."""
        marks = ", ".join("?" * len(types))
        found = self._database.rows(
            f"""
            SELECT e.id FROM events e JOIN sessions s ON s.number = e.id >> {SEQ_BITS}
            WHERE e.type IN ({marks}) AND e.{UNSTREAMED} AND s.deleted_at IS NULL
            ORDER BY e.id
            """,  # noqa: S608 as in ``find``
            *types,
        )
        ids = [event_id for (event_id,) in found]
        for start in range(0, len(ids), PAGE):
            page = ids[start : start + PAGE]
            marks = ", ".join("?" * len(page))
            rows = self._database.rows(
                f"SELECT {COLUMNS} FROM events WHERE id IN ({marks}) ORDER BY id",  # noqa: S608 as in ``find``
                *page,
            )
            yield _readable(rows)

    def forget(self, session_id: SessionId) -> None:
        """Drop the cached state of a purged session."""
        self._tails.pop(session_id, None)

    async def aclose(self) -> None:
        """Sync everything; the log is not used afterwards."""
        await self._durability.aclose()

    def _begin(self, session_id: SessionId, event: Event) -> LogTail:
        """Return the end of the session's log; number 0 is for the session about to be created."""
        if not isinstance(event, SessionCreate):
            return self._tail(session_id)
        self._bound_tails()
        return LogTail(0, 0)

    def _bound_tails(self) -> None:
        if len(self._tails) >= TAILS:
            self._tails.clear()

    def _tail(self, session_id: SessionId) -> LogTail:
        tail = self._tails.get(session_id)
        if tail is None:
            tail = self._stored_tail(session_id)
            self._bound_tails()
            self._tails[session_id] = tail
        return tail

    def _span(self, session_id: SessionId) -> tuple[int, int]:
        """Return the row ids before and after which no event of the session is."""
        number = self._tail(session_id).number
        return first_id(number), last_id(number)

    def _stored_tail(self, session_id: SessionId) -> LogTail:
        connection = self._database.existing()
        try:
            tail = find_log_tail(connection, session_id) if connection else None
        except sqlite3.Error as error:
            raise self._database.failed("read the conversations", error) from error
        if tail is None:
            raise session_not_found(session_id)
        return tail

    def _stamped(self, session_id: SessionId, event: Event, tail: LogTail) -> Event:
        at = timestamp(self._clock.now())
        stamps: dict[str, object] = {"seq": tail.seq + 1, "session_id": session_id, "at": at}
        if isinstance(event, SessionCreate | SessionUpdate):
            quiet = isinstance(event, SessionUpdate) and event.quiet
            stamps["session"] = event.session.model_copy(
                update={
                    "last_seq": tail.seq + 1,
                    "message_count": self._message_count(tail),
                    "created_at": event.session.created_at or at,
                    "updated_at": event.session.updated_at if quiet else at,
                }
            )
        return event.model_copy(update=stamps)

    def _redacted(self, event: Event, text: str) -> tuple[Event, str]:
        stamps, mark, content = text.partition(_CONTENT)  # the log itself wrote the stamps
        is_streamed = isinstance(event, TextDelta | ReasoningDelta)
        redacted = (self._redact_streamed if is_streamed else self._redact)(content)
        if redacted == content:
            return event, text
        text = stamps + mark + redacted
        return _without_broken_state(event, parse_event(text), text)

    def _message_count(self, tail: LogTail) -> int:
        rows = self._database.rows(
            "SELECT message_count FROM sessions WHERE number = ?", tail.number
        )
        return rows[0][0] if rows else 0

    def _committed(self, event: Event, text: str, tail: LogTail) -> LogTail:
        """Commit an event; return the tail before it."""
        if isinstance(event, Projected):
            return self._commit_projected(event, text, tail)
        self._commit(event, text, tail)
        return tail

    def _commit(self, event: Event, text: str, tail: LogTail) -> None:
        connection = self._database.open()
        try:
            insert_event(connection, tail, event, text)
        except sqlite3.Error as error:
            raise self._database.failed(_STORE, error) from error
        self._database.note_success()
        crash_point("log.event.committed")

    def _commit_projected(self, event: Projected, text: str, tail: LogTail) -> LogTail:
        with self._database.transaction(_STORE) as connection:
            if isinstance(event, SessionCreate):
                tail = LogTail(create_row(connection, event), 0)
            else:
                project_event(connection, event)
            insert_event(connection, tail, event, text)
            crash_point("log.session.inserted")
        crash_point("log.session.committed")
        return tail

    def _flush(self) -> None:
        began = perf_counter()
        self._flush_blobs()
        crash_point("log.sync.blobs_flushed")
        self._database.flush()
        crash_point("log.sync.done")
        if self.timings is not None:
            self.timings.synced(perf_counter() - began)


def _parsed(session_id: SessionId, text: EventText) -> Event:
    try:
        return parse_event(text.text)
    except ValidationError as error:
        raise StateUnavailable(
            f"Event {text.seq} of conversation {session_id} cannot be understood: "
            f"{error.errors()[0]['msg']}.",
            code="quarantined",
            hint="A newer jupyter-ai-shoulders wrote it: upgrade, or export the conversation.",
        ) from error


def _readable(rows: list[tuple[Any, ...]]) -> list[LoggedEvent]:
    """Return the readable events: a damaged session must not hide the others."""
    events: list[LoggedEvent] = []
    for row_id, body, stored in rows:
        if not is_intact((row_id, body, stored)):
            _log.warning("Event row %d is damaged and is left out.", row_id)
            continue
        text = body.decode()
        try:
            events.append(LoggedEvent(parse_event(text), text))
        except ValidationError as error:
            _log.warning("Left out an event that cannot be understood: %s", error)
    return events


def _without_broken_state(before: Event, after: Event, text: str) -> tuple[Event, str]:
    """Return a redacted event without opaque state that redaction changed.

    A provider refuses a whole conversation because of one signature that does not match its text.
    """
    state = getattr(before, "state", None)
    if state is None or getattr(after, "state", None) == state:
        return after, text
    return encode_model(after.model_copy(update={"state": None}))
