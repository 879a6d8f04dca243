"""Reverts the agent's changes in notebooks and files, as undo steps of the user.

Used by ``changes.review.service``. All edits of a notebook are applied at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import RecordedNotebooks
from jupyter_ai_shoulders.changes.restore.kernel_drift import find_kernel_drift
from jupyter_ai_shoulders.changes.review.deleted_cells import DeletedCell
from jupyter_ai_shoulders.changes.review.pending_edits import TrackedEdit
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextDocuments, TextEditConflict
from jupyter_ai_shoulders.notebook.base import Conflicted, Notebooks
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire.edits import PendingEdit
from jupyter_ai_shoulders.wire.events import CellOperation, CellsChange, KernelDrift
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellEdit, CellInsert, CellSource


@dataclass(frozen=True, slots=True)
class RevertRequest:
    """A pending edit and the text to replace it with; ``text`` None removes it."""

    unit: TrackedEdit
    view: PendingEdit
    text: str | None
    deleted_cell: DeletedCell | None


@dataclass(frozen=True, slots=True)
class RevertResult:
    """The outcome; nothing was changed unless ``is_done``."""

    is_done: bool
    drift: tuple[KernelDrift, ...] = ()


class FileRestorer(Protocol):
    """Removes created files and restores deleted ones."""

    async def remove(self, path: str, origin: ChangeOrigin) -> None:
        """Move a file to the trash. Raises ``NotFound``, ``Conflict``, ``StateUnavailable``."""
        ...

    async def bring_back(self, path: str, text: str, origin: ChangeOrigin) -> None:
        """Restore a deleted file with ``text``. Raises as ``remove``."""
        ...


class ChangeReverter:
    """Reverts changes for the review."""

    def __init__(
        self,
        recorder: ChangeRecorder,
        event_log: EventLog,
        notebooks: Notebooks,
        texts: TextDocuments,
        files: FileRestorer,
    ) -> None:
        self._recorder = recorder
        self._log = event_log
        self._notebooks = RecordedNotebooks(notebooks, recorder)
        self._texts = texts
        self._files = files

    async def revert(self, requests: Sequence[RevertRequest]) -> RevertResult:
        """Revert edits of one document. Raises the errors of reading and changing it."""
        if requests[0].unit.cell_id is None:
            return RevertResult(await self._file(requests[0]))
        return await self._notebook(requests)

    async def _file(self, request: RevertRequest) -> bool:
        unit, view = request.unit, request.view
        origin = ChangeOrigin(unit.session_id, by="user")
        if request.text is None:
            await self._files.remove(unit.document, origin)
        elif view.current is None or view.current_version is None:
            await self._files.bring_back(unit.document, request.text, origin)
        else:
            outcome = await self._texts.replace(
                unit.document, request.text, view.current_version, origin
            )
            if isinstance(outcome, TextEditConflict):
                return False
        crash_point("review.file.changed")
        return True

    async def _notebook(self, requests: Sequence[RevertRequest]) -> RevertResult:
        unit = requests[0].unit
        notebook = self._notebooks.open(unit.document)
        order = [cell.id for cell in (await notebook.read()).cells]
        edits, expected = cell_edits(requests, order)
        self._recorder.set_actor(Actor(unit.session_id, f"review-{unit.id}-{unit.at}", by="user"))
        try:
            outcome = await notebook.apply(edits, expected)
        finally:
            self._recorder.set_actor(None)
        crash_point("review.cells.changed")
        if isinstance(outcome, Conflicted):
            if any(conflict.reason == "protected" for conflict in outcome.conflicts):
                raise Conflict(
                    "The cell is protected: its metadata does not allow changes.",
                    code="cell_protected",
                    hint="Remove the protection in the cell's properties, then undo again.",
                )
            return RevertResult(is_done=False)
        return RevertResult(is_done=True, drift=await self._drift(requests))

    async def _drift(self, requests: Sequence[RevertRequest]) -> tuple[KernelDrift, ...]:
        document = requests[0].unit.document
        cells = {request.unit.cell_id for request in requests}
        runs: list[CellOperation] = []
        for session_id in dict.fromkeys(request.unit.session_id for request in requests):
            for logged in self._log.find({"cells-change"}, session_id):
                event = logged.event
                if isinstance(event, CellsChange) and event.document == document:
                    ran = [action for action in event.cells if action.what == "ran"]
                    runs += [action for action in ran if action.cell_id in cells]
        if not runs:
            return ()
        found = find_kernel_drift(document, runs, await self._recorder.kernel_generation(document))
        return () if found is None else (found,)


def cell_edits(
    requests: Sequence[RevertRequest], order: Sequence[CellId]
) -> tuple[list[CellEdit], dict[CellId, Version]]:
    """Return the edits for these cells of a notebook, and the versions they expect."""
    inserts: list[CellEdit] = []
    others: list[CellEdit] = []
    expected: dict[CellId, Version] = {}
    present = list(order)
    for request in sorted(requests, key=_depth):
        cell_id = request.unit.cell_id
        assert cell_id is not None
        if request.view.current_version is not None:
            expected[cell_id] = request.view.current_version
            deleted_cell = CellDelete(cell_id=cell_id)
            text = request.text
            others.append(
                deleted_cell if text is None else CellSource(cell_id=cell_id, source=text)
            )
        elif request.text is not None:
            inserts.append(_insert_deleted(request, cell_id, request.text, present))
    return [*inserts, *others], expected


def _depth(request: RevertRequest) -> int:
    """Return the sort key that restores deleted cells from the top down."""
    return 0 if request.deleted_cell is None else len(request.deleted_cell.above)


def _insert_deleted(
    request: RevertRequest, cell_id: CellId, text: str, present: list[CellId]
) -> CellInsert:
    deleted_cell = request.deleted_cell or DeletedCell("code", None, tuple(reversed(present)))
    place = deleted_cell.place(present)
    after = present[place - 1] if place else None
    present.insert(place, cell_id)
    return deleted_cell.insert(cell_id, text, after)
