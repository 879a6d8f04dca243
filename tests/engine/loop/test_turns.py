"""Turns from a message to an exit, through the public interface of the engine."""

from __future__ import annotations

from itertools import pairwise

import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    ProviderError,
    ShouldersError,
)
from jupyter_ai_shoulders.testing.scripted_provider import Call, Fail, Gate, Say, Think, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import EditMessage, SendMessage
from jupyter_ai_shoulders.wire.ids import ClientId, MessageId, ModelId, SessionId
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.engine.engine_harness import (
    CONTEXT,
    SESSION,
    EngineHarness,
    make_engine,
    make_session,
    make_settings,
    model_spec,
    types,
)
from tests.engine.log_invariants import check_contexts, check_log, check_requests

SUMMARY = "Cell 4 now imports numpy before it uses it, and runs without the error."


def check(w: EngineHarness) -> None:
    check_log(w.events)
    check_requests(w.provider.requests)
    check_contexts(w.events, w.store.blobs)


def last_user_text(w: EngineHarness, request: int = -1) -> str:
    parts = w.provider.requests[request].messages[-1].parts
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


async def test_turn_with_text_only_is_a_final_response():
    w = make_engine(turn(Think("Hm."), Say("Two words here.")))
    accepted = await w.send("What is it?\nmore", context=CONTEXT)
    await w.settle()
    assert types(w.events[1:]) == [
        "message-add",
        "turn-start",
        "session-update",
        "context-add",
        "step-start",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "usage-update",
        "turn-end",
        "session-update",
    ]
    assert w.exits() == ["final_response"]
    assert "".join(event.text for event in w.of(ev.TextDelta)) == "Two words here."
    assert accepted.seq == 2
    assert {event.turn_id for event in w.events[2:] if event.turn_id} == {accepted.turn_id}
    streamed = (*w.of(ev.ReasoningDelta), *w.of(ev.TextDelta))
    assert {event.turn_id for event in streamed} == {accepted.turn_id}
    assert (w.session.status, w.session.title, w.session.model) == ("idle", "What is it?", "m1")
    assert w.session.cost_micro_usd == 100 + 200
    assert w.store.synced[SESSION] == len(w.events)
    check(w)


async def test_read_call_runs_without_asking_and_the_model_gets_its_result():
    w = make_engine(turn(Say("Look."), Call("look", {"path": "a.ipynb"}, "c1")), "Seen.")
    await w.say()
    assert w.results() == [("c1", "ok")]
    assert [event.step for event in w.of(ev.StepStart)] == [1, 2]
    result = w.provider.requests[1].messages[-1].parts[0]
    lines = result.model_dump()["content"][0]["text"].splitlines()
    assert (lines[0].split()[0], lines[1]) == ("<data", "look of a.ipynb")
    check(w)


async def test_results_are_on_their_way_to_the_disk_before_the_model_is_called_again():
    gate = Gate()
    w = make_engine(turn(Call("look", {"path": "a"})), turn(gate, Say("Read.")))
    await w.send()
    await gate.reached.wait()
    assert w.store.synced[SESSION] >= w.of(ev.ToolResult)[0].seq
    gate.open.set()
    await w.settle()


async def test_seen_versions_reach_later_calls_of_the_same_batch():
    w = make_engine(
        turn(
            Call("look", {"path": "a.ipynb"}, "c1"),
            Call("edit", {"path": "a.ipynb"}, "c2"),
        ),
        "Done.",
        given=make_session(mode="auto_edit"),
    )
    await w.say(context=CONTEXT)
    assert dict(w.probe.contexts[1].seen) == {("a.ipynb", "c1"): "look"}
    assert w.probe.contexts[1].active_document == "a.ipynb"


async def test_same_message_sent_twice_is_accepted_once():
    w = make_engine("Hello.")
    first = await w.send("Hi", message="m")
    again = await w.send("Hi", message="m")
    await w.settle()
    assert first == again
    assert len(w.of(ev.MessageAdd)) == 1
    check(w)


async def test_complete_ends_the_turn_with_its_summary():
    w = make_engine(
        turn(
            Call("complete", {"summary": "Done."}, "c1"),
            Call("look", {"path": "a.ipynb"}, "c2"),
        ),
        turn(
            Call("look", {"path": "a.ipynb"}, "c3"),
            Call("complete", {"summary": SUMMARY}, "c4"),
            Call("look", {"path": "b.ipynb"}, "c5"),
        ),
    )
    await w.say()
    assert w.results() == [
        ("c1", "error"),
        ("c2", "ok"),
        ("c3", "ok"),
        ("c4", "ok"),
        ("c5", "skipped"),
    ]
    assert [(end.exit, end.summary) for end in w.of(ev.TurnEnd)] == [("ended_by_tool", SUMMARY)]
    check(w)


async def test_step_cap_runs_the_last_calls_and_says_what_was_done():
    again = [turn(Call("edit", {"path": f"{n}.ipynb"})) for n in range(2)]
    w = make_engine(
        *again, given=make_session(mode="auto_edit"), limits=make_settings(step_limit=2)
    )
    await w.say()
    assert w.exits() == ["step_cap"]
    assert [status for _, status in w.results()] == ["ok", "ok"]
    (notice,) = w.of(ev.Notice)
    assert notice.text == (
        "Stopped at the limit of 2 steps. Done so far: edit 0.ipynb; edit 1.ipynb."
    )
    check(w)


async def test_document_toolset_has_its_own_step_limit():
    w = make_engine("Hi.", given=make_session(toolset="document"))
    await w.say()
    assert w.of(ev.TurnStart)[0].step_limit == 8


async def test_model_is_told_when_few_steps_are_left_and_no_sent_byte_changes_later():
    calls = [turn(Call("look", {"path": f"{n}"})) for n in range(4)]
    w = make_engine(*calls, "End.", limits=make_settings(step_limit=5))
    await w.say()
    told = [
        index for index in range(len(w.provider.requests)) if "[notice]" in last_user_text(w, index)
    ]
    assert told == [2, 4]
    sent = [request.messages for request in w.provider.requests]
    for earlier, later in pairwise(sent):
        assert later[: len(earlier)] == earlier


INVALID: dict[str, tuple[Call, str]] = {
    "unknown tool": (Call("lokk", {"path": "a"}), "Did you mean 'look'?"),
    "wrong argument": (Call("look", {"paht": "a"}), "path: Field required"),
    "not JSON": (Call("look", '{"path": "a'), "not a JSON object"),
}


@pytest.mark.parametrize(("call", "told"), INVALID.values(), ids=INVALID.keys())
async def test_invalid_call_is_not_executed_and_the_model_is_told(call: Call, told: str):
    w = make_engine(turn(call), "Sorry.")
    await w.say()
    assert [status for _, status in w.results()] == ["error"]
    assert told in w.of(ev.ToolResult)[0].model_dump_json()
    event = w.of(ev.ToolCall)[0]
    assert event.arguments is None
    assert event.invalid is not None
    assert w.probe.started == []
    assert w.exits() == ["final_response"]
    check(w)


async def test_call_on_what_does_not_exist_is_an_error_without_approval():
    w = make_engine(turn(Call("run_it", {"path": "missing.ipynb"})), "Oh.")
    await w.say()
    assert not w.of(ev.ApprovalRequest)
    (result,) = w.of(ev.ToolResult)
    assert result.result.error is not None
    assert result.result.error.code == "not_found"


async def test_failing_tool_is_an_error_result_and_the_turn_goes_on():
    w = make_engine(turn(Call("failing", {"path": "x"})), "Oh.")
    await w.say()
    (result,) = w.of(ev.ToolResult)
    assert result.content == (TextPart(text="There is no x. List the files."),)
    assert w.exits() == ["final_response"]


async def test_bug_in_a_tool_ends_the_turn_and_the_other_calls_have_results():
    w = make_engine(turn(Call("buggy", {"path": "x"}, "c1"), Call("look", {"path": "y"}, "c2")))
    await w.say()
    assert w.results() == [("c1", "error"), ("c2", "ok")]
    (end,) = w.of(ev.TurnEnd)
    assert (end.exit, end.error and end.error.code) == ("error", "internal")
    assert w.session.status == "error"
    check(w)


async def test_ids_repeated_by_the_model_are_made_unique():
    w = make_engine(
        turn(Call("look", {"path": "a"}, "call_0")),
        turn(Call("look", {"path": "b"}, "call_0")),
        "End.",
    )
    await w.say()
    assert w.results() == [("call_0", "ok"), ("call_0_2", "ok")]
    check(w)


async def test_disabled_tools_mode_offers_none_and_refuses_calls():
    w = make_engine(
        turn(Call("look", {"path": "a"})), "Right.", given=make_session(tools="disabled")
    )
    await w.say()
    assert w.provider.requests[0].tools == ()
    assert [status for _, status in w.results()] == ["error"]
    assert w.probe.started == []


async def test_model_without_tools_gets_none():
    w = make_engine("Hi.", model=model_spec(tools=False))
    await w.say()
    assert w.provider.requests[0].tools == ()


# models


async def test_unknown_model_is_refused_and_nothing_is_recorded():
    w = make_engine()
    before = list(w.events)
    with pytest.raises(ShouldersError) as raised:
        await w.send(model=ModelId("nope"))
    assert raised.value.info.code == "unknown_model"
    assert w.events == before
    assert not w.engine.is_running(SESSION)


async def test_blank_message_is_refused():
    w = make_engine()
    with pytest.raises(InvalidRequest):
        await w.send("  \n")
    assert len(w.events) == 1


async def test_unknown_session_is_not_found():
    w = make_engine()
    with pytest.raises(NotFound):
        await w.engine.send(SessionId("nope"), SendMessage(id=MessageId("m"), text="Hi"))


async def test_model_change_is_logged_and_leaves_it_to_adapters_whose_reasoning_goes_back():
    w = make_engine(turn(Think("Hm."), Say("One.")), "Two.")
    w.models.specs[ModelId("m2")] = model_spec("m2")
    await w.say()
    await w.say(model=ModelId("m2"))
    (rebase,) = w.of(ev.ContextRebase)
    assert (rebase.reason, rebase.replaced) == ("model", {"model": ["m1", "m2"]})
    assert w.session.model == "m2"
    assert "reasoning" in w.provider.requests[1].messages[1].model_dump_json()
    check(w)


# provider failures


def overloaded(retry_after_ms: int = 0, *, retryable: bool = True) -> ProviderError:
    return ProviderError(
        "Overloaded.", code="overloaded", retryable=retryable, retry_after_ms=retry_after_ms
    )


async def test_failure_before_content_is_tried_again_with_a_countdown():
    w = make_engine(turn(Fail(overloaded())), turn(Fail(overloaded())), "Hello.")
    await w.say()
    assert [(wait.attempt, wait.delay_ms) for wait in w.of(ev.RetryWait)] == [(1, 0), (2, 0)]
    assert w.exits() == ["final_response"]
    assert len(w.of(ev.StepStart)) == 1
    check(w)


async def test_retries_end_and_the_last_error_is_shown():
    w = make_engine(*[turn(Fail(overloaded()))] * 3, limits=make_settings(model_attempts=3))
    await w.say()
    assert len(w.of(ev.RetryWait)) == 2
    (end,) = w.of(ev.TurnEnd)
    assert (end.exit, end.error and end.error.code) == ("error", "overloaded")
    assert w.session.status == "error"


async def test_failure_that_makes_no_sense_to_retry_ends_the_turn():
    w = make_engine(turn(Fail(ProviderError("Wrong key.", code="authentication"))))
    await w.say()
    assert w.exits() == ["error"]
    assert not w.of(ev.RetryWait)


async def test_failure_after_content_keeps_the_text_and_ends_the_turn():
    w = make_engine(turn(Say("Half a "), Fail(overloaded())), "Whole.")
    await w.say()
    assert w.exits() == ["error"]
    assert types(w.events)[-5:] == [
        "text-delta",
        "text-end",
        "usage-update",
        "turn-end",
        "session-update",
    ]
    assert w.of(ev.UsageUpdate)[0].usage.estimated
    await w.say("Go on")
    assert "Half a" in w.provider.requests[1].messages[1].model_dump_json()
    check(w)


async def test_call_that_came_before_a_failure_is_not_executed():
    w = make_engine(turn(Call("look", {"path": "a"}, "c1"), Fail(overloaded())))
    await w.say()
    assert w.results() == [("c1", "cancelled")]
    assert w.probe.started == []
    check(w)


async def test_context_that_does_not_fit_exits_without_a_request():
    w = make_engine("Never.", model=model_spec(context_window=2_000))
    await w.say("word " * 4_000)
    (end,) = w.of(ev.TurnEnd)
    assert end.exit == "context_overflow"
    assert end.error is not None
    assert "2000" in end.error.message
    assert w.provider.requests == []


async def test_overflow_told_by_the_provider_is_that_exit():
    error = ProviderError("Too long.", code="context_overflow")
    w = make_engine(turn(Fail(error)))
    await w.say()
    assert w.exits() == ["context_overflow"]


async def test_filtered_reply_is_an_error_and_cut_reply_is_noted():
    w = make_engine(turn(Say("I"), stop="content_filter"), turn(Say("Long"), stop="max_tokens"))
    await w.say()
    await w.say()
    assert w.exits() == ["error", "final_response"]
    assert [notice.code for notice in w.of(ev.Notice)] == ["output_limit"]
    check(w)


async def test_empty_replies_are_nudged_twice_and_then_told():
    w = make_engine(turn(), turn(), turn())
    await w.say()
    assert w.exits() == ["final_response"]
    codes = [notice.code for notice in w.of(ev.Notice)]
    assert codes == ["empty_reply", "empty_reply", "empty_turn"]
    assert "[notice] The last reply was empty" in str(w.provider.requests[1].messages[-1])
    check(w)


async def test_a_nudged_model_goes_on():
    w = make_engine(turn(), "Here it is.")
    await w.say()
    assert w.exits() == ["final_response"]
    assert len(w.provider.requests) == 2
    check(w)


async def test_unknown_price_makes_the_cost_unknown_and_missing_usage_is_estimated():
    w = make_engine(turn(Say("Hi."), usage=None), model=model_spec(prices=None))
    await w.say()
    (update,) = w.of(ev.UsageUpdate)
    assert update.usage.estimated
    assert update.usage.input_tokens == w.of(ev.StepStart)[0].tokens_used
    assert (update.cost_micro_usd, w.session.cost_micro_usd) == (None, None)


async def test_bug_in_a_provider_ends_the_turn_with_an_internal_error():
    w = make_engine(turn(Say("Hi"), Fail(RuntimeError("bug"))))
    await w.say()
    (end,) = w.of(ev.TurnEnd)
    assert (end.exit, end.error and end.error.code) == ("error", "internal")
    check(w)


# steering


async def test_message_while_running_is_queued_and_consumed_at_the_next_step():
    gate = Gate()
    w = make_engine(turn(gate, Call("look", {"path": "a"})), "Both.")
    first = await w.send("One")
    await gate.reached.wait()
    second = await w.send("Two", message="steer")
    assert second.turn_id == first.turn_id
    gate.open.set()
    await w.settle()
    assert w.exits() == ["final_response"]
    (update,) = w.of(ev.MessageUpdate)
    assert (update.message_id, update.status) == ("steer", "consumed")
    assert "Two" in last_user_text(w)
    assert len(w.of(ev.TurnStart)) == 1
    check(w)


async def test_message_queued_during_the_last_reply_gets_an_answer_in_the_same_turn():
    gate = Gate()
    w = make_engine(turn(Say("First."), gate), "Second.")
    await w.send("One")
    await gate.reached.wait()
    await w.send("Two")
    gate.open.set()
    await w.settle()
    assert len(w.of(ev.TurnStart)) == 1
    assert [event.step for event in w.of(ev.StepStart)] == [1, 2]
    check(w)


async def test_message_queued_at_the_step_cap_begins_a_turn():
    gate = Gate()
    w = make_engine(
        turn(gate, Call("look", {"path": "a"})), "Second turn.", limits=make_settings(step_limit=1)
    )
    await w.send("One")
    await gate.reached.wait()
    await w.send("Two", message="m2")
    gate.open.set()
    await w.settle()
    assert w.exits() == ["step_cap", "final_response"]
    assert w.of(ev.TurnStart)[1].message_id == "m2"
    check(w)


async def test_turn_of_queued_messages_takes_model_and_mode_of_the_newest():
    gate = Gate()
    w = make_engine(
        turn(gate, Call("look", {"path": "a"})),
        "Second turn.",
        given=make_session(mode="auto_edit"),
        limits=make_settings(step_limit=1),
    )
    w.models.specs[ModelId("m2")] = model_spec("m2")
    await w.send("One")
    await gate.reached.wait()
    await w.send("Two", message="two", mode="ask")
    await w.send("Three", message="three", mode="plan", model=ModelId("m2"))
    gate.open.set()
    await w.settle()
    starts = [(start.mode, start.model) for start in w.of(ev.TurnStart)]
    assert starts == [("auto_edit", "m1"), ("plan", "m2")]
    check(w)


async def test_queued_message_can_be_edited_and_removed_until_it_is_consumed():
    gate = Gate()
    w = make_engine(turn(gate, Call("look", {"path": "a"})), "End.")
    await w.send("One", message="m1")
    await gate.reached.wait()
    await w.send("Two", message="m2")
    await w.send("Three", message="m3")
    await w.engine.messages.edit_queued(SESSION, MessageId("m2"), EditMessage(text="Zwei"))
    await w.engine.messages.remove_queued(SESSION, MessageId("m3"))
    gate.open.set()
    await w.settle()
    assert "Zwei" in last_user_text(w)
    assert "Three" not in w.provider.requests[-1].messages[-1].model_dump_json()
    with pytest.raises(Conflict):
        await w.engine.messages.edit_queued(SESSION, MessageId("m2"), EditMessage(text="Due"))
    with pytest.raises(Conflict):
        await w.engine.messages.remove_queued(SESSION, MessageId("m1"))
    with pytest.raises(NotFound):
        await w.engine.messages.remove_queued(SESSION, MessageId("m9"))
    check(w)


async def test_steering_with_an_unknown_model_is_refused():
    gate = Gate()
    w = make_engine(turn(gate, Say("Hi.")))
    await w.send()
    await gate.reached.wait()
    with pytest.raises(ShouldersError):
        await w.send("Two", model=ModelId("nope"))
    gate.open.set()
    await w.settle()
    assert w.of(ev.MessageUpdate) == []


async def test_running_session_says_so():
    gate = Gate()
    w = make_engine(turn(gate, Say("Hi.")))
    assert not w.engine.is_running(SESSION)
    await w.send()
    await gate.reached.wait()
    assert w.engine.is_running(SESSION)
    assert w.session.status == "running"
    gate.open.set()
    await w.settle()
    assert not w.engine.is_running(SESSION)


async def test_calls_work_for_the_page_whose_message_is_read():
    w = make_engine(
        turn(Call("look", {"path": "a.py"}, "c1")),
        turn(Say("Done.")),
        turn(Call("look", {"path": "a.py"}, "c2")),
        turn(Say("Done.")),
    )
    for page in ("one", "two"):
        await w.say("Read it.", client_id=ClientId(page))
    assert [context.client_id for context in w.probe.contexts] == ["one", "two"]
