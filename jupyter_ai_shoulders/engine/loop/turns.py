"""The transitions of a turn between model calls: its start, steps and end. Pure.

Part of ``engine.loop.transition``; ``engine.loop.batch`` handles the calls of one step.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.catalogue.external_agents import is_external_agent
from jupyter_ai_shoulders.engine.guardrails.progress_guard import (
    EMPTY,
    EMPTY_REPLIES,
    progress_notice,
)
from jupyter_ai_shoulders.engine.loop import background_runs, questions
from jupyter_ai_shoulders.engine.loop.commands import TurnPlan
from jupyter_ai_shoulders.engine.loop.effects import ContinueQueue, StopBackgroundRuns, SyncLog
from jupyter_ai_shoulders.engine.loop.event_reducer import INTERRUPTED, PAUSES
from jupyter_ai_shoulders.engine.loop.interruption_text import describe_interruption
from jupyter_ai_shoulders.engine.loop.operations import PrepareRequest
from jupyter_ai_shoulders.engine.loop.state import (
    Idle,
    Interrupted,
    PreparingRequest,
    StopReason,
)
from jupyter_ai_shoulders.engine.loop.synthetic_results import (
    CANCELLED,
    NOT_RUN,
    UNKNOWN,
    settled_result,
    time_limit_error,
)
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    Exit,
    MessageUpdate,
    Notice,
    StdinAnswer,
    ToolResult,
    TurnEnd,
    TurnStart,
    UsageUpdate,
)
from jupyter_ai_shoulders.wire.ids import MessageId
from jupyter_ai_shoulders.wire.sessions import SessionStatus

_LEAVES_QUEUE: frozenset[Exit] = frozenset(
    {"cancelled", "error", "context_overflow", "budget_exhausted", "interrupted"}
)
"""Exits after which queued messages wait for the user."""

MODEL_REPLACED = "model_replaced"

_EXIT_OF_CODE: dict[str, Exit] = {
    "context_overflow": "context_overflow",
    "budget_exhausted": "budget_exhausted",
}


def begin_turn(draft: TransitionBuilder, plan: TurnPlan, message_id: MessageId) -> None:
    """Start a turn with a message and all queued ones."""
    start = TurnStart(
        turn_id=plan.turn_id,
        message_id=message_id,
        model=plan.model,
        provider=plan.provider,
        mode=plan.mode,
        step_limit=plan.step_limit,
        is_stand_in=plan.is_stand_in,
    )
    draft.record(start)
    announce_model(draft, plan)
    consume_queue(draft)
    draft.set_status("running")
    draft.enter(PreparingRequest(1), PrepareRequest(1, fresh=True))


def announce_model(draft: TransitionBuilder, plan: TurnPlan) -> None:
    """Notify the user that another model than the chosen one answers."""
    if plan.notice:
        draft.record(Notice(level="warning", code=MODEL_REPLACED, text=plan.notice))


def consume_queue(draft: TransitionBuilder) -> None:
    """Add ends of runs and queued messages to the conversation."""
    background_runs.log_ended_runs(draft)
    for queued in draft.state.queue:
        draft.record(MessageUpdate(message_id=queued.message_id, status="consumed"))


def next_step(draft: TransitionBuilder) -> None:
    """Call the model again, unless a limit is reached or it loops."""
    turn = draft.turn
    if turn.step >= turn.step_limit:
        _reach_step_cap(draft)
        return
    if not is_external_agent(turn.model):
        stuck = draft.state.progress.stop()
        if stuck is not None:
            fail_turn(draft, stuck)
            return
        if draft.state.policy.nudges:
            for notice in draft.state.progress.notices():
                draft.record(notice)
    consume_queue(draft)
    step = turn.step + 1
    draft.enter(PreparingRequest(step), PrepareRequest(step, fresh=False))


def nudge_empty(draft: TransitionBuilder) -> bool:
    """Repeat after an empty reply; return False when the limit of nudges is reached."""
    turn, progress = draft.turn, draft.state.progress
    if is_external_agent(turn.model):
        return False
    often = progress.empty_replies >= EMPTY_REPLIES or turn.step >= turn.step_limit
    if often or not draft.state.policy.nudges or draft.state.queue:
        return False
    draft.record(progress_notice(EMPTY))
    next_step(draft)
    return True


def repeat_step(draft: TransitionBuilder) -> None:
    """Repeat the step whose reply was cut off."""
    consume_queue(draft)
    step = max(draft.turn.step, 1)
    draft.enter(PreparingRequest(step), PrepareRequest(step, fresh=step == 1))


def end_turn(
    draft: TransitionBuilder,
    reason: Exit,
    error: ErrorInfo | None = None,
    summary: str | None = None,
) -> None:
    """End the turn; start the next one with queued messages where appropriate."""
    close_calls(draft)
    background_runs.log_ended_runs(draft)
    draft.record(TurnEnd(exit=reason, error=error, summary=summary))
    draft.enter(Idle())
    goes_on = bool(draft.state.queue) and reason not in _LEAVES_QUEUE
    if not goes_on:
        status = _status_after(reason)
        goes_on_beside = status == "idle" and reason != "cancelled" and draft.state.runs
        draft.set_status("running" if goes_on_beside else status)
    draft.add(SyncLog())
    if goes_on:
        draft.add(ContinueQueue())


def fail_turn(draft: TransitionBuilder, error: ErrorInfo) -> None:
    """End the turn with an error."""
    end_turn(draft, _EXIT_OF_CODE.get(error.code, "error"), error)


def fail_or_pause(draft: TransitionBuilder, error: ErrorInfo) -> None:
    """End the turn, or pause it if a user can raise the limit it reached."""
    code = pause_code(error) if draft.state.policy.interactive else None
    if code is None:
        fail_turn(draft, error)
        return
    draft.record(Notice(level="warning", code=code, text=error.message, details=error.details))
    draft.enter(Interrupted())
    draft.set_status("waiting")
    draft.add(SyncLog())


def pause_code(error: ErrorInfo) -> str | None:
    """Return the notice code of a spending limit that the user may raise here."""
    details = error.details or {}
    if error.code != "budget_exhausted" or details.get("administrator"):
        return None
    return next((code for code, scope in PAUSES.items() if scope == details.get("scope")), None)


def discard_turn(draft: TransitionBuilder) -> None:
    """End an interrupted or paused turn."""
    pause = draft.turn.paused
    if pause is None:
        end_turn(draft, "interrupted")
    else:
        window = pause.scope == "window"
        details: JsonObject = {"scope": pause.scope}
        code = "context_overflow" if window else "budget_exhausted"
        fail_turn(draft, ErrorInfo(code=code, message=pause.text, details=details))


def record_found_outcomes(draft: TransitionBuilder, results: tuple[ToolResult, ...]) -> None:
    """Record outcomes determined for interrupted calls."""
    unsettled = {call.call_id for call in draft.open_calls()}
    for result in results:
        if result.call_id in unsettled:
            draft.record(result)


def close_calls(draft: TransitionBuilder) -> None:
    """Settle every call without a result; nothing with an effect is repeated."""
    for call in draft.open_calls():
        if call.question:
            questions.settle_answered(draft, call)
        elif call.started:
            draft.record(settled_result(call.call_id, call.tool, "unknown", UNKNOWN))
        else:
            draft.record(settled_result(call.call_id, call.tool, "cancelled", NOT_RUN))


def finish_stop(draft: TransitionBuilder, reason: StopReason, usage: UsageUpdate | None) -> None:
    """End the stopped turn as cancelled, or leave it interrupted."""
    if reason == "shutdown":
        interrupt_turn(draft)
        _book(draft, usage)
        return
    _book(draft, usage)
    limit_s = draft.state.policy.time_limit_s
    late = time_limit_error(limit_s) if reason == "time" and limit_s is not None else None
    if reason == "cancel" and draft.state.runs:
        draft.add(StopBackgroundRuns())
    for call in draft.open_calls():
        draft.record(settled_result(call.call_id, call.tool, "cancelled", late or CANCELLED))
    end_turn(draft, "budget_exhausted" if late else "cancelled", late)


def interrupt_turn(draft: TransitionBuilder, found: tuple[ToolResult, ...] = ()) -> None:
    """Leave the turn open and record what happened."""
    record_found_outcomes(draft, found)
    for call in draft.open_calls():
        if call.input:  # the code that asked is gone
            draft.record(StdinAnswer(call_id=call.call_id, answered=False))
    text = describe_interruption(draft.turn, {result.call_id for result in found}, draft.state.runs)
    draft.record(Notice(level="warning", code=INTERRUPTED, text=text))
    draft.enter(Interrupted())
    draft.set_status("interrupted")
    draft.add(SyncLog())


def _book(draft: TransitionBuilder, usage: UsageUpdate | None) -> None:
    if usage is not None:
        draft.record(usage)


def _reach_step_cap(draft: TransitionBuilder) -> None:
    turn = draft.turn
    titles = [*turn.done, *(call.title for call in turn.calls if call.changed)]
    done = "; ".join(dict.fromkeys(titles)) or "nothing was changed"
    text = f"Stopped at the limit of {turn.step_limit} steps. Done so far: {done}."
    draft.record(Notice(level="warning", code="step_cap", text=text))
    end_turn(draft, "step_cap", summary=text)


def _status_after(reason: Exit) -> SessionStatus:
    failed = reason in {"error", "context_overflow", "budget_exhausted"}
    return "error" if failed else "idle"
