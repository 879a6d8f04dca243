"""``advance(state, given) -> (state, effects)``: every decision of the agent loop. Pure and total.

``given`` is an event (facts change, nothing else) or a signal: then either a transition, or a
``Refuse`` with the state unchanged. Driven by ``engine.session.driver``.
"""

from __future__ import annotations

from typing import assert_never

from jupyter_ai_shoulders.engine.loop import background_runs, batch, context_overflow, turns
from jupyter_ai_shoulders.engine.loop import commands_and_effects as sig
from jupyter_ai_shoulders.engine.loop.event_reducer import apply_event
from jupyter_ai_shoulders.engine.loop.state import (
    AwaitingAnswer,
    AwaitingApproval,
    AwaitingResults,
    AwaitingRuns,
    CheckingPermission,
    Compacting,
    Idle,
    Interrupted,
    Phase,
    PreparingRequest,
    RunningTools,
    SessionState,
    Stopping,
    Streaming,
    WaitingToRetry,
)
from jupyter_ai_shoulders.engine.loop.synthetic_results import NOT_RUN, UNKNOWN, settled_result
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder
from jupyter_ai_shoulders.wire.api.commands import SendMessage
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
    PreparingRequest,
    Streaming,
    WaitingToRetry,
    Compacting,
    CheckingPermission,
    RunningTools,
)
"""The phases in which something runs that a cancel has to stop."""
_EVERY: tuple[type[Phase], ...] = (Idle, *WORKING, *_WAITS, Stopping, Interrupted)

ACCEPTED_IN: dict[type[sig.Signal], tuple[type[Phase], ...]] = {
    sig.StartTurn: (Idle,),
    sig.BeginTurn: (Idle,),
    sig.SteerTurn: (*WORKING, *_WAITS),
    sig.ChangeQueued: _EVERY,
    sig.CancelTurn: (*WORKING, *_WAITS),
    sig.Shutdown: (*WORKING, *_WAITS),
    sig.ResumeInterrupted: (Interrupted,),
    sig.DiscardInterrupted: (Interrupted,),
    sig.NoteInterruption: (Interrupted,),
    sig.ApprovalAnswered: (AwaitingApproval, Interrupted),
    sig.QuestionAnswered: (AwaitingAnswer, RunningTools, Interrupted),
    sig.ResultSupplied: (AwaitingResults, Interrupted),
    sig.CallOutcomesFound: (Interrupted,),
    sig.TimeUp: WORKING,
    sig.RunEnded: _EVERY,
    sig.RequestPrepared: (PreparingRequest, Stopping),
    sig.RequestOverflowed: (PreparingRequest, Compacting, Stopping),
    sig.ContextCompacted: (Compacting, Stopping),
    sig.ModelFinished: (Streaming, Stopping),
    sig.ModelFailed: (Streaming, Stopping),
    sig.RetryElapsed: (WaitingToRetry, Stopping),
    sig.PermissionChecked: (CheckingPermission, Stopping),
    sig.CallsDone: (RunningTools, Stopping),
    sig.OperationStopped: (*WORKING, Stopping),
    sig.OperationCrashed: (*WORKING, Stopping),
}
"""The phases each signal makes sense in; in all others it is refused by name."""

_REFUSALS: dict[type[sig.Signal], tuple[ErrorCode, str]] = {
    sig.StartTurn: ("turn_running", "A turn is open in this conversation."),
    sig.BeginTurn: ("turn_running", "A turn is open in this conversation."),
    sig.SteerTurn: ("conflict", "No turn is running for the message to join."),
    sig.CancelTurn: ("conflict", "No turn is running."),
    sig.Shutdown: ("conflict", "No turn is running."),
    sig.ResumeInterrupted: ("conflict", "The conversation is not interrupted."),
    sig.DiscardInterrupted: ("conflict", "The conversation is not interrupted."),
    sig.NoteInterruption: ("conflict", "The conversation is not interrupted."),
    sig.ApprovalAnswered: ("already_answered", "This call is no longer waiting for an answer."),
    sig.QuestionAnswered: ("already_answered", "This question is no longer waiting for an answer."),
    sig.ResultSupplied: ("already_answered", "This call is not waiting for a result."),
    sig.CallOutcomesFound: ("conflict", "The conversation is not interrupted."),
}
_UNEXPECTED: tuple[ErrorCode, str] = ("conflict", "An operation ended that was not running.")

_OUTGROWN = ErrorInfo(
    code="context_overflow",
    message="The conversation is too long for the model's context window.",
)

Given = Event | sig.Signal
Advanced = tuple[SessionState, tuple[sig.Effect, ...]]


def advance(state: SessionState, given: Given) -> Advanced:
    """Return the next state and what to do; see the module."""
    if isinstance(given, EventBase):
        return apply_event(state, given), ()
    if not isinstance(state.phase, ACCEPTED_IN[type(given)]):
        return state, (sig.RefuseCommand(*_REFUSALS.get(type(given), _UNEXPECTED)),)
    draft = TransitionBuilder(state)
    refusal = _decide(draft, given)
    return (state, (refusal,)) if refusal else (draft.state, tuple(draft.effects))


def _decide(draft: TransitionBuilder, signal: sig.Signal) -> sig.RefuseCommand | None:
    if isinstance(signal, sig.OperationEnd):
        if isinstance(draft.state.phase, Stopping):
            _stopped(draft, draft.state.phase, signal)
            return None
        return _operation_end(draft, signal)
    return _command(draft, signal)


# commands


def _command(draft: TransitionBuilder, signal: sig.Command) -> sig.RefuseCommand | None:
    match signal:
        case sig.StartTurn():
            _send(draft, signal)
        case sig.BeginTurn():
            return _begin(draft, signal)
        case sig.SteerTurn():
            _steer(draft, signal)
        case sig.ChangeQueued():
            return _change_queued(draft, signal)
        case sig.CancelTurn() | sig.Shutdown():
            _stop(draft, Stopping("cancel" if isinstance(signal, sig.CancelTurn) else "shutdown"))
        case sig.TimeUp():
            _stop(draft, Stopping("time"))
        case sig.RunEnded():
            _run_ended(draft, signal)
        case _:
            return _word(draft, signal)
    return None


def _word(draft: TransitionBuilder, signal: sig.UserDecision) -> sig.RefuseCommand | None:
    """Take the user's word on what waits for it, or what was found out about it."""
    match signal:
        case sig.ResumeInterrupted():
            _resume(draft, signal)
        case sig.DiscardInterrupted():
            turns.discard_turn(draft)
        case sig.NoteInterruption():
            turns.interrupt_turn(draft, signal.found)
        case sig.CallOutcomesFound():
            turns.record_found_outcomes(draft, signal.results)
        case sig.ApprovalAnswered():
            return _answer(draft, signal)
        case sig.QuestionAnswered():
            return _reply(draft, signal)
        case sig.ResultSupplied():
            return _supply(draft, signal)
    return None


def _send(draft: TransitionBuilder, signal: sig.StartTurn) -> None:
    waiting = draft.state.queue
    message, plan = signal.message, signal.plan
    said = _message(message, plan.turn_id, queued=bool(waiting))
    draft.record(said.model_copy(update={"replaces": signal.replaced}))
    turns.begin_turn(draft, plan, waiting[0].message_id if waiting else message.id)


def _steer(draft: TransitionBuilder, signal: sig.SteerTurn) -> None:
    """Queue the message for the next step; begin that when nothing but runs is waited for."""
    draft.record(_message(signal.message, draft.turn.turn_id, queued=True))
    if isinstance(draft.state.phase, AwaitingRuns):
        turns.next_step(draft)


def _run_ended(draft: TransitionBuilder, signal: sig.RunEnded) -> None:
    background_runs.record_run_end(draft, signal)
    if isinstance(draft.state.phase, AwaitingRuns):
        turns.next_step(draft)


def _begin(draft: TransitionBuilder, signal: sig.BeginTurn) -> sig.RefuseCommand | None:
    queue = draft.state.queue
    first = signal.orphan or (queue[0].message_id if queue else None)
    if first is None:
        return sig.RefuseCommand("conflict", "No message is waiting for a turn.")
    turns.begin_turn(draft, signal.plan, first)
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


def _change_queued(draft: TransitionBuilder, signal: sig.ChangeQueued) -> sig.RefuseCommand | None:
    if all(item.message_id != signal.message_id for item in draft.state.queue):
        return sig.RefuseCommand("conflict", "The message is no longer queued.")
    status = "removed" if signal.text is None else "queued"
    draft.record(MessageUpdate(message_id=signal.message_id, status=status, text=signal.text))
    return None


def _answer(draft: TransitionBuilder, signal: sig.ApprovalAnswered) -> sig.RefuseCommand | None:
    call = draft.turn.call(signal.call_id)
    if call is None or not call.waits:
        return sig.RefuseCommand(*_REFUSALS[sig.ApprovalAnswered])
    batch.apply_approval_answer(draft, signal)
    return None


def _reply(draft: TransitionBuilder, signal: sig.QuestionAnswered) -> sig.RefuseCommand | None:
    if draft.turn.question != signal.call_id:
        return sig.RefuseCommand(*_REFUSALS[sig.QuestionAnswered])
    message = signal.message and _message(signal.message, draft.turn.turn_id, queued=False)
    batch.apply_question_answer(draft, signal, message)
    return None


def _supply(draft: TransitionBuilder, signal: sig.ResultSupplied) -> sig.RefuseCommand | None:
    call = draft.turn.call(signal.result.call_id)
    at_rest = isinstance(draft.state.phase, Interrupted)
    if call is None or not (call.deferred or (at_rest and call.untouched)):
        return sig.RefuseCommand(*_REFUSALS[sig.ResultSupplied])
    batch.apply_supplied_result(draft, signal)
    return None


def _stop(draft: TransitionBuilder, phase: Stopping) -> None:
    if isinstance(draft.state.phase, _WAITS):
        turns.finish_stop(draft, phase.reason, None)
        return
    draft.enter(phase)
    draft.add(sig.StopOperation())


def _resume(draft: TransitionBuilder, signal: sig.ResumeInterrupted) -> None:
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
    draft.set_status("running")
    cut_off = not draft.turn.reply_complete
    for call in draft.open_calls():
        if call.question:
            continue  # it waits on
        if call.started:
            draft.record(settled_result(call.call_id, call.tool, "unknown", UNKNOWN))
        elif cut_off:
            draft.record(settled_result(call.call_id, call.tool, "cancelled", NOT_RUN))
    if not cut_off:
        batch.advance_batch(draft)
    elif draft.turn.calls:
        turns.next_step(draft)
    else:
        turns.repeat_step(draft)


# ends of operations


def _stopped(draft: TransitionBuilder, phase: Stopping, signal: sig.OperationEnd) -> None:
    usage = None
    if isinstance(signal, sig.OperationStopped | sig.ModelFinished | sig.ModelFailed):
        usage = signal.usage
    turns.finish_stop(draft, phase.reason, usage)


def _operation_end(draft: TransitionBuilder, signal: sig.OperationEnd) -> sig.RefuseCommand | None:
    match signal:
        case sig.RequestPrepared() | sig.RequestOverflowed() | sig.ContextCompacted():
            _request_ready(draft, signal)
        case sig.ModelFinished():
            _model_finished(draft, signal)
        case sig.ModelFailed():
            _model_failed(draft, signal)
        case sig.RetryElapsed():
            _retry(draft)
        case sig.PermissionChecked():
            return _judged(draft, signal)
        case sig.CallsDone(bug=error):
            draft.add(sig.SyncLog())
            turns.fail_turn(draft, error) if error else batch.advance_batch(draft)
        case sig.OperationCrashed(error=error):
            turns.fail_turn(draft, error)
        case sig.OperationStopped():
            turns.interrupt_turn(draft)
        case _:
            assert_never(signal)
    return None


def _request_ready(
    draft: TransitionBuilder,
    signal: sig.RequestPrepared | sig.RequestOverflowed | sig.ContextCompacted,
) -> None:
    if isinstance(signal, sig.RequestOverflowed):
        context_overflow.handle_overflow(draft, signal)
        return
    if isinstance(signal, sig.ContextCompacted):
        context_overflow.resume_after_compaction(draft, signal)
        return
    phase = draft.state.phase
    assert isinstance(phase, PreparingRequest)
    limit = draft.turn.step_limit
    draft.record(
        StepStart(step=phase.step, limit=limit, tokens_used=signal.tokens, window=signal.window)
    )
    draft.enter(Streaming(phase.step, attempt=1), sig.CallModel(phase.step, attempt=1))


def _model_finished(draft: TransitionBuilder, signal: sig.ModelFinished) -> None:
    draft.record(signal.usage)
    if signal.stop == "content_filter":
        turns.fail_turn(
            draft,
            ErrorInfo(
                code="content_filtered",
                message="The provider's content filter stopped the reply.",
                hint="Rephrase it, or choose another model.",
            ),
        )
        return
    if signal.stop == "context_overflow":
        context_overflow.handle_provider_refusal(draft, draft.turn.step, _OUTGROWN)
        return
    if signal.empty and signal.stop != "max_tokens" and turns.nudge_empty(draft):
        return
    _note_shortcomings(draft, signal)
    batch.advance_batch(draft)


def _note_shortcomings(draft: TransitionBuilder, signal: sig.ModelFinished) -> None:
    if signal.stop == "max_tokens":
        text = "The reply was cut off at the model's output limit."
        draft.record(Notice(level="warning", code="output_limit", text=text))
    elif signal.empty:
        text = "The model returned an empty answer."
        draft.record(Notice(level="warning", code="empty_turn", text=text))


def _model_failed(draft: TransitionBuilder, signal: sig.ModelFailed) -> None:
    phase = draft.state.phase
    assert isinstance(phase, Streaming)
    if signal.usage is not None:
        draft.record(signal.usage)
    if signal.error.code == "context_overflow":
        context_overflow.handle_provider_refusal(draft, phase.step, signal.error)
        return
    if signal.retry_ms is None:
        turns.fail_or_pause(draft, signal.error)
        return
    draft.record(
        RetryWait(attempt=phase.attempt, delay_ms=signal.retry_ms, reason=signal.error.message)
    )
    draft.enter(WaitingToRetry(phase.step, phase.attempt), sig.WaitRetry(signal.retry_ms))


def _retry(draft: TransitionBuilder) -> None:
    phase = draft.state.phase
    assert isinstance(phase, WaitingToRetry)
    attempt = phase.attempt + 1
    draft.enter(Streaming(phase.step, attempt), sig.CallModel(phase.step, attempt))


def _judged(draft: TransitionBuilder, signal: sig.PermissionChecked) -> sig.RefuseCommand | None:
    if draft.state.phase != CheckingPermission(signal.call_id):
        return sig.RefuseCommand(*_UNEXPECTED)
    batch.apply_verdict(draft, signal)
    return None
