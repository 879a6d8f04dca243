"""What happens to the calls of one step: judged in model order, run, answered. Pure.

Part of ``engine.advance``. Serial-equivalent (chapter 04): approvals are asked for one at a time
before anything runs, except that a call whose approval would show a document which an earlier
call of the step is about to change is asked about after that change, and that what follows
``complete`` or ``clarify`` is judged only when these did not end the batch.
"""

from __future__ import annotations

import itertools

from jupyter_ai_shoulders.engine import questions, runs, turns
from jupyter_ai_shoulders.engine.draft import Draft
from jupyter_ai_shoulders.engine.results import SKIPPED
from jupyter_ai_shoulders.engine.signals import (
    Allowed,
    Answer,
    Asks,
    Judge,
    Judged,
    Reply,
    RunCalls,
    Supply,
    Sync,
)
from jupyter_ai_shoulders.engine.state import (
    ENDING_TOOLS,
    AwaitingAnswer,
    AwaitingApproval,
    AwaitingResults,
    Call,
    Defer,
    Judging,
    Run,
    RunningTools,
    Settle,
)
from jupyter_ai_shoulders.tools.grants import target_of
from jupyter_ai_shoulders.wire.events import ApprovalAnswer, ApprovalRequest, MessageAdd


def go_on(draft: Draft) -> None:
    """Judge the next call, else run what is judged, else wait for the user, else leave the step."""
    _skip_after_denial(draft)
    questions.close_ended(draft)
    question = draft.turn.question
    if question is not None:
        questions.wait_for_answer(draft, question)
        return
    waiting = draft.open_calls()
    unjudged = next((call for call in waiting if call.verdict is None), None)
    judged = waiting if unjudged is None else waiting[: waiting.index(unjudged)]
    if unjudged is not None and not _ends_in(judged):
        _judge(draft, unjudged)
    elif judged:
        _settle(draft, judged)
    else:
        _leave_step(draft)


def _judge(draft: Draft, call: Call) -> None:
    if call.waits:
        draft.show("waiting")
        draft.enter(AwaitingApproval(call.call_id))
    else:
        draft.enter(Judging(call.call_id), Judge(call.call_id))


def _settle(draft: Draft, judged: list[Call]) -> None:
    """Run what can run; results that the user supplies are waited for when nothing else is left."""
    ready = judged
    if _ends_in(judged):  # one after the other
        ready = list(itertools.takewhile(lambda call: not call.deferred, judged))
    ready = [call for call in ready if not call.deferred]
    if ready:
        draft.enter(RunningTools(), RunCalls(tuple(call.call_id for call in ready)))
    else:
        draft.show("waiting")
        draft.enter(AwaitingResults())
        draft.add(Sync())


def _ends_in(calls: list[Call]) -> bool:
    return any(call.tool in ENDING_TOOLS for call in calls)


def take_verdict(draft: Draft, judged: Judged) -> None:
    """Act on what the rules said about a call."""
    call = draft.turn.call(judged.call_id)
    assert call is not None, "only calls of the step are judged"
    match judged.outcome:
        case Allowed(because=because, confinement=confinement):
            if because is not None:
                draft.record(_allowed_by_policy(call, because))
            draft.judge(call.call_id, Run(confinement))
            go_on(draft)
        case Settle() | Defer() as verdict:
            draft.judge(call.call_id, verdict)
            go_on(draft)
        case Asks() as question:
            _ask(draft, call, question)


def answer(draft: Draft, given: Answer) -> None:
    """Act on the user's answer to an approval; an interrupted turn does so when it is resumed."""
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
        draft.show("running")
        go_on(draft)


def reply(draft: Draft, given: Reply, message: MessageAdd | None) -> None:
    """Act on the answer to a question; an interrupted turn does so when it is resumed."""
    questions.note_answer(draft, given, message)
    if isinstance(draft.state.phase, AwaitingAnswer):
        draft.show("running")
        go_on(draft)


def supply(draft: Draft, given: Supply) -> None:
    """Take a result from the user; an interrupted turn goes on when it is resumed."""
    draft.record(given.result)
    if not isinstance(draft.state.phase, AwaitingResults):
        return
    if not any(call.deferred for call in draft.open_calls()):
        draft.show("running")
    go_on(draft)


def _ask(draft: Draft, call: Call, question: Asks) -> None:
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
    draft.show("waiting")
    draft.enter(AwaitingApproval(call.call_id))
    draft.add(Sync())


def _to_run_first(draft: Draft, call: Call) -> list[Call]:
    """Return the earlier calls, when one of them changes the document the approval would show."""
    earlier = [other for other in draft.open_calls() if other.verdict is not None]
    path = target_of(call.arguments or {}).path
    for other in earlier:
        changes = other.risk == "write" and isinstance(other.verdict, Run)
        other_path = target_of(other.arguments or {}).path
        if changes and (path is None or other_path is None or path == other_path):
            return earlier
    return []


def _allowed_by_policy(call: Call, because: str) -> ApprovalAnswer:
    return ApprovalAnswer(
        call_id=call.call_id, decision="allow", scope="always", feedback=because, by="policy"
    )


def _skip_after_denial(draft: Draft) -> None:
    """A denial gives every later call of the batch a skipped result."""
    denied = False
    for call in draft.turn.calls:
        if denied and call.verdict is None and not call.settled:
            draft.judge(call.call_id, Settle("skipped", SKIPPED))
        denied = denied or (isinstance(call.verdict, Settle) and call.verdict.status == "denied")


def _leave_step(draft: Draft) -> None:
    turn = draft.turn
    rejected = any(
        isinstance(call.verdict, Settle) and call.verdict.ends_turn for call in turn.calls
    )
    if rejected and draft.state.policy.stop_on_rejection:
        turns.end(draft, "tool_rejected")
    elif turn.woken or draft.state.ended:
        turns.next_step(draft)
    elif turn.summary is not None and not runs.awaited(draft.state):
        turns.end(draft, "ended_by_tool", summary=turn.summary)
    elif turn.summary is None and _goes_on(draft):
        turns.next_step(draft)
    elif runs.awaited(draft.state):
        runs.wait(draft)
    else:
        turns.end(draft, "final_response")


def _goes_on(draft: Draft) -> bool:
    turn = draft.turn
    return bool(turn.calls) or (bool(draft.state.queue) and turn.step < turn.step_limit)
