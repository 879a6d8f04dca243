"""Runs cells in the user's live kernels; the tools' ``CellRunner``.

Wired by ``host``. One run at a time is in a kernel's queue (``notebook.kernels.queue``), so that
two conversations never interleave.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from dataclasses import replace

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.notebook.analysis.staleness_tracker import RunObserver
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    CellRun,
    InputRecipient,
    KernelDirectory,
    Notebook,
    Notebooks,
    NotebookSnapshot,
    Pages,
    RunItem,
)
from jupyter_ai_shoulders.notebook.execution.cell_run import CellExecution, RunTicket
from jupyter_ai_shoulders.notebook.execution.output_autosave import OutputAutosave
from jupyter_ai_shoulders.notebook.execution.pip_failures import mark_failed_install
from jupyter_ai_shoulders.notebook.execution.run_tasks import RunTasks
from jupyter_ai_shoulders.notebook.execution.run_view import RunView
from jupyter_ai_shoulders.notebook.execution.stdin import PendingInputs, RunInputs
from jupyter_ai_shoulders.notebook.kernels.queue import KernelLease, KernelQueues
from jupyter_ai_shoulders.notebook.outputs.collector import OutputCollector, OutputLimits
from jupyter_ai_shoulders.wire.ids import CellId, RunId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs as StoreOutputs
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

log = logging.getLogger(__name__)


class KernelRunner:
    """The ``CellRunner`` over the kernels of a ``KernelDirectory``."""

    def __init__(
        self,
        *,
        notebooks: Notebooks,
        kernels: KernelDirectory,
        queues: KernelQueues,
        pages: Pages,
        clock: Clock,
        ids: IdSource,
        limits: OutputLimits | None = None,
        refuses_busy: bool = False,
        observer: RunObserver | None = None,
    ) -> None:
        """``refuses_busy``: do not queue behind the user's code in a kernel."""
        self._notebooks = notebooks
        self._kernels = kernels
        self._queues = queues
        self._pages = pages
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._refuses_busy = refuses_busy
        self._observer = observer
        self.inputs = PendingInputs()
        """Receives answers to questions of running code."""
        self._runs = RunTasks(clock)

    def run(
        self, path: str, cell_id: CellId, asker: InputRecipient | None = None
    ) -> AsyncGenerator[RunItem]:
        """See ``CellRunner.run``."""
        return self._runs.follow(lambda ticket: self._perform(path, cell_id, ticket, asker))

    async def kernel_of(self, path: str) -> str | None:
        """See ``CellRunner.kernel_of``."""
        handle = await self._kernels.find(path)
        return handle.kernel_id if handle else None

    async def aclose(self) -> None:
        """Stop following runs; the kernels continue."""
        await self._runs.aclose()

    async def _perform(
        self, path: str, cell_id: CellId, ticket: RunTicket, asker: InputRecipient | None
    ) -> None:
        notebook = self._notebooks.open(path)
        snapshot = await notebook.read()
        cell = runnable_cell(snapshot, cell_id)
        handle = await self._queues.find_or_start(path, kernel_name(snapshot), ticket.report_status)
        async with self._queues.lease(handle, ticket.report_status) as turn:
            if turn.waited:
                cell = runnable_cell(await notebook.read(), cell_id)
            if self._refuses_busy and turn.is_busy_elsewhere:
                raise busy_refusal(path)
            run = await self._execute(notebook, cell, turn, ticket, asker)
            await turn.displays.write_back(self._notebooks)
            ticket.settle(run)

    async def _execute(
        self,
        notebook: Notebook,
        cell: NotebookCell,
        turn: KernelLease,
        ticket: RunTicket,
        asker: InputRecipient | None,
    ) -> CellRun:
        from jupyter_ai_shoulders.notebook.kernels.execute_request import CellRequest

        outputs = OutputCollector(self._limits)
        request = CellRequest(turn.reader, outputs, ticket.log)
        turn.displays.forget(notebook.path, cell.id)
        request.on_display = turn.displays.update
        run_id = RunId(self._ids.new("run"))
        view = RunView(self._pages, notebook.path, cell.id, run_id, outputs)
        inputs = self._inputs_of(turn, view, ticket, asker)
        view.start()
        crash_point("kernel.cell.before_send")
        ask = inputs.ask if inputs.can_be_answered else None
        request.send(turn.connection, cell.source, cell.id, ask)
        crash_point("kernel.cell.sent")
        ticket.sent = request
        try:
            run = await CellExecution(
                request=request,
                connection=turn.connection,
                kernels=self._kernels,
                view=view,
                autosave=OutputAutosave(notebook, cell.id, view, self._clock),
                ticket=ticket,
                clock=self._clock,
            ).follow()
        finally:
            request.close()
            inputs.close()
            is_taken = view.is_taken
            complete = view.end(request.execution_count)
            if self._observer is not None:
                kernel_id = turn.connection.handle.kernel_id
                self._observer.ran(kernel_id, cell, request.execution_count)
        crash_point("kernel.cell.finished")
        turn.died = run.status == "died"
        run = mark_failed_install(run, cell.source)
        if is_taken:
            return replace(run, warning="The user runs this cell again: it shows their run.")
        turn.displays.note(notebook.path, cell.id, outputs)
        if complete or run.status == "aborted":
            return run
        return await self._store(notebook, cell.id, run)

    def _inputs_of(
        self, turn: KernelLease, view: RunView, ticket: RunTicket, asker: InputRecipient | None
    ) -> RunInputs:
        return RunInputs(
            connection=turn.connection,
            view=view,
            pending=self.inputs,
            asker=asker,
            report=ticket.report_input,
            refuse=ticket.refuse_input,
        )

    async def _store(self, notebook: Notebook, cell_id: CellId, run: CellRun) -> CellRun:
        """Store the outputs in the notebook; a failure becomes a warning of the run."""
        edit = StoreOutputs(
            cell_id=cell_id, outputs=run.outputs, execution_count=run.execution_count
        )
        try:
            applied = await notebook.apply([edit], {})
            crash_point("kernel.outputs.stored")
        except ShouldersError as error:
            log.warning("The outputs of cell %s were not stored", cell_id, exc_info=True)
            return replace(run, warning=f"The outputs are not in the notebook: {error}")
        if isinstance(applied, Applied):
            return run
        return replace(run, warning="The outputs are not in the notebook: the cell is gone.")


def kernel_name(snapshot: NotebookSnapshot) -> str | None:
    """Return the name of the notebook's kernelspec; None asks for the server's default."""
    spec = snapshot.metadata.get("kernelspec")
    name = spec.get("name") if isinstance(spec, dict) else None
    return name if isinstance(name, str) and name else None


def busy_refusal(path: str) -> Conflict:
    """Return the error for a kernel that runs the user's code."""
    return Conflict(
        f"The kernel of {path} is busy with something the user is running; nothing was run.",
        code="kernel_busy",
        hint="Try again later, or ask the user. Shoulders.busy_kernel says to refuse then.",
        retryable=True,
    )


def runnable_cell(snapshot: NotebookSnapshot, cell_id: CellId) -> NotebookCell:
    """Return the code cell. Raises ``NotFound``, ``InvalidRequest``."""
    cell = snapshot.cell(cell_id)
    if cell is None:
        raise NotFound(
            f"There is no cell {cell_id!r} in {snapshot.path}.",
            code="cell_not_found",
            hint="Read the notebook again for the cells it has now.",
        )
    if cell.cell_type != "code":
        raise InvalidRequest(
            f"Cell {cell_id!r} of {snapshot.path} is a {cell.cell_type} cell: it cannot run."
        )
    return cell
