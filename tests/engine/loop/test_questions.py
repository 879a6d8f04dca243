"""A question waits for its answer in any form, and the same turn continues with it."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.engine.request.context import build_request_content
from jupyter_ai_shoulders.testing.scripted_provider import Call, ScriptEntry, turn
from jupyter_ai_shoulders.tools.conversation.clarify import Clarify
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerQuestion, ResumeTurn
from jupyter_ai_shoulders.wire.conversation.reducer import reduce_events
from jupyter_ai_shoulders.wire.ids import CallId, CellId
from jupyter_ai_shoulders.wire.messages import CellAttachment
from jupyter_ai_shoulders.wire.parts import TextPart, ToolResultPart
from jupyter_ai_shoulders.wire.sessions import Session
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_session,
    restart_engine,
)
from tests.engine.loop.test_turns import check

ASK = Call("clarify", {"question": "Which colour?", "options": ["Blue", "Red", "Blue"]}, "c1")
SUMMARY = "Cell 4 imports numpy before its first use, and the whole notebook runs again."


def asking(*script: ScriptEntry, given: Session | None = None) -> EngineHarness:
    return make_engine(*script, given=given, loop=[Clarify(), Todo()])


async def reply(w: EngineHarness, answer: str | tuple[str, ...], call_id: str = "c1") -> None:
    await w.engine.responses.answer_question(
        SESSION, CallId(call_id), AnswerQuestion(answer=answer)
    )
    await w.settle()


def told(w: EngineHarness) -> str:
    """Return the result of the question as sent to the model."""
    parts = [part for message in w.provider.requests[-1].messages for part in message.parts]
    (result,) = [p for p in parts if isinstance(p, ToolResultPart) and p.call_id == "c1"]
    (content,) = result.content
    assert isinstance(content, TextPart)
    return content.text


async def test_question_waits_without_ending_the_turn():
    w = asking(turn(ASK), "Blue it is.")
    await w.say()
    (request,) = w.of(ev.ClarifyRequest)
    assert (request.question, request.options, request.allow_multiple) == (
        "Which colour?",
        ("Blue", "Red"),
        False,
    )
    assert w.session.status == "waiting"
    assert w.results() == w.exits() == []
    assert w.engine.is_running(SESSION)


async def test_answer_becomes_the_result_and_the_turn_goes_on():
    w = asking(turn(ASK), "Blue it is.")
    await w.say()
    await reply(w, "Blue")
    assert told(w) == "Blue"
    assert w.results() == [("c1", "ok")]
    assert w.exits() == ["final_response"]
    assert len(w.of(ev.TurnStart)) == 1
    view = reduce_events(w.events)
    assert view.pending_call is None
    check(w)


async def test_several_picks_are_joined_by_commas():
    w = asking(turn(ASK), "Both.")
    await w.say()
    await reply(w, ("Blue", " Red "))
    assert told(w) == "Blue, Red"
    assert w.of(ev.ClarifyAnswer)[0].answer == ("Blue", "Red")


async def test_second_answer_is_told_so_and_unknown_calls_are_not_found():
    w = asking(turn(ASK), turn(Call("look", {"path": "a"}, "c2")), "End.")
    await w.say()
    with pytest.raises(InvalidRequest):
        await reply(w, " ")
    await reply(w, "Blue")
    for call_id in ("c1", "c2"):
        with pytest.raises(Conflict) as caught:
            await reply(w, "Red", call_id)
        assert caught.value.info.code == "already_answered"
    with pytest.raises(NotFound):
        await reply(w, "Red", "c9")


async def test_message_is_the_answer_and_stands_in_the_log_once():
    w = asking(turn(ASK), "Green it is.")
    await w.say()
    attached = CellAttachment(kind="cell", path="a.ipynb", cell_id=CellId("x1"))
    accepted = await w.send("Green", message="m2", attachments=(attached,))
    assert await w.send("Green", message="m2") == accepted
    await w.settle()
    assert told(w) == "Green"
    assert [(e.message_id, e.answers, e.queued) for e in w.of(ev.MessageAdd)] == [
        ("msg1", None, False),
        ("m2", "c1", False),
    ]
    texts = [p.text for p in w.provider.requests[-1].messages[-1].parts if isinstance(p, TextPart)]
    assert any("x1" in text for text in texts)
    assert "Green" not in texts
    assert w.exits() == ["final_response"]
    check(w)


async def test_calls_after_a_question_are_neither_judged_nor_run():
    script = turn(Call("look", {"path": "a"}, "c0"), ASK, Call("run_it", {"path": "a"}, "c2"))
    w = asking(script, "End.")
    await w.say()
    assert w.probe.started == ["look:a"]
    assert not w.of(ev.ApprovalRequest)
    await reply(w, "Blue")
    assert w.results() == [("c0", "ok"), ("c1", "ok"), ("c2", "skipped")]
    check(w)


async def test_approval_comes_before_the_question_never_beside_it():
    w = asking(turn(Call("run_it", {"path": "a"}, "c0"), ASK), "End.")
    await w.say()
    assert not w.of(ev.ClarifyRequest)
    await w.answer()
    assert w.probe.finished == ["run_it:a"]
    assert len(w.of(ev.ClarifyRequest)) == 1
    await reply(w, "Blue")
    assert w.exits() == ["final_response"]


async def test_message_while_an_approval_waits_is_queued():
    w = asking(turn(Call("run_it", {"path": "a"}, "c0"), ASK), "End.", "More.")
    await w.say()
    await w.send("Also this")
    assert w.of(ev.MessageAdd)[-1].queued
    await w.answer()
    await reply(w, "Blue")
    assert w.exits() == ["final_response"]
    check(w)


async def test_refused_question_lets_the_batch_go_on():
    script = turn(Call("clarify", {"question": " "}, "c1"), Call("look", {"path": "a"}, "c2"))
    w = asking(script, "End.")
    await w.say()
    assert w.results() == [("c1", "error"), ("c2", "ok")]


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": "Which?", "options": [str(n) for n in range(7)]},
        {"question": "Which?", "options": ["x" * 81]},
        {"question": ""},
        {},
    ],
    ids=["seven options", "long option", "no question", "nothing"],
)
async def test_question_that_cannot_be_put_is_an_error_result(arguments: dict[str, object]):
    w = asking(turn(Call("clarify", arguments, "c1")), "End.")  # pyright: ignore[reportArgumentType]: JSON
    await w.say()
    assert w.results() == [("c1", "error")]
    assert not w.of(ev.ClarifyRequest)


async def test_nobody_to_ask_ends_the_turn_with_the_question():
    w = asking(turn(ASK, Call("look", {"path": "a"}, "c2")), given=make_session("run"))
    await w.say()
    (end,) = w.of(ev.TurnEnd)
    assert (end.exit, end.summary) == ("ended_by_tool", "Which colour? (Blue / Red)")
    assert w.results() == [("c1", "ok"), ("c2", "skipped")]
    assert not w.of(ev.ClarifyRequest)
    check(w)


async def test_cancel_closes_the_question():
    w = asking(turn(ASK), "Later.")
    await w.say()
    await w.engine.cancel(SESSION)
    assert w.results() == [("c1", "cancelled")]
    assert w.exits() == ["cancelled"]
    with pytest.raises(Conflict):
        await reply(w, "Blue")
    await w.say("Go on")
    check(w)


async def test_complete_before_other_calls_stops_the_batch_unjudged():
    end = Call("complete", {"summary": SUMMARY}, "c1")
    w = asking(
        turn(Call("todo", {"markdown": "- [x] a"}, "c0"), end, Call("run_it", {"path": "a"}))
    )
    await w.say()
    assert [status for _, status in w.results()] == ["ok", "ok", "skipped"]
    assert not w.of(ev.ApprovalRequest)
    assert w.exits() == ["ended_by_tool"]


# after a restart


@pytest.mark.parametrize("by_message", [False, True], ids=["answer", "message"])
async def test_question_survives_a_restart_and_its_answer_resumes(by_message: bool):
    w = asking(turn(ASK))
    await w.say()
    after = await restart_engine(w, None, "Blue it is.")
    assert after.session.status == "interrupted"
    assert "waits for your answer" in after.of(ev.Notice)[0].text
    if by_message:
        await after.say("Blue", message="m2")
    else:
        await reply(after, "Blue")
    assert told(after) == "Blue"
    assert after.exits() == ["final_response"]
    assert len(after.of(ev.TurnResume)) == 1
    check(after)


async def test_resuming_waits_for_the_answer_again():
    w = asking(turn(ASK))
    await w.say()
    after = await restart_engine(w, None, "Blue it is.")
    await after.engine.resume(SESSION, ResumeTurn(decision="resume"))
    assert after.session.status == "waiting"
    await reply(after, "Blue")
    assert after.exits() == ["final_response"]


@pytest.mark.parametrize("lost", range(6))
async def test_answer_survives_a_crash_right_after_it(lost: int):
    w = asking(turn(ASK), "Blue it is.")
    await w.say()
    first = len(w.events)
    await w.say("Blue", message="m2")
    after = await restart_engine(w, first + 1 + lost, "Blue it is.")
    await after.engine.resume(SESSION, ResumeTurn(decision="resume"))
    await after.settle()
    assert after.results() == [("c1", "ok")]
    assert after.exits() == ["final_response"]
    assert [e.answer for e in after.of(ev.ClarifyAnswer)] == [("Blue",)]
    check(after)


async def test_discarding_closes_the_question_without_an_answer():
    w = asking(turn(ASK))
    await w.say()
    after = await restart_engine(w, None, "End.")
    await after.engine.resume(SESSION, ResumeTurn(decision="discard"))
    assert after.results() == [("c1", "cancelled")]
    assert after.exits() == ["interrupted"]
    assert build_request_content(after.events, after.store.blobs).messages
