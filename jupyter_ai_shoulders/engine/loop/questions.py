"""Questions to the user besides approvals: answers, and results in ``parse_only`` mode. Pure.

Part of ``engine.loop.transition``; used by ``engine.loop.batch`` and ``engine.loop.turns``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.engine.loop.commands import QuestionAnswered
from jupyter_ai_shoulders.engine.loop.effects import SyncLog
from jupyter_ai_shoulders.engine.loop.state import ENDING_TOOLS, AwaitingAnswer, CallState
from jupyter_ai_shoulders.engine.loop.synthetic_results import (
    AFTER_COMPLETE,
    AFTER_QUESTION,
    NOT_ANSWERED,
    answer_result,
    settled_result,
)
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder
from jupyter_ai_shoulders.wire.events import ClarifyAnswer, MessageAdd
from jupyter_ai_shoulders.wire.ids import CallId

ONLY_ATTACHED = "See what is attached to my message."
"""The answer of a message without text."""


def wait_for_answer(draft: TransitionBuilder, call_id: CallId) -> None:
    """Wait for the user's answer, without a time limit."""
    draft.set_status("waiting")
    draft.enter(AwaitingAnswer(call_id))
    draft.add(SyncLog())


def note_answer(
    draft: TransitionBuilder, given: QuestionAnswered, message: MessageAdd | None
) -> None:
    """Log the answer, as the message it was sent in or by itself."""
    if message is not None:
        draft.record(message.model_copy(update={"answers": given.call_id}))
    else:
        draft.record(ClarifyAnswer(call_id=given.call_id, answer=given.picks))


def close_answered_calls(draft: TransitionBuilder) -> None:
    """Turn answers into results of their calls; skip the calls after the end of the batch."""
    ended = None
    for call_id in [call.call_id for call in draft.turn.calls]:
        call = draft.turn.call(call_id)
        assert call is not None, "calls of the step stay"
        if ended is not None and not call.settled:
            why = AFTER_COMPLETE if ended == "complete" else AFTER_QUESTION
            draft.record(settled_result(call.call_id, call.tool, "skipped", why))
        elif call.question and not call.settled and not call.asks:
            settle_answered(draft, call)
        if call.tool in ENDING_TOOLS and _is_done(draft, call_id):
            ended = ended or call.tool


def settle_answered(draft: TransitionBuilder, call: CallState) -> None:
    """Record the answer as the call's result, or that there was none."""
    answer = call.answer
    if answer is None and call.reply is not None:
        answer = (call.reply.strip() or ONLY_ATTACHED,)
        draft.record(ClarifyAnswer(call_id=call.call_id, answer=answer))
    if answer is None:
        draft.record(settled_result(call.call_id, call.tool, "cancelled", NOT_ANSWERED))
    else:
        draft.record(answer_result(call.call_id, call.tool, answer))


def _is_done(draft: TransitionBuilder, call_id: CallId) -> bool:
    call = draft.turn.call(call_id)
    return call is not None and call.status == "ok"
