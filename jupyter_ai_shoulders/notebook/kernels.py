"""Runs cells in the user's live kernels (chapter 06); the tools' ``CellRunner``.

Wired by ``host``. One connection per kernel is kept between runs, and one run at a time is in a
kernel's queue, so that two conversations never interleave.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.notebook.base import (
    Applied,
    CellRun,
    KernelDirectory,
    KernelHandle,
    Notebook,
    Notebooks,
    NotebookSnapshot,
    Pages,
    RunProgress,
)
from jupyter_ai_shoulders.notebook.cell_run import CellExecution, RunTicket
from jupyter_ai_shoulders.notebook.kernel_connection import KernelConnection
from jupyter_ai_shoulders.notebook.outputs import CellOutputs, OutputLimits
from jupyter_ai_shoulders.notebook.page_view import PageView
from jupyter_ai_shoulders.wire.ids import CellId, RunId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs as StoreOutputs
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

if TYPE_CHECKING:
    from jupyter_ai_shoulders.notebook.execution import MessageReader

log = logging.getLogger(__name__)

RESTART_SECONDS = 10.0
"""How long a dead kernel may take to come back: Jupyter's restarter looks every 3 s."""
RESTART_CHECK_SECONDS = 0.25


@dataclass
class _Line:
    """What is kept per kernel: whose turn it is, and the connection of its present life."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: KernelConnection | None = None
    reader: MessageReader | None = None


class KernelRunner:
    """The ``CellRunner`` over the kernels of a ``KernelDirectory``."""

    def __init__(
        self,
        *,
        notebooks: Notebooks,
        kernels: KernelDirectory,
        pages: Pages,
        clock: Clock,
        ids: IdSource,
        limits: OutputLimits | None = None,
    ) -> None:
        self._notebooks = notebooks
        self._kernels = kernels
        self._pages = pages
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._lines: dict[str, _Line] = {}
        self._starting: dict[str, asyncio.Task[KernelHandle]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, path: str, cell_id: CellId) -> AsyncGenerator[RunProgress | CellRun]:
        """See ``CellRunner.run``."""
        ticket = RunTicket()
        task = asyncio.create_task(self._perform(path, cell_id, ticket))
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._conclude(done, ticket))
        try:
            async for item in ticket.items():
                yield item
        finally:
            await ticket.abandon(task)

    async def kernel_of(self, path: str) -> str | None:
        """See ``CellRunner.kernel_of``."""
        handle = await self._kernels.find(path)
        return handle.kernel_id if handle else None

    async def aclose(self) -> None:
        """Leave the kernels alone from now on; they run on."""
        tasks: set[asyncio.Task[Any]] = {*self._tasks, *self._starting.values()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for line in self._lines.values():
            await self._disconnect(line)

    def _conclude(self, task: asyncio.Task[None], ticket: RunTicket) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            ticket.settle(asyncio.CancelledError())
        elif error := task.exception():
            if ticket.is_settled:
                log.error("A cancelled run failed later", exc_info=error)
            ticket.settle(error)

    async def _perform(self, path: str, cell_id: CellId, ticket: RunTicket) -> None:
        notebook = self._notebooks.open(path)
        snapshot = await notebook.read()
        cell = runnable_cell(snapshot, cell_id)
        handle = await self._kernel(snapshot, ticket)
        line = self._lines.setdefault(handle.kernel_id, _Line())
        if waiting := line.lock.locked():
            ticket.say("Another run of the agent is in this kernel; this one is next.")
        async with line.lock:
            if waiting:
                cell = runnable_cell(await notebook.read(), cell_id)
            await self._connect(line, handle, ticket)
            ticket.settle(await self._execute(notebook, cell, line, ticket))

    async def _execute(
        self, notebook: Notebook, cell: NotebookCell, line: _Line, ticket: RunTicket
    ) -> CellRun:
        from jupyter_ai_shoulders.notebook.execution import CellRequest

        assert line.connection is not None
        assert line.reader is not None
        outputs = CellOutputs(self._limits)
        request = CellRequest(line.reader, outputs, ticket.log)
        run_id = RunId(self._ids.new("run"))
        view = PageView(self._pages, notebook.path, cell.id, run_id, outputs)
        view.start()
        crash_point("kernel.cell.before_send")
        request.send(line.connection, cell.source, cell.id)
        crash_point("kernel.cell.sent")
        ticket.sent = request
        try:
            run = await CellExecution(
                request=request,
                connection=line.connection,
                kernels=self._kernels,
                view=view,
                ticket=ticket,
                clock=self._clock,
            ).follow()
        finally:
            request.close()
            is_taken = view.is_taken
            complete = view.end(request.execution_count)
        crash_point("kernel.cell.finished")
        if run.status == "died":
            await self._disconnect(line)
        if is_taken:
            return replace(run, warning="The user runs this cell again: it shows their run.")
        if complete or run.status == "aborted":
            return run
        return await self._store(notebook, cell.id, run)

    async def _store(self, notebook: Notebook, cell_id: CellId, run: CellRun) -> CellRun:
        """Put the outputs into the notebook; a run that cannot is still a run."""
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

    async def _kernel(self, snapshot: NotebookSnapshot, ticket: RunTicket) -> KernelHandle:
        path = snapshot.path
        handle = await self._living(path, ticket)
        if handle is not None:
            return handle
        if path not in self._starting:
            name = kernel_name(snapshot)
            ticket.say(f"Starting the kernel {name}." if name else "Starting a kernel.")
            self._starting[path] = asyncio.create_task(self._start(path, name))
        # Not cancelled with the asker: a start cut short would leave a kernel nobody knows of.
        return await asyncio.shield(self._starting[path])

    async def _living(self, path: str, ticket: RunTicket) -> KernelHandle | None:
        """Return the notebook's kernel; one that has just died is being restarted by its server."""
        waited = 0.0
        while (handle := await self._kernels.find(path)) is not None:
            if await ensure_async(handle.manager.is_alive()):
                return handle
            if not waited:
                ticket.say("The kernel died; waiting for its restart.")
            if waited >= RESTART_SECONDS:
                raise Conflict(
                    f"The kernel of {path} is dead and does not come back.",
                    code="kernel_died",
                    hint="Restart the kernel in the notebook's Kernel menu, then try again.",
                    retryable=True,
                )
            await asyncio.sleep(RESTART_CHECK_SECONDS)
            waited += RESTART_CHECK_SECONDS
        return None

    async def _start(self, path: str, name: str | None) -> KernelHandle:
        try:
            return await self._kernels.start(path, name)
        except (OSError, RuntimeError) as error:
            raise Conflict(
                f"The kernel of {path} could not be started: {error}.",
                code="no_kernel",
                hint="Start it in the notebook; the Jupyter server's log says more.",
                retryable=True,
            ) from error
        finally:
            del self._starting[path]

    async def _connect(self, line: _Line, handle: KernelHandle, ticket: RunTicket) -> None:
        if line.connection is not None:
            if not line.connection.is_stale:
                return
            await self._disconnect(line)
        from jupyter_ai_shoulders.notebook.execution import MessageReader

        await self._drop_dead()
        connection = KernelConnection(handle)
        try:
            await connection.open(lambda: ticket.say("Waiting for the kernel to answer."))
        except BaseException:
            await connection.close()
            raise
        line.connection, line.reader = connection, MessageReader(connection)
        crash_point("kernel.connection.opened")

    async def _drop_dead(self) -> None:
        """Forget kernels that are gone or were restarted, unless someone waits for them."""
        for kernel_id, line in [*self._lines.items()]:
            connection = line.connection
            if line.lock.locked() or connection is None or await connection.is_current():
                continue
            del self._lines[kernel_id]
            await self._disconnect(line)

    async def _disconnect(self, line: _Line) -> None:
        connection, line.connection, line.reader = line.connection, None, None
        if connection is not None:
            await connection.close()


def kernel_name(snapshot: NotebookSnapshot) -> str | None:
    """Return the name of the notebook's kernelspec; None asks for the server's default."""
    spec = snapshot.metadata.get("kernelspec")
    name = spec.get("name") if isinstance(spec, dict) else None
    return name if isinstance(name, str) and name else None


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
