"""The cells of a parsed notebook, converted to values on access.

Converting 2 000 cells takes longer than reading the file; most callers need one. Used by
``notebook.backends.disk.notebooks``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import cast, overload

from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.notebook.cells import with_outputs
from jupyter_ai_shoulders.notebook.formats.notebook_file import RawCell
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import (
    CellEdit,
    CellOutputs,
    CellSource,
    NotebookCell,
)


class CellViews(Sequence[NotebookCell]):
    """A notebook's cells in order; each is converted once."""

    def __init__(
        self,
        raw: tuple[RawCell, ...],
        made: dict[CellId, NotebookCell] | None = None,
        like: CellViews | None = None,
    ) -> None:
        """``like`` has cells with the same ids in the same order, so its index is reused."""
        self.raw = raw
        self._made = {} if made is None else made
        if like is not None:
            self.positions = like.positions

    @cached_property
    def positions(self) -> dict[CellId, int]:
        """The index of each cell."""
        return {cell.id: position for position, cell in enumerate(self.raw)}

    def __len__(self) -> int:
        return len(self.raw)

    @overload
    def __getitem__(self, index: int) -> NotebookCell: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[NotebookCell]: ...
    def __getitem__(self, index: int | slice) -> NotebookCell | Sequence[NotebookCell]:
        if isinstance(index, slice):
            return [self._view(raw) for raw in self.raw[index]]
        return self._view(self.raw[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(cast("Sequence[object]", other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]  compares by content

    def by_id(self, cell_id: CellId) -> NotebookCell:
        """Return the cell with this id. Raises ``KeyError``."""
        return self[self.positions[cell_id]]

    def with_outputs(self, cell_ids: Collection[CellId]) -> CellViews:
        """Return the cells, with the outputs of the named ones."""
        if not cell_ids:
            return self
        known = (cell_id for cell_id in cell_ids if cell_id in self.positions)
        shown = {cell_id: self._shown(cell_id) for cell_id in known}
        return CellViews(self.raw, {**self._made, **shown}, self)

    def replaced(self, raw: tuple[RawCell, ...], edits: Sequence[CellEdit]) -> CellViews:
        """Return the cells after these edits; unchanged cells are not converted again."""
        gone = {edit.cell_id for edit in edits}
        made = {cell_id: cell for cell_id, cell in self._made.items() if cell_id not in gone}
        in_place = all(isinstance(edit, CellSource | CellOutputs) for edit in edits)
        return CellViews(raw, made, self if in_place else None)

    def _view(self, raw: RawCell) -> NotebookCell:
        view = self._made.get(raw.id)
        if view is None:
            view = self._made[raw.id] = raw.view()
        return view

    def _shown(self, cell_id: CellId) -> NotebookCell:
        cell = self.by_id(cell_id)
        if cell.cell_type != "code":
            return cell.model_copy(update={"outputs": ()})
        return with_outputs(cell, self.raw[self.positions[cell_id]].outputs())


class LazySnapshot(NotebookSnapshot):
    """A snapshot that finds cells without converting the others."""

    __slots__ = ()

    def position(self, cell_id: CellId) -> int | None:
        """Return the cell's index."""
        assert isinstance(self.cells, CellViews)
        return self.cells.positions.get(cell_id)
