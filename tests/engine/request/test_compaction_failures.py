"""Compactions that do not help, are cancelled, or are cut off by the end of the server."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.engine.request.context import build_request_content, prompt_budget
from jupyter_ai_shoulders.testing.scripted_provider import Gate, Say, ScriptEntry
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider as Provider
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import ResumeTurn
from tests.engine.engine_harness import SESSION, EngineHarness, make_engine_around
from tests.engine.request.compaction_conversations import (
    SMALL,
    Writer,
    answer,
    check,
    compactions,
    conversation,
    talk,
    text_of,
)

# where it does not help


async def test_window_that_is_too_small_even_so_says_what_to_remove():
    writer = Writer()
    w = conversation(writer=writer)
    await talk(w, 3)
    await w.say("Look at this: " + "word" * 8_000)
    end = w.of(ev.TurnEnd)[-1]
    assert end.exit == "context_overflow"
    assert end.error is not None
    details = end.error.details or {}
    assert details["budget"] == prompt_budget(SMALL)
    assert details["tokens"] > prompt_budget(SMALL)  # type: ignore[operator]  # a number
    largest = details["largest"]
    assert isinstance(largest, list)
    assert "Look at this: word" in str(largest[0])
    assert "Look at this" in (end.error.hint or "")
    assert writer.orders == []  # a useless summary costs nothing
    assert w.session.status == "error"
    check(w)


async def test_no_summary_is_written_that_would_not_make_it_fit():
    writer = Writer()
    w = conversation(writer=writer)
    await talk(w, 5)
    asked = len(writer.orders)
    await w.say("word" * 8_000)
    assert w.exits()[-1] == "context_overflow"
    assert len(writer.orders) == asked
    w.provider.extend(answer(Say("Yes.")))
    await w.say("Short")
    assert w.exits()[-1] == "context_overflow"  # the text that is too long remains


# cancel, steer, crash


async def compacting(
    *script: ScriptEntry, turns: int = 4, **more: Any
) -> tuple[EngineHarness, Gate]:
    """Return a conversation in the middle of a compaction."""
    gate = Gate()
    w = conversation(writer=Writer(gate), **more)
    await talk(w, turns)
    w.provider.extend(*script)
    await w.send("Question 4.")
    await gate.reached.wait()
    return w, gate


async def test_cancel_while_compacting_changes_nothing():
    w, _ = await compacting()
    before = build_request_content(w.events, w.store.blobs).messages
    await w.engine.cancel(SESSION)
    await w.settle()
    assert w.exits()[-1] == "cancelled"
    assert compactions(w) == []
    assert build_request_content(w.events, w.store.blobs).messages[: len(before) - 1] == before[:-1]
    check(w)


async def test_message_sent_while_compacting_is_in_the_next_request():
    w, gate = await compacting(answer(Say("Both.")))
    await w.send("And this.")
    gate.open.set()
    await w.settle()
    assert "And this." in text_of(w.provider.requests[-1].messages[-1])
    assert w.exits()[-1] == "final_response"
    assert len(w.of(ev.TurnEnd)) == 5
    check(w)


async def test_crash_while_compacting_compacts_again_on_resume():
    w, _ = await compacting()
    kept = len(w.events)
    writer = Writer()
    after = make_engine_around(
        w.store.cut(SESSION, kept),
        w.probe,
        Provider(answer(Say("Here."))),
        model=SMALL,
        loop=[Todo()],
        summarizer=writer,
    )
    await after.engine.start()
    assert after.session.status == "interrupted"
    await after.engine.resume(SESSION, ResumeTurn(decision="resume"))
    await after.settle()
    assert len(writer.orders) == len(compactions(after)) == 1
    assert after.exits()[-1] == "final_response"
    await w.engine.cancel(SESSION)
    await w.settle()
    check(after)


async def test_log_that_ends_around_a_compaction_can_be_taken_up():
    w = conversation()
    await talk(w, 5)
    first = next(i for i, event in enumerate(w.events) if isinstance(event, ev.ContextRebase))
    for count in range(first - 3, first + 4):
        after = make_engine_around(
            w.store.cut(SESSION, count),
            w.probe,
            Provider(*[answer(Say("Here."))] * 3),
            model=SMALL,
            loop=[Todo()],
            summarizer=Writer(),
        )
        await after.engine.start()
        if after.session.status == "interrupted":
            await after.engine.resume(SESSION, ResumeTurn(decision="resume"))
        else:
            await after.say("Go on")
        await after.settle()
        assert len(compactions(after)) <= 1, count
        assert count < first or len(compactions(after)) == 1
        assert after.exits()[-1] == "final_response"
        check(after)


async def test_shutdown_while_compacting_leaves_the_turn_to_be_resumed():
    w, _ = await compacting()
    await w.engine.stop()
    assert w.session.status == "interrupted"
    assert compactions(w) == []
    check(w)
