"""What can still be read of a damaged database, and how it enters a new one.

Called by ``database`` after it moved the damaged file aside. Sessions are remade from their
events; of each session the events up to the first unreadable one are kept.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.encode import encode
from jupyter_ai_shoulders.storage.migrations import SEQ_BITS
from jupyter_ai_shoulders.storage.projection import (
    Projected,
    Tail,
    create_row,
    insert_event,
    project,
)
from jupyter_ai_shoulders.wire.events import Event, Notice, SessionCreate, parse_event
from jupyter_ai_shoulders.wire.ids import SessionId


@dataclass(frozen=True, slots=True)
class Saved:
    """The events read, by session in their order, and the sessions known to be deleted."""

    source: Path
    sessions: tuple[tuple[Event, ...], ...]
    deleted: dict[SessionId, str]
    operations: tuple[tuple[object, ...], ...] = ()
    """Rows of the operation log, in order."""


_OPERATION = "number, id, at, state, session, document, new_document, batch, body"


def read(path: Path) -> Saved:
    """Read what can be read of the damaged database at ``path``; never raises for damage."""
    bodies: dict[int, str] = {}
    deleted: dict[SessionId, str] = {}
    operations: dict[int, tuple[object, ...]] = {}
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.text_factory = _text
            connection.execute("PRAGMA writable_schema = ON")  # accept a cut-off file
            for direction in ("ASC", "DESC"):  # a broken page ends a scan: come from both sides
                with contextlib.suppress(sqlite3.DatabaseError):
                    query = f"SELECT id, body FROM events ORDER BY id {direction}"  # noqa: S608 a constant
                    bodies.update(connection.execute(query))
                with contextlib.suppress(sqlite3.DatabaseError):
                    query = f"SELECT {_OPERATION} FROM operations ORDER BY number {direction}"  # noqa: S608 constants
                    operations.update((row[0], row) for row in connection.execute(query))
            with contextlib.suppress(sqlite3.DatabaseError):
                query = "SELECT id, deleted_at FROM sessions WHERE deleted_at IS NOT NULL"
                deleted.update(connection.execute(query))
    except sqlite3.Error:
        bodies.clear()  # not even a database any more
    rows = tuple(row for _, row in sorted(operations.items()))
    return Saved(path, _whole_sessions(bodies), deleted, rows)


def restore(connection: sqlite3.Connection, saved: Saved, at: str) -> None:
    """Write what was saved into a new database, each session with a notice of what happened."""
    marks = ", ".join("?" * len(_OPERATION.split(",")))
    for row in saved.operations:
        with contextlib.suppress(sqlite3.IntegrityError):  # a damaged row may lack what it needs
            connection.execute(f"INSERT INTO operations ({_OPERATION}) VALUES ({marks})", row)  # noqa: S608 constants
    for events in saved.sessions:
        connection.execute("BEGIN IMMEDIATE")
        first = events[0]
        assert isinstance(first, SessionCreate)
        number = create_row(connection, first)
        notice = Notice(
            seq=len(events) + 1,
            session_id=first.session.id,
            at=at,
            level="warning",
            code="salvaged",
            text=(
                "The database of the conversations was damaged. This one was restored as far as it "
                f"could be read ({len(events)} events); the damaged file is kept as {saved.source}."
            ),
        )
        for seq, event in enumerate((*events, notice)):
            insert_event(connection, Tail(number, seq), event, encode(event)[1])
            if isinstance(event, Projected):
                project(connection, event)
        if first.session.id in saved.deleted:
            connection.execute(
                "UPDATE sessions SET deleted_at = ? WHERE number = ?",
                (saved.deleted[first.session.id], number),
            )
        crash_point("salvage.session.written")
        connection.execute("COMMIT")
        crash_point("salvage.session.committed")


def _whole_sessions(bodies: dict[int, str]) -> tuple[tuple[Event, ...], ...]:
    """Return each session's events from the first to the last before a gap."""
    by_session: dict[int, dict[int, str]] = defaultdict(dict)
    for row_id, body in sorted(bodies.items()):
        number = row_id >> SEQ_BITS
        by_session[number][row_id - (number << SEQ_BITS)] = body
    sessions = (_unbroken(events) for _, events in sorted(by_session.items()))
    return tuple(events for events in sessions if events and isinstance(events[0], SessionCreate))


def _unbroken(bodies: dict[int, str]) -> tuple[Event, ...]:
    numbered = takewhile(
        lambda pair: pair[0] == pair[1], zip(bodies, range(1, len(bodies) + 1), strict=True)
    )
    events: list[Event] = []
    for seq, _ in numbered:
        event = _parsed(bodies[seq])
        if event is None:
            break
        events.append(event)
    return tuple(events)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _parsed(body: str) -> Event | None:
    try:
        return parse_event(body)
    except ValidationError:
        return None
