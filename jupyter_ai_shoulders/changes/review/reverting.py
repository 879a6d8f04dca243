"""Takes agents' changes out of notebooks and files, as the user's own undo steps.

Used by ``changes.review.service``. A notebook gets all of its edits at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.changes.recording.recorder import Actor, ChangeRecorder
from jupyter_ai_shoulders.changes.restore.kernel_drift import find_kernel_drift
from jupyter_ai_shoulders.changes.review.deleted_cells import DeletedCell
from jupyter_ai_shoulders.changes.review.pending_edits import TrackedEdit
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextDocuments, TextEditConflict
from jupyter_ai_shoulders.notebook.base import Conflicted, Notebooks
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire.edits import PendingEdit
from jupyter_ai_shoulders.wire.events import CellDeed, CellsChange, KernelDrift
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellEdit, CellInsert, CellSource


@dataclass(frozen=True, slots=True)
class RevertRequest:
    """A text that is to be another; ``text`` None: it goes."""

    unit: TrackedEdit
    view: PendingEdit
    text: str | None
    gone: DeletedCell | None


@dataclass(frozen=True, slots=True)
class RevertResult:
    """What became of it; nothing was changed unless ``is_done``."""

    is_done: bool
    drift: tuple[KernelDrift, ...] = ()


class FileRestorer(Protocol):
    """Removes files that were made and brings back files that were deleted."""

    async def remove(self, path: str, origin: ChangeOrigin) -> None:
        """Move a file into the trash. Raises ``NotFound``, ``Conflict``, ``StateUnavailable``."""
        ...

    async def bring_back(self, path: str, text: str, origin: ChangeOrigin) -> None:
        """Put a deleted file back as it was; ``text`` is what it said. Raises as ``remove``."""
        ...


class ChangeReverter:
    """Changes documents for the review."""

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
        self._notebooks = recorder.notebooks(notebooks)
        self._texts = texts
        self._files = files

    async def revert(self, takes: Sequence[RevertRequest]) -> RevertResult:
        """Change one document. Raises what reading and changing it raises."""
        if takes[0].unit.cell_id is None:
            return RevertResult(await self._file(takes[0]))
        return await self._notebook(takes)

    async def _file(self, take: RevertRequest) -> bool:
        unit, view = take.unit, take.view
        origin = ChangeOrigin(unit.session_id, by="user")
        if take.text is None:
            await self._files.remove(unit.document, origin)
        elif view.current is None or view.current_version is None:
            await self._files.bring_back(unit.document, take.text, origin)
        else:
            outcome = await self._texts.replace(
                unit.document, take.text, view.current_version, origin
            )
            if isinstance(outcome, TextEditConflict):
                return False
        crash_point("review.file.changed")
        return True

    async def _notebook(self, takes: Sequence[RevertRequest]) -> RevertResult:
        unit = takes[0].unit
        notebook = self._notebooks.open(unit.document)
        order = [cell.id for cell in (await notebook.read()).cells]
        edits, expected = cell_edits(takes, order)
        self._recorder.work_for(Actor(unit.session_id, f"review-{unit.id}-{unit.at}", by="user"))
        try:
            outcome = await notebook.apply(edits, expected)
        finally:
            self._recorder.work_for(None)
        crash_point("review.cells.changed")
        if isinstance(outcome, Conflicted):
            if any(conflict.reason == "protected" for conflict in outcome.conflicts):
                raise Conflict(
                    "The cell is protected: its metadata does not allow changes.",
                    code="cell_protected",
                    hint="Remove the protection in the cell's properties, then undo again.",
                )
            return RevertResult(is_done=False)
        return RevertResult(is_done=True, drift=await self._drift(takes))

    async def _drift(self, takes: Sequence[RevertRequest]) -> tuple[KernelDrift, ...]:
        document = takes[0].unit.document
        cells = {take.unit.cell_id for take in takes}
        runs: list[CellDeed] = []
        for session_id in dict.fromkeys(take.unit.session_id for take in takes):
            for logged in self._log.find({"cells-change"}, session_id):
                event = logged.event
                if isinstance(event, CellsChange) and event.document == document:
                    ran = [deed for deed in event.cells if deed.what == "ran"]
                    runs += [deed for deed in ran if deed.cell_id in cells]
        if not runs:
            return ()
        found = find_kernel_drift(document, runs, await self._recorder.incarnation(document))
        return () if found is None else (found,)


def cell_edits(
    takes: Sequence[RevertRequest], order: Sequence[CellId]
) -> tuple[list[CellEdit], dict[CellId, Version]]:
    """Return the edits of a notebook with these cells, and the versions they are meant for."""
    inserts: list[CellEdit] = []
    others: list[CellEdit] = []
    expected: dict[CellId, Version] = {}
    present = list(order)
    for take in sorted(takes, key=_depth):
        cell_id = take.unit.cell_id
        assert cell_id is not None
        if take.view.current_version is not None:
            expected[cell_id] = take.view.current_version
            gone = CellDelete(cell_id=cell_id)
            text = take.text
            others.append(gone if text is None else CellSource(cell_id=cell_id, source=text))
        elif take.text is not None:
            inserts.append(_returned(take, cell_id, take.text, present))
    return [*inserts, *others], expected


def _depth(take: RevertRequest) -> int:
    """Return how far down a deleted cell stood, so that each comes back below those above it."""
    return 0 if take.gone is None else len(take.gone.above)


def _returned(take: RevertRequest, cell_id: CellId, text: str, present: list[CellId]) -> CellInsert:
    gone = take.gone or DeletedCell("code", None, tuple(reversed(present)))
    place = gone.place(present)
    after = present[place - 1] if place else None
    present.insert(place, cell_id)
    return gone.insert(cell_id, text, after)
