"""The table of sessions as a projection of the event log.

Called by ``SqliteEventLog`` in the transaction of each event, and by
``storage.salvage.restoration`` for each salvaged event, so the table can always be rebuilt from the
events.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from jupyter_ai_shoulders.storage.schema.event_rows import checksum
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS
from jupyter_ai_shoulders.wire.events import (
    Event,
    MessageAdd,
    MessageUpdate,
    Restore,
    SessionCreate,
    SessionUpdate,
    TurnEnd,
    TurnResume,
    TurnStart,
)
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Session

Projected = (
    SessionCreate
    | SessionUpdate
    | MessageAdd
    | MessageUpdate
    | Restore
    | TurnStart
    | TurnResume
    | TurnEnd
)
"""The events that change a session's row."""

_INSERT = """
    INSERT INTO sessions (kind, source, title, document, owner, body, id, updated_order)
    VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(updated_order), 0) + 1 FROM sessions))
"""
_UPDATE = """
    UPDATE sessions
    SET kind = ?, source = ?, title = ?, document = ?, owner = ?, body = ?,
        updated_order = (SELECT max(updated_order) + 1 FROM sessions)
    WHERE id = ?
"""
_MOVE = """
    UPDATE sessions
    SET kind = ?, source = ?, title = ?, document = ?, owner = ?, body = ?
    WHERE id = ?
"""


OWN_EVENT = f"""
    NOT EXISTS (
      SELECT 1 FROM events origin WHERE origin.id = ((events.id >> {SEQ_BITS}) << {SEQ_BITS}) + 1
        AND events.id - origin.id < iif(json_valid(origin.body),
          coalesce(json_extract(origin.body, '$.origin.seq'), 0), 0))
"""  # noqa: S608 constants
"""Condition on ``events``: excludes copies in forks, whose originals count."""


class LogTail(NamedTuple):
    """A session's number in the database and the ``seq`` of its last event."""

    number: int
    seq: int


def first_id(number: int) -> int:
    """Return the row id before the session's first event."""
    return number << SEQ_BITS


def last_id(number: int) -> int:
    """Return the highest row id an event of the session can have."""
    return ((number + 1) << SEQ_BITS) - 1


def find_log_tail(connection: sqlite3.Connection, session_id: SessionId) -> LogTail | None:
    """Return the end of the session's log, or None if there is no such session."""
    row = connection.execute("SELECT number FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        return None
    number: int = row[0]
    (newest,) = connection.execute(
        "SELECT max(id) FROM events WHERE id > ? AND id <= ?", (first_id(number), last_id(number))
    ).fetchone()
    return LogTail(number, 0 if newest is None else newest - first_id(number))


def create_row(connection: sqlite3.Connection, event: SessionCreate) -> int:
    """Add the session's row; return its number."""
    cursor = connection.execute(_INSERT, _fields(event.session))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def insert_event(connection: sqlite3.Connection, tail: LogTail, event: Event, text: str) -> None:
    """Add the event's row after ``tail``."""
    insert_row(connection, tail, event.type, text)


def insert_row(connection: sqlite3.Connection, tail: LogTail, kind: str, text: str) -> None:
    """Add a row to the table of events after ``tail``."""
    row_id = first_id(tail.number) + tail.seq + 1
    connection.execute(
        "INSERT INTO events (id, type, body, checksum) VALUES (?, ?, ?, ?)",
        (row_id, kind, text, checksum(row_id, text.encode())),
    )


def project_event(connection: sqlite3.Connection, event: Projected) -> None:
    """Apply the event to the session's row."""
    match event:
        case SessionUpdate(quiet=True):
            connection.execute(_MOVE, _fields(event.session))
        case SessionCreate() | SessionUpdate():
            connection.execute(_UPDATE, _fields(event.session))
        case MessageAdd():
            hidden = 0 if event.replaces is None else event.replaces.messages
            _count_message(connection, event.session_id, 1 - hidden)
        case Restore():
            if event.conversation is not None:
                _count_message(connection, event.session_id, -event.conversation.messages)
        case MessageUpdate():
            if event.status == "removed":
                _count_message(connection, event.session_id, -1)
        case TurnStart() | TurnResume() | TurnEnd():
            turn = None if isinstance(event, TurnEnd) else event.turn_id
            connection.execute(
                "UPDATE sessions SET open_turn = ? WHERE id = ?", (turn, event.session_id)
            )


def _count_message(connection: sqlite3.Connection, session_id: SessionId, change: int) -> None:
    connection.execute(
        "UPDATE sessions SET message_count = message_count + ? WHERE id = ?", (change, session_id)
    )


def _fields(session: Session) -> tuple[str | None, ...]:
    document = session.anchor.document if session.anchor else None
    return (
        session.kind,
        session.source,
        session.title,
        document,
        session.owner,
        session.model_dump_json(),
        session.id,
    )
