"""Judges, runs and settles the calls of one step, in model order. Pure.

Part of ``engine.loop.transition``. The result equals running the calls in order (see
docs/design/engine.md#batches): all approvals are asked before anything runs, one at a time. A call
whose approval shows a document that an earlier call will change is asked about after that change,
and calls after ``complete`` or ``clarify`` are judged only when these did not end the batch.
"""

from __future__ import annotations

import itertools

from jupyter_ai_shoulders.core.catalogue.external_agents import is_external_agent
from jupyter_ai_shoulders.engine.loop import background_runs, questions, turns
from jupyter_ai_shoulders.engine.loop.commands import (
    ApprovalAnswered,
    QuestionAnswered,
    ResultSupplied,
)
from jupyter_ai_shoulders.engine.loop.effects import SyncLog
from jupyter_ai_shoulders.engine.loop.operations import (
    Allowed,
    CheckPermission,
    NeedsApproval,
    PermissionChecked,
    RunCalls,
)
from jupyter_ai_shoulders.engine.loop.state import (
    ENDING_TOOLS,
    AllowCall,
    AwaitingAnswer,
    AwaitingApproval,
    AwaitingResults,
    CallState,
    CheckingPermission,
    DeferToUser,
    RejectCall,
    RunningTools,
)
from jupyter_ai_shoulders.engine.loop.synthetic_results import SKIPPED
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder
from jupyter_ai_shoulders.tools.permissions.grants import target_of
from jupyter_ai_shoulders.wire.events import ApprovalAnswer, ApprovalRequest, MessageAdd


def advance_batch(draft: TransitionBuilder) -> None:
    """Judge the next call, else run the judged calls, else wait for the user, else end the step."""
    _skip_after_denial(draft)
    questions.close_answered_calls(draft)
    question = draft.turn.question
    if question is not None:
        questions.wait_for_answer(draft, question)
        return
    waiting = draft.open_calls()
    unjudged = next((call for call in waiting if call.verdict is None), None)
    judged = waiting if unjudged is None else waiting[: waiting.index(unjudged)]
    if unjudged is not None and not _ends_in(judged):
        _check_permission(draft, unjudged)
    elif judged:
        _settle(draft, judged)
    else:
        _leave_step(draft)


def _check_permission(draft: TransitionBuilder, call: CallState) -> None:
    if call.waits:
        draft.set_status("waiting")
        draft.enter(AwaitingApproval(call.call_id))
    else:
        draft.enter(CheckingPermission(call.call_id), CheckPermission(call.call_id))


def _settle(draft: TransitionBuilder, judged: list[CallState]) -> None:
    """Run the calls that can run; otherwise wait for results the user supplies."""
    ready = judged
    if _ends_in(judged):  # one after the other
        ready = list(itertools.takewhile(lambda call: not call.deferred, judged))
    ready = [call for call in ready if not call.deferred]
    if ready:
        draft.enter(RunningTools(), RunCalls(tuple(call.call_id for call in ready)))
    else:
        draft.set_status("waiting")
        draft.enter(AwaitingResults())
        draft.add(SyncLog())


def _ends_in(calls: list[CallState]) -> bool:
    return any(call.tool in ENDING_TOOLS for call in calls)


def apply_verdict(draft: TransitionBuilder, judged: PermissionChecked) -> None:
    """Apply the verdict of the rules on a call."""
    call = draft.turn.call(judged.call_id)
    assert call is not None, "only calls of the step are judged"
    match judged.outcome:
        case Allowed(because=because, confinement=confinement):
            if because is not None:
                draft.record(_allowed_by_policy(call, because))
            draft.set_verdict(call.call_id, AllowCall(confinement))
            advance_batch(draft)
        case RejectCall() | DeferToUser() as verdict:
            draft.set_verdict(call.call_id, verdict)
            advance_batch(draft)
        case NeedsApproval() as question:
            _ask(draft, call, question)


def apply_approval_answer(draft: TransitionBuilder, given: ApprovalAnswered) -> None:
    """Apply the answer to an approval; an interrupted turn continues when it is resumed."""
    command = given.command
    draft.record(
        ApprovalAnswer(
            call_id=given.call_id,
            decision=command.decision,
            scope=command.scope,
            feedback=command.feedback,
            by="user",
        )
    )
    if isinstance(draft.state.phase, AwaitingApproval):
        draft.set_status("running")
        advance_batch(draft)


def apply_question_answer(
    draft: TransitionBuilder, given: QuestionAnswered, message: MessageAdd | None
) -> None:
    """Apply the answer to a question; an interrupted turn continues when it is resumed."""
    questions.note_answer(draft, given, message)
    if isinstance(draft.state.phase, AwaitingAnswer):
        draft.set_status("running")
        advance_batch(draft)


def apply_supplied_result(draft: TransitionBuilder, given: ResultSupplied) -> None:
    """Record a result from the user; an interrupted turn continues when it is resumed."""
    draft.record(given.result)
    if not isinstance(draft.state.phase, AwaitingResults):
        return
    if not any(call.deferred for call in draft.open_calls()):
        draft.set_status("running")
    advance_batch(draft)


def _ask(draft: TransitionBuilder, call: CallState, question: NeedsApproval) -> None:
    before = _to_run_first(draft, call)
    if before:
        draft.enter(RunningTools(), RunCalls(tuple(earlier.call_id for earlier in before)))
        return
    draft.record(
        ApprovalRequest(
            call_id=call.call_id,
            tool=call.tool,
            arguments=question.arguments,
            arguments_hash=question.arguments_hash,
            preview=question.preview,
            language=question.language,
            reason=question.reason,
            scopes=question.scopes,
            sandboxed=question.confinement.sandboxed,
            network=question.confinement.network,
            read_only=question.confinement.read_only,
            reach=question.reach,
            effects=question.effects,
            fact_hashes=dict(question.fact_hashes),
        )
    )
    draft.set_status("waiting")
    draft.enter(AwaitingApproval(call.call_id))
    draft.add(SyncLog())


def _to_run_first(draft: TransitionBuilder, call: CallState) -> list[CallState]:
    """Return the earlier calls if one of them changes the document the approval would show."""
    earlier = [other for other in draft.open_calls() if other.verdict is not None]
    path = target_of(call.arguments or {}).path
    for other in earlier:
        changes = other.risk == "write" and isinstance(other.verdict, AllowCall)
        other_path = target_of(other.arguments or {}).path
        if changes and (path is None or other_path is None or path == other_path):
            return earlier
    return []


def _allowed_by_policy(call: CallState, because: str) -> ApprovalAnswer:
    return ApprovalAnswer(
        call_id=call.call_id, decision="allow", scope="always", feedback=because, by="policy"
    )


def _skip_after_denial(draft: TransitionBuilder) -> None:
    """Skip the calls of the batch after a denied one; those of others are independent."""
    if is_external_agent(draft.turn.model):
        return
    denied = False
    for call in draft.turn.calls:
        if denied and call.verdict is None and not call.settled:
            draft.set_verdict(call.call_id, RejectCall("skipped", SKIPPED))
        denied = denied or (
            isinstance(call.verdict, RejectCall) and call.verdict.status == "denied"
        )


def _leave_step(draft: TransitionBuilder) -> None:
    turn = draft.turn
    rejected = any(
        isinstance(call.verdict, RejectCall) and call.verdict.ends_turn for call in turn.calls
    )
    if rejected and draft.state.policy.stop_on_rejection and not is_external_agent(turn.model):
        turns.end_turn(draft, "tool_rejected")
    elif turn.woken or draft.state.ended:
        turns.next_step(draft)
    elif turn.summary is not None and not background_runs.has_awaited_runs(draft.state):
        turns.end_turn(draft, "ended_by_tool", summary=turn.summary)
    elif turn.summary is None and _goes_on(draft):
        turns.next_step(draft)
    elif background_runs.has_awaited_runs(draft.state):
        background_runs.wait_for_run_end(draft)
    else:
        turns.end_turn(draft, "final_response")


def _goes_on(draft: TransitionBuilder) -> bool:
    turn = draft.turn
    return bool(turn.calls) or (bool(draft.state.queue) and turn.step < turn.step_limit)
