"""One run of one cell, from its request to its end; made by ``notebook.execution.cell_runner``.

The run belongs to the server: it continues when its caller is cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import anyio

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.notebook.base import (
    CellRun,
    KernelDirectory,
    RunInput,
    RunInputEnd,
    RunItem,
    RunStarted,
)
from jupyter_ai_shoulders.notebook.execution.output_autosave import OutputAutosave
from jupyter_ai_shoulders.notebook.execution.run_view import RunView
from jupyter_ai_shoulders.notebook.execution.stdin import NOBODY
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection, wait_for_event
from jupyter_ai_shoulders.notebook.outputs.run_log import RunLog
from jupyter_ai_shoulders.wire.base import JsonObject

if TYPE_CHECKING:
    from jupyter_ai_shoulders.notebook.kernels.execute_request import CellRequest

log = logging.getLogger(__name__)

RunStatus = Literal["ok", "error", "aborted", "died", "cancelled", "running"]

WATCH_SECONDS = 0.5
"""Seconds between two checks of the kernel and the pages."""
QUEUE_NOTICE_SECONDS = 0.15
"""Seconds after which an unstarted request in a busy kernel is reported as queued."""
QUEUE_GUESS_SECONDS = 2.0
"""Seconds after which an unstarted request is assumed to be queued behind unseen code."""
INTERRUPT_RETRY_SECONDS = 0.5
"""Seconds until an interrupt is tried again that could not reach the kernel."""
INTERRUPT_TIMEOUT_SECONDS = 5.0
"""Seconds that a cancelled call waits for an interrupted kernel."""
LOG_SECONDS = 0.1
"""Seconds between two pieces of output in the conversation."""


class RunTicket:
    """The caller's handle on a run: its progress, its result, and cancellation."""

    def __init__(self, clock: Clock) -> None:
        self.log = RunLog()
        self.cancelled = False
        self.sent: CellRequest | None = None
        """The request, once it is in the kernel's queue: from then on only the kernel ends it."""
        self.unanswerable = False
        """The code asks for input that nobody can give: it is interrupted."""
        self._clock = clock
        self._began = clock.monotonic()
        self._progress: asyncio.Queue[RunItem | None] = asyncio.Queue()
        self._settled: asyncio.Future[CellRun] = asyncio.get_running_loop().create_future()

    @property
    def is_settled(self) -> bool:
        """Whether the caller has its result."""
        return self._settled.done()

    def progress(self) -> CellRun:
        """Return the progress of the run."""
        sent = self.sent
        begun = sent is not None and sent.started
        return CellRun(
            status="running",
            outputs=sent.outputs.outputs() if sent is not None else (),
            execution_count=sent.execution_count if sent is not None else None,
            duration_ms=round((self._clock.monotonic() - self._began) * 1000),
            kernel_id="",
            warning=None if begun else "It has not begun yet: its kernel is starting or busy.",
        )

    def report_input(self, item: RunInput | RunInputEnd) -> None:
        """Report a question for input, or its end, after all earlier output."""
        self.flush_log()
        self._progress.put_nowait(item)

    def refuse_input(self) -> None:
        """Interrupt the run: nobody can answer its question."""
        self.unanswerable = True
        if self.sent is not None:
            self.sent.activity.set()

    def flush_log(self) -> None:
        """Report the output that the log has collected."""
        for piece in self.log.take():
            self._progress.put_nowait(piece)

    def report_status(self, text: str) -> None:
        """Report a status."""
        self.log.add_status(text)
        self.flush_log()

    def settle(self, outcome: CellRun | BaseException) -> None:
        """Give the caller its result; only the first one counts."""
        if self._settled.done():
            return
        self.flush_log()
        if isinstance(outcome, CellRun):
            self._settled.set_result(outcome)
        else:
            self._settled.set_exception(outcome)
        self._progress.put_nowait(None)

    async def items(self) -> AsyncIterator[RunItem]:
        """Yield progress, then the result. Raises the run's error."""
        yield RunStarted(self.progress)
        while (piece := await self._progress.get()) is not None:
            yield piece
        yield self._settled.result()

    async def abandon(self, task: asyncio.Task[None]) -> None:
        """Cancel the run unless it is settled; return when it is, even if cancelled."""
        if self._settled.done():
            return
        self.cancelled = True
        if self.sent is None:
            task.cancel()
        else:
            self.sent.activity.set()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([self._settled])
        self._settled.exception()  # retrieved: the caller is gone


class CellExecution:
    """Follows a request until the kernel is done with it."""

    def __init__(
        self,
        *,
        request: CellRequest,
        connection: KernelConnection,
        kernels: KernelDirectory,
        view: RunView,
        autosave: OutputAutosave,
        ticket: RunTicket,
        clock: Clock,
    ) -> None:
        self._request = request
        self._connection = connection
        self._kernels = kernels
        self._view = view
        self._autosave = autosave
        self._ticket = ticket
        self._clock = clock
        self._began = self._watched = self._logged = clock.monotonic()
        self._queued = self._died = self._interrupted = False
        self._interrupted_at: float | None = None
        """When the interrupt was first tried."""
        self._interrupt_next = 0.0

    async def follow(self) -> CellRun:
        """Return the result of the request; its outputs are not stored yet."""
        pause = await self._turn(QUEUE_NOTICE_SECONDS, 0.0)
        while not self._request.finished.is_set():
            pause = await self._turn(WATCH_SECONDS, pause)
        interrupted = self._ticket.cancelled and self._interrupted
        reply = self._request.reply or self._guess_reply()
        return self._current_result(run_status(reply["status"], self._died, interrupted))

    def _guess_reply(self) -> JsonObject:
        """Infer the reply from the outputs when it was lost."""
        return {"status": "ok" if last_error(self._request.outputs.outputs()) is None else "error"}

    def _current_result(self, status: RunStatus, warning: str | None = None) -> CellRun:
        outputs = self._request.outputs.outputs()
        omitted = self._request.outputs.omitted
        if omitted:
            warning = f"{omitted} of output were left out in the middle."
        failure = failure_of(status, self._request.reply, outputs)
        return CellRun(
            status=status,
            outputs=outputs,
            execution_count=self._request.execution_count,
            duration_ms=round((self._clock.monotonic() - self._began) * 1000),
            kernel_id=self._connection.handle.kernel_id,
            failure=NOBODY if self._ticket.unanswerable and status == "error" else failure,
            warning=warning,
        )

    async def _turn(self, wait_seconds: float, pause: float) -> float:
        """Wait for messages, let more of them arrive for ``pause``, pass them on."""
        request = self._request
        await wait_for_event(request.activity, wait_seconds)
        if request.activity.is_set() and not request.finished.is_set():
            request.activity.clear()
            await wait_for_event(request.finished, pause)
            pause = self._view.flush()
        if not request.finished.is_set():
            self._note_queue()
            self._report()
            await self._honour_cancel()
            await self._watch()
        return pause

    def _note_queue(self) -> None:
        started = self._request.started
        if started and self._queued:
            self._queued = False
            self._began = self._clock.monotonic()
            self._ticket.report_status("Running.")
        elif not (started or self._queued) and self._seems_queued():
            self._queued = True
            self._ticket.report_status(
                "The kernel is busy; this cell is queued behind what it runs."
            )

    def _seems_queued(self) -> bool:
        """Return whether a kernel that was busy before us seems to queue the request."""
        waited = self._clock.monotonic() - self._began
        return self._connection.is_busy_elsewhere or waited > QUEUE_GUESS_SECONDS

    def _report(self) -> None:
        now = self._clock.monotonic()
        if now - self._logged >= LOG_SECONDS:
            self._logged = now
            self._ticket.flush_log()

    async def _honour_cancel(self) -> None:
        if self._ticket.unanswerable:
            await self._interrupt()
        if not self._ticket.cancelled:
            return
        if not self._request.started:
            self._settle_early("The cell had not begun; it is stopped as soon as it does.")
            return
        tried_at = self._interrupted_at
        await self._interrupt()
        if tried_at is not None and self._clock.monotonic() - tried_at > INTERRUPT_TIMEOUT_SECONDS:
            self._settle_early("The kernel has not reacted to the interrupt yet.")

    async def _interrupt(self) -> None:
        """Interrupt the kernel once; retry after a while if it cannot be reached."""
        now = self._clock.monotonic()
        if self._interrupted or now < self._interrupt_next:
            return
        self._interrupt_next = now + INTERRUPT_RETRY_SECONDS
        if self._interrupted_at is None:
            self._interrupted_at = now
        try:
            if self._request.is_busy:
                await self._kernels.interrupt(self._connection.handle.kernel_id)
            self._interrupted = True
        except NotFound:
            self._die()
        except ShouldersError as error:
            log.warning("A kernel could not be interrupted: %s", error)

    async def _watch(self) -> None:
        now = self._clock.monotonic()
        if now - self._watched < WATCH_SECONDS:
            return
        self._watched = now
        self._view.watch()
        await self._autosave.save_if_due(self._request.outputs, self._request.execution_count)
        if not await self._connection.is_current():
            self._die()

    def _die(self) -> None:
        self._died = True
        self._request.close()

    def _settle_early(self, warning: str) -> None:
        """Give the caller a result; the run is followed to its end all the same."""
        self._ticket.settle(self._current_result("cancelled", warning))


def run_status(reply: object, died: bool, interrupted: bool) -> RunStatus:
    """Return how a run ended, from the status in its reply."""
    if died:
        return "died"
    match reply:
        case "ok":
            return "ok"
        case "error":
            return "cancelled" if interrupted else "error"
        case _:
            return "aborted"


def failure_of(
    status: RunStatus, reply: Mapping[str, Any] | None, outputs: Sequence[JsonObject]
) -> str | None:
    """Return in one line why a run failed."""
    match status:
        case "ok" | "running":
            return None
        case "died":
            return "the kernel died"
        case "aborted":
            return "the kernel dropped it because a cell before it in the queue failed"
        case "cancelled":
            return "cancelled"
        case "error":
            error = reply if reply and "ename" in reply else last_error(outputs) or {}
            message = str(error.get("evalue", "")).partition("\n")[0]
            return f"{error.get('ename') or 'Error'}: {message}"  # bash gives no name


def last_error(outputs: Sequence[JsonObject]) -> JsonObject | None:
    """Return the last error output."""
    errors = (output for output in reversed(outputs) if output.get("output_type") == "error")
    return next(errors, None)
