"""Applies checked edits to the Y types of a shared notebook.

Used by ``notebook.backends.shared.notebooks``. Each edit changes as little as possible: replacing a
cell by an equal one loses everyone's carets, undo steps and keystrokes in flight there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import (
    copy_of,
    new_cell,
    set_outputs,
    set_source,
    to_page_json,
)
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)

if TYPE_CHECKING:
    from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import YArray, YMap


class YCells:
    """The cells of a document by id while a transaction edits them."""

    def __init__(self, ycells: YArray) -> None:
        self._ycells = ycells
        self.order = [CellId(str(ycell["id"])) for ycell in ycells]
        """The ids; a duplicate id means the first cell, as in the page."""

    def find(self, cell_id: CellId) -> YMap:
        """Return a cell. Raises ``ValueError``."""
        return self._ycells[self.order.index(cell_id)]

    def insert(self, after: CellId | None, cell_id: CellId, ycell: YMap) -> None:
        """Insert a cell."""
        index = 0 if after is None else self.order.index(after) + 1
        self._ycells.insert(index, ycell)
        self.order.insert(index, cell_id)

    def delete(self, cell_id: CellId) -> None:
        """Delete a cell."""
        index = self.order.index(cell_id)
        del self._ycells[index]
        del self.order[index]

    def is_after(self, cell_id: CellId, other: CellId | None) -> bool:
        """Return whether the cell is right behind the other, or first for None."""
        index = self.order.index(cell_id)
        return (self.order[index - 1] if index else None) == other


def apply_checked_edits(cells: YCells, edits: Sequence[CellEdit]) -> None:
    """Apply edits that ``notebook.edits`` has checked; the caller opens the transaction."""
    for edit in edits:
        _perform(cells, edit)


def _perform(cells: YCells, edit: CellEdit) -> None:
    match edit:
        case CellSource():
            set_source(cells.find(edit.cell_id), edit.source)
        case CellInsert():
            cells.insert(edit.after, edit.cell_id, new_cell(edit))
        case CellDelete():
            cells.delete(edit.cell_id)
        case CellMove():
            _move(cells, edit)
        case CellOutputs():
            ycell = cells.find(edit.cell_id)
            set_outputs(ycell, edit.outputs)
            ycell["execution_count"] = to_page_json(edit.execution_count)
        case _:
            assert_never(edit)


def _move(cells: YCells, edit: CellMove) -> None:
    if edit.after == edit.cell_id or cells.is_after(edit.cell_id, edit.after):
        return
    copy = copy_of(cells.find(edit.cell_id))
    cells.delete(edit.cell_id)
    cells.insert(edit.after, edit.cell_id, copy)
