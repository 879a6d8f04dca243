"""``advance(state, given) -> (state, effects)``: every decision of the agent loop. Pure and total.

``given`` is an event, which changes facts only, or a signal, which causes a transition or a
``RefuseCommand`` with the state unchanged. Driven by ``engine.session.driver``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.engine.loop import background_runs, batch, turns
from jupyter_ai_shoulders.engine.loop.accepted_phases import (
    ACCEPTED_IN,
    REFUSALS,
    UNEXPECTED,
    WAITING,
)
from jupyter_ai_shoulders.engine.loop.commands import (
    ApprovalAnswered,
    BeginTurn,
    CallOutcomesFound,
    CancelTurn,
    ChangeQueued,
    Command,
    DiscardInterrupted,
    NoteInterruption,
    QuestionAnswered,
    ResultSupplied,
    ResumeInterrupted,
    RunEnded,
    Shutdown,
    StartTurn,
    SteerTurn,
    TimeUp,
    UserDecision,
)
from jupyter_ai_shoulders.engine.loop.effects import Effect, RefuseCommand, StopOperation
from jupyter_ai_shoulders.engine.loop.event_reducer import apply_event
from jupyter_ai_shoulders.engine.loop.operation_ends import handle_operation_end
from jupyter_ai_shoulders.engine.loop.operations import (
    OperationEnd,
    Signal,
)
from jupyter_ai_shoulders.engine.loop.state import (
    AwaitingRuns,
    Interrupted,
    SessionState,
    Stopping,
)
from jupyter_ai_shoulders.engine.loop.synthetic_results import NOT_RUN, UNKNOWN, settled_result
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.events import (
    Event,
    EventBase,
    MessageAdd,
    MessageUpdate,
    TurnResume,
)
from jupyter_ai_shoulders.wire.ids import TurnId

Given = Event | Signal

Advanced = tuple[SessionState, tuple[Effect, ...]]


def advance(state: SessionState, given: Given) -> Advanced:
    """Return the next state and the effects to perform."""
    if isinstance(given, EventBase):
        return apply_event(state, given), ()
    if not isinstance(state.phase, ACCEPTED_IN[type(given)]):
        return state, (RefuseCommand(*REFUSALS.get(type(given), UNEXPECTED)),)
    draft = TransitionBuilder(state)
    refusal = _decide(draft, given)
    return (state, (refusal,)) if refusal else (draft.state, tuple(draft.effects))


def _decide(draft: TransitionBuilder, signal: Signal) -> RefuseCommand | None:
    if isinstance(signal, OperationEnd):
        return handle_operation_end(draft, signal)
    return _command(draft, signal)


def _command(draft: TransitionBuilder, signal: Command) -> RefuseCommand | None:
    match signal:
        case StartTurn():
            _send(draft, signal)
        case BeginTurn():
            return _begin(draft, signal)
        case SteerTurn():
            _steer(draft, signal)
        case ChangeQueued():
            return _change_queued(draft, signal)
        case CancelTurn() | Shutdown():
            _stop(draft, Stopping("cancel" if isinstance(signal, CancelTurn) else "shutdown"))
        case TimeUp():
            _stop(draft, Stopping("time"))
        case RunEnded():
            _run_ended(draft, signal)
        case _:
            return _user_decision(draft, signal)
    return None


def _user_decision(draft: TransitionBuilder, signal: UserDecision) -> RefuseCommand | None:
    """Handle a decision of the user, or outcomes found for interrupted calls."""
    match signal:
        case ResumeInterrupted():
            _resume(draft, signal)
        case DiscardInterrupted():
            turns.discard_turn(draft)
        case NoteInterruption():
            turns.interrupt_turn(draft, signal.found)
        case CallOutcomesFound():
            turns.record_found_outcomes(draft, signal.results)
        case ApprovalAnswered():
            return _answer(draft, signal)
        case QuestionAnswered():
            return _reply(draft, signal)
        case ResultSupplied():
            return _supply(draft, signal)
    return None


def _send(draft: TransitionBuilder, signal: StartTurn) -> None:
    waiting = draft.state.queue
    message, plan = signal.message, signal.plan
    said = _message(message, plan.turn_id, queued=bool(waiting))
    draft.record(said.model_copy(update={"replaces": signal.replaced}))
    turns.begin_turn(draft, plan, waiting[0].message_id if waiting else message.id)


def _steer(draft: TransitionBuilder, signal: SteerTurn) -> None:
    """Queue the message for the next step; start that step if only runs are awaited."""
    draft.record(_message(signal.message, draft.turn.turn_id, queued=True))
    if isinstance(draft.state.phase, AwaitingRuns):
        turns.next_step(draft)


def _run_ended(draft: TransitionBuilder, signal: RunEnded) -> None:
    background_runs.record_run_end(draft, signal)
    if isinstance(draft.state.phase, AwaitingRuns):
        turns.next_step(draft)


def _begin(draft: TransitionBuilder, signal: BeginTurn) -> RefuseCommand | None:
    queue = draft.state.queue
    first = signal.orphan or (queue[0].message_id if queue else None)
    if first is None:
        return RefuseCommand("conflict", "No message is waiting for a turn.")
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


def _change_queued(draft: TransitionBuilder, signal: ChangeQueued) -> RefuseCommand | None:
    if all(item.message_id != signal.message_id for item in draft.state.queue):
        return RefuseCommand("conflict", "The message is no longer queued.")
    status = "removed" if signal.text is None else "queued"
    draft.record(MessageUpdate(message_id=signal.message_id, status=status, text=signal.text))
    return None


def _answer(draft: TransitionBuilder, signal: ApprovalAnswered) -> RefuseCommand | None:
    call = draft.turn.call(signal.call_id)
    if call is None or not call.waits:
        return RefuseCommand(*REFUSALS[ApprovalAnswered])
    batch.apply_approval_answer(draft, signal)
    return None


def _reply(draft: TransitionBuilder, signal: QuestionAnswered) -> RefuseCommand | None:
    if draft.turn.question != signal.call_id:
        return RefuseCommand(*REFUSALS[QuestionAnswered])
    message = signal.message and _message(signal.message, draft.turn.turn_id, queued=False)
    batch.apply_question_answer(draft, signal, message)
    return None


def _supply(draft: TransitionBuilder, signal: ResultSupplied) -> RefuseCommand | None:
    call = draft.turn.call(signal.result.call_id)
    at_rest = isinstance(draft.state.phase, Interrupted)
    if call is None or not (call.deferred or (at_rest and call.untouched)):
        return RefuseCommand(*REFUSALS[ResultSupplied])
    batch.apply_supplied_result(draft, signal)
    return None


def _stop(draft: TransitionBuilder, phase: Stopping) -> None:
    if isinstance(draft.state.phase, WAITING):
        turns.finish_stop(draft, phase.reason, None)
        return
    draft.enter(phase)
    draft.add(StopOperation())


def _resume(draft: TransitionBuilder, signal: ResumeInterrupted) -> None:
    """Continue where the log ends; calls that had started do not start again."""
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
            continue  # it keeps waiting
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
