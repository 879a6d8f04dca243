"""Follows requests whose outputs are shown in no page or cell: scratch code and verifications.

Used by ``notebook.execution.scratch_runner`` and ``notebook.execution.verification``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.notebook.base import CellRun
from jupyter_ai_shoulders.notebook.execution.cell_run import failure_of, last_error, run_status
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection, wait_for_event
from jupyter_ai_shoulders.notebook.kernels.execute_request import CellRequest

WATCH_SECONDS = 0.5
"""Seconds between two checks of the kernel."""
REPORT_SECONDS = 0.1
"""Seconds between two pieces of output in the conversation."""


class DetachedRun:
    """One request, from sending to its end."""

    def __init__(self, request: CellRequest, connection: KernelConnection, clock: Clock) -> None:
        self._request = request
        self._connection = connection
        self._clock = clock
        self._sent = clock.monotonic()
        self._began: float | None = None
        self.died = False
        self.interrupted = False

    @property
    def kernel_id(self) -> str:
        """The kernel's id."""
        return self._connection.handle.kernel_id

    @property
    def seconds(self) -> float:
        """How long it has run, or waited if it has not begun."""
        return self._clock.monotonic() - (self._began or self._sent)

    async def wait(self) -> bool:
        """Wait for messages, at most half a second; return whether the run is over."""
        request = self._request
        await wait_for_event(request.activity, WATCH_SECONDS)
        if request.activity.is_set() and not request.finished.is_set():
            request.activity.clear()
            await wait_for_event(request.finished, REPORT_SECONDS)
        if self._began is None and request.started:
            self._began = self._clock.monotonic()
        if not request.finished.is_set() and not await self._connection.is_current():
            self.died = True
            request.close()
        return request.finished.is_set()

    def current_result(self) -> CellRun:
        """Return the result, with the status ``running`` before the end."""
        request = self._request
        outputs = request.outputs.outputs()
        reply = request.reply or {"status": "error" if last_error(outputs) else "ok"}
        is_over = request.finished.is_set()
        ended = run_status(reply["status"], self.died, self.interrupted)
        omitted = request.outputs.omitted
        return CellRun(
            status=ended if is_over else "running",
            outputs=outputs,
            execution_count=request.execution_count,
            duration_ms=round(self.seconds * 1000),
            kernel_id=self.kernel_id,
            failure=failure_of(ended, request.reply, outputs) if is_over else None,
            warning=f"{omitted} of output were left out in the middle." if omitted else None,
        )


class ScratchRequest(CellRequest):
    """A request for code outside cells."""

    def send_scratch(self, connection: KernelConnection, code: str) -> None:
        """Send the code to the kernel's queue."""
        self._reader.clear_before_next_output = False
        sent = connection.ask(code, self, silent=False, expressions={})
        self._forget = lambda: connection.forget(sent)
