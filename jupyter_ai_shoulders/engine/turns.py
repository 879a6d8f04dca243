"""How a turn goes from step to step and ends: the transitions between model calls. Pure.

Part of ``engine.advance``; what happens to the calls of one step is in ``engine.batch``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.engine import questions, runs
from jupyter_ai_shoulders.engine.draft import Draft
from jupyter_ai_shoulders.engine.fold import INTERRUPTED, PAUSES
from jupyter_ai_shoulders.engine.recovery import describe
from jupyter_ai_shoulders.engine.results import CANCELLED, NOT_RUN, UNKNOWN, settled, time_up
from jupyter_ai_shoulders.engine.signals import ContinueQueue, Prepare, StopRuns, Sync, TurnPlan
from jupyter_ai_shoulders.engine.state import (
    Idle,
    Interrupted,
    Preparing,
    StopReason,
)
from jupyter_ai_shoulders.engine.watch import EMPTY, EMPTY_REPLIES, remark
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
"""Exits after which queued messages wait for the user's next word."""

MODEL_REPLACED = "model_replaced"

_EXIT_OF_CODE: dict[str, Exit] = {
    "context_overflow": "context_overflow",
    "budget_exhausted": "budget_exhausted",
}


def begin(draft: Draft, plan: TurnPlan, message_id: MessageId) -> None:
    """Start a turn with a message, and with all that are queued."""
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
    draft.show("running")
    draft.enter(Preparing(1), Prepare(1, fresh=True))


def announce_model(draft: Draft, plan: TurnPlan) -> None:
    """Say before the answer that another model than the wanted one answers."""
    if plan.notice:
        draft.record(Notice(level="warning", code=MODEL_REPLACED, text=plan.notice))


def consume_queue(draft: Draft) -> None:
    """Put into the conversation what waits for the next step: ends of runs, messages."""
    runs.tell(draft)
    for queued in draft.state.queue:
        draft.record(MessageUpdate(message_id=queued.message_id, status="consumed"))


def next_step(draft: Draft) -> None:
    """Call the model again, unless the limit is reached or it goes round in circles."""
    turn = draft.turn
    if turn.step >= turn.step_limit:
        _reach_step_cap(draft)
        return
    stuck = draft.state.watch.stop()
    if stuck is not None:
        fail(draft, stuck)
        return
    if draft.state.policy.nudges:
        for notice in draft.state.watch.notices():
            draft.record(notice)
    consume_queue(draft)
    step = turn.step + 1
    draft.enter(Preparing(step), Prepare(step, fresh=False))


def nudge_empty(draft: Draft) -> bool:
    """Ask once more after an empty reply; false when that was done often enough."""
    turn, watch = draft.turn, draft.state.watch
    often = watch.empty_replies >= EMPTY_REPLIES or turn.step >= turn.step_limit
    if often or not draft.state.policy.nudges or draft.state.queue:
        return False
    draft.record(remark(EMPTY))
    next_step(draft)
    return True


def repeat_step(draft: Draft) -> None:
    """Ask the model again for the step whose reply was cut off."""
    consume_queue(draft)
    step = max(draft.turn.step, 1)
    draft.enter(Preparing(step), Prepare(step, fresh=step == 1))


def end(
    draft: Draft, reason: Exit, error: ErrorInfo | None = None, summary: str | None = None
) -> None:
    """End the turn; go on with queued messages where that makes sense."""
    close_calls(draft)
    runs.tell(draft)
    draft.record(TurnEnd(exit=reason, error=error, summary=summary))
    draft.enter(Idle())
    goes_on = bool(draft.state.queue) and reason not in _LEAVES_QUEUE
    if not goes_on:
        status = _status_after(reason)
        goes_on_beside = status == "idle" and reason != "cancelled" and draft.state.runs
        draft.show("running" if goes_on_beside else status)
    draft.add(Sync())
    if goes_on:
        draft.add(ContinueQueue())


def fail(draft: Draft, error: ErrorInfo) -> None:
    """End the turn because of an error."""
    end(draft, _EXIT_OF_CODE.get(error.code, "error"), error)


def fail_or_pause(draft: Draft, error: ErrorInfo) -> None:
    """End the turn, unless somebody is there to raise the limit that it reached."""
    code = pause_code(error) if draft.state.policy.interactive else None
    if code is None:
        fail(draft, error)
        return
    draft.record(Notice(level="warning", code=code, text=error.message, details=error.details))
    draft.enter(Interrupted())
    draft.show("waiting")
    draft.add(Sync())


def pause_code(error: ErrorInfo) -> str | None:
    """Return the notice's code for a limit of money that the user may raise here."""
    details = error.details or {}
    if error.code != "budget_exhausted" or details.get("administrator"):
        return None
    return next((code for code, scope in PAUSES.items() if scope == details.get("scope")), None)


def discard(draft: Draft) -> None:
    """End the turn that is interrupted, or paused at a limit."""
    pause = draft.turn.paused
    if pause is None:
        end(draft, "interrupted")
    else:
        window = pause.scope == "window"
        details: JsonObject = {"scope": pause.scope}
        code = "context_overflow" if window else "budget_exhausted"
        fail(draft, ErrorInfo(code=code, message=pause.text, details=details))


def settle_found(draft: Draft, results: tuple[ToolResult, ...]) -> None:
    """Record what became of interrupted calls, where it could be found out."""
    unsettled = {call.call_id for call in draft.open_calls()}
    for result in results:
        if result.call_id in unsettled:
            draft.record(result)


def close_calls(draft: Draft) -> None:
    """Give every call that has no result one: nothing with an effect is repeated."""
    for call in draft.open_calls():
        if call.question:
            questions.settle_answered(draft, call)
        elif call.started:
            draft.record(settled(call.call_id, call.tool, "unknown", UNKNOWN))
        else:
            draft.record(settled(call.call_id, call.tool, "cancelled", NOT_RUN))


def finish_stop(draft: Draft, reason: StopReason, usage: UsageUpdate | None) -> None:
    """Nothing runs any more: end the turn as cancelled, or leave it interrupted."""
    if reason == "shutdown":
        interrupt(draft)
        _book(draft, usage)
        return
    _book(draft, usage)
    limit_s = draft.state.policy.time_limit_s
    late = time_up(limit_s) if reason == "time" and limit_s is not None else None
    if reason == "cancel" and draft.state.runs:
        draft.add(StopRuns())
    for call in draft.open_calls():
        draft.record(settled(call.call_id, call.tool, "cancelled", late or CANCELLED))
    end(draft, "budget_exhausted" if late else "cancelled", late)


def interrupt(draft: Draft, found: tuple[ToolResult, ...] = ()) -> None:
    """Leave the turn open, and say what happened."""
    settle_found(draft, found)
    for call in draft.open_calls():
        if call.input:  # the code that asked does not hear us any more
            draft.record(StdinAnswer(call_id=call.call_id, answered=False))
    text = describe(draft.turn, {result.call_id for result in found}, draft.state.runs)
    draft.record(Notice(level="warning", code=INTERRUPTED, text=text))
    draft.enter(Interrupted())
    draft.show("interrupted")
    draft.add(Sync())


def _book(draft: Draft, usage: UsageUpdate | None) -> None:
    if usage is not None:
        draft.record(usage)


def _reach_step_cap(draft: Draft) -> None:
    turn = draft.turn
    titles = [*turn.done, *(call.title for call in turn.calls if call.changed)]
    done = "; ".join(dict.fromkeys(titles)) or "nothing was changed"
    text = f"Stopped at the limit of {turn.step_limit} steps. Done so far: {done}."
    draft.record(Notice(level="warning", code="step_cap", text=text))
    end(draft, "step_cap", summary=text)


def _status_after(reason: Exit) -> SessionStatus:
    failed = reason in {"error", "context_overflow", "budget_exhausted"}
    return "error" if failed else "idle"
