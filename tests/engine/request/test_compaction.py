"""A conversation outgrows its model: what is summarised and what stays."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.engine.request.context import build_request_content, prompt_budget
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.scripted_provider import Call, Fail, Gate, Say, turn
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider as Provider
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.conversation.reducer import reduce_events as view_of
from jupyter_ai_shoulders.wire.ids import ModelId
from tests.engine.engine_harness import CONTEXT, SESSION, make_engine_around, model_spec
from tests.engine.environment_harness import rebases
from tests.engine.log_invariants import check_log, check_requests
from tests.engine.request.compaction_conversations import (
    BUSY,
    LONG,
    TOO_LONG,
    Writer,
    answer,
    check,
    compactions,
    conversation,
    summary_of,
    talk,
    text_of,
)

# what stays and what does not


async def test_middle_becomes_a_summary_and_the_rest_stays_as_it_was():
    w = conversation()
    await talk(w, 5)
    before, after = w.provider.requests[-3], w.provider.requests[-2]
    assert len(compactions(w)) == 1
    assert after.messages[0] == before.messages[0]
    assert "Summary 1." in summary_of(after)
    assert "Answer 0." not in str(after.messages)
    assert before.messages[4] == after.messages[2]  # the first message after the middle
    for number in (1, 2, 3):
        assert f"Answer {number}. {LONG}" in [text_of(message) for message in after.messages]
    assert text_of(after.messages[-1]).startswith("Question 4.")
    assert "Hm." not in str(after.messages)  # reasoning depended on the text before it
    notices = [notice for notice in w.of(ev.Notice) if notice.code == "compacted"]
    assert [notice.level for notice in notices] == ["info"]
    assert (notices[0].details or {})["model"] == "cheap"
    check(w)


async def test_the_user_has_earlier_messages_summarised_before_the_next_answer():
    w = conversation(model=model_spec(context_window=100_000))
    await talk(w, 5)
    assert compactions(w) == []

    await w.engine.compact(SESSION)
    await w.engine.compact(SESSION)  # requested twice, done once
    (wish,) = [notice for notice in w.of(ev.Notice) if notice.code == "compaction_wanted"]
    assert "before your next message" in wish.text
    numbers = w.numbers
    w = make_engine_around(
        w.store.cut(SESSION, len(w.events)),
        w.probe,
        Provider(),
        model=model_spec(context_window=100_000),
        ids=w.ids,
        loop=w.loop,
        summarizer=Writer(),
    )
    w.numbers = numbers  # of the messages
    await w.engine.start()
    await talk(w, 1, first=5)

    assert len(compactions(w)) == 1
    assert "Summary 1." in summary_of(w.provider.requests[-2])
    assert "Answer 0." not in str(w.provider.requests[-2].messages)
    await talk(w, 1, first=6)
    assert len(compactions(w)) == 1
    check(w)


@pytest.mark.parametrize(
    ("turns", "mode", "error", "words"),
    [
        (1, "auto", Conflict, "nothing to summarise"),
        (5, "off", PolicyRefusal, "switched off"),
    ],
    ids=["too short", "switched off"],
)
async def test_a_wish_for_a_summary_is_refused_with_the_reason(
    turns: int, mode: str, error: type[ShouldersError], words: str
):
    w = conversation(model=model_spec(context_window=100_000), compaction=mode)
    await talk(w, turns)
    seq = w.store.last_seq(SESSION)

    with pytest.raises(error, match=words):
        await w.engine.compact(SESSION)

    assert w.store.last_seq(SESSION) == seq


async def test_a_wish_for_a_summary_waits_for_the_end_of_the_turn():
    gate = Gate()
    w = conversation(model=model_spec(context_window=100_000))
    await talk(w, 4)
    w.provider.extend(answer(gate, Say("Late.")))
    await w.send("Go on.")
    await gate.reached.wait()

    with pytest.raises(Conflict, match="open"):
        await w.engine.compact(SESSION)

    gate.open.set()
    await w.engine.settled(SESSION)


async def test_four_hundred_messages_fit_and_the_user_sees_all_of_them():
    w = conversation(model=model_spec(context_window=40_000), writer=Writer())
    budget = prompt_budget(w.models.specs[ModelId("m1")])
    await talk(w, 100)
    assert len(compactions(w)) >= 3
    assert all(event.tokens_used <= budget for event in w.of(ev.StepStart))
    shown = str(view_of(w.events))
    for number in range(100):
        assert f"Question {number}." in shown
        assert f"Answer {number}. xxx" in shown
    last = w.provider.requests[-1]
    assert last.messages[0] == w.provider.requests[0].messages[0]
    sent = [text_of(message) for message in last.messages]
    for number in (97, 98, 99):
        assert any(text.startswith(f"Question {number}.") for text in sent)
    assert {f"Answer {number}. {LONG}" for number in (96, 97, 98)} <= set(sent)
    assert w.exits() == ["final_response"] * 100
    check_log(w.events)
    check_requests(w.provider.requests)


async def test_second_compaction_takes_up_the_first_summary():
    writer = Writer()
    w = conversation(writer=writer)
    await talk(w, 8)
    assert len(compactions(w)) >= 2
    assert writer.orders[0].previous is None
    assert writer.orders[1].previous == "Summary 1."
    assert not any("Summary 1." in piece for piece in writer.orders[1].pieces)
    last = summary_of(w.provider.requests[-1])
    assert f"Summary {len(writer.orders)}." in last
    assert "Summary 1." not in last
    check(w)


async def test_bytes_stay_the_same_between_compactions():
    w = conversation()
    await talk(w, 9)
    requests = [event for event in w.events if isinstance(event, ev.StepStart | ev.ContextRebase)]
    sent = iter(w.provider.requests)
    before: ModelRequest | None = None
    for event in requests:
        if isinstance(event, ev.ContextRebase):
            before = None
            continue
        request = next(sent)
        if before is not None:
            assert request.messages[: len(before.messages)] == before.messages
            assert request.system == before.system
        before = request
    assert len(compactions(w)) >= 2


async def test_log_gives_the_same_bytes_after_a_restart():
    w = conversation()
    await talk(w, 6)
    built = build_request_content(w.events, w.store.blobs)
    store = w.store.cut(SESSION, len(w.events))
    after = make_engine_around(store, w.probe, Provider(), model=model_spec(), loop=[Todo()])
    await after.engine.start()
    assert build_request_content(after.events, after.store.blobs) == built
    sent = w.provider.requests[-1]
    end = max(index for index, event in enumerate(w.events) if isinstance(event, ev.StepStart))
    assert build_request_content(w.events[: end + 1], w.store.blobs).messages == sent.messages
    after.provider.extend(answer(Say("Still here.")))
    await after.say("And?", message="later", context=CONTEXT)
    again = after.provider.requests[-1].messages
    assert again[: len(sent.messages)] == sent.messages
    check(after)


async def test_order_has_the_middle_with_long_results_shortened():
    writer = Writer()
    w = conversation(writer=writer)
    await talk(w, 5)
    (order,) = writer.orders
    assert order.turn_model == "m1"
    assert order.account.purpose == "summary"
    assert order.account.turn_id == w.of(ev.TurnStart)[-1].turn_id
    assert 0 < order.limit < 12_000
    whole = "\n".join(order.pieces)
    assert "Call look:" in whole
    assert "Result of look (ok):" in whole
    assert "Colleague: Answer 0." in whole
    assert "Question 1" not in whole
    assert max(map(len, order.pieces)) < 5_000
    assert "Hm." not in whole


async def test_result_of_complete_goes_with_its_turn():
    """When turns end with a call, the next message starts with its result."""
    text = "Cell 4 imports numpy before its first use, and the whole notebook runs again."
    w = conversation()
    for number in range(7):
        call = Call("complete", {"summary": f"{text} {number}"})
        w.provider.extend(answer(Say(LONG), call))
        await w.say(f"Question {number}.", context=CONTEXT)
    assert w.exits() == ["ended_by_tool"] * 7
    assert len(compactions(w)) >= 1
    check(w)


async def test_todo_list_and_what_is_in_front_of_the_user_stay_known():
    w = conversation(answer(Call("todo", {"markdown": "- [ ] Plot it"})), answer(Say("Noted.")))
    await w.say("Begin.", context=CONTEXT)
    await talk(w, 6)
    assert len(compactions(w)) == 2
    said = summary_of(w.provider.requests[-1])
    assert "- [ ] Plot it" in said
    assert "active document: a.ipynb" in said
    newest = next(m for m in reversed(w.provider.requests[-2].messages) if "Question 5" in str(m))
    assert "active document: a.ipynb" in text_of(newest)  # stated again in full


async def test_versions_read_before_are_still_known():
    w = conversation()
    await talk(w, 6)
    w.provider.extend(answer(Call("edit", {"path": "a"})), answer(Say("Done.")))
    await w.say("Edit")
    assert any(path == "a" for path, _ in w.probe.contexts[-1].seen)


# without a model


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(None, id="no model may"),
        pytest.param(BUSY, id="failed"),
        pytest.param(PolicyRefusal("Spent.", code="budget_exhausted"), id="budget"),
        pytest.param(Gate(), id="too slow"),
        pytest.param(" ", id="blank"),
    ],
)
async def test_plain_list_stands_in_where_no_model_writes(failure: Any):
    w = conversation(writer=Writer(failure), compaction_time_limit_s=0.05)
    await talk(w, 5)
    said = summary_of(w.provider.requests[-1])
    assert "No model wrote this" in said
    assert "- look a" in said
    assert "- Answer 0." in said
    (event,) = compactions(w)
    assert isinstance(event.replaced, dict)
    assert event.replaced["model"] is None
    assert w.exits() == ["final_response"] * 5
    check(w)


async def test_plain_lists_do_not_grow_for_ever():
    w = conversation(writer=Writer(*[None] * 50))
    await talk(w, 16)
    sizes = [len(summary_of(request)) for request in w.provider.requests[10:]]
    assert max(sizes) < 6_000
    assert w.exits() == ["final_response"] * 16
    check_requests(w.provider.requests)


# when the provider says so


async def test_provider_that_finds_it_too_long_is_asked_again_once():
    writer = Writer()
    w = conversation(model=model_spec(), writer=writer)
    await talk(w, 5)
    w.provider.extend(answer(Fail(TOO_LONG)), answer(Say("Now.")))
    await w.say("More")
    assert rebases(w) == ["compaction"]
    assert w.exits()[-1] == "final_response"
    assert [event.step for event in w.of(ev.StepStart)][-2:] == [1, 1]
    assert writer.orders[0].limit > 800  # half of what it replaces, an answer and a bit
    check(w)


async def test_provider_that_still_finds_it_too_long_ends_the_turn():
    w = conversation(model=model_spec())
    await talk(w, 5)
    w.provider.extend(answer(Fail(TOO_LONG)), answer(Fail(TOO_LONG)))
    await w.say("More")
    assert rebases(w) == ["compaction"]
    end = w.of(ev.TurnEnd)[-1]
    assert end.exit == "context_overflow"
    assert end.error is not None
    assert end.error.message.startswith("Prompt is too long. The conversation needs about")
    assert "the model's answers (about" in (end.error.hint or "")
    check(w)


async def test_reply_that_ran_into_the_window_goes_on_after_a_compaction():
    w = conversation(model=model_spec())
    await talk(w, 5)
    cut = turn(Say("Half of"), Call("look", {"path": "b"}), stop="context_overflow", usage=None)
    w.provider.extend(cut, answer(Say("the rest.")))
    await w.say("More")
    assert rebases(w) == ["compaction"]
    assert w.results()[-1][1] == "cancelled"
    assert "Half of" in str(w.provider.requests[-1].messages[-2])
    assert w.exits()[-1] == "final_response"
    check(w)
