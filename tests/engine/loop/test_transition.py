"""The state machine as a pure function: total, with named refusals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest

from jupyter_ai_shoulders.engine.calls.background_tasks import lost_run_event
from jupyter_ai_shoulders.engine.loop import state as st
from jupyter_ai_shoulders.engine.loop.accepted_phases import ACCEPTED_IN
from jupyter_ai_shoulders.engine.loop.commands import (
    ApprovalAnswered,
    BeginTurn,
    CallOutcomesFound,
    CancelTurn,
    ChangeQueued,
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
    TurnPlan,
)
from jupyter_ai_shoulders.engine.loop.effects import (
    AppendEvent,
    Effect,
    RefuseCommand,
    StartOperation,
)
from jupyter_ai_shoulders.engine.loop.event_reducer import apply_event, rebuild_state
from jupyter_ai_shoulders.engine.loop.operations import (
    Allowed,
    CallsDone,
    ContextCompacted,
    ModelFailed,
    ModelFinished,
    NeedsApproval,
    OperationCrashed,
    OperationStopped,
    PermissionChecked,
    RequestOverflowed,
    RequestPrepared,
    RetryElapsed,
    Signal,
)
from jupyter_ai_shoulders.engine.loop.synthetic_results import settled_result
from jupyter_ai_shoulders.engine.loop.transition import advance
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval, SendMessage
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import (
    CallId,
    LongRunId,
    MessageId,
    ModelId,
    PartId,
    ProviderId,
    TurnId,
)
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.engine.engine_harness import make_session
from tests.support.case_selection import sample

TURN = TurnId("t1")
CALL = CallId("c1")
PLAN = TurnPlan(TURN, ModelId("m"), ProviderId("p"), "ask", 25)
ERROR = ErrorInfo(code="provider_error", message="Broken.")
TOO_LONG = ErrorInfo(code="context_overflow", message="Too long.")
USAGE = ev.UsageUpdate(
    model=ModelId("m"),
    usage=TokenUsage(),
    cost_micro_usd=None,
    month_micro_usd=None,
    month_limit_micro_usd=None,
)
MESSAGE = SendMessage(id=MessageId("u1"), text="Hi")

RUN = st.BackgroundRun(LongRunId("run_1"), CallId("c0"), "run", "Run", TURN)


def asks() -> NeedsApproval:
    reason = ev.ApprovalReason(kind="mode", text="it runs code")
    return NeedsApproval({}, "hash", None, None, reason, ("once", "session"))


def limit_error(scope: str) -> ErrorInfo:
    return ErrorInfo(code="budget_exhausted", message="Spent.", details={"scope": scope})


SIGNALS: dict[str, Signal] = {
    "send": StartTurn(MESSAGE, PLAN),
    "begin": BeginTurn(PLAN),
    "begin orphan": BeginTurn(PLAN, MessageId("u1")),
    "steer": SteerTurn(MESSAGE),
    "edit queued": ChangeQueued(MessageId("u2"), "New"),
    "remove queued": ChangeQueued(MessageId("u2"), None),
    "cancel": CancelTurn(),
    "shutdown": Shutdown(),
    "resume": ResumeInterrupted(PLAN),
    "discard": DiscardInterrupted(),
    "note interruption": NoteInterruption(),
    "allow": ApprovalAnswered(CALL, AnswerApproval(decision="allow")),
    "deny": ApprovalAnswered(CALL, AnswerApproval(decision="deny")),
    "answer another": ApprovalAnswered(CallId("c9"), AnswerApproval(decision="deny")),
    "reply": QuestionAnswered(CALL, ("Blue",)),
    "reply by message": QuestionAnswered(CALL, ("Hi",), MESSAGE),
    "reply to another": QuestionAnswered(CallId("c9"), ("Blue",)),
    "supply": ResultSupplied(settled_result(CALL, "look", "error", ERROR)),
    "supply another": ResultSupplied(settled_result(CallId("c9"), "look", "error", ERROR)),
    "found": CallOutcomesFound((settled_result(CALL, "run", "cancelled", ERROR),)),
    "found nothing": CallOutcomesFound(()),
    "time up": TimeUp(),
    "run ended": RunEnded(lost_run_event(RUN)),
    "unknown run ended": RunEnded(lost_run_event(replace(RUN, run=LongRunId("another")))),
    "prepared": RequestPrepared(10, 1000),
    "overflowed": RequestOverflowed(2000, 800, 1000),
    "overflowed, compactable": RequestOverflowed(2000, 800, 1000, compactable=True),
    "compacted": ContextCompacted(
        ev.ContextRebase(reason="compaction", replaced={}),
        ev.Notice(level="info", code="compacted", text="Summarised."),
    ),
    "too long": ModelFailed(TOO_LONG, None, USAGE),
    "finished": ModelFinished("end_turn", USAGE),
    "finished empty": ModelFinished("end_turn", USAGE, empty=True),
    "filtered": ModelFinished("content_filter", USAGE),
    "outgrown": ModelFinished("context_overflow", USAGE),
    "cut": ModelFinished("max_tokens", USAGE),
    "failed": ModelFailed(ERROR, None),
    "failed, again": ModelFailed(ERROR, 500, USAGE),
    "turn limit": ModelFailed(limit_error("turn"), None),
    "month limit": ModelFailed(limit_error("month"), None),
    "elapsed": RetryElapsed(),
    "allowed": PermissionChecked(CALL, Allowed()),
    "allowed by rule": PermissionChecked(CALL, Allowed("a rule")),
    "asks": PermissionChecked(CALL, asks()),
    "denied": PermissionChecked(CALL, st.RejectCall("denied", ERROR)),
    "deferred": PermissionChecked(CALL, st.DeferToUser()),
    "judged another": PermissionChecked(CallId("c9"), Allowed()),
    "calls done": CallsDone(),
    "bug": CallsDone(ERROR),
    "stopped": OperationStopped(),
    "crashed": OperationCrashed(ERROR),
}

START = ev.ToolStart(call_id=CALL)
ASKED = st.CallState(
    CALL, "clarify", {}, None, "read", "Ask", verdict=st.AllowCall(), start=START, question=True
)
CALLS = (
    st.CallState(CALL, "look", {"path": "a"}, None, "read", "Look"),
    st.CallState(CALL, "run", {"path": "a"}, None, "execute", "Run", scopes=("once",)),
    st.CallState(
        CALL, "run", {"path": "a"}, None, "execute", "Run", verdict=st.AllowCall(), start=START
    ),
    st.CallState(
        CALL, "run", {"path": "a"}, None, "execute", "Run", verdict=st.AllowCall(), status="ok"
    ),
    st.CallState(CALL, "look", {"path": "a"}, None, "read", "Look", verdict=st.DeferToUser()),
    ASKED,
    replace(ASKED, reply="Blue"),
    replace(ASKED, answer=("Blue", "Red")),
    st.CallState(CALL, "complete", {}, None, "read", "End", verdict=st.AllowCall()),
)
OTHER = st.CallState(CallId("c2"), "look", {"path": "b"}, None, "read", "Look")
TURNS = (
    st.TurnState(TURN, ModelId("m"), ProviderId("p"), "ask", 25),
    *(
        st.TurnState(
            TURN,
            ModelId("m"),
            ProviderId("p"),
            "ask",
            limit,
            step=3,
            reply_complete=complete,
            calls=calls,
            summary=summary,
            paused=paused,
        )
        for limit, complete, calls, summary, paused in itertools.product(
            (3, 25),
            (False, True),
            ((), *((call,) for call in CALLS), (ASKED, OTHER), (CALLS[-1], OTHER)),
            (None, "Summary"),
            (None, st.Pause("turn", "Spent."), st.Pause("window", "Too long.")),
        )
    ),
)
PHASES: tuple[st.Phase, ...] = (
    st.PreparingRequest(3),
    st.Streaming(3, 1),
    st.WaitingToRetry(3, 1),
    st.Compacting(3),
    st.CheckingPermission(CALL),
    st.AwaitingApproval(CALL),
    st.AwaitingAnswer(CALL),
    st.AwaitingResults(),
    st.AwaitingRuns(),
    st.RunningTools(),
    st.Stopping("time"),
    st.Stopping("cancel"),
    st.Stopping("shutdown"),
    st.Interrupted(),
)
QUEUES = ((), (st.QueuedMessage(MessageId("u2")),))


def states() -> Sequence[st.SessionState]:
    """Return states of every phase with every kind of turn."""
    policies = (
        st.SessionPolicy(compaction="ask"),
        st.SessionPolicy(interactive=False, stop_on_rejection=False, time_limit_s=9),
    )
    idle = [st.SessionState(policies[0], queue=queue) for queue in QUEUES]
    with_runs = [
        st.SessionState(policies[0], phase, turn, queue, runs=(RUN,), ended=ended)
        for phase, turn, queue, ended in itertools.product(
            PHASES, TURNS[::5], QUEUES, ((), (lost_run_event(RUN),))
        )
    ]
    plain = [
        st.SessionState(policy, phase, turn, queue)
        for policy, phase, turn, queue in itertools.product(policies, PHASES, TURNS, QUEUES)
    ]
    # 7 divides none of the factors, so every value of every factor is in the part.
    return [*idle, st.SessionState(policies[0], runs=(RUN,)), *sample([*with_runs, *plain], 13)]


def test_every_phase_and_signal_is_in_the_tables():
    assert {type(phase) for phase in PHASES} | {st.Idle} == set(get_args(st.Phase))
    assert {type(signal) for signal in SIGNALS.values()} == set(get_args(Signal))
    assert set(ACCEPTED_IN) == set(get_args(Signal))


@pytest.mark.parametrize("signal", SIGNALS.values(), ids=SIGNALS.keys())
def test_every_signal_in_every_state_is_a_transition_or_a_named_refusal(signal: Signal):
    for state in states():
        if not _makes_sense(state, signal):
            continue
        after, effects = advance(state, signal)
        refusals = [effect for effect in effects if isinstance(effect, RefuseCommand)]
        if refusals:
            assert len(effects) == 1
            assert after == state
            assert refusals[0].message
        else:
            assert isinstance(state.phase, ACCEPTED_IN[type(signal)])
            _check_transition(state, after, effects)


def _makes_sense(state: st.SessionState, signal: Signal) -> bool:
    """Return whether the signal fits the state: its call must exist in the turn."""
    return not (
        isinstance(signal, PermissionChecked)
        and isinstance(state.phase, st.CheckingPermission)
        and (state.turn is None or state.turn.call(state.phase.call_id) is None)
    )


def _check_transition(
    before: st.SessionState, after: st.SessionState, effects: tuple[Effect, ...]
) -> None:
    """Check every transition: an open turn unless idle, one operation, facts by events only."""
    assert (after.turn is None) == isinstance(after.phase, st.Idle)
    starts = [effect for effect in effects if isinstance(effect, StartOperation)]
    assert len(starts) <= 1
    works = not isinstance(
        after.phase,
        st.Idle
        | st.Interrupted
        | st.AwaitingApproval
        | st.AwaitingAnswer
        | st.AwaitingResults
        | st.AwaitingRuns,
    )
    if not isinstance(after.phase, st.Stopping) and after != before:
        waits_for_operation = bool(starts) or after.phase == before.phase
        assert waits_for_operation or not works
    facts = before
    for effect in effects:
        if isinstance(effect, AppendEvent):
            facts = apply_event(facts, effect.event)
    assert _facts(facts) == _facts(after)


def _facts(state: st.SessionState) -> object:
    """Return everything the log alone determines: all but verdicts and phases."""
    turn = state.turn
    if turn is not None:
        calls = tuple(
            (call.call_id, call.scopes, call.started, call.asks, call.status) for call in turn.calls
        )
        told = (turn.paused, turn.may_compact, turn.woken, turn.summary)
        facts = (turn.turn_id, turn.step, turn.reply_complete, told, calls)
        return (*facts, state.queue, state.grants, state.runs)
    return (None, state.queue, state.grants, state.runs)


EVENTS: list[ev.Event] = [
    ev.SessionCreate(session=make_session()),
    ev.SessionUpdate(session=make_session()),
    ev.MessageAdd(message_id=MessageId("u2"), text="Hi", queued=True),
    ev.MessageUpdate(message_id=MessageId("u2"), status="queued", text="Ho"),
    ev.MessageUpdate(message_id=MessageId("u2"), status="consumed"),
    ev.TurnStart(
        turn_id=TURN,
        message_id=MessageId("u1"),
        model=ModelId("m"),
        provider=ProviderId("p"),
        mode="ask",
        step_limit=25,
    ),
    ev.TurnResume(model=ModelId("m"), provider=ProviderId("p"), mode="ask", step_limit=9),
    ev.StepStart(step=1, limit=25, tokens_used=1, window=None),
    ev.TextDelta(part_id=PartId("p1"), text="x"),
    USAGE,
    ev.ToolCall(
        call_id=CALL,
        tool="run",
        arguments={"path": "a"},
        raw=None,
        invalid=None,
        risk="execute",
        external=False,
        title="Run",
        target=None,
    ),
    ev.ApprovalAnswer(call_id=CALL, decision="allow", scope="session", feedback=None, by="user"),
    ev.ToolStart(call_id=CALL),
    ev.ClarifyRequest(call_id=CALL, question="Which?", options=(), allow_multiple=False),
    ev.MessageAdd(message_id=MessageId("u3"), text="Blue", answers=CALL),
    ev.ClarifyAnswer(call_id=CALL, answer=("Blue",)),
    ev.ToolResult(
        call_id=CALL,
        tool="run",
        status="ok",
        result=ToolEnvelope(ok=True, kind="none", data=None),
        content=(),
        duration_ms=1,
    ),
    ev.Notice(level="info", code="x", text="y"),
    ev.Notice(level="warning", code="turn_limit", text="Spent."),
    ev.Notice(level="warning", code="session_limit", text="Spent."),
    ev.TurnEnd(exit="final_response"),
]


@pytest.mark.parametrize("event", EVENTS, ids=[f"{n} {e.type}" for n, e in enumerate(EVENTS)])
def test_every_event_folds_into_every_state_without_effects(event: ev.Event):
    for state in states():
        after, effects = advance(state, event)
        assert effects == ()
        assert after.phase == state.phase


def test_restored_state_with_an_open_turn_is_interrupted():
    policy = st.SessionPolicy()
    assert isinstance(rebuild_state(policy, EVENTS[:10]).phase, st.Interrupted)
    assert isinstance(rebuild_state(policy, EVENTS).phase, st.Idle)


def test_policy_follows_the_kind_of_session():
    assert st.policy_for("chat", True) == st.SessionPolicy(stop_on_rejection=True, interactive=True)
    assert st.policy_for("run", False) == st.SessionPolicy(
        stop_on_rejection=False, interactive=False
    )
