"""Writes salvaged data into a new database, and reports what is missing.

Called by ``storage.database``. Each restored conversation gets a notice; the report covers all of
them.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.storage.salvage.damaged_database import (
    PLAIN_TABLES,
    SalvagedData,
    SalvagedSession,
    parse_stored_event,
)
from jupyter_ai_shoulders.storage.schema.event_rows import placeholders
from jupyter_ai_shoulders.storage.schema.session_projection import (
    LogTail,
    Projected,
    create_row,
    insert_event,
    insert_row,
    project_event,
)
from jupyter_ai_shoulders.wire.events import Notice, SessionCreate, SessionUpdate
from jupyter_ai_shoulders.wire.sessions import Session


@dataclass(slots=True)
class Restoration:
    """The restored data, and what is missing."""

    source: str
    """Name of the damaged file, which is kept."""
    sessions: int = 0
    incomplete: int = 0
    events: int = 0
    missing: int = 0

    @property
    def text(self) -> str:
        """Return the report for the user."""
        lost = "No event is known to be missing, but the newest ones may be"
        if self.missing:
            lost = (
                f"{count_with_noun(self.missing, 'event')} are missing in "
                f"{count_with_noun(self.incomplete, 'conversation')}, "
                "and the newest ones may be too"
            )
        sessions = count_with_noun(self.sessions, "conversation")
        kept = f"{sessions} with {count_with_noun(self.events, 'event')}"
        return (
            f"The database of the conversations was damaged. {kept} were restored. {lost}. "
            f"The damaged file is kept as {self.source}."
        )


def count_with_noun(count: int, noun: str) -> str:
    """Return the count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def restore_database(connection: sqlite3.Connection, saved: SalvagedData, at: str) -> Restoration:
    """Write salvaged data into a new database, with a notice in each session."""
    report = Restoration(str(saved.source))
    connection.execute("BEGIN IMMEDIATE")
    for table, rows in saved.rows.items():
        _restore_rows(connection, table, rows)
    owned = any(_owner(session) is not None for session in saved.sessions)
    for session in saved.sessions:
        _restore_session(connection, session, report, at, owned=owned)
        crash_point("salvage.session.written")
    connection.execute("COMMIT")
    crash_point("salvage.session.committed")
    return report


def _restore_rows(
    connection: sqlite3.Connection, table: str, rows: Iterable[tuple[object, ...]]
) -> None:
    columns = PLAIN_TABLES[table]
    marks = ", ".join("?" * len(columns.split(",")))
    for row in rows:
        with contextlib.suppress(sqlite3.IntegrityError):  # a damaged row may be incomplete
            connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", row)  # noqa: S608 constants


def _restore_session(
    connection: sqlite3.Connection,
    saved: SalvagedSession,
    report: Restoration,
    at: str,
    *,
    owned: bool,
) -> None:
    session = _session(saved, at, owned=owned)
    number = create_row(connection, SessionCreate(session=session))
    for seq, text in _missing(saved, at):
        insert_row(connection, LogTail(number, seq - 1), "notice", text)
    for seq, stored in saved.events.items():
        event = parse_stored_event(stored.text)
        kind = event.type if event else stored.type
        insert_row(connection, LogTail(number, seq - 1), kind, stored.text)
        if isinstance(event, Projected) and not isinstance(event, SessionCreate):
            project_event(connection, event)
    if saved.row is not None:  # newer than the last readable update
        project_event(connection, SessionUpdate(session_id=saved.id, session=session, quiet=True))
    intact, last = len(saved.events), saved.last_seq
    report.sessions += 1
    report.events += intact
    report.missing += last - intact
    report.incomplete += last > intact
    notice = Notice(
        seq=last + 1,
        session_id=saved.id,
        at=at,
        level="warning",
        code="salvaged",
        text=_notice(intact, last - intact, report.source),
    )
    insert_event(connection, LogTail(number, last), notice, encode_model(notice)[1])
    if saved.deleted_at is not None:
        connection.execute(
            "UPDATE sessions SET deleted_at = ? WHERE number = ?", (saved.deleted_at, number)
        )


def _missing(saved: SalvagedSession, at: str) -> Iterator[tuple[int, str]]:
    """Yield the texts of notices in place of unreadable events."""
    run: list[tuple[int, str]] = []
    for seq in range(1, saved.last_seq + 2):
        if seq <= saved.last_seq and seq not in saved.events:
            run.append((seq, ""))
            continue
        yield from ((each.seq, each.text) for each in placeholders(saved.id, run, at))
        run = []


def _notice(intact: int, missing: int, source: str) -> str:
    lost = (
        f"{count_with_noun(missing, 'event')} of it could not be read"
        if missing
        else "its newest events"
    )
    rest = f"{lost}, and its newest events may be missing" if missing else f"{lost} may be missing"
    return (
        "The database of the conversations was damaged. This conversation was restored with "
        f"{count_with_noun(intact, 'event')}; {rest}. The damaged file is kept as {source}."
    )


def _session(saved: SalvagedSession, at: str, *, owned: bool) -> Session:
    """Return the newest known state of a session."""
    if saved.row is not None:
        return saved.row.model_copy(update={"id": saved.id})
    known = _logged(saved)
    if known is not None:
        return known
    return Session(
        id=saved.id,
        kind="chat",
        source="chat",
        title="Recovered conversation",
        model=None,
        mode="ask",
        tools="enabled",
        toolset="full",
        interactive=True,
        status="idle",
        anchor=None,
        owner="" if owned else None,  # never another user's
        message_count=0,
        last_seq=0,
        tokens_used=0,
        window=None,
        cost_micro_usd=None,
        created_at=at,
        updated_at=at,
    )


def _logged(saved: SalvagedSession) -> Session | None:
    for stored in reversed(saved.events.values()):
        if stored.type.startswith("session-"):
            event = parse_stored_event(stored.text)
            if isinstance(event, SessionCreate | SessionUpdate):
                return event.session
    return None


def _owner(saved: SalvagedSession) -> str | None:
    session = saved.row or _logged(saved)
    return session.owner if session else None
