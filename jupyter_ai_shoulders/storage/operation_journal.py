"""The operation log: every change of a document, in a table of the state database.

Files, notebooks and undo write to ``SqliteOperationJournal`` on the event loop. ``operations_page``
reads it for ``GET operations`` in a thread with its own connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from jupyter_ai_shoulders.core.clock import Clock, IdSource, timestamp
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.core.operation_journal import (
    ChangeOutcome,
    LoggedChange,
    to_operation,
    with_outcome,
)
from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.ledger.database import query_rows
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.wire.ids import OperationId, SessionId, TurnId
from jupyter_ai_shoulders.wire.operations import (
    Operation,
    OperationsPage,
    OperationsQuery,
    OperationState,
)
from jupyter_ai_shoulders.wire.versions import well_formed

_COLUMNS = "o.id, o.at, o.state, o.body, o.number"
_PATH = "(o.document IN (?, ? || '/') OR o.new_document IN (?, ? || '/'))"
_BEGIN = """
    INSERT INTO operations (id, at, state, session, document, new_document, batch, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_END = "UPDATE operations SET state = ?, body = ? WHERE id = ?"
_DOING = "note a change of a document"
_ROW_BYTES = 600


class SqliteOperationJournal:
    """``OperationJournal`` on the database. For the event loop: a call takes one commit."""

    def __init__(
        self, database: Database, log: SqliteEventLog, clock: Clock, ids: IdSource
    ) -> None:
        self._database = database
        self._log = log
        self._clock = clock
        self._ids = ids
        self._begun: dict[OperationId, LoggedChange] = {}
        """Unfinished changes, needed when they end."""

    def begin(self, change: LoggedChange) -> OperationId:
        """Record a change before it is made. Raises ``StateUnavailable``."""
        operation_id = OperationId(self._ids.new("operation"))
        at = timestamp(self._clock.now())
        body = _dump(change)
        row = (
            operation_id,
            at,
            "begun",
            change.origin.session_id,
            change.document,
            change.new_document,
            change.origin.batch,
            body,
        )
        self._execute(_BEGIN, row)
        self._begun[operation_id] = change
        self._log.note_commit(_ROW_BYTES)
        crash_point("operations.begin.committed")
        return operation_id

    def end(
        self, operation_id: OperationId, state: OperationState, outcome: ChangeOutcome | None = None
    ) -> None:
        """Record the outcome. Raises ``NotFound``, ``StateUnavailable``."""
        change = with_outcome(self.change(operation_id), outcome)
        others = self._others(change.origin.undoes, state)
        row = (state, _dump(change), operation_id)
        if others:
            with self._database.transaction(_DOING) as connection:
                connection.execute(_END, row)
                for other, now in others:
                    connection.execute("UPDATE operations SET state = ? WHERE id = ?", (now, other))
        else:
            self._execute(_END, row)
        self._begun.pop(operation_id, None)
        self._log.note_commit(_ROW_BYTES)
        crash_point("operations.end.committed")

    async def sync(self) -> None:
        """Return when all earlier writes are on disk. Raises ``StateUnavailable``."""
        await self._log.sync()

    def get(self, operation_id: OperationId) -> Operation:
        """Return an operation. Raises ``NotFound``."""
        return _operation(self._row(operation_id))

    def change(self, operation_id: OperationId) -> LoggedChange:
        """Return the recorded change. Raises ``NotFound``."""
        begun = self._begun.get(operation_id)
        return begun if begun is not None else _change(self._row(operation_id)[3])

    def unfinished(self) -> Sequence[Operation]:
        """Return the unfinished operations in order."""
        return self._found("o.state = 'begun' ORDER BY o.number")

    def of_batch(self, batch: str) -> Sequence[Operation]:
        """Return the operations of a batch in order."""
        return self._found("o.batch = ? ORDER BY o.number", batch)

    def recent(
        self, *, session_id: SessionId | None = None, path: str | None = None, limit: int = 100
    ) -> Sequence[Operation]:
        """Return operations, the latest first."""
        conditions, values = _conditions(session_id, path)
        where = " AND ".join(conditions) or "1"
        return self._found(f"{where} ORDER BY o.number DESC LIMIT ?", *values, limit)

    def of_turn(self, session_id: SessionId, turn_id: TurnId) -> Sequence[Operation]:
        """Return the operations of a turn in order."""
        return self._found(
            "o.session = ? AND iif(json_valid(o.body), "
            "json_extract(o.body, '$.origin.turn_id'), '') = ? ORDER BY o.number",
            session_id,
            turn_id,
        )

    def of_session(self, session_id: SessionId) -> Sequence[Operation]:
        """Return the operations of a session in order."""
        return self._found("o.session = ? ORDER BY o.number", session_id)

    def _execute(self, statement: str, row: tuple[object, ...]) -> None:
        connection = self._database.open()
        try:
            connection.execute(statement, row)
        except sqlite3.Error as error:
            raise self._database.failed(_DOING, error) from error

    def _found(self, where: str, *values: object) -> list[Operation]:
        query = f"SELECT {_COLUMNS} FROM operations o WHERE {where}"  # noqa: S608 fixed conditions
        return _operations(self._database.rows(query, *values))

    def _row(self, operation_id: OperationId) -> tuple[Any, ...]:
        query = f"SELECT {_COLUMNS} FROM operations o WHERE o.id = ?"  # noqa: S608 a constant
        found = self._database.rows(query, well_formed(operation_id))
        if not found:
            raise NotFound(f"There is no change {operation_id} in the log.")
        return found[0]

    def _others(
        self, undone: OperationId | None, state: OperationState
    ) -> list[tuple[OperationId, OperationState]]:
        """Return the new states of the change a row undoes and of the change that one undid."""
        if undone is None or state not in {"done", "undone"}:
            return []
        if state == "undone":
            return [(undone, "done")]
        again = self._undoes(undone)
        return [(undone, "undone"), *([] if again is None else [(again, "done")])]

    def _undoes(self, operation_id: OperationId) -> OperationId | None:
        try:
            return self.change(operation_id).origin.undoes
        except NotFound:
            return None  # its conversation was purged


def operations_page(database: Path, query: OperationsQuery, owner: str | None) -> OperationsPage:
    """Return changes, the latest first; on a hub those of ``owner`` and of shared sessions.

    Blocks. Raises ``InvalidRequest`` (cursor), ``StateUnavailable``.
    """
    conditions, values = _conditions(query.session, query.path)
    if query.cursor is not None:
        conditions.append("o.number < ?")
        values.append(_cursor(query.cursor))
    if owner is not None:
        conditions.append(
            "EXISTS (SELECT 1 FROM sessions s WHERE s.id = o.session "
            "AND (s.owner IS NULL OR s.owner = ?))"
        )
        values.append(owner)
    found = query_rows(
        database,
        f"SELECT {_COLUMNS} FROM operations o WHERE {' AND '.join(conditions) or '1'} "  # noqa: S608 fixed conditions
        "ORDER BY o.number DESC LIMIT ?",
        *values,
        query.limit + 1,
    )
    shown = found[: query.limit]
    return OperationsPage(
        operations=tuple(_operations(shown)),
        next_cursor=str(shown[-1][4]) if len(found) > query.limit else None,
    )


def _conditions(session: SessionId | None, path: str | None) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    if session is not None:
        conditions.append("o.session = ?")
        values.append(session)
    if path is not None:
        conditions.append(_PATH)
        values += [path.rstrip("/")] * 4
    return conditions, values


def _cursor(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise InvalidRequest(f"cursor: {text[:40]!r} is not a cursor of this list.")
    return int(text)


def changes_with_trash(connection: sqlite3.Connection, session_id: str) -> list[OperationId]:
    """Return the changes of a session for which earlier content is stored in files."""
    query = "SELECT id, body FROM operations WHERE session = ?"
    return [
        OperationId(row_id)
        for row_id, body in connection.execute(query, (session_id,))
        if '"kind":"delete"' in body or '"kind":"database"' in body
    ]


@cache
def _codec() -> TypeAdapter[LoggedChange]:
    """Return what reads and writes rows; made late, because pydantic takes milliseconds for it."""
    return TypeAdapter(LoggedChange)


def _dump(change: LoggedChange) -> str:
    return _codec().dump_json(change, exclude_defaults=True).decode()


def _change(body: str) -> LoggedChange:
    return _codec().validate_json(body)


def _operation(row: tuple[Any, ...]) -> Operation:
    return to_operation(row[0], row[1], _change(row[3]), row[2])


def _operations(found: Sequence[tuple[Any, ...]]) -> list[Operation]:
    """Return the rows; unreadable ones are left out, so that they do not hide the others."""
    operations: list[Operation] = []
    for row in found:
        with suppress(ValidationError):
            operations.append(_operation(row))
    return operations
