"""Stands between the tools and the notebooks: a checkpoint before each first change, and a record
of what every call did (chapter 06, checkpoints).

It sees what reaches a notebook, whichever tool sent it, and it writes nothing that is not changed.
The checkpoint is on the disk before the change; when it cannot be, nothing is changed. Made by
``host``, which wraps notebooks, runner and tools with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.operations import OperationJournal
from jupyter_ai_shoulders.engine.restore.cell_rows import CellRows
from jupyter_ai_shoulders.engine.restore.deeds import deeds_of
from jupyter_ai_shoulders.engine.restore.snapshots import (
    cell_blob,
    notebook_blob,
    outputs_hash,
    title_of,
)
from jupyter_ai_shoulders.engine.restore.text_changes import text_changes
from jupyter_ai_shoulders.files.base import ChangeWitness, NoWitness, Origin
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    Asker,
    Backend,
    CellRun,
    CellRunner,
    Conflicted,
    Notebook,
    Notebooks,
    NotebookSnapshot,
    RunItem,
)
from jupyter_ai_shoulders.notebook.scratch import ScratchRunner
from jupyter_ai_shoulders.storage.base import Blobs, EventLog
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Tool, ToolOutput
from jupyter_ai_shoulders.wire.events import CellDeed, CellsChange, Checkpoint, DocumentSnapshot
from jupyter_ai_shoulders.wire.events_restore import CellSnapshot, RestoreOrder
from jupyter_ai_shoulders.wire.ids import CallId, CellId, SessionId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellOutputs,
    NotebookCell,
)
from jupyter_ai_shoulders.wire.versions import cell_version

log = logging.getLogger(__name__)

REMEMBERED = 200
"""Sessions whose present checkpoint is known; of another, one is taken once more."""
LARGE = 200_000
"""Characters of outputs from which on a cell is stored in a thread."""


class Kernels(Protocol):
    """Names kernels so that one that was restarted has another name."""

    async def incarnation(self, path: str) -> str | None:
        """Return the notebook's kernel as it runs now, None while it has none."""
        ...


@dataclass(frozen=True, slots=True)
class Doer:
    """On whose behalf notebooks are changed: a call, or a restore."""

    session_id: SessionId
    checkpoint: str
    """Changes with the same one share a checkpoint: the turn, or the restore."""
    turn_id: TurnId | None = None
    call_id: CallId | None = None
    order: RestoreOrder | None = None
    by: Literal["agent", "user"] = "agent"
    """``user``: the user said so and reviews it no more: restores, applied proposals, review."""


def origin_of(doer: Doer) -> Origin:
    """Return on whose behalf, as the operation log and the review know it."""
    return Origin(
        doer.session_id,
        doer.turn_id,
        doer.call_id,
        by=doer.by,
        batch=None if doer.order is None else doer.order.restore_id,
    )


@dataclass(slots=True)
class _Taken:
    """What the present checkpoint of a session has."""

    checkpoint: str
    documents: set[str] = field(default_factory=set[str])
    cells: set[tuple[str, CellId]] = field(default_factory=set[tuple[str, CellId]])


class Recorder:
    """Takes checkpoints and records deeds; what is done on nobody's behalf is not recorded."""

    def __init__(
        self,
        event_log: EventLog,
        blobs: Blobs,
        kernels: Kernels,
        witness: ChangeWitness | None = None,
        journal: OperationJournal | None = None,
    ) -> None:
        """``witness`` is told of each text that was changed, for review."""
        self.rows = CellRows(journal)
        self._witness = witness or NoWitness()
        self._log = event_log
        self._blobs = blobs
        self._kernels = kernels
        self._doer: ContextVar[Doer | None] = ContextVar("doer", default=None)
        self._taken: OrderedDict[SessionId, _Taken] = OrderedDict()

    @property
    def doer(self) -> Doer | None:
        """On whose behalf the present task works."""
        return self._doer.get()

    def work_for(self, doer: Doer | None) -> None:
        """Note on whose behalf the present task works from now on."""
        self._doer.set(doer)

    def notebooks(self, notebooks: Notebooks) -> Notebooks:
        """Return the notebooks as tools get them."""
        return _Notebooks(notebooks, self)

    def runner(self, runner: CellRunner, notebooks: Notebooks) -> CellRunner:
        """Return the runner as tools get it."""
        return _Runner(runner, notebooks, self)

    def scratch(self, scratch: ScratchRunner) -> ScratchRunner:
        """Return the runner of code without cells as tools get it."""
        return _Scratch(scratch, self)

    def tools(self, tools: Iterable[Tool[Any]]) -> list[Tool[Any]]:
        """Return tools that say for which call they work."""
        return [cast("Tool[Any]", _Tool(tool, self)) for tool in tools]

    async def keep(
        self, doer: Doer, notebook: Notebook, touched: Collection[CellId], *, again: bool = False
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

    async def note(self, doer: Doer, event: Checkpoint) -> None:
        """Bring a checkpoint to the disk. Raises ``StateUnavailable``."""
        if not event.documents and not event.cells:
            return
        self._log.append(doer.session_id, event.model_copy(update={"turn_id": doer.turn_id}))
        crash_point("restore.checkpoint.recorded")
        await self._log.sync()
        crash_point("restore.checkpoint.synced")

    async def keep_attachments(self, doer: Doer, path: str, inverse: Sequence[CellEdit]) -> None:
        """Keep deleted cells with their pictures, which only their deletion brought along."""
        cells = [
            self._blobs_of(path, edit)
            for edit in inverse
            if isinstance(edit, CellInsert) and edit.attachments
        ]
        await self.note(doer, Checkpoint(documents=(), cells=tuple(cells)))

    def record(self, doer: Doer, path: str, deeds: Iterable[CellDeed]) -> None:
        """Log what was done. Raises ``StateUnavailable``."""
        cells = tuple(deeds)
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

    def tell(
        self, doer: Doer, path: str, edits: Sequence[CellEdit], inverse: Sequence[CellEdit]
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

    def _present(self, doer: Doer) -> _Taken:
        taken = self._taken.pop(doer.session_id, None)
        if taken is None or taken.checkpoint != doer.checkpoint:
            taken = _Taken(doer.checkpoint)
        self._taken[doer.session_id] = taken
        if len(self._taken) > REMEMBERED:
            self._taken.popitem(last=False)
        return taken


class _Notebooks:
    """``Notebooks`` whose changes are recorded."""

    def __init__(self, notebooks: Notebooks, recorder: Recorder) -> None:
        self._notebooks = notebooks
        self._recorder = recorder

    def open(self, path: str) -> Notebook:
        return _Notebook(self._notebooks.open(path), self._recorder)

    def in_page(self, path: str) -> bool:
        return self._notebooks.in_page(path)


class _Notebook:
    """A ``Notebook`` whose changes are recorded."""

    def __init__(self, notebook: Notebook, recorder: Recorder) -> None:
        self._notebook = notebook
        self._recorder = recorder

    @property
    def path(self) -> str:
        return self._notebook.path

    @property
    def backend(self) -> Backend:
        return self._notebook.backend

    async def read(self, outputs: Collection[CellId] | Literal["all"] = ()) -> NotebookSnapshot:
        return await self._notebook.read(outputs)

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        doer = self._recorder.doer
        if doer is None:
            return await self._notebook.apply(edits, expected)
        await self._keep(doer, edits)
        rows = self._recorder.rows.begin(origin_of(doer), self.path, edits, expected)
        try:
            outcome = await self._notebook.apply(edits, expected)
        except ShouldersError as error:
            self._recorder.rows.failed(rows, error)
            raise
        if isinstance(outcome, Applied):
            crash_point("restore.change.applied")
            self._recorder.rows.done(rows, outcome.inverse)
            self._recorder.record(doer, self.path, deeds_of(edits, outcome.inverse))
            await self._recorder.keep_attachments(doer, self.path, outcome.inverse)
            self._recorder.tell(doer, self.path, edits, outcome.inverse)
        else:
            self._recorder.rows.not_made(rows)
        return outcome

    async def _keep(self, doer: Doer, edits: Sequence[CellEdit]) -> None:
        deleted = {edit.cell_id for edit in edits if isinstance(edit, CellDelete)}
        emptied = {edit.cell_id for edit in edits if isinstance(edit, CellOutputs)} - deleted
        await self._recorder.keep(doer, self._notebook, emptied)
        if deleted:
            await self._recorder.keep(doer, self._notebook, deleted, again=True)


class _Runner:
    """A ``CellRunner`` whose runs are recorded."""

    def __init__(self, runner: CellRunner, notebooks: Notebooks, recorder: Recorder) -> None:
        self._runner = runner
        self._notebooks = notebooks
        self._recorder = recorder

    async def run(
        self, path: str, cell_id: CellId, asker: Asker | None = None
    ) -> AsyncGenerator[RunItem]:
        doer = self._recorder.doer
        ran = None if doer is None else await self._begin(doer, path, cell_id)
        began = ended = False
        try:
            async with aclosing(self._runner.run(path, cell_id, asker)) as items:
                async for item in items:
                    if doer is not None and ran is not None:
                        if isinstance(item, CellRun):
                            ended = True
                            await self._end(doer, path, ran, item.outputs, item.execution_count)
                        elif not began:
                            began = True
                            self._recorder.record(doer, path, [ran])
                    yield item
        finally:
            if doer is not None and ran is not None and began and not ended:
                await self._stopped(doer, path, ran)

    async def kernel_of(self, path: str) -> str | None:
        return await self._runner.kernel_of(path)

    async def _begin(self, doer: Doer, path: str, cell_id: CellId) -> CellDeed | None:
        """Have a checkpoint of the cell; return the run as it will be noted."""
        notebook = self._notebooks.open(path)
        snapshot = await self._recorder.keep(doer, notebook, [cell_id]) or await notebook.read()
        cell = snapshot.cell(cell_id)
        if cell is None or cell.cell_type != "code":
            return None  # the runner says so
        return CellDeed(
            cell_id=cell_id,
            what="ran",
            title=title_of(cell.source),
            source=cell.source,
            version=cell.version,
        )

    async def _end(
        self, doer: Doer, path: str, ran: CellDeed, outputs: Sequence[Any], count: int | None
    ) -> None:
        left = {
            "outputs": outputs_hash(outputs),
            "execution_count": count,
            "kernel": await self._recorder.incarnation(path),
        }
        self._recorder.record(doer, path, [ran.model_copy(update=left)])
        self._recorder.rows.ran(origin_of(doer), path, ran.cell_id)

    async def _stopped(self, doer: Doer, path: str, ran: CellDeed) -> None:
        """Note what a run left that did not end by itself; best effort."""
        try:
            cell = (await self._notebooks.open(path).read([ran.cell_id])).cell(ran.cell_id)
            if cell is not None:
                await self._end(doer, path, ran, cell.outputs or (), cell.execution_count)
        except ShouldersError:
            log.warning("What a stopped run left in %s is not known", path, exc_info=True)


class _Scratch:
    """A ``ScratchRunner`` that leaves a note of what ran: its effects stay in the kernel."""

    def __init__(self, scratch: ScratchRunner, recorder: Recorder) -> None:
        self._scratch = scratch
        self._recorder = recorder

    async def run_code(self, path: str, code: str) -> AsyncGenerator[RunItem]:
        doer = self._recorder.doer
        async with aclosing(self._scratch.run_code(path, code)) as items:
            async for item in items:
                if isinstance(item, CellRun) and doer is not None:
                    await self._note(doer, path, code)
                yield item

    async def _note(self, doer: Doer, path: str, code: str) -> None:
        deed = CellDeed(
            cell_id=CellId(""),
            what="scratch",
            title=title_of(code),
            source=code,
            version=cell_version(code),
            kernel=await self._recorder.incarnation(path),
        )
        self._recorder.record(doer, path, [deed])


class _Tool:
    """A ``Tool`` that says for which call it works; in all else the tool it stands for."""

    def __init__(self, tool: Tool[Any], recorder: Recorder) -> None:
        self._tool = tool
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    async def subject(self, args: Any, context: CallContext) -> CallSubject:
        return await self._tool.subject(args, context)

    async def run(self, args: Any, context: CallContext) -> AsyncIterator[ToolOutput]:
        self._recorder.work_for(
            Doer(
                session_id=context.session_id,
                checkpoint=context.turn_id,
                turn_id=context.turn_id,
                call_id=context.call_id,
            )
        )
        stream = cast("AsyncGenerator[ToolOutput, None]", self._tool.run(args, context))
        try:
            async with aclosing(stream) as items:
                async for item in items:
                    yield item
        finally:
            self._recorder.work_for(None)
