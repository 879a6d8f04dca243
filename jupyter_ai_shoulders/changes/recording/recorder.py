"""Stands between the tools and the notebooks: a checkpoint before each first change, and a record
of what every call did (chapter 06, checkpoints).

It sees what reaches a notebook, whichever tool sent it, and it writes nothing that is not changed.
The checkpoint is on the disk before the change; when it cannot be, nothing is changed. Made by
``host``, which wraps notebooks, runner and tools with it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from jupyter_ai_shoulders.changes.recording.actor import Actor, origin_of
from jupyter_ai_shoulders.changes.recording.cell_operations import CellOperationLog
from jupyter_ai_shoulders.changes.recording.change_history import text_changes
from jupyter_ai_shoulders.changes.recording.recording_wrappers import (
    RecordedNotebooks,
    RecordedRunner,
    RecordedScratch,
    record_tool,
)
from jupyter_ai_shoulders.changes.recording.snapshots import cell_blob, notebook_blob
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.core.operation_journal import OperationJournal
from jupyter_ai_shoulders.files.base import ChangeObserver, NullChangeObserver
from jupyter_ai_shoulders.notebook.base import CellRunner, Notebook, Notebooks, NotebookSnapshot
from jupyter_ai_shoulders.notebook.execution.scratch_runner import ScratchRunner
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.wire.event_types.restore import CellSnapshot
from jupyter_ai_shoulders.wire.events import CellDeed, CellsChange, Checkpoint, DocumentSnapshot
from jupyter_ai_shoulders.wire.ids import CellId, SessionId
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellInsert, NotebookCell
from jupyter_ai_shoulders.wire.versions import cell_version

__all__ = ["Actor", "ChangeRecorder", "Kernels", "origin_of"]

REMEMBERED = 200
"""Sessions whose present checkpoint is known; of another, one is taken once more."""
LARGE = 200_000
"""Characters of outputs from which on a cell is stored in a thread."""


class Kernels(Protocol):
    """Names kernels so that one that was restarted has another name."""

    async def incarnation(self, path: str) -> str | None:
        """Return the notebook's kernel as it runs now, None while it has none."""
        ...


@dataclass(slots=True)
class _Taken:
    """What the present checkpoint of a session has."""

    checkpoint: str
    documents: set[str] = field(default_factory=set[str])
    cells: set[tuple[str, CellId]] = field(default_factory=set[tuple[str, CellId]])
    left: dict[tuple[str, CellId], str] = field(default_factory=dict[tuple[str, CellId], str])
    """The text that each cell was given last."""


class ChangeRecorder:
    """Takes checkpoints and records deeds; what is done on nobody's behalf is not recorded."""

    def __init__(
        self,
        event_log: EventLog,
        blobs: Blobs,
        kernels: Kernels,
        witness: ChangeObserver | None = None,
        journal: OperationJournal | None = None,
        *,
        acting: CurrentPage | None = None,
    ) -> None:
        """``witness`` is told of each text that was changed, for review."""
        self.acting = acting or CurrentPage()
        self.rows = CellOperationLog(journal)
        self._witness = witness or NullChangeObserver()
        self._log = event_log
        self._blobs = blobs
        self._kernels = kernels
        self._doer: ContextVar[Actor | None] = ContextVar("doer", default=None)
        self._taken: OrderedDict[SessionId, _Taken] = OrderedDict()

    @property
    def doer(self) -> Actor | None:
        """On whose behalf the present task works."""
        return self._doer.get()

    def work_for(self, doer: Actor | None) -> None:
        """Note on whose behalf the present task works from now on."""
        self._doer.set(doer)

    def notebooks(self, notebooks: Notebooks) -> Notebooks:
        """Return the notebooks as tools get them."""
        return RecordedNotebooks(notebooks, self)

    def runner(self, runner: CellRunner, notebooks: Notebooks) -> CellRunner:
        """Return the runner as tools get it."""
        return RecordedRunner(runner, notebooks, self)

    def scratch(self, scratch: ScratchRunner) -> ScratchRunner:
        """Return the runner of code without cells as tools get it."""
        return RecordedScratch(scratch, self)

    def tools(self, tools: Iterable[Tool[Any]]) -> list[Tool[Any]]:
        """Return tools that say for which call they work."""
        return [record_tool(tool, self) for tool in tools]

    async def keep(
        self, doer: Actor, notebook: Notebook, touched: Collection[CellId], *, again: bool = False
    ) -> NotebookSnapshot | None:
        """Have a checkpoint of the notebook, with the cells ``touched`` whole, on the disk.

        ``again`` keeps these cells as they are now, even if they were kept before. Returns what
        was read, None when there was nothing to keep. Raises ``StateUnavailable`` and what reading
        a notebook raises; then nothing may be changed.
        """
        taken = self._present(doer)
        path = notebook.path
        new = [cell_id for cell_id in touched if again or (path, cell_id) not in taken.cells]
        if path in taken.documents and not new:
            return None
        snapshot = await notebook.read(new)
        documents: tuple[DocumentSnapshot, ...] = ()
        if path not in taken.documents:
            blob = self._blobs.put(notebook_blob(snapshot.cells))
            documents = (DocumentSnapshot(document=path, blob=blob),)
        cells = [await self._whole(path, snapshot.cell(cell_id)) for cell_id in new]
        await self.note(
            doer,
            Checkpoint(documents=documents, cells=tuple(filter(None, cells)), order=doer.order),
        )
        taken.documents.add(path)
        taken.cells |= {(path, cell_id) for cell_id in new}
        return snapshot

    async def note(self, doer: Actor, event: Checkpoint) -> None:
        """Bring a checkpoint to the disk. Raises ``StateUnavailable``."""
        if not event.documents and not event.cells:
            return
        self._log.append(doer.session_id, event.model_copy(update={"turn_id": doer.turn_id}))
        crash_point("restore.checkpoint.recorded")
        await self._log.sync()
        crash_point("restore.checkpoint.synced")

    async def keep_attachments(self, doer: Actor, path: str, inverse: Sequence[CellEdit]) -> None:
        """Keep deleted cells with their pictures, which only their deletion brought along."""
        cells = [
            self._blobs_of(path, edit)
            for edit in inverse
            if isinstance(edit, CellInsert) and edit.attachments
        ]
        await self.note(doer, Checkpoint(documents=(), cells=tuple(cells)))

    def record(self, doer: Actor, path: str, deeds: Iterable[CellDeed]) -> None:
        """Log what was done. Raises ``StateUnavailable``."""
        cells = tuple(self._chained(doer, path, deed) for deed in deeds)
        if cells:
            event = CellsChange(
                turn_id=doer.turn_id,
                call_id=doer.call_id,
                document=path,
                cells=cells,
                restore_id=None if doer.order is None else doer.order.restore_id,
            )
            self._log.append(doer.session_id, event)
            crash_point("restore.deed.recorded")

    def _chained(self, doer: Actor, path: str, deed: CellDeed) -> CellDeed:
        """Return a deed without the text it was done to where we left the cell so."""
        if deed.what not in {"made", "edited"} or deed.source is None:
            return deed
        left, key = self._present(doer).left, (path, deed.cell_id)
        known, left[key] = left.get(key), deed.source
        return deed if deed.base != known else deed.model_copy(update={"base": None})

    def tell(
        self, doer: Actor, path: str, edits: Sequence[CellEdit], inverse: Sequence[CellEdit]
    ) -> None:
        """Let the review know which texts were changed. Raises ``StateUnavailable``."""
        origin = origin_of(doer)
        for cell_id, before, after in text_changes(edits, inverse):
            self._witness.changed(origin, path, cell_id, before, after)

    async def incarnation(self, path: str) -> str | None:
        """Return the notebook's kernel as it runs now."""
        return await self._kernels.incarnation(path)

    def _blobs_of(self, path: str, edit: CellInsert) -> CellSnapshot:
        cell = NotebookCell(
            id=edit.cell_id,
            cell_type=edit.cell_type,
            source=edit.source,
            version=cell_version(edit.source),
            metadata=edit.metadata,
            execution_count=edit.execution_count,
            output_summary=(),
            outputs=edit.outputs,
        )
        blob = self._blobs.put(cell_blob(cell, edit.attachments))
        return CellSnapshot(document=path, cell_id=edit.cell_id, blob=blob)

    async def _whole(self, path: str, cell: NotebookCell | None) -> CellSnapshot | None:
        if cell is None:
            return None
        large = sum(output.size for output in cell.output_summary) > LARGE
        blob = await asyncio.to_thread(self._put, cell) if large else self._put(cell)
        return CellSnapshot(document=path, cell_id=cell.id, blob=blob)

    def _put(self, cell: NotebookCell) -> Any:
        return self._blobs.put(cell_blob(cell))

    def _present(self, doer: Actor) -> _Taken:
        taken = self._taken.pop(doer.session_id, None)
        if taken is None or taken.checkpoint != doer.checkpoint:
            taken = _Taken(doer.checkpoint)
        self._taken[doer.session_id] = taken
        if len(self._taken) > REMEMBERED:
            self._taken.popitem(last=False)
        return taken
