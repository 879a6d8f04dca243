"""Folds events into the facts of a session. Pure and total; facts change in no other way.

Called by ``engine.loop.transition`` for events it records and by the driver for events of
operations; ``rebuild_state`` rebuilds a session after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from jupyter_ai_shoulders.core.frozen_values import replace
from jupyter_ai_shoulders.engine.loop.address_tracking import update_addresses
from jupyter_ai_shoulders.engine.loop.state import (
    ENDING_TOOLS,
    AllowCall,
    BackgroundRun,
    CallState,
    Confinement,
    Interrupted,
    Pause,
    PauseScope,
    QueuedMessage,
    RejectCall,
    SessionPolicy,
    SessionState,
    ShownCall,
    TurnState,
)
from jupyter_ai_shoulders.engine.loop.taint_tracking import update_taint
from jupyter_ai_shoulders.tools.permissions.grants import grant_for
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId, TurnId

INTERRUPTED = "interrupted"
"""Code of the notice that a turn was interrupted."""
FOREIGN = "foreign_state"
"""Code of the notice that a conversation came with the folder, which voids its permissions."""
COMPACTION_ASK = "compaction_ask"
"""Code of the notice that asks whether earlier messages may be summarised."""
PAUSES: dict[str, PauseScope] = {
    "turn_limit": "turn",
    "session_limit": "session",
    COMPACTION_ASK: "window",
}
"""Codes of the notices that a turn paused at a limit, with the scope of the limit."""
_WITHOUT_FACTS = frozenset(
    {
        ev.TextStart,
        ev.TextDelta,
        ev.TextEnd,
        ev.ReasoningStart,
        ev.ReasoningDelta,
        ev.ReasoningEnd,
        ev.ToolProgress,
        ev.AgentActivity,
        ev.AgentState,
    }
)
"""The model's words and streamed output: most events of a log."""


def rebuild_state(policy: SessionPolicy, events: Iterable[ev.Event]) -> SessionState:
    """Return the state after a restart: an open turn is interrupted, nothing runs."""
    state = SessionState(policy)
    for event in events:
        state = apply_event(state, event)
    return stopped_state(state)


def stopped_state(state: SessionState) -> SessionState:
    """Return the state with nothing running, as after a restart, which also ends ``bypass``."""
    if state.turn is None:
        return state
    mode = "ask" if state.turn.mode == "bypass" else state.turn.mode
    return replace(state, phase=Interrupted(), turn=replace(state.turn, mode=mode))


def apply_event(state: SessionState, event: ev.Event) -> SessionState:
    """Return the state after an event; most events hold no fact the loop needs."""
    return state if type(event) in _WITHOUT_FACTS else _fold(state, event)


def _fold(state: SessionState, event: ev.Event) -> SessionState:
    progress = state.progress.after_event(event)
    if progress is not state.progress:
        state = replace(state, progress=progress)
    state = _drop_foreign_permissions(update_addresses(update_taint(state, event), event), event)
    match event:
        case ev.MessageAdd() | ev.MessageUpdate() | ev.Restore():
            return _message(state, event)
        case ev.RunEnd():
            return _run_end(state, event)
        case ev.TurnStart():
            return replace(state, turn=_turn(event))
        case ev.TurnEnd():
            return replace(state, turn=None)
        case ev.ApprovalAnswer():
            return _approval(state, event)
        case _:
            state = _run_start(state, event)
            turn = _fold_turn(state.turn, event) if state.turn else None
            return state if turn is state.turn else replace(state, turn=turn)


def _run_start(state: SessionState, event: ev.Event) -> SessionState:
    """Record a run that continues after its call; the open turn has the call's title."""
    if not isinstance(event, ev.ToolResult) or event.run is None:
        return state
    call = state.turn.call(event.call_id) if state.turn else None
    title = call.title if call else event.tool
    start = call.start if call else None
    run = BackgroundRun(event.run, event.call_id, event.tool, title, event.turn_id, start)
    return replace(state, runs=(*state.runs, run))


def _run_end(state: SessionState, event: ev.RunEnd) -> SessionState:
    """Have the next step tell the model of the end of a run, even after ``complete``."""
    runs = tuple(run for run in state.runs if run.run != event.run)
    ended = tuple(other for other in state.ended if other.run != event.run)
    turn = replace(state.turn, woken=True, summary=None) if state.turn else None
    return replace(state, runs=runs, ended=ended, turn=turn)


def denial_result(feedback: str | None) -> RejectCall:
    """Return the result of a denied call; with feedback, the model continues."""
    said = f" The user said: {feedback}" if feedback else ""
    error = ErrorInfo(code="denied", message=f"The user did not allow this call.{said}")
    return RejectCall("denied", error, ends_turn=not (feedback and feedback.strip()))


def _message(
    state: SessionState, event: ev.MessageAdd | ev.MessageUpdate | ev.Restore
) -> SessionState:
    if isinstance(event, ev.Restore):  # a rewound conversation starts over
        return state if event.conversation is None else replace(state, turn=None, queue=())
    if isinstance(event, ev.MessageAdd):
        if event.answers is not None and state.turn is not None:
            turn = _change(state.turn, event.answers, lambda call: replace(call, reply=event.text))
            return replace(state, turn=turn)
        if event.replaces is not None:  # an edited message starts over
            return replace(state, turn=None, queue=())
        added = (QueuedMessage(event.message_id),) if event.queued else ()
        return replace(state, queue=state.queue + added) if added else state
    if event.status == "queued":
        return state
    queue = tuple(item for item in state.queue if item.message_id != event.message_id)
    return replace(state, queue=queue)


def _turn(event: ev.TurnStart) -> TurnState:
    return TurnState(
        turn_id=event.turn_id or TurnId(""),
        model=event.model,
        provider=event.provider,
        mode=event.mode,
        step_limit=event.step_limit,
        is_stand_in=event.is_stand_in,
    )


def _approval(state: SessionState, event: ev.ApprovalAnswer) -> SessionState:
    call = state.turn.call(event.call_id) if state.turn else None
    if state.turn is None or call is None:
        return state
    shown = call.shown
    run = AllowCall(shown.confinement) if shown else AllowCall()
    verdict = run if event.decision == "allow" else denial_result(event.feedback)
    definition = shown.hashes.get("definition") if shown else None
    bound = event.scope == "once" or definition is not None
    answered = replace(call, verdict=verdict, shown=shown if bound else None)
    turn = _change(state.turn, event.call_id, lambda _: answered)
    grants = state.grants
    if event.decision == "allow" and event.by == "user":
        informed = bool(state.taint)
        grant = grant_for(
            event.scope,
            call.tool,
            call.arguments or {},
            informed=informed,
            definition=definition,
        )
        if grant is not None and grant not in grants:
            grants = (*grants, grant)
    return replace(state, turn=turn, grants=grants)


def _drop_foreign_permissions(state: SessionState, event: ev.Event) -> SessionState:
    """Remove the permissions of a conversation that came with the folder."""
    if not isinstance(event, ev.Notice) or event.code != FOREIGN:
        return state
    turn = state.turn
    if turn is not None:
        turn = replace(turn, mode="ask", calls=tuple(map(_unanswered, turn.calls)))
    return replace(state, grants=(), queue=(), turn=turn, addresses=frozenset[str]())


def _unanswered(call: CallState) -> CallState:
    return replace(call, verdict=None) if isinstance(call.verdict, AllowCall) else call


def _fold_turn(turn: TurnState, event: ev.Event) -> TurnState:
    match event:
        case ev.TurnResume():
            return replace(
                turn,
                model=event.model,
                provider=event.provider,
                mode=event.mode,
                step_limit=event.step_limit,
                is_stand_in=event.is_stand_in,
                suspended=False,
                paused=None,
                may_compact=turn.may_compact or _asked_for_room(turn),
            )
        case ev.StepStart():
            done = (*turn.done, *(call.title for call in turn.calls if call.changed))
            return replace(
                turn, step=event.step, reply_complete=False, calls=(), done=done, woken=False
            )
        case ev.UsageUpdate():
            return replace(turn, reply_complete=turn.reply_complete or not turn.suspended)
        case ev.RetryWait():
            return replace(turn, reply_complete=False)
        case ev.Notice():
            return _notice(turn, event)
        case _:
            return _fold_call(turn, event)


def _notice(turn: TurnState, event: ev.Notice) -> TurnState:
    if event.code == INTERRUPTED:
        return replace(turn, suspended=True)
    scope = PAUSES.get(event.code)
    if scope is None:
        return turn
    complete = turn.reply_complete and scope != "window"  # the step is repeated
    return replace(turn, paused=Pause(scope, event.text), reply_complete=complete)


def _asked_for_room(turn: TurnState) -> bool:
    return turn.paused is not None and turn.paused.scope == "window"


def _fold_call(turn: TurnState, event: ev.Event) -> TurnState:
    match event:
        case ev.ToolCall():
            return replace(turn, calls=(*turn.calls, _call(event)))
        case ev.ApprovalRequest():
            scopes, shown = event.scopes, _shown(event)
            return _change(
                turn, event.call_id, lambda call: replace(call, scopes=scopes, shown=shown)
            )
        case ev.ToolStart():
            return _change(turn, event.call_id, lambda call: replace(call, start=event))
        case ev.ClarifyRequest() | ev.ClarifyAnswer() | ev.StdinRequest() | ev.StdinAnswer():
            return _change(turn, event.call_id, lambda call: _asked(call, event))
        case ev.ToolResult():
            settled = _change(turn, event.call_id, lambda call: replace(call, status=event.status))
            return replace(settled, summary=_summary(event) or turn.summary)
        case _:
            return turn


def _shown(event: ev.ApprovalRequest) -> ShownCall:
    confinement = Confinement(event.sandboxed, event.read_only, event.network)
    return ShownCall(confinement, event.preview, event.fact_hashes)


def _asked(
    call: CallState, event: ev.ClarifyRequest | ev.ClarifyAnswer | ev.StdinRequest | ev.StdinAnswer
) -> CallState:
    match event:
        case ev.ClarifyRequest():
            return replace(call, question=True, answer=None)
        case ev.ClarifyAnswer():
            return replace(call, question=True, answer=event.answer)
        case ev.StdinRequest():
            return replace(call, input=True)
        case ev.StdinAnswer():
            return replace(call, input=False)


def _call(event: ev.ToolCall) -> CallState:
    return CallState(
        call_id=event.call_id,
        tool=event.tool,
        arguments=event.arguments,
        invalid=event.invalid,
        risk=event.risk,
        title=event.title,
        external=event.external,
        package=event.package,
    )


def _change(
    turn: TurnState, call_id: CallId, change: Callable[[CallState], CallState]
) -> TurnState:
    calls = tuple(change(call) if call.call_id == call_id else call for call in turn.calls)
    return replace(turn, calls=calls)


def _summary(event: ev.ToolResult) -> str | None:
    """Return the summary that ended the turn; for a question, when nobody could answer."""
    data = event.result.data
    if event.tool not in ENDING_TOOLS or event.status != "ok" or not isinstance(data, dict):
        return None
    summary = data.get("summary")
    return summary if isinstance(summary, str) else None
