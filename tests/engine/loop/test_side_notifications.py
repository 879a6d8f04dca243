"""Notifications from outside the conversation: they join the turn, answer nothing, end nothing."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.ids import MessageId
from tests.engine.engine_harness import SESSION, EngineHarness, restart_engine
from tests.engine.loop.test_questions import ASK, asking, reply
from tests.engine.loop.test_turns import check

NOTIFICATION = SendMessage(id=MessageId("news"), text="The cell ran.")


async def tell(w: EngineHarness) -> None:
    await w.engine.send_notification(SESSION, NOTIFICATION)
    await w.settle()


async def test_news_begin_a_turn_once():
    w = asking("Good.")
    await tell(w)
    await tell(w)
    assert w.exits() == ["final_response"]
    (message,) = w.of(ev.MessageAdd)
    assert (message.message_id, message.queued, message.answers) == ("news", False, None)
    check(w)


async def test_news_do_not_answer_a_question_that_waits():
    w = asking(turn(ASK), "Blue it is.")
    await w.say()
    await tell(w)
    assert w.session.status == "waiting"
    assert w.of(ev.MessageAdd)[-1].queued
    await reply(w, "Blue")
    assert w.results() == [("c1", "ok")]
    assert w.exits() == ["final_response"]
    assert [update.status for update in w.of(ev.MessageUpdate)] == ["consumed"]
    check(w)


async def test_news_do_not_discard_a_turn_that_was_interrupted():
    w = asking(turn(ASK, Call("look", {"path": "a"}, "c2")))
    await w.say()
    again = await restart_engine(w)
    with pytest.raises(Conflict, match="interrupted"):
        await again.engine.send_notification(SESSION, NOTIFICATION)
    assert again.session.status == "interrupted"
    assert len(again.of(ev.MessageAdd)) == 1
