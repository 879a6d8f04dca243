"""Executes one tool call and reads its stream to the end, even if its caller stops waiting.

Made by ``engine.calls.batch_runner``. A call that continues after its step is handed over to
``engine.calls.background_tasks``, which then receives its events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, assert_never, cast

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.engine.calls.delta_buffer import DeltaBuffer
from jupyter_ai_shoulders.tools.base import (
    BackgroundCall,
    CallContext,
    InputEnded,
    InputRequested,
    Progress,
    Result,
    Tool,
    ToolOutput,
)
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    CallStatus,
    Event,
    StdinAnswer,
    StdinRequest,
    ToolProgress,
)
from jupyter_ai_shoulders.wire.ids import CallId, LongRunId

INPUT_POLL_SECONDS = 1.0
"""Polling interval while a call waits for input of the user."""
EARLY_FAILURE_SECONDS = 1.0
"""Seconds in which a background call may still fail within its step."""


@dataclass(frozen=True, slots=True)
class ToolCallOutcome:
    """The outcome of a call; ``run`` is set when it continues in the background."""

    status: CallStatus
    duration_ms: int = 0
    result: Result | None = None
    error: ErrorInfo | None = None
    run: LongRunId | None = None
    recorded: Callable[[], None] | None = None
    """Called when the result is logged; a background call reports its end only after that."""


@dataclass(frozen=True, slots=True)
class CallRecording:
    """How the progress of a call is logged."""

    record: Callable[[Event], None]
    clock: Clock
    interval: float
    redactor: Callable[[], Redactor]
    """Masks the keys in use, also where output is split within one."""


class ToolCallExecution:
    """A running call; ``task`` ends with its result."""

    def __init__(
        self, tool: Tool[Any], args: Any, context: CallContext, recording: CallRecording
    ) -> None:
        self.look: Callable[[], Result] | None = None
        """Returns the progress; None while the call may not continue after its step."""
        self.asks = False
        """Whether it waits for the user's input."""
        self.record = recording.record
        """Receives its events; replaced when the call moves to the background."""
        self._recording = recording
        self._since = recording.clock.monotonic()
        self._call_id = context.call_id
        self._progress = _ProgressLog(context.call_id, recording, self._take)
        self._closed = False
        self._detached = asyncio.Event()
        self.task = asyncio.create_task(self._drain(tool, args, context))

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the start."""
        return round((self._recording.clock.monotonic() - self._since) * 1000)

    async def wait(self, patience: float | None) -> bool:
        """Wait for the call; return False when it continues in the background.

        A call that waits for the user's input is waited for.
        """
        done = await self._first_wait(patience)
        while not done and (self.look is None or self.asks):
            done, _ = await asyncio.wait({self.task}, timeout=INPUT_POLL_SECONDS)
        return bool(done)

    async def _first_wait(self, patience: float | None) -> set[asyncio.Task[Result]]:
        """Wait for the end, only briefly once the call needs no waiting."""
        beside = asyncio.create_task(self._detached.wait())
        try:
            done, _ = await asyncio.wait(
                {self.task, beside}, timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            beside.cancel()
        if beside in done and self.task not in done:
            soon = (
                EARLY_FAILURE_SECONDS if patience is None else min(patience, EARLY_FAILURE_SECONDS)
            )
            await asyncio.wait({self.task}, timeout=soon)
        return {self.task} if self.task.done() else set()

    def close(self) -> None:
        """Record nothing more: the call has its result even if its tool still runs."""
        self._closed = True

    @property
    def failure(self) -> BaseException | None:
        """The exception of the finished call that tools must not raise."""
        error = None if self.task.cancelled() else self.task.exception()
        return None if isinstance(error, ShouldersError) else error

    def outcome(self, why: ErrorInfo) -> ToolCallOutcome:
        """Return the outcome of the finished call; ``why`` is the reason if it was cancelled.

        Raises its ``failure``.
        """
        if self.task.cancelled():
            return ToolCallOutcome("cancelled", self.elapsed_ms, error=why)
        try:
            result = self.task.result()
        except ShouldersError as error:
            return ToolCallOutcome("error", self.elapsed_ms, error=error.info)
        status: CallStatus = "ok" if result.ok else "error"
        if result.is_cancelled:
            status = "cancelled"
        return ToolCallOutcome(status, self.elapsed_ms, result=result)

    async def _drain(self, tool: Tool[Any], args: Any, context: CallContext) -> Result:
        result: Result | None = None
        stream = cast("AsyncGenerator[ToolOutput, None]", tool.run(args, context))
        try:
            async with aclosing(stream) as items:
                async for item in items:
                    if isinstance(item, Result):
                        result = item
                        crash_point("tools.effect.done")
                    else:
                        self._handle_output(item)
        finally:
            self._progress.flush()
            if self.asks:  # stopped, so nobody waits for the answer
                self._handle_output(InputEnded(answered=False))
        if result is None:
            raise RuntimeError(f"the tool {tool.name} ended without a result")
        return result

    def _handle_output(self, item: Progress | BackgroundCall | InputRequested | InputEnded) -> None:
        match item:
            case Progress():
                self._progress.add(item)
            case BackgroundCall(current_result=look, detached=detached):
                self.look = look
                if detached:
                    self._detached.set()
            case InputRequested():
                self._progress.flush()
                self.asks = True
                asked = StdinRequest(
                    call_id=self._call_id,
                    prompt=item.prompt,
                    password=item.password,
                    choices=item.choices,
                )
                self._take(asked)
                crash_point("stdin.request.recorded")
            case InputEnded():
                self.asks = False
                self._take(StdinAnswer(call_id=self._call_id, answered=item.answered))
                crash_point("stdin.answer.recorded")
            case _:
                assert_never(item)

    def _take(self, event: Event) -> None:
        if not self._closed:
            self.record(event)


class _ProgressLog:
    """Records a call's progress; consecutive pieces of one channel are joined."""

    def __init__(
        self, call_id: CallId, recording: CallRecording, record: Callable[[Event], None]
    ) -> None:
        self._call_id = call_id
        self._recording = recording
        self._record = record
        self._channel: str | None = None
        self._text: DeltaBuffer | None = None

    def add(self, progress: Progress) -> None:
        if self._text is None or self._channel != progress.channel:
            self.flush()
            self._channel = progress.channel
            self._text = DeltaBuffer(
                self._recording.interval, self._emitter(progress), self._recording.redactor
            )
        self._text.push(progress.text)

    def flush(self) -> None:
        if self._text is not None:
            self._text.close()

    def _emitter(self, progress: Progress) -> Callable[[str], None]:
        def emit(text: str) -> None:
            self._record(ToolProgress(call_id=self._call_id, channel=progress.channel, text=text))

        return emit
