"""``advance(state, given) -> (state, effects)``: every decision of the agent loop. Pure and total.

``given`` is an event (facts change, nothing else) or a signal: then either a transition, or a
``Refuse`` with the state unchanged. Driven by ``engine.driver``.
"""

from __future__ import annotations

from typing import assert_never

from jupyter_ai_shoulders.engine import batch, overflow, runs, turns
from jupyter_ai_shoulders.engine import signals as sig
from jupyter_ai_shoulders.engine.draft import Draft
from jupyter_ai_shoulders.engine.fold import fold
from jupyter_ai_shoulders.engine.results import NOT_RUN, UNKNOWN, settled
from jupyter_ai_shoulders.engine.state import (
    AwaitingAnswer,
    AwaitingApproval,
    AwaitingResults,
    AwaitingRuns,
    Compacting,
    Idle,
    Interrupted,
    Judging,
    Phase,
    Preparing,
    RunningTools,
    State,
    Stopping,
    Streaming,
    WaitingToRetry,
)
from jupyter_ai_shoulders.wire.commands import SendMessage
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    Event,
    EventBase,
    MessageAdd,
    MessageUpdate,
    Notice,
    RetryWait,
    StepStart,
    TurnResume,
)
from jupyter_ai_shoulders.wire.ids import TurnId

_WAITS: tuple[type[Phase], ...] = (
    AwaitingApproval,
    AwaitingAnswer,
    AwaitingResults,
    AwaitingRuns,
)
WORKING: tuple[type[Phase], ...] = (
    Preparing,
    Streaming,
    WaitingToRetry,
    Compacting,
    Judging,
    RunningTools,
)
"""The phases in which something runs that a cancel has to stop."""
_EVERY: tuple[type[Phase], ...] = (Idle, *WORKING, *_WAITS, Stopping, Interrupted)

ACCEPTED_IN: dict[type[sig.Signal], tuple[type[Phase], ...]] = {
    sig.Send: (Idle,),
    sig.Begin: (Idle,),
    sig.Steer: (*WORKING, *_WAITS),
    sig.ChangeQueued: _EVERY,
    sig.Cancel: (*WORKING, *_WAITS),
    sig.Shutdown: (*WORKING, *_WAITS),
    sig.Resume: (Interrupted,),
    sig.Discard: (Interrupted,),
    sig.NoteInterruption: (Interrupted,),
    sig.Answer: (AwaitingApproval, Interrupted),
    sig.Reply: (AwaitingAnswer, RunningTools, Interrupted),
    sig.Supply: (AwaitingResults, Interrupted),
    sig.Found: (Interrupted,),
    sig.TimeUp: WORKING,
    sig.RunEnded: _EVERY,
    sig.Prepared: (Preparing, Stopping),
    sig.Overflowed: (Preparing, Compacting, Stopping),
    sig.Compacted: (Compacting, Stopping),
    sig.ModelFinished: (Streaming, Stopping),
    sig.ModelFailed: (Streaming, Stopping),
    sig.RetryElapsed: (WaitingToRetry, Stopping),
    sig.Judged: (Judging, Stopping),
    sig.CallsDone: (RunningTools, Stopping),
    sig.Stopped: (*WORKING, Stopping),
    sig.Crashed: (*WORKING, Stopping),
}
"""The phases each signal makes sense in; in all others it is refused by name."""

_REFUSALS: dict[type[sig.Signal], tuple[ErrorCode, str]] = {
    sig.Send: ("turn_running", "A turn is open in this conversation."),
    sig.Begin: ("turn_running", "A turn is open in this conversation."),
    sig.Steer: ("conflict", "No turn is running for the message to join."),
    sig.Cancel: ("conflict", "No turn is running."),
    sig.Shutdown: ("conflict", "No turn is running."),
    sig.Resume: ("conflict", "The conversation is not interrupted."),
    sig.Discard: ("conflict", "The conversation is not interrupted."),
    sig.NoteInterruption: ("conflict", "The conversation is not interrupted."),
    sig.Answer: ("already_answered", "This call is no longer waiting for an answer."),
    sig.Reply: ("already_answered", "This question is no longer waiting for an answer."),
    sig.Supply: ("already_answered", "This call is not waiting for a result."),
    sig.Found: ("conflict", "The conversation is not interrupted."),
}
_UNEXPECTED: tuple[ErrorCode, str] = ("conflict", "An operation ended that was not running.")

_OUTGROWN = ErrorInfo(
    code="context_overflow",
    message="The conversation is too long for the model's context window.",
)

Given = Event | sig.Signal
Advanced = tuple[State, tuple[sig.Effect, ...]]


def advance(state: State, given: Given) -> Advanced:
    """Return the next state and what to do; see the module."""
    if isinstance(given, EventBase):
        return fold(state, given), ()
    if not isinstance(state.phase, ACCEPTED_IN[type(given)]):
        return state, (sig.Refuse(*_REFUSALS.get(type(given), _UNEXPECTED)),)
    draft = Draft(state)
    refusal = _decide(draft, given)
    return (state, (refusal,)) if refusal else (draft.state, tuple(draft.effects))


def _decide(draft: Draft, signal: sig.Signal) -> sig.Refuse | None:
    if isinstance(signal, sig.OperationEnd):
        if isinstance(draft.state.phase, Stopping):
            _stopped(draft, draft.state.phase, signal)
            return None
        return _operation_end(draft, signal)
    return _command(draft, signal)


# commands


def _command(draft: Draft, signal: sig.Command) -> sig.Refuse | None:
    match signal:
        case sig.Send():
            _send(draft, signal)
        case sig.Begin():
            return _begin(draft, signal)
        case sig.Steer():
            _steer(draft, signal)
        case sig.ChangeQueued():
            return _change_queued(draft, signal)
        case sig.Cancel() | sig.Shutdown():
            _stop(draft, Stopping("cancel" if isinstance(signal, sig.Cancel) else "shutdown"))
        case sig.TimeUp():
            _stop(draft, Stopping("time"))
        case sig.RunEnded():
            _run_ended(draft, signal)
        case _:
            return _word(draft, signal)
    return None


def _word(draft: Draft, signal: sig.Word) -> sig.Refuse | None:
    """Take the user's word on what waits for it, or what was found out about it."""
    match signal:
        case sig.Resume():
            _resume(draft, signal)
        case sig.Discard():
            turns.discard(draft)
        case sig.NoteInterruption():
            turns.interrupt(draft, signal.found)
        case sig.Found():
            turns.settle_found(draft, signal.results)
        case sig.Answer():
            return _answer(draft, signal)
        case sig.Reply():
            return _reply(draft, signal)
        case sig.Supply():
            return _supply(draft, signal)
    return None


def _send(draft: Draft, signal: sig.Send) -> None:
    waiting = draft.state.queue
    message, plan = signal.message, signal.plan
    said = _message(message, plan.turn_id, queued=bool(waiting))
    draft.record(said.model_copy(update={"replaces": signal.replaced}))
    turns.begin(draft, plan, waiting[0].message_id if waiting else message.id)


def _steer(draft: Draft, signal: sig.Steer) -> None:
    """Queue the message for the next step; begin that when nothing but runs is waited for."""
    draft.record(_message(signal.message, draft.turn.turn_id, queued=True))
    if isinstance(draft.state.phase, AwaitingRuns):
        turns.next_step(draft)


def _run_ended(draft: Draft, signal: sig.RunEnded) -> None:
    runs.note_end(draft, signal)
    if isinstance(draft.state.phase, AwaitingRuns):
        turns.next_step(draft)


def _begin(draft: Draft, signal: sig.Begin) -> sig.Refuse | None:
    queue = draft.state.queue
    first = signal.orphan or (queue[0].message_id if queue else None)
    if first is None:
        return sig.Refuse("conflict", "No message is waiting for a turn.")
    turns.begin(draft, signal.plan, first)
    return None


def _message(message: SendMessage, turn_id: TurnId, *, queued: bool) -> MessageAdd:
    return MessageAdd(
        turn_id=turn_id,
        message_id=message.id,
        text=message.text,
        attachments=message.attachments,
        context=message.context,
        queued=queued,
        model=message.model,
        mode=message.mode,
    )


def _change_queued(draft: Draft, signal: sig.ChangeQueued) -> sig.Refuse | None:
    if all(item.message_id != signal.message_id for item in draft.state.queue):
        return sig.Refuse("conflict", "The message is no longer queued.")
    status = "removed" if signal.text is None else "queued"
    draft.record(MessageUpdate(message_id=signal.message_id, status=status, text=signal.text))
    return None


def _answer(draft: Draft, signal: sig.Answer) -> sig.Refuse | None:
    call = draft.turn.call(signal.call_id)
    if call is None or not call.waits:
        return sig.Refuse(*_REFUSALS[sig.Answer])
    batch.answer(draft, signal)
    return None


def _reply(draft: Draft, signal: sig.Reply) -> sig.Refuse | None:
    if draft.turn.question != signal.call_id:
        return sig.Refuse(*_REFUSALS[sig.Reply])
    message = signal.message and _message(signal.message, draft.turn.turn_id, queued=False)
    batch.reply(draft, signal, message)
    return None


def _supply(draft: Draft, signal: sig.Supply) -> sig.Refuse | None:
    call = draft.turn.call(signal.result.call_id)
    at_rest = isinstance(draft.state.phase, Interrupted)
    if call is None or not (call.deferred or (at_rest and call.untouched)):
        return sig.Refuse(*_REFUSALS[sig.Supply])
    batch.supply(draft, signal)
    return None


def _stop(draft: Draft, phase: Stopping) -> None:
    if isinstance(draft.state.phase, _WAITS):
        turns.finish_stop(draft, phase.reason, None)
        return
    draft.enter(phase)
    draft.add(sig.StopOperation())


def _resume(draft: Draft, signal: sig.Resume) -> None:
    """Go on where the log ends; nothing that had started is started again."""
    plan = signal.plan
    draft.record(
        TurnResume(
            model=plan.model,
            provider=plan.provider,
            mode=plan.mode,
            step_limit=plan.step_limit,
            is_stand_in=plan.is_stand_in,
        )
    )
    turns.announce_model(draft, plan)
    draft.show("running")
    cut_off = not draft.turn.reply_complete
    for call in draft.open_calls():
        if call.question:
            continue  # it waits on
        if call.started:
            draft.record(settled(call.call_id, call.tool, "unknown", UNKNOWN))
        elif cut_off:
            draft.record(settled(call.call_id, call.tool, "cancelled", NOT_RUN))
    if not cut_off:
        batch.go_on(draft)
    elif draft.turn.calls:
        turns.next_step(draft)
    else:
        turns.repeat_step(draft)


# ends of operations


def _stopped(draft: Draft, phase: Stopping, signal: sig.OperationEnd) -> None:
    usage = None
    if isinstance(signal, sig.Stopped | sig.ModelFinished | sig.ModelFailed):
        usage = signal.usage
    turns.finish_stop(draft, phase.reason, usage)


def _operation_end(draft: Draft, signal: sig.OperationEnd) -> sig.Refuse | None:
    match signal:
        case sig.Prepared() | sig.Overflowed() | sig.Compacted():
            _request_ready(draft, signal)
        case sig.ModelFinished():
            _model_finished(draft, signal)
        case sig.ModelFailed():
            _model_failed(draft, signal)
        case sig.RetryElapsed():
            _retry(draft)
        case sig.Judged():
            return _judged(draft, signal)
        case sig.CallsDone(bug=error):
            draft.add(sig.Sync())
            turns.fail(draft, error) if error else batch.go_on(draft)
        case sig.Crashed(error=error):
            turns.fail(draft, error)
        case sig.Stopped():
            turns.interrupt(draft)
        case _:
            assert_never(signal)
    return None


def _request_ready(draft: Draft, signal: sig.Prepared | sig.Overflowed | sig.Compacted) -> None:
    if isinstance(signal, sig.Overflowed):
        overflow.too_long(draft, signal)
        return
    if isinstance(signal, sig.Compacted):
        overflow.compacted(draft, signal)
        return
    phase = draft.state.phase
    assert isinstance(phase, Preparing)
    limit = draft.turn.step_limit
    draft.record(
        StepStart(step=phase.step, limit=limit, tokens_used=signal.tokens, window=signal.window)
    )
    draft.enter(Streaming(phase.step, attempt=1), sig.CallModel(phase.step, attempt=1))


def _model_finished(draft: Draft, signal: sig.ModelFinished) -> None:
    draft.record(signal.usage)
    if signal.stop == "content_filter":
        turns.fail(
            draft,
            ErrorInfo(
                code="content_filtered",
                message="The provider's content filter stopped the reply.",
                hint="Rephrase it, or choose another model.",
            ),
        )
        return
    if signal.stop == "context_overflow":
        overflow.refused(draft, draft.turn.step, _OUTGROWN)
        return
    if signal.empty and signal.stop != "max_tokens" and turns.nudge_empty(draft):
        return
    _note_shortcomings(draft, signal)
    batch.go_on(draft)


def _note_shortcomings(draft: Draft, signal: sig.ModelFinished) -> None:
    if signal.stop == "max_tokens":
        text = "The reply was cut off at the model's output limit."
        draft.record(Notice(level="warning", code="output_limit", text=text))
    elif signal.empty:
        text = "The model returned an empty answer."
        draft.record(Notice(level="warning", code="empty_turn", text=text))


def _model_failed(draft: Draft, signal: sig.ModelFailed) -> None:
    phase = draft.state.phase
    assert isinstance(phase, Streaming)
    if signal.usage is not None:
        draft.record(signal.usage)
    if signal.error.code == "context_overflow":
        overflow.refused(draft, phase.step, signal.error)
        return
    if signal.retry_ms is None:
        turns.fail_or_pause(draft, signal.error)
        return
    draft.record(
        RetryWait(attempt=phase.attempt, delay_ms=signal.retry_ms, reason=signal.error.message)
    )
    draft.enter(WaitingToRetry(phase.step, phase.attempt), sig.WaitRetry(signal.retry_ms))


def _retry(draft: Draft) -> None:
    phase = draft.state.phase
    assert isinstance(phase, WaitingToRetry)
    attempt = phase.attempt + 1
    draft.enter(Streaming(phase.step, attempt), sig.CallModel(phase.step, attempt))


def _judged(draft: Draft, signal: sig.Judged) -> sig.Refuse | None:
    if draft.state.phase != Judging(signal.call_id):
        return sig.Refuse(*_UNEXPECTED)
    batch.take_verdict(draft, signal)
    return None
