"""In-memory ports of files, for tests of tools, pages and review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from jupyter_ai_shoulders.core.clock import timestamp
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.core.operation_journal import (
    ChangeOrigin,
    ChangeOutcome,
    LoggedChange,
    to_operation,
    with_outcome,
)
from jupyter_ai_shoulders.wire.ids import OperationId, SessionId, TurnId
from jupyter_ai_shoulders.wire.operations import Operation, OperationState


@dataclass(slots=True)
class _Row:
    at: str
    change: LoggedChange
    state: OperationState = "begun"


class MemoryJournal:
    """``OperationJournal`` in a dictionary; each row is one second later than the previous one."""

    def __init__(self, start: datetime = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)) -> None:
        self.rows: dict[OperationId, _Row] = {}
        self.synced = 0
        """Number of rows at the last ``sync``."""
        self._now = start

    def begin(self, change: LoggedChange) -> OperationId:
        operation_id = OperationId(f"operation_{len(self.rows) + 1}")
        self._now += timedelta(seconds=1)
        self.rows[operation_id] = _Row(timestamp(self._now), change)
        return operation_id

    def end(
        self, operation_id: OperationId, state: OperationState, outcome: ChangeOutcome | None = None
    ) -> None:
        row = self._row(operation_id)
        row.change, row.state = with_outcome(row.change, outcome), state
        undone = row.change.origin.undoes
        if state == "undone" and undone is not None:
            self.rows[undone].state = "done"
        elif state == "done" and undone is not None:
            self.rows[undone].state = "undone"
            again = self.rows[undone].change.origin.undoes
            if again is not None:
                self.rows[again].state = "done"

    async def sync(self) -> None:
        """Record what is on the disk."""
        self.synced = len(self.rows)

    def get(self, operation_id: OperationId) -> Operation:
        """Return a row. Raises ``NotFound``."""
        row = self._row(operation_id)
        return to_operation(operation_id, row.at, row.change, row.state)

    def change(self, operation_id: OperationId) -> LoggedChange:
        """Return the change of an operation. Raises ``NotFound``."""
        return self._row(operation_id).change

    def unfinished(self) -> Sequence[Operation]:
        """Return the operations without an end."""
        return [row for row in self._all() if row.state == "begun"]

    def of_batch(self, batch: str) -> Sequence[Operation]:
        """Return the rows of a batch."""
        return [row for row in self._all() if row.batch == batch]

    def recent(
        self, *, session_id: SessionId | None = None, path: str | None = None, limit: int = 100
    ) -> Sequence[Operation]:
        """Return rows, latest first."""
        found = [
            row
            for row in self._all()
            if session_id in {None, row.session_id}
            and (path is None or path in {row.document, row.new_document})
        ]
        return found[::-1][:limit]

    def of_turn(self, session_id: SessionId, turn_id: TurnId) -> Sequence[Operation]:
        """Return the rows of a turn."""
        return [
            row for row in self._all() if (row.session_id, row.turn_id) == (session_id, turn_id)
        ]

    def of_session(self, session_id: SessionId) -> Sequence[Operation]:
        """Return the rows of a session."""
        return [row for row in self._all() if row.session_id == session_id]

    def _row(self, operation_id: OperationId) -> _Row:
        try:
            return self.rows[operation_id]
        except KeyError as error:
            raise NotFound(f"There is no change {operation_id}.") from error

    def _all(self) -> list[Operation]:
        return [self.get(operation_id) for operation_id in self.rows]


@dataclass(frozen=True, slots=True)
class ObservedChange:
    """A change as the observer received it."""

    origin: ChangeOrigin
    document: str
    cell_id: str | None
    before: str | None
    after: str | None


@dataclass(slots=True)
class MemoryChangeObserver:
    """``ChangeObserver`` that records changes."""

    told: list[ObservedChange] = field(default_factory=list[ObservedChange])

    def changed(
        self,
        origin: ChangeOrigin,
        document: str,
        cell_id: str | None,
        before: str | None,
        after: str | None,
    ) -> None:
        self.told.append(ObservedChange(origin, document, cell_id, before, after))


@dataclass(slots=True)
class MemoryOpenFiles:
    """``OpenFiles`` of simulated pages."""

    dirty: set[str] = field(default_factory=set[str])
    moves: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    gone: list[str] = field(default_factory=list[str])

    def unsaved(self, path: str) -> Sequence[str]:
        """Return the files with unsaved changes at or below a path."""
        return sorted(name for name in self.dirty if f"{name}/".startswith(f"{path}/"))

    async def moved(self, path: str, new_path: str) -> None:
        self.moves.append((path, new_path))

    async def removed(self, path: str) -> None:
        self.gone.append(path)
