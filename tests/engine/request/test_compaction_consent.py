"""Users are asked before a compaction, may refuse it, and see its preview."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.engine.loop.event_reducer import rebuild_state
from jupyter_ai_shoulders.engine.loop.state import SessionPolicy
from jupyter_ai_shoulders.engine.request.context import prompt_budget
from jupyter_ai_shoulders.testing.scripted_provider import Fail, Say, turn
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider as Provider
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import ResumeTurn
from jupyter_ai_shoulders.wire.api.model_requests import PreviewMessage
from jupyter_ai_shoulders.wire.messages import FileAttachment
from tests.engine.engine_harness import (
    CONTEXT,
    SESSION,
    EngineHarness,
    make_engine_around,
    model_spec,
)
from tests.engine.request.compaction_conversations import (
    SMALL,
    TOO_LONG,
    Writer,
    answer,
    check,
    compactions,
    conversation,
    summary_of,
    talk,
)

# the setting


async def test_off_ends_the_turn():
    writer = Writer()
    w = conversation(writer=writer, compaction="off")
    await talk(w, 5)
    end = w.of(ev.TurnEnd)[-1]
    assert end.exit == "context_overflow"
    assert "not summarised: it is off" in str(end.error)
    assert writer.orders == []


async def asked(**more: Any) -> EngineHarness:
    w = conversation(compaction="ask", **more)
    await talk(w, 5)
    assert w.session.status == "waiting"
    assert [notice.code for notice in w.of(ev.Notice)] == ["compaction_ask"]
    assert compactions(w) == []
    return w


async def test_ask_waits_for_the_user_and_goes_on():
    w = await asked()
    await w.engine.resume(SESSION, ResumeTurn(decision="resume"))
    await w.settle()
    assert len(compactions(w)) == 1
    assert w.exits() == ["final_response"] * 5
    check(w)


async def test_ask_survives_a_restart():
    w = await asked()
    store = w.store.cut(SESSION, len(w.events))
    after = make_engine_around(
        store, w.probe, Provider(answer(Say("Yes."))), model=SMALL, loop=[Todo()]
    )
    await after.engine.start()
    assert after.session.status == "waiting"
    turn_open = rebuild_state(SessionPolicy(), after.events).turn
    assert turn_open is not None
    assert turn_open.paused is not None
    assert turn_open.paused.scope == "window"
    await after.engine.resume(SESSION, ResumeTurn(decision="resume"))
    await after.settle()
    assert len(compactions(after)) == 1
    assert after.exits()[-1] == "final_response"
    check(after)


async def test_ask_can_be_declined_and_is_no_limit_of_money():
    w = await asked()
    with pytest.raises(Conflict):
        await w.engine.resume(SESSION, ResumeTurn(decision="resume", limit_micro_usd=5))
    await w.engine.resume(SESSION, ResumeTurn(decision="discard"))
    assert w.exits()[-1] == "context_overflow"
    assert w.session.status == "error"
    check(w)


async def test_ask_when_the_provider_says_so():
    w = conversation(compaction="ask", model=model_spec())
    await talk(w, 5)
    w.provider.extend(turn(Fail(TOO_LONG)), turn(Fail(TOO_LONG)), answer(Say("Now.")))
    await w.say("More")
    assert w.session.status == "waiting"
    await w.engine.resume(SESSION, ResumeTurn(decision="resume"))
    await w.settle()
    assert len(compactions(w)) == 1
    assert w.exits()[-1] == "final_response"
    check(w)


async def test_run_that_nobody_watches_does_not_ask():
    w = conversation(compaction="ask")
    w.store.update(w.session.model_copy(update={"kind": "run", "interactive": False}))
    await talk(w, 5)
    assert len(compactions(w)) == 1
    assert w.exits() == ["final_response"] * 5


# previews


async def test_preview_says_what_a_summary_would_stand_for():
    writer = Writer()
    w = conversation(writer=writer)
    await talk(w, 3)
    fits = await w.engine.requests.preview(w.session, PreviewMessage(text="Short"))
    assert fits.replaces is None
    await talk(w, 1, first=3)
    count = len(w.events)
    view = await w.engine.requests.preview(
        w.session, PreviewMessage(text="Question 4.", context=CONTEXT)
    )
    assert view.replaces is not None
    assert view.tokens > prompt_budget(SMALL)
    assert len(w.events) == count
    assert writer.orders == []
    await talk(w, 1, first=4)
    (event,) = compactions(w)
    assert isinstance(event.replaced, dict)
    assert (view.replaces.start, view.replaces.end) == (
        event.replaced["start"],
        event.replaced["end"],
    )
    sent = await w.engine.requests.sent(SESSION, 1)
    assert sent.messages == w.provider.requests[-2].messages


async def test_attachment_in_the_middle_is_named_in_a_plain_list():
    w = conversation(answer(Say("First.")), answer(Say("Second.")), writer=Writer(*[None] * 9))
    await w.say("Hello")
    await w.say("See", attachments=(FileAttachment(kind="file", path="data.csv"),))
    await talk(w, 5)
    assert len(compactions(w)) == 1
    assert "[attached file: data.csv" in summary_of(w.provider.requests[-1])
