"""Which texts of cells edits changed, from what to what. Pure; used by the recorder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellEdit, CellInsert, CellSource


def text_changes(
    edits: Sequence[CellEdit], inverse: Sequence[CellEdit]
) -> Iterator[tuple[CellId, str | None, str | None]]:
    """Return cells with their texts before and after edits that were applied.

    None is a cell that was not there. ``inverse`` takes the edits back, the last one first.
    """
    before = _texts(inverse)
    for cell_id, after in _texts(edits).items():
        if cell_id in before and before[cell_id] != after:
            yield cell_id, before[cell_id], after


def _texts(edits: Sequence[CellEdit]) -> dict[CellId, str | None]:
    """Return what edits make of texts."""
    texts: dict[CellId, str | None] = {}
    for edit in edits:
        match edit:
            case CellSource() | CellInsert():
                texts[edit.cell_id] = edit.source
            case CellDelete():
                texts[edit.cell_id] = None
            case _:
                pass
    return texts
