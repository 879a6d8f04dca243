"""The cells of a shared notebook at one moment, converted on access.

Used by ``notebook.backends.shared.notebooks``: converting all cells of a large notebook takes
longer than copying them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast, overload

from jupyter_ai_shoulders.notebook.backends.disk.notebooks import OutputSelection
from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import cell_of, read_cell, ycells_of
from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

if TYPE_CHECKING:
    from jupyter_ydoc import YNotebook


class SharedCells(Sequence[NotebookCell]):
    """A copy of a document's cells; those with outputs are converted at once."""

    def __init__(self, document: YNotebook, outputs: OutputSelection) -> None:
        self._made: dict[int, NotebookCell] = {}
        self._held: list[str] = []
        self.ids: list[CellId] = []
        with document.ydoc.transaction():
            for position, ycell in enumerate(ycells_of(document)):
                cell_id = CellId(str(ycell["id"]))
                is_shown = outputs == "all" or cell_id in outputs
                if is_shown:
                    self._made[position] = read_cell(ycell, with_outputs=True)
                self._held.append("" if is_shown else str(ycell))
                self.ids.append(cell_id)

    @cached_property
    def positions(self) -> dict[CellId, int]:
        """The index of each cell; of two cells with one id, the first."""
        return {cell_id: position for position, cell_id in reversed([*enumerate(self.ids)])}

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> NotebookCell: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[NotebookCell]: ...
    def __getitem__(self, index: int | slice) -> NotebookCell | Sequence[NotebookCell]:
        if isinstance(index, slice):
            return [self._view(position) for position in range(len(self))[index]]
        return self._view(range(len(self))[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(cast("Sequence[object]", other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]  compares by content

    def _view(self, position: int) -> NotebookCell:
        view = self._made.get(position)
        if view is None:
            fields = json.loads(self._held[position])
            view = self._made[position] = cell_of(fields, with_outputs=False)
        return view


class SharedSnapshot(NotebookSnapshot):
    """A snapshot that finds cells without converting the others."""

    __slots__ = ()

    def position(self, cell_id: CellId) -> int | None:
        """Return the cell's index."""
        assert isinstance(self.cells, SharedCells)
        return self.cells.positions.get(cell_id)
