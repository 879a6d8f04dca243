"""Rows of the operation log for changes of cells: begun before the change, ended after it.

Used by ``changes.recording.recorder``. A synced checkpoint of the notebook precedes the rows, so
they need no separate sync. ``settle_interrupted_cells`` runs at start and ends the rows a crash
left open.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.core.operation_journal import (
    ChangeOrigin,
    ChangeOutcome,
    LoggedChange,
    OperationJournal,
)
from jupyter_ai_shoulders.notebook.base import Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.wire.ids import CellId, OperationId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)
from jupyter_ai_shoulders.wire.operations import Operation, OperationKind, OperationState
from jupyter_ai_shoulders.wire.versions import cell_version

NOT_KNOWN = "The server stopped in the middle; whether it was made is not known."

_KINDS: dict[type[CellEdit], OperationKind] = {
    CellSource: "edit",
    CellInsert: "create",
    CellDelete: "delete",
    CellMove: "move",
    CellOutputs: "outputs",
}

_log = logging.getLogger(__name__)


class CellOperationLog:
    """Logs changes of cells; does nothing without a journal."""

    def __init__(self, journal: OperationJournal | None) -> None:
        self._journal = journal

    def begin(
        self,
        origin: ChangeOrigin,
        path: str,
        edits: Sequence[CellEdit],
        expected: Mapping[CellId, Version],
    ) -> list[OperationId]:
        """Log edits before they are made. Raises ``StateUnavailable``."""
        if self._journal is None:
            return []
        rows = [self._journal.begin(_change(origin, path, edit, expected)) for edit in edits]
        crash_point("restore.rows.begun")
        return rows

    def mark_done(self, rows: Sequence[OperationId], inverse: Sequence[CellEdit]) -> None:
        """Log that the edits were made; their inverse holds the previous texts."""
        before = {
            edit.cell_id: cell_version(edit.source)
            for edit in inverse
            if isinstance(edit, CellSource | CellInsert)
        }
        for row in rows:
            cell_id = None if self._journal is None else self._journal.change(row).cell_id
            version = None if cell_id is None else before.get(CellId(cell_id))
            self._end(row, "done", ChangeOutcome(before_version=version))
        crash_point("restore.rows.ended")

    def mark_failed(self, rows: Sequence[OperationId]) -> None:
        """Log that nothing was changed."""
        for row in rows:
            self._end(row, "failed", None)

    def _end(self, row: OperationId, state: OperationState, outcome: ChangeOutcome | None) -> None:
        assert self._journal is not None, "without a log there are no rows"
        try:
            self._journal.end(row, state, outcome)
        except StateUnavailable as error:
            _log.warning("The end of change %s is found out at the next start: %s", row, error)

    def mark_failed_unless_unanswered(
        self, rows: Sequence[OperationId], error: ShouldersError
    ) -> None:
        """Log that nothing was changed, unless a page may have made the edits without answering."""
        if error.info.code != "page_not_responding":
            self.mark_failed(rows)

    def record_run(self, origin: ChangeOrigin, path: str, cell_id: CellId) -> None:
        """Log that a run replaced the outputs. Raises ``StateUnavailable``."""
        if self._journal is None:
            return
        change = LoggedChange("outputs", path, origin, cell_id)
        self._end(self._journal.begin(change), "done", None)


async def settle_interrupted_cells(journal: OperationJournal, notebooks: Notebooks) -> None:
    """End the open rows of cells by comparing them with the notebooks.

    Raises ``StateUnavailable``.
    """
    for row in journal.unfinished():
        if row.cell_id is not None:
            state = await _find_outcome(row, notebooks)
            why = None if state == "done" else NOT_KNOWN
            journal.end(row.id, state, ChangeOutcome(cannot_undo=why))
            crash_point("restore.rows.settled")


async def _find_outcome(row: Operation, notebooks: Notebooks) -> OperationState:
    assert row.cell_id is not None, "only rows of cells are asked about"
    try:
        snapshot = await notebooks.open(row.document).read()
    except NotFound:
        return "failed"
    except StateUnavailable:
        raise
    except ShouldersError as error:
        _log.info(
            "%s cannot be read, so what became of a change is not known: %s", row.document, error
        )
        return "failed"
    return "done" if _is_made(row, snapshot) else "failed"


def _is_made(row: Operation, snapshot: NotebookSnapshot) -> bool:
    cell = None if row.cell_id is None else snapshot.cell(row.cell_id)
    match row.kind:
        case "edit" | "create":
            return cell is not None and cell.version == row.after_version
        case "delete":
            return cell is None
        case _:
            return False


def _change(
    origin: ChangeOrigin, path: str, edit: CellEdit, expected: Mapping[CellId, Version]
) -> LoggedChange:
    source = edit.source if isinstance(edit, CellSource | CellInsert) else None
    return LoggedChange(
        kind=_KINDS[type(edit)],
        document=path,
        origin=origin,
        cell_id=edit.cell_id,
        before_version=None if isinstance(edit, CellInsert) else expected.get(edit.cell_id),
        after_version=None if source is None else cell_version(source),
    )
