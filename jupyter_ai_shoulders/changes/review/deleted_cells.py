"""Cells that the agent deleted and that can come back: whole, and where they stood.

The checkpoints of ``changes.recording.recorder`` have them. Used by ``changes.review.service``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.changes.recording.snapshots import (
    WholeCell,
    read_cell,
    read_notebook_text,
)
from jupyter_ai_shoulders.changes.review.pending_edits import TrackedEdit
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.wire.event_types.restore import CellSnapshot
from jupyter_ai_shoulders.wire.events import Checkpoint
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId
from jupyter_ai_shoulders.wire.notebooks import CellInsert, CellType

REMEMBERED = 500
"""Deleted cells that are not looked for again."""
TURNS = 20
"""Turns whose order of the cells is looked at, back from the one that deleted the cell."""


@dataclass(frozen=True, slots=True)
class DeletedCell:
    """A cell as it was, and what stood above it, the nearest first."""

    cell_type: CellType
    whole: WholeCell | None
    above: tuple[CellId, ...]
    earlier: frozenset[CellId] = frozenset()
    """Cells that were gone already when it went, and had stood above it."""

    def place(self, order: Sequence[CellId]) -> int:
        """Return where it would come back among the cells there are, from 0."""
        nearest = next((cell_id for cell_id in self.above if cell_id in order), None)
        place = 0 if nearest is None else order.index(nearest) + 1
        while place < len(order) and order[place] in self.earlier:  # they came back before it
            place += 1
        return place

    def insert(self, cell_id: CellId, source: str, after: CellId | None) -> CellInsert:
        """Return the edit that brings it back."""
        whole = self.whole
        code = whole is not None and self.cell_type == "code"
        return CellInsert(
            cell_id=cell_id,
            cell_type=self.cell_type,
            source=source,
            metadata={} if whole is None else whole.metadata,
            after=after,
            outputs=whole.outputs if whole is not None and code else (),
            execution_count=whole.execution_count if whole is not None and code else None,
            attachments=None if whole is None else whole.attachments,
        )


class DeletedCells:
    """Finds them in the logs; remembers what it found."""

    def __init__(self, event_log: EventLog, blobs: Blobs) -> None:
        self._log = event_log
        self._blobs = blobs
        self._known: OrderedDict[TrackedEdit, DeletedCell] = OrderedDict()

    def find(self, units: Sequence[TrackedEdit]) -> dict[CellId, DeletedCell]:
        """Return the cells of these edits. Raises ``NotFound``, ``StateUnavailable`` (damaged)."""
        found = {unit: self._known.pop(unit, None) or self._found(unit) for unit in units}
        self._known.update(found)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return {unit.cell_id: cell for unit, cell in found.items() if unit.cell_id}

    def _found(self, unit: TrackedEdit) -> DeletedCell:
        assert unit.cell_id is not None
        events = [
            logged.event
            for logged in self._log.find({"checkpoint"}, unit.session_id)
            if isinstance(logged.event, Checkpoint)
        ]
        kept = _last_kept(events, unit)
        whole = None if kept is None else read_cell(self._blobs.get(kept.cell.blob))
        orders = [] if kept is None else [self._order(blob) for blob in _texts(events, kept)]
        last = orders[-1] if orders else []
        return DeletedCell(
            cell_type="code" if whole is None else whole.cell_type,
            whole=whole,
            above=tuple(reversed(_above(last, unit.cell_id))),
            earlier=frozenset(
                cell_id
                for order in orders
                if unit.cell_id in order
                for cell_id in _above(order, unit.cell_id)
                if cell_id not in last
            ),
        )

    def _order(self, text: BlobHash) -> list[CellId]:
        return [cell.id for cell in read_notebook_text(self._blobs.get(text)).cells]


def _above(order: Sequence[CellId], cell_id: CellId) -> Sequence[CellId]:
    return order[: order.index(cell_id)] if cell_id in order else order


@dataclass(frozen=True, slots=True)
class _Kept:
    cell: CellSnapshot
    seq: int


def _last_kept(events: Sequence[Checkpoint], unit: TrackedEdit) -> _Kept | None:
    """Return the cell as it was deleted last; its notebook may have had another name then."""
    found = [
        _Kept(cell, event.seq)
        for event in events
        for cell in event.cells
        if cell.cell_id == unit.cell_id
    ]
    named = [kept for kept in found if kept.cell.document == unit.document]
    return (named or found or [None])[-1]


def _texts(events: Sequence[Checkpoint], kept: _Kept) -> list[BlobHash]:
    """Return its notebook's cells as they were before the changes of each turn, the last behind."""
    texts = [
        document.blob
        for event in events
        for document in event.documents
        if event.seq <= kept.seq and document.document == kept.cell.document
    ]
    return texts[-TURNS:]
