"""Calls of all sessions that continue after their step, such as cells that run for hours.

Made by ``host`` for the engine, which receives their events, and for ``read_output``, which reads
their progress. A call here already has a result that says so, and ends with one ``run-end``. It
ends by itself, with a cancel of its session, or when the server stops.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError, StateUnavailable
from jupyter_ai_shoulders.engine.calls.execution import ToolCallExecution, ToolCallOutcome
from jupyter_ai_shoulders.engine.calls.output_truncation import OutputTruncator
from jupyter_ai_shoulders.engine.loop.state import BackgroundRun, CallState
from jupyter_ai_shoulders.engine.loop.synthetic_results import (
    LOST,
    LOST_COMMAND,
    error_text,
    internal_error,
    settled_result,
)
from jupyter_ai_shoulders.tools.base import Result, text_content
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Event, RunEnd
from jupyter_ai_shoulders.wire.ids import LongRunId, SessionId

_log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
"""Delay before an end that could not be logged (full disk) is reported again."""
POLL_SECONDS = 0.05
"""Polling interval while such an end is unreported."""
RETAINED_RESULTS = 50
"""Ended calls whose results can still be read by handle."""

EventCallback = Callable[[SessionId, Event], None]


@dataclass(slots=True)
class _TrackedCall:
    session_id: SessionId
    call: CallState
    truncator: OutputTruncator
    run: ToolCallExecution
    look: Callable[[], Result]
    cancelled: ErrorInfo | None = None
    """Why it was cancelled."""
    result: Result | None = None
    """Its result, once reported."""


class BackgroundTasks:
    """Tracks calls in the background and reports their ends."""

    def __init__(self, ids: IdSource) -> None:
        self._ids = ids
        self._calls: dict[LongRunId, _TrackedCall] = {}
        self._callback: EventCallback | None = None

    def subscribe(self, callback: EventCallback) -> None:
        """Set the receiver of events; called once, by the engine."""
        self._callback = callback

    def adopt(
        self,
        session_id: SessionId,
        call: CallState,
        run: ToolCallExecution,
        truncator: OutputTruncator,
    ) -> ToolCallOutcome:
        """Take over a call; return its preliminary result.

        The end is reported only after that result is recorded, which earlier calls of the step may
        delay: an end the session does not expect would be lost.
        """
        assert run.look is not None, "only calls that can be looked at outlast their step"
        name = LongRunId(self._ids.new("run"))
        tracked = _TrackedCall(session_id, call, truncator, run, run.look)
        self._calls[name] = tracked
        run.record = partial(self._record, session_id)
        self._forget_old()
        crash_point("engine.run.adopted")
        return ToolCallOutcome(
            "ok",
            run.elapsed_ms,
            result=_going_on(tracked, name),
            run=name,
            recorded=lambda: run.task.add_done_callback(
                lambda _: self._on_task_done(tracked, name)
            ),
        )

    def is_running(self, session_id: SessionId, name: LongRunId) -> bool:
        """Return whether the call is running or its end is not reported yet."""
        tracked = self._calls.get(name)
        return tracked is not None and tracked.session_id == session_id and tracked.result is None

    def cancel(self, session_id: SessionId, why: ErrorInfo) -> None:
        """Cancel the session's calls; each reports its end shortly after."""
        for tracked in self._going_on():
            if tracked.session_id == session_id:
                _stop(tracked, why)

    def cancel_run(self, session_id: SessionId, name: LongRunId, why: ErrorInfo) -> None:
        """Cancel one call of the session, if it is still running."""
        tracked = self._calls.get(name)
        if tracked is not None and tracked.session_id == session_id and not tracked.run.task.done():
            _stop(tracked, why)

    async def stop(self, why: ErrorInfo) -> None:
        """Cancel all calls and wait until they end."""
        going_on = self._going_on()
        for tracked in going_on:
            _stop(tracked, why)
        if going_on:
            await asyncio.wait([tracked.run.task for tracked in going_on])

    async def ended(self, session_id: SessionId) -> None:
        """Wait for the end of one of the session's calls; return at once without any."""
        tasks = [
            tracked.run.task for tracked in self._going_on() if tracked.session_id == session_id
        ]
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        # The end is reported by now, unless reporting it is retried.
        await asyncio.sleep(0 if tasks else POLL_SECONDS)

    async def poll(self, session_id: SessionId, handle: str, timeout_s: float) -> Result | None:
        """Return the progress or the result of a call, after waiting up to ``timeout_s`` seconds.

        None when the session has no such call: the server was restarted, or it ended long ago.
        """
        name = LongRunId(handle)
        tracked = self._calls.get(name)
        if tracked is None or tracked.session_id != session_id:
            return None
        await asyncio.wait({tracked.run.task}, timeout=timeout_s)
        return _going_on(tracked, name) if tracked.result is None else tracked.result

    def _going_on(self) -> list[_TrackedCall]:
        return [tracked for tracked in self._calls.values() if not tracked.run.task.done()]

    def _on_task_done(self, tracked: _TrackedCall, name: LongRunId) -> None:
        self._report_end(tracked, name, _outcome(tracked))

    def _report_end(self, tracked: _TrackedCall, name: LongRunId, outcome: ToolCallOutcome) -> None:
        """Report the end of a call, and retry until it is logged: the session may wait for it."""
        result: Result | None = None
        try:
            event, result = run_end_event(tracked.call, name, outcome, tracked.truncator)
            self._emit(tracked.session_id, event)
        except StateUnavailable:
            _log.exception("The end of a run of %s is reported again later.", tracked.session_id)
            loop = asyncio.get_running_loop()
            loop.call_later(RETRY_SECONDS, self._report_end, tracked, name, outcome)
            return
        except ShouldersError:  # the session is deleted
            _log.exception("The end of a run of %s is not in its log.", tracked.session_id)
        tracked.result = result

    def _emit(self, session_id: SessionId, event: Event) -> None:
        if self._callback is not None:
            self._callback(session_id, event)

    def _record(self, session_id: SessionId, event: Event) -> None:
        try:
            self._emit(session_id, event)
        except ShouldersError:  # the run continues, and its outputs are in the notebook anyway
            _log.exception("What a run of %s said is not in its log.", session_id)

    def _forget_old(self) -> None:
        over = [name for name, tracked in self._calls.items() if tracked.result is not None]
        for name in over[: max(len(over) - RETAINED_RESULTS, 0)]:
            del self._calls[name]


def run_end_event(
    call: CallState, name: LongRunId, outcome: ToolCallOutcome, truncator: OutputTruncator
) -> tuple[RunEnd, Result]:
    """Return the event of a call's end, and its result."""
    result = outcome.result
    if result is None:
        error = outcome.error or internal_error(f"The tool {call.tool}")
        envelope = settled_result(call.call_id, call.tool, outcome.status, error).result
        result = Result(envelope=envelope, content=text_content(error_text(error)))
    content, handle = truncator.truncate(result.content, result.handle)
    event = RunEnd(
        call_id=call.call_id,
        tool=call.tool,
        title=call.title,
        run=name,
        status=outcome.status,
        result=result.envelope,
        content=content,
        duration_ms=outcome.duration_ms,
        handle=handle,
    )
    return event, result


def lost_run_event(run: BackgroundRun) -> RunEnd:
    """Return the end of a run that the end of the server cut off."""
    is_process = run.start is not None and run.start.pid is not None
    why = LOST_COMMAND if is_process else LOST
    result = settled_result(run.call_id, run.tool, "unknown", why)
    return RunEnd(
        turn_id=run.turn_id,
        call_id=run.call_id,
        tool=run.tool,
        title=run.title,
        run=run.run,
        status="unknown",
        result=result.result,
        content=result.content,
        duration_ms=0,
    )


def _outcome(tracked: _TrackedCall) -> ToolCallOutcome:
    failure = tracked.run.failure
    if failure is not None:
        _log.error("Tool %s has a bug.", tracked.call.tool, exc_info=failure)
        bug = internal_error(f"The tool {tracked.call.tool}")
        return ToolCallOutcome("error", tracked.run.elapsed_ms, error=bug)
    return tracked.run.outcome(tracked.cancelled or LOST)


def _stop(tracked: _TrackedCall, why: ErrorInfo) -> None:
    tracked.cancelled = tracked.cancelled or why
    tracked.run.task.cancel()


def _going_on(tracked: _TrackedCall, name: LongRunId) -> Result:
    """Return the output so far, with a note on how to proceed."""
    now = tracked.look()
    seconds = tracked.run.elapsed_ms // 1000
    note = (
        f"[Still running after {seconds} s; it goes on. Handle: {name} (read_output with it says "
        "how far it is). Do other things meanwhile, or end your turn: when it has ended you are "
        "told, and go on by yourself. Do not run it again.]"
    )
    data = now.envelope.data
    known = {**data, "run": name, "status": "running"} if isinstance(data, dict) else data
    envelope = now.envelope.model_copy(update={"data": known})
    return replace(now, envelope=envelope, content=(*now.content, *text_content(note)))
