"""The cells of a notebook that suggestions may use: all but the private ones.

Part of ``host.inline_completion.context``. Reading all cells is the slowest step, so it is done
once for each state of a notebook; a request then reads only the cells near the caret.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.assist.inline_completion.context import MAX_CELLS, ContextCell
from jupyter_ai_shoulders.assist.inline_completion.outline import names_in
from jupyter_ai_shoulders.notebook.analysis.name_analysis import cell_names
from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

OURS = "jupyter_ai_shoulders"
"""Key of our metadata in notebooks and cells."""
CACHE_SIZE = 8
"""Maximum cached notebooks."""


def is_private(metadata: JsonObject) -> bool:
    """Return whether a cell or notebook is marked by the tag ``private`` or by our own key."""
    ours, tags = metadata.get(OURS), metadata.get("tags")
    tagged = isinstance(tags, list) and "private" in tags
    return tagged or (isinstance(ours, dict) and ours.get("private") is True)


@dataclass(frozen=True, slots=True)
class NearbyCells:
    """The cells around one; ``world`` identifies their content."""

    before: Sequence[ContextCell]
    after: Sequence[ContextCell]
    world: Hashable


@dataclass(frozen=True, slots=True)
class VisibleCells:
    """All cells that are not private, in order."""

    cells: Sequence[ContextCell]
    versions: Sequence[str]
    places: dict[CellId, int]
    """Number of visible cells before each cell of the notebook, private ones included."""
    private: frozenset[CellId]
    hidden: frozenset[str]
    """Names bound in private cells: the kernel knows them, but suggestions must not."""

    def near(self, cell_id: CellId) -> NearbyCells:
        """Return the cells around one, which is among ``places``."""
        at = self.places[cell_id]
        is_own = at < len(self.cells) and self.cells[at].key == cell_id
        first, after = max(0, at - MAX_CELLS), at + is_own
        last = after + MAX_CELLS
        world = (*self.versions[first:at], "", *self.versions[after:last])
        return NearbyCells(self.cells[first:at], self.cells[after:last], world)


class VisibleCellsCache:
    """Caches the visible cells of the most recent notebooks."""

    def __init__(self) -> None:
        self._cache: OrderedDict[str, tuple[object, str, VisibleCells]] = OrderedDict()

    def of(self, snapshot: NotebookSnapshot, language: str) -> VisibleCells:
        """Return the visible cells of a notebook, computed again after a change."""
        entry = self._cache.pop(snapshot.path, None)
        if entry is None or entry[0] is not snapshot.cells or entry[1] != language:
            entry = (snapshot.cells, language, _open_cells(snapshot.cells, language))
        self._cache[snapshot.path] = entry
        if len(self._cache) > CACHE_SIZE:
            self._cache.popitem(last=False)
        return entry[2]


def _open_cells(found: Sequence[NotebookCell], language: str) -> VisibleCells:
    cells: list[ContextCell] = []
    versions: list[str] = []
    places: dict[CellId, int] = {}
    private: set[CellId] = set()
    hidden: set[str] = set()
    for number, cell in enumerate(found, 1):
        places[cell.id] = len(cells)
        if is_private(cell.metadata):
            private.add(cell.id)
            hidden |= _bound(cell.source, language)
        elif cell.cell_type != "raw":
            is_code = cell.cell_type == "code"
            cells.append(ContextCell(f"cell {number}", cell.source, is_code, key=cell.id))
            versions.append(cell.version)
    return VisibleCells(cells, versions, places, frozenset(private), frozenset(hidden))


def _bound(source: str, language: str) -> frozenset[str]:
    """Return the names that a private cell binds, or all its words if the code cannot be parsed."""
    found = cell_names(source) if language == "python" else None
    return names_in(source) if found is None or found.opaque else found.touches
