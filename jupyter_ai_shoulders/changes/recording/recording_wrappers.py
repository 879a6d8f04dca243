"""Wrappers that record what tools do through notebooks, runners and tools.

Made by ``host`` for tools, and by what changes notebooks for the user: restores, review, proposals.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal, cast

from jupyter_ai_shoulders.changes.recording.actor import Actor, origin_of
from jupyter_ai_shoulders.changes.recording.change_history import cell_actions
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.snapshots import outputs_hash, title_of
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.operation_journal import (
    ChangeOutcome,
    LoggedChange,
    OperationJournal,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    Backend,
    CellRun,
    CellRunner,
    Conflicted,
    InputRecipient,
    NewNotebooks,
    Notebook,
    Notebooks,
    NotebookSnapshot,
    RunItem,
)
from jupyter_ai_shoulders.notebook.execution.scratch_runner import ScratchRunner
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Effect,
    PreparableTool,
    Tool,
    ToolOutput,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import CellOperation
from jupyter_ai_shoulders.wire.ids import BlobHash, CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellEdit, CellOutputs
from jupyter_ai_shoulders.wire.versions import cell_version

log = logging.getLogger(__name__)


class RecordedNotebooks:
    """``Notebooks`` whose changes are recorded."""

    def __init__(self, notebooks: Notebooks, recorder: ChangeRecorder) -> None:
        self._notebooks = notebooks
        self._recorder = recorder

    def open(self, path: str) -> Notebook:
        return RecordedNotebook(self._notebooks.open(path), self._recorder)

    def in_page(self, path: str) -> bool:
        return self._notebooks.in_page(path)


class RecordedNotebook:
    """A ``Notebook`` whose changes are recorded."""

    def __init__(self, notebook: Notebook, recorder: ChangeRecorder) -> None:
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
        actor = self._recorder.actor
        if actor is None:
            return await self._notebook.apply(edits, expected)
        await self._take_checkpoints(actor, edits)
        operations = self._recorder.operations.begin(origin_of(actor), self.path, edits, expected)
        try:
            outcome = await self._notebook.apply(edits, expected)
        except ShouldersError as error:
            self._recorder.operations.mark_failed_unless_unanswered(operations, error)
            raise
        if isinstance(outcome, Applied):
            crash_point("restore.change.applied")
            self._recorder.operations.mark_done(operations, outcome.inverse)
            self._recorder.record_actions(actor, self.path, cell_actions(edits, outcome.inverse))
            await self._recorder.checkpoint_attachments(actor, self.path, outcome.inverse)
            self._recorder.notify_observer(actor, self.path, edits, outcome.inverse)
        else:
            self._recorder.operations.mark_failed(operations)
        return outcome

    async def _take_checkpoints(self, actor: Actor, edits: Sequence[CellEdit]) -> None:
        deleted = {edit.cell_id for edit in edits if isinstance(edit, CellDelete)}
        emptied = {edit.cell_id for edit in edits if isinstance(edit, CellOutputs)} - deleted
        await self._recorder.take_checkpoint(actor, self._notebook, emptied)
        if deleted:
            await self._recorder.take_checkpoint(actor, self._notebook, deleted, refresh=True)


class RecordedNewNotebooks:
    """``NewNotebooks`` that logs each notebook a call creates, so that undo can remove it."""

    def __init__(
        self,
        new: NewNotebooks,
        recorder: ChangeRecorder,
        journal: OperationJournal,
        workspace: Workspace,
    ) -> None:
        self._new = new
        self._recorder = recorder
        self._journal = journal
        self._workspace = workspace

    async def create(self, path: str, content: JsonObject) -> WorkspacePath:
        """Create a notebook. Raises as ``NewNotebooks.create``, and ``StateUnavailable``."""
        actor = self._recorder.actor
        if actor is None:
            return await self._new.create(path, content)
        name = self._workspace.path(path)
        row = self._journal.begin(LoggedChange("create", name, origin_of(actor)))
        await self._journal.sync()
        crash_point("restore.notebook.begun")
        try:
            made = await self._new.create(path, content)
            digest = await asyncio.to_thread(self._workspace.digest, made)
        except BaseException:
            self._journal.end(row, "failed", ChangeOutcome(cannot_undo="It was not made."))
            raise
        crash_point("restore.notebook.made")
        after = ChangeOutcome(after_version=Version(digest.sha256), after=BlobHash(digest.sha256))
        self._journal.end(row, "done", after)
        return made


class RecordedRunner:
    """A ``CellRunner`` whose runs are recorded."""

    def __init__(self, runner: CellRunner, notebooks: Notebooks, recorder: ChangeRecorder) -> None:
        self._runner = runner
        self._notebooks = notebooks
        self._recorder = recorder

    async def run(
        self, path: str, cell_id: CellId, asker: InputRecipient | None = None
    ) -> AsyncGenerator[RunItem]:
        actor = self._recorder.actor
        ran = None if actor is None else await self._begin(actor, path, cell_id)
        began = ended = False
        try:
            async with aclosing(self._runner.run(path, cell_id, asker)) as items:
                async for item in items:
                    if actor is not None and ran is not None:
                        if isinstance(item, CellRun):
                            ended = True
                            await self._end(actor, path, ran, item.outputs, item.execution_count)
                        elif not began:
                            began = True
                            self._recorder.record_actions(actor, path, [ran])
                    yield item
        finally:
            if actor is not None and ran is not None and began and not ended:
                await self._stopped(actor, path, ran)

    async def kernel_of(self, path: str) -> str | None:
        return await self._runner.kernel_of(path)

    async def _begin(self, actor: Actor, path: str, cell_id: CellId) -> CellOperation | None:
        """Checkpoint the cell; return the action to record, None for cells without code."""
        notebook = self._notebooks.open(path)
        snapshot = (
            await self._recorder.take_checkpoint(actor, notebook, [cell_id])
            or await notebook.read()
        )
        cell = snapshot.cell(cell_id)
        if cell is None or cell.cell_type != "code":
            return None  # the runner reports it
        return CellOperation(
            cell_id=cell_id,
            what="ran",
            title=title_of(cell.source),
            source=cell.source,
            version=cell.version,
        )

    async def _end(
        self, actor: Actor, path: str, ran: CellOperation, outputs: Sequence[Any], count: int | None
    ) -> None:
        end = {
            "outputs": outputs_hash(outputs),
            "execution_count": count,
            "kernel": await self._recorder.kernel_generation(path),
        }
        self._recorder.record_actions(actor, path, [ran.model_copy(update=end)])
        self._recorder.operations.record_run(origin_of(actor), path, ran.cell_id)

    async def _stopped(self, actor: Actor, path: str, ran: CellOperation) -> None:
        """Record the outputs of a run that was stopped; failures are logged."""
        try:
            cell = (await self._notebooks.open(path).read([ran.cell_id])).cell(ran.cell_id)
            if cell is not None:
                await self._end(actor, path, ran, cell.outputs or (), cell.execution_count)
        except ShouldersError:
            log.warning("What a stopped run left in %s is not known", path, exc_info=True)


class RecordedScratch:
    """A ``ScratchRunner`` that records the code it runs, since its effects stay in the kernel."""

    def __init__(self, scratch: ScratchRunner, recorder: ChangeRecorder) -> None:
        self._scratch = scratch
        self._recorder = recorder

    async def run_code(self, path: str, code: str) -> AsyncGenerator[RunItem]:
        actor = self._recorder.actor
        async with aclosing(self._scratch.run_code(path, code)) as items:
            async for item in items:
                if isinstance(item, CellRun) and actor is not None:
                    await self._note(actor, path, code)
                yield item

    async def _note(self, actor: Actor, path: str, code: str) -> None:
        action = CellOperation(
            cell_id=CellId(""),
            what="scratch",
            title=title_of(code),
            source=code,
            version=cell_version(code),
            kernel=await self._recorder.kernel_generation(path),
        )
        self._recorder.record_actions(actor, path, [action])


class RecordedTool:
    """A ``Tool`` that sets the recorder's actor to the call while it runs."""

    def __init__(self, tool: Tool[Any], recorder: ChangeRecorder) -> None:
        self.name = tool.name
        self.category = tool.category
        self.risk = tool.risk
        self.external = tool.external
        self.idempotent = tool.idempotent
        self.toolsets = tool.toolsets
        self.arguments = tool.arguments
        self._tool = tool
        self._recorder = recorder

    async def subject(self, args: Any, context: CallContext) -> CallSubject:
        self._recorder.current_page.set_client(context.client_id)
        return await self._tool.subject(args, context)

    async def run(self, args: Any, context: CallContext) -> AsyncIterator[ToolOutput]:
        self._recorder.current_page.set_client(context.client_id)
        self._recorder.set_actor(
            Actor(
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
            self._recorder.set_actor(None)


class RecordedPreparableTool(RecordedTool):
    """A ``RecordedTool`` of a ``PreparableTool``."""

    def __init__(self, tool: Tool[Any], preparable: PreparableTool, rec: ChangeRecorder) -> None:
        super().__init__(tool, rec)
        self._preparable = preparable

    async def prepare(self, context: CallContext) -> Effect:
        return await self._preparable.prepare(context)


def record_tools(tools: Iterable[Tool[Any]], recorder: ChangeRecorder) -> list[Tool[Any]]:
    """Return the tools with their calls recorded."""
    return [_record_tool(tool, recorder) for tool in tools]


def _record_tool(tool: Tool[Any], recorder: ChangeRecorder) -> Tool[Any]:
    if isinstance(tool, PreparableTool):
        recorded: RecordedTool = RecordedPreparableTool(tool, tool, recorder)
    else:
        recorded = RecordedTool(tool, recorder)
    # A Protocol's ClassVar cannot be met by an instance attribute.
    return cast("Tool[Any]", recorded)
