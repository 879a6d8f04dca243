"""Runs the calls of a batch and records their results in model order.

Used by ``engine.session.effect_runner``. Reads run together; a change has its document to itself.
The start of a write or execution is synced to disk before its effect. Every call ends with exactly
one result, also when it is cancelled or its tool has a bug.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.engine.calls.approval_integrity import change_since_approval
from jupyter_ai_shoulders.engine.calls.batch_order import dependencies_of, duplicate_calls
from jupyter_ai_shoulders.engine.calls.execution import (
    CallRecording,
    ToolCallExecution,
    ToolCallOutcome,
)
from jupyter_ai_shoulders.engine.calls.output_truncation import OutputTruncator
from jupyter_ai_shoulders.engine.loop.operations import CallsDone
from jupyter_ai_shoulders.engine.loop.state import CallState, RejectCall, SessionPolicy, StopReason
from jupyter_ai_shoulders.engine.loop.synthetic_results import (
    AFTER_BUG,
    CANCELLED,
    STOPPED,
    UNKNOWN,
    internal_error,
    settled_result,
    time_limit_error,
)
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    PreparableTool,
    Result,
    Tool,
    UserQuestion,
)
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    ClarifyRequest,
    ProposalAdd,
    ToolResult,
    ToolStart,
)
from jupyter_ai_shoulders.wire.ids import CallId, CellId, Version

_log = logging.getLogger(__name__)

Seen = dict[tuple[str, CellId | None], Version]


@dataclass(frozen=True, slots=True)
class BatchServices:
    """The dependencies of a batch."""

    sync: Callable[[], Awaitable[None]]
    context: Callable[[CallId, Mapping[tuple[str, CellId | None], Version]], CallContext]
    stop_reason: Callable[[], StopReason | None]
    policy: SessionPolicy
    check_policy: Callable[[CallState, CallSubject | None], ErrorInfo | None]
    """Returns why a call may not run, by the current rules."""
    tools: ToolRegistry
    truncator: OutputTruncator
    recording: CallRecording
    settle_timeout: float
    patience: float | None
    """Seconds a step waits for a call that may continue in the background."""
    move_to_background: Callable[[CallState, ToolCallExecution], ToolCallOutcome]
    """Moves a call to the background."""


class BatchRunner:
    """Runs the judged calls of one step that have no result yet."""

    def __init__(self, calls: Sequence[CallState], seen: Seen, tools: BatchServices) -> None:
        self._calls = calls
        self._seen = dict(seen)
        self._tools = tools
        self._waits_for = dependencies_of(calls)
        self._twins = duplicate_calls(calls)
        self._finished = [asyncio.Event() for _ in calls]
        self._outcomes: list[ToolCallOutcome | None] = [None] * len(calls)
        self._recorded = 0
        self._bug: ErrorInfo | None = None
        self._abandoned: set[asyncio.Task[Result]] = set()

    async def run(self) -> CallsDone:
        """Run the calls; on cancellation, record a result for each before it propagates."""
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

    async def _outcome(self, position: int) -> ToolCallOutcome:
        call = self._calls[position]
        if isinstance(call.verdict, RejectCall):
            return ToolCallOutcome(call.verdict.status, error=call.verdict.error)
        twin = self._twins[position]
        if twin is not None:
            await self._finished[twin].wait()
            replayed = self._outcomes[twin]
            if replayed is not None and replayed.status == "ok":
                return ToolCallOutcome("ok", result=_replayed(replayed.result))
        return await self._run(position)

    async def _run(self, position: int) -> ToolCallOutcome:
        call = self._calls[position]
        tool = cast("Tool[Any]", self._tools.tools.get(call.tool))
        args = self._tools.tools.validate(call.tool, call.arguments or {})
        if isinstance(args, InvalidCall):
            return ToolCallOutcome("error", error=args.error)
        context = self._tools.context(call.call_id, self._seen)
        try:
            subject = None if call.risk == "read" else await inspect_subject(tool, args, context)
            refused = self._refused(call, subject)
            if refused is not None:
                return refused
            subject = await _prepared(tool, subject, context)
        except ShouldersError as error:
            return ToolCallOutcome("error", error=error.info)
        context = replace(context, subject=subject)
        self._tools.recording.record(start_record(call.call_id, subject))
        crash_point("tools.start.recorded")
        if call.risk != "read":
            await self._tools.sync()
            crash_point("tools.start.synced")
        run = ToolCallExecution(tool, args, context, self._tools.recording)
        try:
            ended = await run.wait(self._tools.patience)
        except asyncio.CancelledError:
            self._outcomes[position] = await self._stop(call, run)
            run.close()
            raise
        return self._ended(call, run) if ended else self._tools.move_to_background(call, run)

    def _refused(self, call: CallState, subject: CallSubject | None) -> ToolCallOutcome | None:
        """Return the refusal of a call that may not start; None when it may."""
        if self._bug is not None:
            return ToolCallOutcome("skipped", error=AFTER_BUG)
        try:
            check_policy = self._tools.check_policy(call, subject)
        except ShouldersError as error:  # the rules cannot be read
            return ToolCallOutcome("error", error=error.info)
        if check_policy is not None:
            return ToolCallOutcome("denied", error=check_policy)
        external = self._is_external(call)
        changed = (
            None if subject is None else change_since_approval(call, subject, external=external)
        )
        return ToolCallOutcome("error", error=changed) if changed is not None else None

    def _is_external(self, call: CallState) -> bool:
        tool = self._tools.tools.get(call.tool)
        return call.external if tool is None else tool.external

    async def _stop(self, call: CallState, run: ToolCallExecution) -> ToolCallOutcome:
        """Let a cancelled tool settle its effect; abandon it after a timeout."""
        run.task.cancel()
        await asyncio.wait({run.task}, timeout=self._tools.settle_timeout)
        if run.task.done():
            return self._ended(call, run)
        _log.warning("Tool %s did not stop when it was cancelled.", call.tool)
        self._abandoned.add(run.task)
        run.task.add_done_callback(self._abandoned.discard)
        return ToolCallOutcome("unknown", run.elapsed_ms, error=UNKNOWN)

    def _ended(self, call: CallState, run: ToolCallExecution) -> ToolCallOutcome:
        failure = run.failure
        if failure is not None:
            return self._failed(call, failure, run.elapsed_ms)
        return run.outcome(self._why())

    def _failed(self, call: CallState, error: BaseException, duration: int = 0) -> ToolCallOutcome:
        """Record a tool's bug, which ends the turn after the running calls; no other starts."""
        _log.error("Tool %s has a bug.", call.tool, exc_info=error)
        bug = internal_error(f"The tool {call.tool}")
        self._bug = self._bug or bug
        return ToolCallOutcome("error", duration, error=bug)

    def _why(self) -> ErrorInfo:
        match self._tools.stop_reason(), self._tools.policy.time_limit_s:
            case "shutdown", _:
                return STOPPED
            case "time", float() as limit_s:
                return time_limit_error(limit_s)
            case _:
                return CANCELLED

    # results, in model order

    def _finish(self, position: int, outcome: ToolCallOutcome) -> None:
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
        """Record results after a cancel: of finished calls their own, of the rest ``cancelled``."""
        for position in range(self._recorded, len(self._calls)):
            call = self._calls[position]
            outcome = self._outcomes[position] or ToolCallOutcome("cancelled", error=self._why())
            if isinstance(call.verdict, RejectCall):
                outcome = ToolCallOutcome(call.verdict.status, error=call.verdict.error)
            self._record(call, outcome)
        self._recorded = len(self._calls)

    def _record(self, call: CallState, outcome: ToolCallOutcome) -> None:
        result = outcome.result
        if result is None:
            error = outcome.error or internal_error(f"The tool {call.tool}")
            self._tools.recording.record(
                settled_result(call.call_id, call.tool, outcome.status, error, outcome.duration_ms)
            )
            return
        if result.question is not None and self._tools.policy.interactive:
            self._tools.recording.record(_request(call.call_id, result.question))
            crash_point("questions.request.recorded")
            return
        content, handle = self._tools.truncator.truncate(result.content, result.handle)
        self._tools.recording.record(
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
                run=outcome.run,
            )
        )
        crash_point("tools.result.recorded")
        if outcome.recorded is not None:
            outcome.recorded()
        if result.proposal is not None:
            self._tools.recording.record(
                ProposalAdd(call_id=call.call_id, proposal=result.proposal)
            )
        if outcome.status == "ok":
            for event in result.events:
                self._tools.recording.record(event)
                crash_point("tools.event.recorded")


def _replayed(result: Result | None) -> Result | None:
    """Return a copy of an equal call's result, without showing its content twice."""
    return replace(result, events=()) if result else None


def _request(call_id: CallId, question: UserQuestion) -> ClarifyRequest:
    return ClarifyRequest(
        call_id=call_id,
        question=question.text,
        options=question.options,
        allow_multiple=question.allow_multiple,
    )


async def inspect_subject(tool: Tool[Any], args: Any, context: CallContext) -> CallSubject | None:
    """Return the call's current subject; None when it cannot be inspected.

    Raises ``ShouldersError`` for calls that run code, which must be compared before they run.
    """
    try:
        return await tool.subject(args, context)
    except ShouldersError:
        if tool.risk == "execute":
            raise
        return None  # the tool reports the error better when it runs


async def _prepared(
    tool: Tool[Any], subject: CallSubject | None, context: CallContext
) -> CallSubject | None:
    """Let the tool prepare what identifies its effect. Raises ``ShouldersError``."""
    if subject is None or not isinstance(tool, PreparableTool):
        return subject
    return replace(subject, effect=await tool.prepare(context))


def start_record(call_id: CallId, subject: CallSubject | None) -> ToolStart:
    """Return the event logged right before a call's effect."""
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
