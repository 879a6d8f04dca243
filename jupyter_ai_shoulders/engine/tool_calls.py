"""Runs the calls of a batch and records their results in model order. Run by ``engine.operations``.

Reads run together; a change has its document for itself. A call's start is on the disk before
its effect (writes and executions), and every call ends with exactly one result, also when it is
cancelled or its tool has a bug.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.redaction import Redactor
from jupyter_ai_shoulders.engine.batch_order import twins, waits_for
from jupyter_ai_shoulders.engine.coalesce import Coalescer
from jupyter_ai_shoulders.engine.results import (
    AFTER_BUG,
    CANCELLED,
    CHANGED_SINCE,
    STOPPED,
    UNKNOWN,
    internal_error,
    settled,
    time_up,
)
from jupyter_ai_shoulders.engine.signals import CallsDone
from jupyter_ai_shoulders.engine.spill import Spill
from jupyter_ai_shoulders.engine.state import Call, Policy, Settle, StopReason
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Progress,
    Question,
    Result,
    Tool,
)
from jupyter_ai_shoulders.tools.registry import Problem, ToolRegistry
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    CallStatus,
    ClarifyRequest,
    Event,
    ProposalAdd,
    ToolProgress,
    ToolResult,
    ToolStart,
)
from jupyter_ai_shoulders.wire.ids import CallId, CellId, Version

_log = logging.getLogger(__name__)

Seen = dict[tuple[str, CellId | None], Version]


@dataclass(frozen=True, slots=True)
class BatchTools:
    """What a batch needs of its surroundings."""

    record: Callable[[Event], None]
    sync: Callable[[], Awaitable[None]]
    context: Callable[[CallId, Mapping[tuple[str, CellId | None], Version]], CallContext]
    stop_reason: Callable[[], StopReason | None]
    policy: Policy
    forbidden: Callable[[Call, CallSubject | None], ErrorInfo | None]
    """Why a call may not run after all, by the rules as they are now."""
    tools: ToolRegistry
    spill: Spill
    clock: Clock
    interval: float
    redactor: Redactor
    """Knows the keys in use; output never shows one cut over two pieces."""
    settle_timeout: float


@dataclass(frozen=True, slots=True)
class _Outcome:
    status: CallStatus
    duration_ms: int = 0
    result: Result | None = None
    error: ErrorInfo | None = None


class Batch:
    """The calls of one step that are judged and have no result yet."""

    def __init__(self, calls: Sequence[Call], seen: Seen, tools: BatchTools) -> None:
        self._calls = calls
        self._seen = dict(seen)
        self._tools = tools
        self._waits_for = waits_for(calls)
        self._twins = twins(calls)
        self._finished = [asyncio.Event() for _ in calls]
        self._outcomes: list[_Outcome | None] = [None] * len(calls)
        self._recorded = 0
        self._bug: ErrorInfo | None = None
        self._abandoned: set[asyncio.Task[Result]] = set()

    async def run(self) -> CallsDone:
        """Give every call its result; when cancelled, the rest get theirs before it leaves."""
        try:
            async with asyncio.TaskGroup() as group:
                for position in range(len(self._calls)):
                    group.create_task(self._settle(position))
        except asyncio.CancelledError:
            self._close()
            raise
        except ExceptionGroup as failures:  # the log failed: nothing more can be recorded
            raise failures.exceptions[0] from None
        return CallsDone(self._bug)

    async def _settle(self, position: int) -> None:
        for earlier in self._waits_for[position]:
            await self._finished[earlier].wait()
        try:
            outcome = await self._outcome(position)
        except ShouldersError:  # the log failed, which ends the turn
            raise
        except Exception as error:  # noqa: BLE001 whatever a tool does, its siblings have results
            outcome = self._failed(self._calls[position], error)
        self._finish(position, outcome)

    async def _outcome(self, position: int) -> _Outcome:
        call = self._calls[position]
        if isinstance(call.verdict, Settle):
            return _Outcome(call.verdict.status, error=call.verdict.error)
        twin = self._twins[position]
        if twin is not None:
            await self._finished[twin].wait()
            replayed = self._outcomes[twin]
            if replayed is not None and replayed.status == "ok":
                return _Outcome("ok", result=_replayed(replayed.result))
        return await self._run(position)

    async def _run(self, position: int) -> _Outcome:
        call = self._calls[position]
        tool = cast("Tool[Any]", self._tools.tools.get(call.tool))
        args = self._tools.tools.validate(call.tool, call.arguments or {})
        if isinstance(args, Problem):
            return _Outcome("error", error=args.error)
        context = self._tools.context(call.call_id, self._seen)
        subject = None if call.risk == "read" else await looked_at(tool, args, context)
        refused = self._refused(call, subject)
        if refused is not None:
            return refused
        self._tools.record(started(call.call_id, subject))
        crash_point("tools.start.recorded")
        if call.risk != "read":
            await self._tools.sync()
            crash_point("tools.start.synced")
        since = self._tools.clock.monotonic()
        progress = _ProgressLog(call.call_id, self._tools)
        work = asyncio.create_task(self._drain(tool, args, context, progress))
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            self._outcomes[position] = await self._stop(call, work, since)
            progress.close()
            raise
        return self._ended(call, work, since)

    def _refused(self, call: Call, subject: CallSubject | None) -> _Outcome | None:
        """Return why a call does not start after all; None when it does."""
        if self._bug is not None:
            return _Outcome("skipped", error=AFTER_BUG)
        try:
            forbidden = self._tools.forbidden(call, subject)
        except ShouldersError as error:  # the rules cannot be read
            return _Outcome("error", error=error.info)
        if forbidden is not None:
            return _Outcome("denied", error=forbidden)
        return _Outcome("error", error=CHANGED_SINCE) if _differs(call, subject) else None

    async def _drain(
        self, tool: Tool[Any], args: Any, context: CallContext, progress: _ProgressLog
    ) -> Result:
        result: Result | None = None
        stream = cast("AsyncGenerator[Progress | Result, None]", tool.run(args, context))
        try:
            async with aclosing(stream) as items:
                async for item in items:
                    if isinstance(item, Result):
                        result = item
                        crash_point("tools.effect.done")
                    else:
                        progress.add(item)
        finally:
            progress.flush()
        if result is None:
            raise RuntimeError(f"the tool {tool.name} ended without a result")
        return result

    async def _stop(self, call: Call, work: asyncio.Task[Result], started: float) -> _Outcome:
        """Let a cancelled tool settle its effect; one that does not is left behind."""
        work.cancel()
        await asyncio.wait({work}, timeout=self._tools.settle_timeout)
        if not work.done():
            _log.warning("Tool %s did not stop when it was cancelled.", call.tool)
            self._abandoned.add(work)
            work.add_done_callback(self._abandoned.discard)
            return _Outcome("unknown", self._elapsed(started), error=UNKNOWN)
        if work.cancelled():
            return _Outcome("cancelled", self._elapsed(started), error=self._why())
        return self._ended(call, work, started)

    def _ended(self, call: Call, work: asyncio.Task[Result], started: float) -> _Outcome:
        duration = self._elapsed(started)
        if work.cancelled():
            return _Outcome("cancelled", duration, error=self._why())
        error = work.exception()
        if error is None:
            result = work.result()
            return _Outcome("ok" if result.ok else "error", duration, result=result)
        if isinstance(error, ShouldersError):
            return _Outcome("error", duration, error=error.info)
        return self._failed(call, error, duration)

    def _failed(self, call: Call, error: BaseException, duration: int = 0) -> _Outcome:
        """Note a tool's bug, which ends the turn after the calls that run; no other starts."""
        _log.error("Tool %s has a bug.", call.tool, exc_info=error)
        told = internal_error(f"The tool {call.tool}")
        self._bug = self._bug or told
        return _Outcome("error", duration, error=told)

    def _elapsed(self, started: float) -> int:
        return round((self._tools.clock.monotonic() - started) * 1000)

    def _why(self) -> ErrorInfo:
        match self._tools.stop_reason(), self._tools.policy.time_limit_s:
            case "shutdown", _:
                return STOPPED
            case "time", float() as limit_s:
                return time_up(limit_s)
            case _:
                return CANCELLED

    # results, in model order

    def _finish(self, position: int, outcome: _Outcome) -> None:
        self._outcomes[position] = outcome
        if outcome.result is not None:
            self._seen.update({(s.path, s.cell_id): s.version for s in outcome.result.seen})
        while self._recorded < len(self._calls):
            ready = self._outcomes[self._recorded]
            if ready is None:
                break
            self._record(self._calls[self._recorded], ready)
            self._recorded += 1
        self._finished[position].set()

    def _close(self) -> None:
        """Record what is left after a cancel: finished calls as they ended, the rest cancelled."""
        for position in range(self._recorded, len(self._calls)):
            call = self._calls[position]
            outcome = self._outcomes[position] or _Outcome("cancelled", error=self._why())
            if isinstance(call.verdict, Settle):
                outcome = _Outcome(call.verdict.status, error=call.verdict.error)
            self._record(call, outcome)
        self._recorded = len(self._calls)

    def _record(self, call: Call, outcome: _Outcome) -> None:
        result = outcome.result
        if result is None:
            error = outcome.error or internal_error(f"The tool {call.tool}")
            self._tools.record(
                settled(call.call_id, call.tool, outcome.status, error, outcome.duration_ms)
            )
            return
        if result.question is not None and self._tools.policy.interactive:
            self._tools.record(_request(call.call_id, result.question))
            crash_point("questions.request.recorded")
            return
        content, handle = self._tools.spill.shown(result.content, result.handle)
        self._tools.record(
            ToolResult(
                call_id=call.call_id,
                tool=call.tool,
                status=outcome.status,
                result=result.envelope,
                content=content,
                duration_ms=outcome.duration_ms,
                handle=handle,
                after_version=result.after_version,
                seen=result.seen,
            )
        )
        crash_point("tools.result.recorded")
        if result.proposal is not None:
            self._tools.record(ProposalAdd(call_id=call.call_id, proposal=result.proposal))
        if outcome.status == "ok":
            for event in result.events:
                self._tools.record(event)
                crash_point("tools.event.recorded")


def _replayed(result: Result | None) -> Result | None:
    """Return a sibling's result for an equal call; what it showed is not shown twice."""
    return replace(result, events=()) if result else None


def _request(call_id: CallId, question: Question) -> ClarifyRequest:
    return ClarifyRequest(
        call_id=call_id,
        question=question.text,
        options=question.options,
        allow_multiple=question.allow_multiple,
    )


async def looked_at(tool: Tool[Any], args: Any, context: CallContext) -> CallSubject | None:
    """Return what the call would touch as it is now; None when it cannot be looked at."""
    try:
        return await tool.subject(args, context)
    except ShouldersError:
        return None  # the tool says so better, when it runs


def started(call_id: CallId, subject: CallSubject | None) -> ToolStart:
    """Return the record of a call right before its effect."""
    if subject is None:
        return ToolStart(call_id=call_id)
    effect = subject.effect
    return ToolStart(
        call_id=call_id,
        pid=effect.pid,
        process_start=effect.process_start,
        kernel_id=effect.kernel_id,
        before_version=effect.before_version,
        expected_version=effect.expected_version,
        in_page=subject.in_page,
    )


def _differs(call: Call, subject: CallSubject | None) -> bool:
    """Return whether the call would run something else than the user was shown.

    Changes compare versions themselves, and propose what no longer fits.
    """
    if call.preview is None or call.risk != "execute" or subject is None:
        return False
    return subject.preview != call.preview


class _ProgressLog:
    """Records a call's progress, consecutive pieces of one channel joined."""

    def __init__(self, call_id: CallId, tools: BatchTools) -> None:
        self._call_id = call_id
        self._tools = tools
        self._channel: str | None = None
        self._text: Coalescer | None = None
        self._closed = False

    def add(self, progress: Progress) -> None:
        if self._text is None or self._channel != progress.channel:
            self.flush()
            self._channel = progress.channel
            self._text = Coalescer(
                self._tools.interval, self._emitter(progress), self._tools.redactor
            )
        self._text.push(progress.text)

    def flush(self) -> None:
        if self._text is not None:
            self._text.close()

    def close(self) -> None:
        """Record nothing more: the call has its result, even if its tool goes on."""
        self._closed = True

    def _emitter(self, progress: Progress) -> Callable[[str], None]:
        def emit(text: str) -> None:
            if self._closed:
                return
            self._tools.record(
                ToolProgress(call_id=self._call_id, channel=progress.channel, text=text)
            )

        return emit
