"""The cells of an open notebook, from those known before and what its page sends of the changes.

Used by ``notebook.backends.live.open_notebooks`` and its parts. The page's side is ``cellChanges``
in ``labextension/src/live-documents/notebooks``. A difference that does not give the page's list is
found by the version of the whole list, and is never used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import DocumentContent
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellOrder, NotebookCell
from jupyter_ai_shoulders.wire.versions import list_version


class VersionedCell(Protocol):
    """A cell of a list."""

    @property
    def id(self) -> CellId:
        """Its id."""
        ...

    @property
    def version(self) -> Version:
        """The version of its source."""
        ...


Cell = TypeVar("Cell", bound=VersionedCell)


def updated_cells(
    before: Sequence[Cell], order: CellOrder | None, cells: Sequence[Cell]
) -> tuple[Cell, ...] | None:
    """Return the page's cells now; None when the difference does not fit ``before``."""
    if order is None:
        return tuple(cells)
    known = {cell.id: cell for cell in before} | {cell.id: cell for cell in cells}
    ids = [cell.id for cell in before]
    ids[order.start : order.start + order.removed] = order.ids
    if not known.keys() >= {*ids}:
        return None
    now = tuple(known[cell_id] for cell_id in ids)
    fits = list_version((cell.id, cell.version) for cell in now) == order.list_version
    return now if fits else None


@dataclass(frozen=True, slots=True)
class SentNotebook:
    """A notebook as its page last sent it; no cell has its outputs."""

    revision: int | None
    cells: tuple[NotebookCell, ...]
    metadata: JsonObject

    def updated(self, answer: DocumentContent) -> SentNotebook | None:
        """Return the notebook after a later answer; None when it does not fit."""
        if answer.revision is not None and answer.revision == self.revision:
            return self
        cells = updated_cells(self.cells, answer.order, answer.cells)
        if cells is None:
            return None
        metadata = self.metadata if answer.metadata is None else answer.metadata
        bare = tuple(
            cell if cell.outputs is None else cell.model_copy(update={"outputs": None})
            for cell in cells
        )
        return SentNotebook(answer.revision, bare, metadata)


NOTHING_SENT = SentNotebook(None, (), {})
