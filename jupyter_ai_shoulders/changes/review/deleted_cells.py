"""Finds the contents and positions of deleted cells in the checkpoints, to bring them back.

Used by ``changes.review.service``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.changes.recording.snapshots import (
    StoredCell,
    read_stored_cell,
    read_stored_notebook,
)
from jupyter_ai_shoulders.changes.review.pending_edits import TrackedEdit
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.wire.event_types.restore import CellSnapshot
from jupyter_ai_shoulders.wire.events import Checkpoint
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId
from jupyter_ai_shoulders.wire.notebooks import CellInsert, CellType

REMEMBERED = 500
"""Deleted cells in the cache."""
TURNS = 20
"""Turns before the deletion whose cell orders are considered."""


@dataclass(frozen=True, slots=True)
class DeletedCell:
    """A deleted cell and the ids of the cells above it, nearest first."""

    cell_type: CellType
    stored: StoredCell | None
    above: tuple[CellId, ...]
    earlier: frozenset[CellId] = frozenset()
    """Cells deleted before it that had been above it."""

    def place(self, order: Sequence[CellId]) -> int:
        """Return its index among the existing cells."""
        nearest = next((cell_id for cell_id in self.above if cell_id in order), None)
        place = 0 if nearest is None else order.index(nearest) + 1
        while place < len(order) and order[place] in self.earlier:  # restored before this cell
            place += 1
        return place

    def insert(self, cell_id: CellId, source: str, after: CellId | None) -> CellInsert:
        """Return the edit that inserts it again."""
        stored = self.stored
        code = stored is not None and self.cell_type == "code"
        return CellInsert(
            cell_id=cell_id,
            cell_type=self.cell_type,
            source=source,
            metadata={} if stored is None else stored.metadata,
            after=after,
            outputs=stored.outputs if stored is not None and code else (),
            execution_count=stored.execution_count if stored is not None and code else None,
            attachments=None if stored is None else stored.attachments,
        )


class DeletedCells:
    """Finds deleted cells in the logs and caches them."""

    def __init__(self, event_log: EventLog, blobs: Blobs) -> None:
        self._log = event_log
        self._blobs = blobs
        self._read_stored: OrderedDict[TrackedEdit, DeletedCell] = OrderedDict()

    def find(self, units: Sequence[TrackedEdit]) -> dict[CellId, DeletedCell]:
        """Return the cells of these edits. Raises ``NotFound``, ``StateUnavailable`` (damaged)."""
        found = {unit: self._read_stored.pop(unit, None) or self._found(unit) for unit in units}
        self._read_stored.update(found)
        while len(self._read_stored) > REMEMBERED:
            self._read_stored.popitem(last=False)
        return {unit.cell_id: cell for unit, cell in found.items() if unit.cell_id}

    def _found(self, unit: TrackedEdit) -> DeletedCell:
        assert unit.cell_id is not None
        events = [
            logged.event
            for logged in self._log.find({"checkpoint"}, unit.session_id)
            if isinstance(logged.event, Checkpoint)
        ]
        checkpoint = _last_checkpoint(events, unit)
        stored = (
            None if checkpoint is None else read_stored_cell(self._blobs.get(checkpoint.cell.blob))
        )
        orders = (
            [] if checkpoint is None else [self._order(blob) for blob in _texts(events, checkpoint)]
        )
        last = orders[-1] if orders else []
        return DeletedCell(
            cell_type="code" if stored is None else stored.cell_type,
            stored=stored,
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
        return [cell.id for cell in read_stored_notebook(self._blobs.get(text)).cells]


def _above(order: Sequence[CellId], cell_id: CellId) -> Sequence[CellId]:
    return order[: order.index(cell_id)] if cell_id in order else order


@dataclass(frozen=True, slots=True)
class _CellCheckpoint:
    cell: CellSnapshot
    seq: int


def _last_checkpoint(events: Sequence[Checkpoint], unit: TrackedEdit) -> _CellCheckpoint | None:
    """Return the checkpoint of the last deletion; the notebook may have been renamed since."""
    found = [
        _CellCheckpoint(cell, event.seq)
        for event in events
        for cell in event.cells
        if cell.cell_id == unit.cell_id
    ]
    named = [checkpoint for checkpoint in found if checkpoint.cell.document == unit.document]
    return (named or found or [None])[-1]


def _texts(events: Sequence[Checkpoint], checkpoint: _CellCheckpoint) -> list[BlobHash]:
    """Return the notebook's texts before each turn's changes, latest last."""
    texts = [
        document.blob
        for event in events
        for document in event.documents
        if event.seq <= checkpoint.seq and document.document == checkpoint.cell.document
    ]
    return texts[-TURNS:]
