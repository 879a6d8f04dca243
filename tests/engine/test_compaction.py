"""A conversation that outgrows its model: what is summarised, what stays, and what can go wrong."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue import ModelSpec
from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.summaries import Summary, SummaryOrder
from jupyter_ai_shoulders.engine.context import build, prompt_budget
from jupyter_ai_shoulders.engine.fold import restore
from jupyter_ai_shoulders.engine.state import Policy
from jupyter_ai_shoulders.engine.summary_text import HEADER
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.testing.scripted import Call, Entry, Fail, Gate, Say, Think, Turn, turn
from jupyter_ai_shoulders.testing.scripted import ScriptedProvider as Provider
from jupyter_ai_shoulders.tools.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.commands import ResumeTurn
from jupyter_ai_shoulders.wire.fold import fold as view_of
from jupyter_ai_shoulders.wire.ids import ModelId
from jupyter_ai_shoulders.wire.messages import FileAttachment
from jupyter_ai_shoulders.wire.parts import AssistantMessage, ModelMessage, TextPart
from jupyter_ai_shoulders.wire.requests import PreviewMessage
from tests.engine.surrounded import rebases
from tests.engine.tools import Desk
from tests.engine.validity import check_contexts, check_log, check_requests
from tests.engine.world import CONTEXT, SESSION, World, around, session, settings, spec

SMALL = spec(context_window=8_500)
"""Leaves room for 5 100 tokens: prompt and tools (1 900) and three turns of ``talk`` (850 each)."""
LONG = "x" * 2_500
"""About 715 tokens, in one delta."""
BUSY = ProviderError("Busy.", code="overloaded", retryable=True)
TOO_LONG = ProviderError("Prompt is too long.", code="context_overflow")


class Writer:
    """A summariser that does as it is told; ``None`` leaves the summary to the engine."""

    def __init__(self, *said: str | Exception | Gate | None) -> None:
        self.said = list(said)
        self.orders: list[SummaryOrder] = []

    async def summarise(self, order: SummaryOrder) -> Summary | None:
        self.orders.append(order)
        said = self.said.pop(0) if self.said else f"Summary {len(self.orders)}."
        if isinstance(said, Gate):
            said.reached.set()
            await said.open.wait()
            said = "Summary after a wait."
        if isinstance(said, Exception):
            raise said
        return None if said is None else Summary(said, ModelId("cheap"))


def conversation(
    *script: Entry, writer: Writer | None = None, model: ModelSpec = SMALL, **limits: Any
) -> World:
    store = MemoryStore()
    store.add(session(mode="auto_edit"))
    return around(
        store,
        Desk(),
        Provider(*script),
        model=model,
        limits=settings(**limits),
        loop=[Todo()],
        summarizer=writer or Writer(),
    )


def answer(*items: Any) -> Turn:
    """A reply whose usage nobody reports, so that estimates stay as they are."""
    return turn(*items, usage=None)


async def talk(w: World, turns: int, first: int = 0) -> None:
    """Turns of four messages each: a question, a call, its result, an answer."""
    for number in range(first, first + turns):
        w.provider.extend(
            answer(Think("Hm."), Say("Look."), Call("look", {"path": "a", "word": str(number)})),
            answer(Say(f"Answer {number}. {LONG}")),
        )
        await w.say(f"Question {number}.", context=CONTEXT)


def check(w: World) -> None:
    check_log(w.events)
    check_requests(w.provider.requests)
    check_contexts(w.events, w.store.blobs)


def text_of(message: ModelMessage) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def summary_of(request: ModelRequest) -> str:
    """The summary in a request, which stands right after the first message."""
    said = request.messages[1]
    assert isinstance(said, AssistantMessage)
    text = text_of(said)
    assert text.startswith(HEADER)
    return text.removeprefix(HEADER)


def compactions(w: World) -> list[ev.ContextRebase]:
    return [event for event in w.of(ev.ContextRebase) if event.reason == "compaction"]


# what is kept, what is not


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
    assert "Hm." not in str(after.messages)  # thinking was bound to what stood before it
    notices = [notice for notice in w.of(ev.Notice) if notice.code == "compacted"]
    assert [notice.level for notice in notices] == ["info"]
    assert (notices[0].details or {})["model"] == "cheap"
    check(w)


async def test_four_hundred_messages_fit_and_the_user_sees_all_of_them():
    w = conversation(model=spec(context_window=40_000), writer=Writer())
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
    built = build(w.events, w.store.blobs)
    store = w.store.cut(SESSION, len(w.events))
    after = around(store, w.desk, Provider(), model=spec(), loop=[Todo()])
    await after.engine.start()
    assert build(after.events, after.store.blobs) == built
    sent = w.provider.requests[-1]
    end = max(index for index, event in enumerate(w.events) if isinstance(event, ev.StepStart))
    assert build(w.events[: end + 1], w.store.blobs).messages == sent.messages
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
    """Turns that end with a call: the next message begins with the result."""
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
    assert "active document: a.ipynb" in text_of(newest)  # told whole again


async def test_versions_read_before_are_still_known():
    w = conversation()
    await talk(w, 6)
    w.provider.extend(answer(Call("edit", {"path": "a"})), answer(Say("Done.")))
    await w.say("Edit")
    assert any(path == "a" for path, _ in w.desk.contexts[-1].seen)


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
    w = conversation(model=spec(), writer=writer)
    await talk(w, 5)
    w.provider.extend(answer(Fail(TOO_LONG)), answer(Say("Now.")))
    await w.say("More")
    assert rebases(w) == ["compaction"]
    assert w.exits()[-1] == "final_response"
    assert [event.step for event in w.of(ev.StepStart)][-2:] == [1, 1]
    assert writer.orders[0].limit > 800  # half of what it stands for, an answer and a bit
    check(w)


async def test_provider_that_still_finds_it_too_long_ends_the_turn():
    w = conversation(model=spec())
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
    w = conversation(model=spec())
    await talk(w, 5)
    cut = turn(Say("Half of"), Call("look", {"path": "b"}), stop="context_overflow", usage=None)
    w.provider.extend(cut, answer(Say("the rest.")))
    await w.say("More")
    assert rebases(w) == ["compaction"]
    assert w.results()[-1][1] == "cancelled"
    assert "Half of" in str(w.provider.requests[-1].messages[-2])
    assert w.exits()[-1] == "final_response"
    check(w)


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
    assert writer.orders == []  # nothing is paid for a summary that does not help
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
    assert w.exits()[-1] == "context_overflow"  # what is too long is still there


# cancel, steer, crash


async def compacting(*script: Entry, turns: int = 4, **more: Any) -> tuple[World, Gate]:
    """A conversation in the middle of a compaction."""
    gate = Gate()
    w = conversation(writer=Writer(gate), **more)
    await talk(w, turns)
    w.provider.extend(*script)
    await w.send("Question 4.")
    await gate.reached.wait()
    return w, gate


async def test_cancel_while_compacting_changes_nothing():
    w, _ = await compacting()
    before = build(w.events, w.store.blobs).messages
    await w.engine.cancel(SESSION)
    await w.settle()
    assert w.exits()[-1] == "cancelled"
    assert compactions(w) == []
    assert build(w.events, w.store.blobs).messages[: len(before) - 1] == before[:-1]
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
    after = around(
        w.store.cut(SESSION, kept),
        w.desk,
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
        after = around(
            w.store.cut(SESSION, count),
            w.desk,
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


# the setting


async def test_off_ends_the_turn():
    writer = Writer()
    w = conversation(writer=writer, compaction="off")
    await talk(w, 5)
    end = w.of(ev.TurnEnd)[-1]
    assert end.exit == "context_overflow"
    assert "not summarised: it is off" in str(end.error)
    assert writer.orders == []


async def asked(**more: Any) -> World:
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
    after = around(store, w.desk, Provider(answer(Say("Yes."))), model=SMALL, loop=[Todo()])
    await after.engine.start()
    assert after.session.status == "waiting"
    turn_open = restore(Policy(), after.events).turn
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
    w = conversation(compaction="ask", model=spec())
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


# the event loop


def grown(w: World, count: int) -> MemoryStore:
    """The store with the second turn again and again, until there are that many events."""
    events = w.events
    second = [index for index, event in enumerate(events) if isinstance(event, ev.MessageAdd)][1]
    pattern = [event for event in events[second:] if not isinstance(event, ev.ContextAdd)]
    store = w.store.cut(SESSION, len(events))
    for number in range(1 + (count - len(events)) // len(pattern)):
        for event in pattern:
            ids = {
                name: f"{getattr(event, name)}_{number}"
                for name in ("message_id", "turn_id", "call_id", "part_id")
                if getattr(event, name, None) is not None
            }
            store.append(SESSION, event.model_copy(update=ids))
    return store


async def longest_hold(work: Coroutine[Any, Any, None]) -> float:
    """Do it; return the longest processor time, in seconds, between two turns of the loop."""
    gaps = [0.0]

    async def probe() -> None:
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0)
            gaps.append(time.thread_time() - begun)

    gc.collect()
    gc.disable()  # what the tests before left is not what is measured
    probing = asyncio.create_task(probe())
    try:
        await work
    finally:
        probing.cancel()
        gc.enable()
    return max(gaps)


@pytest.mark.parametrize(
    ("window", "compacted"), [(2_000_000, 0), (200_000, 1)], ids=["opened", "compacted"]
)
async def test_ten_thousand_events_do_not_hold_up_the_event_loop(window: int, compacted: int):
    w = conversation()
    await talk(w, 2)
    store = grown(w, 10_000)
    model = spec(context_window=window)
    after = around(
        store,
        w.desk,
        Provider(answer(Say("Yes."))),
        model=model,
        loop=[Todo()],
        summarizer=Writer(None),
    )

    async def opened() -> None:
        await after.engine.start()
        await after.say("Short", message="later")

    assert await longest_hold(opened()) < 0.1
    assert after.exits()[-1] == "final_response"
    assert len(compactions(after)) == compacted
    assert len(after.events) > 10_000
