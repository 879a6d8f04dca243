"""Runs code in the user's kernel without a cell; the tools' ``ScratchRunner``.

Made by ``host.documents.notebooks``. The code runs with the user's variables, in the agent's queue
for the kernel; nothing of it reaches a page, a cell or the kernel's history. In Python kernels
``_``, ``Out`` and the state of ``%debug`` are preserved; other kernels have no means for that.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.notebook.base import (
    CellRun,
    KernelDirectory,
    Notebooks,
    RunItem,
)
from jupyter_ai_shoulders.notebook.execution.cell_run import RunTicket
from jupyter_ai_shoulders.notebook.execution.cell_runner import busy_refusal, kernel_name
from jupyter_ai_shoulders.notebook.execution.pip_failures import mark_failed_install
from jupyter_ai_shoulders.notebook.execution.run_tasks import RunTasks
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection, Message
from jupyter_ai_shoulders.notebook.kernels.queue import KernelLease, KernelQueues
from jupyter_ai_shoulders.notebook.outputs.collector import OutputCollector, OutputLimits
from jupyter_ai_shoulders.notebook.snippets.bundler import python_history_guard

if TYPE_CHECKING:
    from jupyter_ai_shoulders.notebook.execution.detached_run import DetachedRun
    from jupyter_ai_shoulders.notebook.kernels.execute_request import CellRequest

log = logging.getLogger(__name__)

CANCEL_TIMEOUT_SECONDS = 5.0
"""Seconds that a cancelled call waits for an interrupted kernel."""
QUEUE_NOTICE_SECONDS = 1.0


class ScratchRunner(Protocol):
    """Runs code outside cells in notebooks' kernels."""

    def run_code(self, path: str, code: str) -> AsyncGenerator[RunItem]:
        """Run the code in the notebook's kernel, started if needed; end with a ``CellRun``.

        Cancelling interrupts the kernel if it is busy with this code, and waits for the result.
        Raises like ``CellRunner.run``.
        """
        ...


class KernelScratch:
    """The ``ScratchRunner`` over the kernels of a ``KernelDirectory``."""

    def __init__(
        self,
        *,
        notebooks: Notebooks,
        kernels: KernelDirectory,
        queues: KernelQueues,
        clock: Clock,
        limits: OutputLimits | None = None,
        refuses_busy: bool = False,
    ) -> None:
        """``refuses_busy``: do not queue behind the user's code in a kernel."""
        self._notebooks = notebooks
        self._kernels = kernels
        self._queues = queues
        self._clock = clock
        self._limits = limits
        self._refuses_busy = refuses_busy
        self._runs = RunTasks(clock)

    def run_code(self, path: str, code: str) -> AsyncGenerator[RunItem]:
        """See ``ScratchRunner.run_code``."""
        return self._runs.follow(lambda ticket: self._perform(path, code, ticket))

    async def aclose(self) -> None:
        """Stop following code; the kernels continue."""
        await self._runs.aclose()

    async def _perform(self, path: str, code: str, ticket: RunTicket) -> None:
        snapshot = await self._notebooks.open(path).read()
        handle = await self._queues.find_or_start(path, kernel_name(snapshot), ticket.report_status)
        async with self._queues.lease(handle, ticket.report_status) as turn:
            if self._refuses_busy and turn.is_busy_elsewhere:
                raise busy_refusal(path)
            run = await self._execute(code, turn, ticket)
            await turn.displays.write_back(self._notebooks)
            ticket.settle(run)

    async def _execute(self, code: str, turn: KernelLease, ticket: RunTicket) -> CellRun:
        from jupyter_ai_shoulders.notebook.execution.detached_run import DetachedRun, ScratchRequest

        connection = turn.connection
        guard = _guard_history(connection)
        request = ScratchRequest(turn.reader, OutputCollector(self._limits), ticket.log)
        request.on_display = turn.displays.update
        crash_point("kernel.scratch.before_send")
        request.send_scratch(connection, code)
        crash_point("kernel.scratch.sent")
        ticket.sent = request
        run = DetachedRun(request, connection, self._clock)
        cancel = _Cancel(request, run, ticket, self._kernels)
        try:
            while not await run.wait():
                cancel.note_queue()
                ticket.flush_log()
                await cancel.honour()
        finally:
            request.close()
            guard()
        crash_point("kernel.scratch.finished")
        turn.died = run.died
        return mark_failed_install(run.current_result(), code)


class _Cancel:
    """Reports that code is queued, and cancels it for the caller."""

    def __init__(
        self, request: CellRequest, run: DetachedRun, ticket: RunTicket, kernels: KernelDirectory
    ) -> None:
        self._request = request
        self._run = run
        self._ticket = ticket
        self._kernels = kernels
        self._reported = False
        self._interrupted = 0.0

    def note_queue(self) -> None:
        """Report once that the code has not begun."""
        if self._reported or self._request.started or self._run.seconds < QUEUE_NOTICE_SECONDS:
            return
        self._reported = True
        self._ticket.report_status("The kernel is busy; this code is queued behind what it runs.")

    async def honour(self) -> None:
        """Interrupt the kernel once it runs the code; give the caller a result when that takes
        long.
        """
        if not self._ticket.cancelled:
            return
        if not self._request.started:
            self._let_go("The code had not begun; it is stopped as soon as it does.")
        elif not self._run.interrupted:
            await self._interrupt()
        elif self._run.seconds - self._interrupted > CANCEL_TIMEOUT_SECONDS:
            self._let_go("The kernel has not reacted to the interrupt yet.")

    async def _interrupt(self) -> None:
        self._run.interrupted = True
        self._interrupted = self._run.seconds
        if not self._request.is_busy:
            return
        try:
            await self._kernels.interrupt(self._run.kernel_id)
        except NotFound:
            self._run.died = True
            self._request.close()
        except ShouldersError as error:
            log.warning("A kernel could not be interrupted: %s", error)

    def _let_go(self, warning: str) -> None:
        run = replace(self._run.current_result(), status="cancelled", warning=warning)
        self._ticket.settle(run)


class _IgnoredRequest:
    """The request of the history guard, whose reply is ignored."""

    def on_output(self, message: Message) -> None:
        """Ignore the output."""

    def on_reply(self, message: Message) -> None:
        """Ignore the reply."""


def _guard_history(connection: KernelConnection) -> Callable[[], None]:
    """Make the next scratch run preserve the user's results; return its clean-up."""
    if connection.handle.language.lower() != "python":
        return lambda: None
    expressions = {"guard": python_history_guard()}
    sent = connection.ask("", _IgnoredRequest(), silent=True, expressions=expressions)
    return lambda: connection.forget(sent)
