"""What a page sends of its cells when the server knows an earlier state; see ``cellChanges.ts``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import TypeVar

from jupyter_ai_shoulders.wire.frames import AnnouncedCell
from jupyter_ai_shoulders.wire.notebooks import CellOrder, NotebookCell
from jupyter_ai_shoulders.wire.versions import list_version

Cell = TypeVar("Cell", AnnouncedCell, NotebookCell)


def cell_changes(
    before: Sequence[Cell] | None, now: Sequence[Cell]
) -> tuple[CellOrder | None, tuple[Cell, ...]]:
    """What a page sends of a list of cells of which it has sent an earlier state."""
    if before is None:
        return None, tuple(now)
    old, new = [cell.id for cell in before], [cell.id for cell in now]
    pairs = zip(old, new, strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    order = CellOrder(
        start=start,
        removed=len(old) - start,
        ids=tuple(new[start:]),
        list_version=list_version((cell.id, cell.version) for cell in now),
    )
    known = {cell.id: cell for cell in before}
    return order, tuple(cell for cell in now if known.get(cell.id) != cell)
