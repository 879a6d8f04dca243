"""The tables of schedules and of their runs, in the state database.

Used by ``host.automation`` on the event loop: a call takes one commit. The start of a run and the
schedule's next time are one commit, so that a crash neither repeats nor loses a run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, StateUnavailable
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.ledger.database import query_rows
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.wire.api.automation.schedules import RunState, Schedule, ScheduleRun
from jupyter_ai_shoulders.wire.ids import SessionId

OPEN_STATES: frozenset[RunState] = frozenset({"starting", "running", "waiting"})
KEPT_RUNS = 200
"""Ended runs kept per schedule."""
_DOING = "store a schedule"
_ROW_BYTES = 800

ModelT = TypeVar("ModelT", bound=BaseModel)


class SqliteSchedules:
    """Schedules and runs; ``sync`` brings what was stored to the disk."""

    def __init__(self, database: Database, log: SqliteEventLog) -> None:
        self._database = database
        self._log = log

    async def sync(self) -> None:
        """Return when all earlier writes are on disk. Raises ``StateUnavailable``."""
        await self._log.sync()

    def all(self) -> list[Schedule]:
        """Return every schedule in the order of creation. Raises ``StateUnavailable``."""
        return _parsed(Schedule, self._database.rows("SELECT body FROM schedules ORDER BY number"))

    def get(self, schedule_id: str) -> Schedule:
        """Return a schedule. Raises ``NotFound``."""
        rows = self._database.rows("SELECT body FROM schedules WHERE id = ?", schedule_id)
        found = _parsed(Schedule, rows)
        if not found:
            raise NotFound(f"There is no schedule {schedule_id}.")
        return found[0]

    def add(self, schedule: Schedule) -> None:
        """Store a new schedule. Raises ``StateUnavailable``."""
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO schedules (id, owner, next_at, body) VALUES (?, ?, ?, ?)",
                (schedule.id, schedule.owner, schedule.next_at, schedule.model_dump_json()),
            )

    def update(self, schedule: Schedule) -> Schedule:
        """Store a changed schedule with the next revision and return it.

        Raises ``Conflict`` when its revision is not the stored one, ``NotFound``.
        """
        with self._writing() as connection:
            changed = schedule.model_copy(update={"revision": schedule.revision + 1})
            self._update(connection, changed, schedule.revision)
        return changed

    def advance(self, schedule: Schedule) -> None:
        """Store a schedule's next time and state; its revision stays, for those who edit it.

        Raises ``Conflict`` when its revision has changed, ``NotFound``.
        """
        with self._writing() as connection:
            self._update(connection, schedule, schedule.revision)

    def delete(self, schedule_id: str, day: str) -> None:
        """Remove a schedule and its history; the conversations stay.

        Runs since ``day`` stay until a later deletion, since they count for the limits of that day,
        and so do runs that have not ended.
        """
        with self._writing() as connection:
            connection.execute("DELETE FROM schedules WHERE id = ?", (schedule_id,))
            connection.execute(
                "DELETE FROM schedule_runs WHERE started_at < ? AND NOT is_open "
                "AND schedule NOT IN (SELECT id FROM schedules)",
                (day,),
            )

    def next_at(self) -> str | None:
        """Return the earliest time a schedule is due, None without one."""
        rows = self._database.rows("SELECT min(next_at) FROM schedules")
        return rows[0][0] if rows else None

    def due(self, now: str) -> list[Schedule]:
        """Return the schedules due at a time, the longest due first."""
        rows = self._database.rows(
            "SELECT body FROM schedules WHERE next_at <= ? ORDER BY next_at, number", now
        )
        return _parsed(Schedule, rows)

    def take_unreadable(self, now: str) -> list[str]:
        """Take the due schedules that cannot be read out of the plan, and return their ids."""
        rows = self._database.rows("SELECT id, body FROM schedules WHERE next_at <= ?", now)
        unreadable = [schedule_id for schedule_id, body in rows if not _parsed(Schedule, [(body,)])]
        if unreadable:
            with self._writing() as connection:
                update = "UPDATE schedules SET next_at = NULL WHERE id = ?"
                connection.executemany(update, [(schedule_id,) for schedule_id in unreadable])
        return unreadable

    def begin_run(self, run: ScheduleRun, schedule: Schedule | None = None) -> bool:
        """Store the start of a run, with the schedule's next time; return False if it has begun.

        A run has an id that follows from its schedule and time, so it begins once. Raises as
        ``advance``; then nothing was stored.
        """
        with self._writing() as connection:
            known = connection.execute("SELECT 1 FROM schedule_runs WHERE id = ?", (run.id,))
            begun = known.fetchone() is not None
            if not begun:
                self._insert_run(connection, run)
            if schedule is not None:
                self._update(connection, schedule, schedule.revision)
        crash_point("schedules.run.begun")
        return not begun

    def update_run(self, run: ScheduleRun) -> None:
        """Store the state of a run."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE schedule_runs SET is_open = ?, body = ? WHERE id = ?",
                (run.state in OPEN_STATES, run.model_dump_json(), run.id),
            )

    def run(self, run_id: str) -> ScheduleRun:
        """Return a run. Raises ``NotFound``."""
        found = _parsed(
            ScheduleRun, self._database.rows("SELECT body FROM schedule_runs WHERE id = ?", run_id)
        )
        if not found:
            raise NotFound(f"There is no run {run_id}.")
        return found[0]

    def run_of_session(self, session_id: SessionId) -> ScheduleRun | None:
        """Return the latest run in a conversation, None without one."""
        rows = self._database.rows(
            "SELECT body FROM schedule_runs WHERE json_extract(body, '$.session_id') = ? "
            "ORDER BY number DESC LIMIT 1",
            session_id,
        )
        found = _parsed(ScheduleRun, rows)
        return found[0] if found else None

    def open_runs(self) -> list[ScheduleRun]:
        """Return the runs that have not ended, the oldest first."""
        rows = self._database.rows("SELECT body FROM schedule_runs WHERE is_open ORDER BY number")
        return _parsed(ScheduleRun, rows)

    def runs(self, schedule_id: str, limit: int) -> list[ScheduleRun]:
        """Return the runs of a schedule, the latest first."""
        rows = self._database.rows(
            "SELECT body FROM schedule_runs WHERE schedule = ? ORDER BY number DESC LIMIT ?",
            schedule_id,
            limit,
        )
        return _parsed(ScheduleRun, rows)

    def runs_since(self, moment: str) -> list[ScheduleRun]:
        """Return the runs of all schedules that started at or after a time, the oldest first."""
        rows = self._database.rows(
            "SELECT body FROM schedule_runs WHERE started_at >= ? ORDER BY number", moment
        )
        return _parsed(ScheduleRun, rows)

    def _insert_run(self, connection: sqlite3.Connection, run: ScheduleRun) -> None:
        connection.execute(
            "INSERT INTO schedule_runs (id, schedule, started_at, is_open, body) "
            "VALUES (?, ?, ?, ?, ?)",
            (
                run.id,
                run.schedule_id,
                run.started_at,
                run.state in OPEN_STATES,
                run.model_dump_json(),
            ),
        )
        connection.execute(
            "DELETE FROM schedule_runs WHERE schedule = ? AND NOT is_open AND number < "
            "(SELECT number FROM schedule_runs WHERE schedule = ? ORDER BY number DESC "
            "LIMIT 1 OFFSET ?)",
            (run.schedule_id, run.schedule_id, KEPT_RUNS - 1),
        )

    def _update(self, connection: sqlite3.Connection, changed: Schedule, revision: int) -> None:
        row = connection.execute(
            "SELECT body FROM schedules WHERE id = ?", (changed.id,)
        ).fetchone()
        if row is None:
            raise NotFound(f"There is no schedule {changed.id}.")
        if Schedule.model_validate_json(row[0]).revision != revision:
            raise stale_schedule()
        connection.execute(
            "UPDATE schedules SET next_at = ?, body = ? WHERE id = ?",
            (changed.next_at, changed.model_dump_json(), changed.id),
        )

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with self._database.transaction(_DOING) as connection:
            yield connection
        self._log.note_commit(_ROW_BYTES)


def stored_schedules(database: Path) -> list[Schedule]:
    """Return the schedules of a database that no server may have open. For any thread.

    Raises ``StateUnavailable``.
    """
    if not query_rows(database, "SELECT 1 FROM sqlite_schema WHERE name = 'schedules'"):
        return []  # of an earlier version
    return _parsed(Schedule, query_rows(database, "SELECT body FROM schedules ORDER BY number"))


def has_schedules(database: Path) -> bool:
    """Return whether a database that another process may have open has active schedules.

    For any thread.
    """
    try:
        return any(schedule.state == "active" for schedule in stored_schedules(database))
    except StateUnavailable:  # of another version, or damaged: its owner reports it
        return False


def stale_schedule() -> Conflict:
    """Return the refusal of a change that another one preceded."""
    return Conflict(
        "The schedule was changed elsewhere. Your change was not saved.",
        code="stale",
        hint="Look at it again and repeat the change.",
    )


def _parsed(model: type[ModelT], rows: list[tuple[Any, ...]]) -> list[ModelT]:
    """Return the rows; unreadable ones are left out, so that they do not hide the others."""
    found: list[ModelT] = []
    for (body,) in rows:
        with suppress(ValidationError):
            found.append(model.model_validate_json(body))
    return found
