"""Cancel and stop in every phase: partial output stays, and every call ends soon."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.testing.scripted_provider import Call, Fail, Gate, Say, Think, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval
from jupyter_ai_shoulders.wire.ids import MessageId
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_session,
    make_settings,
)
from tests.engine.loop.test_turns import check, overloaded


async def cancel(w: EngineHarness) -> None:
    await w.engine.cancel(SESSION)
    await w.settle()


async def test_cancel_while_streaming_keeps_the_text_and_closes_calls():
    gate = Gate()
    w = make_engine(
        turn(Say("Half a"), Call("look", {"path": "a"}, "c1"), Think("So"), gate), "Next."
    )
    await w.send()
    await gate.reached.wait()
    await cancel(w)
    assert w.exits() == ["cancelled"]
    assert w.results() == [("c1", "cancelled")]
    assert (w.session.status, w.provider.closed_early) == ("idle", 1)
    assert w.probe.started == []
    assert len(w.of(ev.UsageUpdate)) == 1
    await w.say("Next")
    assert "Half a" in str(w.provider.requests[1].messages[1])
    assert "So" not in str(w.provider.requests[1].messages[1])
    check(w)


async def test_cancel_before_anything_was_shown_leaves_an_empty_turn():
    gate = Gate()
    w = make_engine(turn(gate, Say("Late")), "Next.")
    await w.send()
    await gate.reached.wait()
    await cancel(w)
    assert w.exits() == ["cancelled"]
    assert not w.of(ev.UsageUpdate)
    await w.say("Again")
    assert len(w.provider.requests[1].messages) == 1
    check(w)


async def test_cancel_at_once_after_sending():
    w = make_engine("Never.", "Next.")
    await w.send()
    await cancel(w)
    assert w.exits() == ["cancelled"]
    await w.say()
    assert w.exits() == ["cancelled", "final_response"]
    check(w)


async def test_usage_of_a_cancelled_reply_is_booked_once():
    gate = Gate()
    w = make_engine(turn(Say("Half a"), gate), "Never.")
    await w.send()
    await gate.reached.wait()
    await cancel(w)
    await w.send("Again")
    await cancel(w)  # before the second turn did anything
    assert w.exits() == ["cancelled", "cancelled"]
    assert len(w.of(ev.UsageUpdate)) == 1


async def test_cancel_during_the_wait_before_a_retry():
    w = make_engine(turn(Fail(overloaded(retry_after_ms=60_000))), "Next.")
    await w.send()
    await w.reached(ev.RetryWait)
    assert w.of(ev.RetryWait)[0].delay_ms == 60_000
    await cancel(w)
    assert w.exits() == ["cancelled"]
    check(w)


async def test_cancel_while_an_approval_waits():
    w = make_engine(turn(Call("run_it", {"path": "a"}, "c1"), Call("look", {"path": "b"}, "c2")))
    await w.say()
    await cancel(w)
    assert w.results() == [("c1", "cancelled"), ("c2", "cancelled")]
    assert w.exits() == ["cancelled"]
    assert w.session.status == "idle"
    check(w)


async def test_cancel_while_tools_run_records_what_finished_and_what_did_not():
    w = make_engine(
        turn(
            Call("look", {"path": "a"}, "c1"),
            Call("edit", {"path": "b"}, "c2"),
            Call("edit", {"path": "b", "word": "2"}, "c3"),
            Call("look", {"path": "c"}, "c4"),
        ),
        given=make_session(mode="auto_edit"),
    )
    reached = w.probe.hold("edit:b")
    await w.send()
    await reached.wait()
    await cancel(w)
    assert w.results() == [
        ("c1", "ok"),
        ("c2", "cancelled"),
        ("c3", "cancelled"),
        ("c4", "ok"),
    ]
    assert w.probe.cancelled == ["edit:b"]
    assert "edit:b2" not in w.probe.started
    assert w.exits() == ["cancelled"]
    check(w)


async def test_tool_that_ignores_a_cancel_is_left_behind_and_its_effect_is_unknown():
    w = make_engine(
        turn(Call("stubborn", {"path": "a"}, "c1")), limits=make_settings(settle_timeout_s=0.01)
    )
    reached = w.probe.hold("stubborn")
    await w.say()
    await w.engine.responses.answer_approval(SESSION, w.pending(), AnswerApproval(decision="allow"))
    await reached.wait()
    await cancel(w)
    assert w.results() == [("c1", "unknown")]
    assert w.exits() == ["cancelled"]
    told = len(w.events)
    w.probe.gates["stubborn"].set()
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(w.events) == told, "a call that has its result says nothing more"
    check(w)


async def test_cancel_without_a_running_turn_does_nothing():
    w = make_engine("Hi.")
    await cancel(w)
    await w.say()
    before = list(w.events)
    await cancel(w)
    await cancel(w)
    assert w.events == before


async def test_message_right_after_a_cancel_begins_a_turn_of_its_own():
    gate = Gate()
    w = make_engine(turn(Say("Wrong"), gate), "Right.")
    first = await w.send()
    await gate.reached.wait()
    await w.engine.cancel(SESSION)
    second = await w.send("Instead")
    await w.settle()
    assert first.turn_id != second.turn_id
    assert w.exits() == ["cancelled", "final_response"]
    check(w)


async def test_queued_messages_survive_a_cancel_and_go_with_the_next_message():
    gate = Gate()
    w = make_engine(turn(gate), "Both.")
    await w.send("One")
    await gate.reached.wait()
    await w.send("Two", message="m2")
    await cancel(w)
    assert w.of(ev.MessageUpdate) == []
    await w.say("Three", message="m3")
    assert [update.message_id for update in w.of(ev.MessageUpdate)] == ["m2", "m3"]
    assert w.of(ev.TurnStart)[1].message_id == "m2"
    last = str(w.provider.requests[-1].messages[-1])
    assert last.index("Two") < last.index("Three")
    check(w)


async def test_messages_left_queued_by_a_cancel_are_sent_when_asked():
    gate = Gate()
    w = make_engine(turn(gate), "Both.")
    await w.send("One")
    await gate.reached.wait()
    await w.send("Two", message="m2")
    await w.send("Three", message="m3")
    with pytest.raises(Conflict):
        await w.engine.messages.send_queued(SESSION, MessageId("m2"))
    await cancel(w)
    await w.engine.messages.send_queued(SESSION, MessageId("m2"))
    await w.settle()
    assert w.exits() == ["cancelled", "final_response"]
    assert [update.message_id for update in w.of(ev.MessageUpdate)] == ["m2", "m3"]
    with pytest.raises(Conflict):
        await w.engine.messages.send_queued(SESSION, MessageId("m2"))
    check(w)


async def test_stop_leaves_running_turns_interrupted_and_resumable():
    gate = Gate()
    w = make_engine(turn(Say("Half a"), gate), "Whole.")
    await w.send()
    await gate.reached.wait()
    await w.engine.stop()
    assert w.session.status == "interrupted"
    assert w.exits() == []
    (notice,) = w.of(ev.Notice)
    assert notice.code == "interrupted"
    assert len(w.of(ev.UsageUpdate)) == 1
    assert w.store.synced[SESSION] == len(w.events)
    check(w)


async def test_stop_lets_a_waiting_approval_survive():
    w = make_engine(turn(Call("run_it", {"path": "a"}, "c1")), "Ran.")
    await w.say()
    await w.engine.stop()
    assert w.session.status == "interrupted"
    assert w.results() == []
    await w.answer()
    assert w.results() == [("c1", "ok")]
    assert w.exits() == ["final_response"]
    check(w)


async def test_stop_settles_running_tools_and_says_why():
    w = make_engine(turn(Call("edit", {"path": "b"}, "c1")), given=make_session(mode="auto_edit"))
    reached = w.probe.hold("edit:b")
    await w.send()
    await reached.wait()
    await w.engine.stop()
    assert w.results() == [("c1", "cancelled")]
    assert "shut down" in str(w.of(ev.ToolResult)[0].content)
    check(w)


async def test_stop_does_not_wait_for_a_tool_that_ignores_it():
    limits = make_settings(settle_timeout_s=60.0, stop_timeout_s=0.01)
    w = make_engine(
        turn(Call("stubborn", {"path": "a"}, "c1")),
        given=make_session(mode="bypass"),
        limits=limits,
    )
    reached = w.probe.hold("stubborn")
    await w.send()
    await reached.wait()
    await w.engine.stop()
    assert w.results() == []
    w.probe.gates["stubborn"].set()
    await w.settle()
    assert w.session.status == "interrupted"


@pytest.mark.parametrize("turns_of_the_loop", range(0, 60, 3))
async def test_cancel_at_any_point_leaves_a_whole_log(turns_of_the_loop: int):
    script = (
        turn(
            Think("Hm."), Say("I look."), Call("look", {"path": "a"}), Call("look", {"path": "b"})
        ),
        turn(Say("I edit."), Call("edit", {"path": "a"}), Call("run_it", {"path": "a"})),
        "Done.",
    )
    w = make_engine(*script, "After.", given=make_session(mode="bypass"))
    await w.send()
    for _ in range(turns_of_the_loop):
        await asyncio.sleep(0)
    await cancel(w)
    assert len(w.exits()) == 1
    w.provider.extend("After.")
    await w.say("Next")
    assert w.exits()[-1] == "final_response" or len(w.provider.requests) > 1
    check(w)
