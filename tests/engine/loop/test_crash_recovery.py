"""After a crash: nothing runs twice, everything is reported, the conversation continues."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, StateUnavailable
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.testing import memory_store
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Gate,
    Say,
    ScriptedProvider,
    ScriptEntry,
    Think,
    turn,
)
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import ResumeTurn, SendMessage
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_engine_around,
    make_session,
    model_spec,
    restart_engine,
)
from tests.engine.loop.test_turns import check

RESUME = ResumeTurn(decision="resume")
DISCARD = ResumeTurn(decision="discard")


async def crashed(
    *script: ScriptEntry, before: type[ev.Event], after: tuple[ScriptEntry, ...] = ()
) -> EngineHarness:
    """Play a script in auto-edit mode, crash before the first event of a kind, restart."""
    w = make_engine(*script, given=make_session(mode="auto_edit"))
    await w.say()
    if w.of(ev.ApprovalRequest) and not w.exits():
        await w.answer()
    first = next(event.seq for event in w.events if isinstance(event, before))
    return await restart_engine(w, first - 1, *after)


async def test_crash_in_a_reply_becomes_interrupted_and_is_said():
    w = await crashed(turn(Say("Half a"), Say("More")), before=ev.TextEnd)
    assert w.session.status == "interrupted"
    (notice,) = w.of(ev.Notice)
    assert notice.text == (
        "The turn was interrupted in step 1: the model's reply was cut off. Resume or discard it."
    )
    assert not w.engine.is_running(SESSION)
    check(w)


@pytest.mark.parametrize("other_page", ["cancel", "resume"])
async def test_cancel_counts_though_another_page_was_faster(
    other_page: str, monkeypatch: pytest.MonkeyPatch
):
    w = await crashed(turn(Say("Half a"), Say("More")), before=ev.TextEnd, after=(turn(Gate()),))
    look, looked = SessionDriver.find_interrupted_outcomes, asyncio.Event()

    async def slow_look(driver: SessionDriver) -> tuple[ev.ToolResult, ...]:
        await looked.wait()
        return await look(driver)

    monkeypatch.setattr(SessionDriver, "find_interrupted_outcomes", slow_look)
    cancelling = asyncio.create_task(w.engine.cancel(SESSION))
    await asyncio.sleep(0)
    monkeypatch.setattr(SessionDriver, "find_interrupted_outcomes", look)
    if other_page == "cancel":
        await w.engine.cancel(SESSION)
    else:
        await w.engine.resume(SESSION, RESUME)
    looked.set()
    await cancelling
    await w.settle()
    assert w.exits() == ["interrupted" if other_page == "cancel" else "cancelled"]
    check(w)


async def test_notice_names_what_happened_to_each_call():
    script = turn(
        Call("edit", {"path": "a"}),
        Call("edit", {"path": "b"}),
        Call("edit", {"path": "c"}),
    )
    w = make_engine(script, given=make_session(mode="auto_edit"))
    w.probe.hold("edit:b")
    await w.send()
    await w.reached(ev.ToolResult)
    after = await restart_engine(w)
    await w.engine.cancel(SESSION)
    await w.settle()
    assert after.of(ev.Notice)[0].text == (
        "The turn was interrupted in step 1: “edit a” was done; “edit b” had started; whether it "
        "took effect is not known; “edit c” had started; whether it took effect is not known. "
        "Resume or discard it."
    )


async def test_call_that_had_started_is_not_run_again_and_its_result_is_unknown():
    w = await crashed(
        turn(Call("edit", {"path": "a"}, "c1")),
        "End.",
        before=ev.ToolResult,
        after=("Looked again.",),
    )
    await w.engine.resume(SESSION, RESUME)
    await w.settle()
    assert w.results() == [("c1", "unknown")]
    assert w.probe.started == ["edit:a"]
    assert w.exits() == ["final_response"]
    assert len(w.of(ev.TurnStart)) == len(w.of(ev.TurnResume)) == 1
    check(w)


async def test_approved_call_that_had_not_started_runs_after_resuming():
    w = await crashed(
        turn(Call("run_it", {"path": "a"}, "c1")), "End.", before=ev.ToolStart, after=("Ran.",)
    )
    assert len(w.of(ev.ApprovalAnswer)) == 1
    await w.engine.resume(SESSION, RESUME)
    await w.settle()
    assert w.results() == [("c1", "ok")]
    assert len(w.of(ev.ApprovalRequest)) == 1
    check(w)


async def test_pending_approval_survives_and_waits_again_after_resuming():
    w = await crashed(
        turn(Call("run_it", {"path": "a"}, "c1")), "End.", before=ev.ApprovalAnswer, after=("Ran.",)
    )
    assert w.session.status == "interrupted"
    assert "waits for your approval" in w.of(ev.Notice)[0].text
    await w.engine.resume(SESSION, RESUME)
    await w.settle()
    assert w.session.status == "waiting"
    await w.answer()
    assert w.results() == [("c1", "ok")]
    check(w)


async def test_answering_a_pending_approval_resumes_the_turn():
    w = await crashed(
        turn(Call("edit", {"path": "a"}, "c0"), Call("run_it", {"path": "b"}, "c1")),
        "End.",
        before=ev.ApprovalAnswer,
        after=("Ran.",),
    )
    await w.answer()
    assert w.results() == [("c0", "ok"), ("c1", "ok")]
    assert w.exits() == ["final_response"]
    check(w)


async def test_reply_that_was_cut_off_is_asked_for_again_without_its_text():
    w = await crashed(turn(Think("Hm."), Say("Half a")), before=ev.TextEnd, after=("Whole.",))
    await w.engine.resume(SESSION, RESUME)
    await w.settle()
    assert [event.step for event in w.of(ev.StepStart)] == [1, 1]
    assert len(w.provider.requests[0].messages) == 1
    assert w.exits() == ["final_response"]
    check(w)


async def test_calls_of_a_reply_that_was_cut_off_are_not_executed():
    w = await crashed(
        turn(Say("I do."), Call("edit", {"path": "a"}, "c1"), Say("And")),
        before=ev.UsageUpdate,
        after=("Next.",),
    )
    await w.engine.resume(SESSION, RESUME)
    await w.settle()
    assert w.results() == [("c1", "cancelled")]
    assert [event.step for event in w.of(ev.StepStart)] == [1, 2]
    check(w)


async def test_discarding_ends_the_turn_as_interrupted():
    w = await crashed(turn(Call("edit", {"path": "a"}, "c1")), "End.", before=ev.ToolResult)
    await w.engine.resume(SESSION, DISCARD)
    assert w.results() == [("c1", "unknown")]
    assert (w.exits(), w.session.status) == (["interrupted"], "idle")
    with pytest.raises(Conflict):
        await w.engine.resume(SESSION, DISCARD)
    with pytest.raises(Conflict):
        await w.engine.resume(SESSION, RESUME)
    check(w)


async def test_new_message_discards_the_interrupted_turn_first():
    w = await crashed(turn(Say("Half a")), before=ev.TextEnd, after=("Answer.",))
    await w.say("Next", message="m2")
    assert w.exits() == ["interrupted", "final_response"]
    assert "Half" in str(w.provider.requests[0].messages[1])
    check(w)


async def test_queued_messages_survive_a_crash():
    gate = Gate()
    w = make_engine(turn(gate, Call("look", {"path": "a"})), "End.")
    await w.send("One")
    await gate.reached.wait()
    await w.send("Two", message="m2")
    after = await restart_engine(w, None, "Both.")
    await w.engine.cancel(SESSION)
    await after.engine.resume(SESSION, RESUME)
    await after.settle()
    assert [update.status for update in after.of(ev.MessageUpdate)] == ["consumed"]
    assert after.exits() == ["final_response"]
    check(after)


async def test_message_whose_turn_never_began_begins_when_it_is_sent_again():
    w = make_engine("Hello.")
    await w.say("Hi", message="m1")
    after = await restart_engine(w, 2, "Hello.")
    accepted = await after.send("Hi", message="m1")
    await after.settle()
    assert after.exits() == ["final_response"]
    assert after.of(ev.TurnStart)[0].turn_id == accepted.turn_id
    assert len(after.of(ev.MessageAdd)) == 1
    check(after)


async def test_message_whose_turn_never_began_begins_with_its_own_model_and_mode():
    w = make_engine("Hello.", given=make_session(mode="auto_edit"))
    await w.say("Hi", message="m1", mode="plan")
    after = await restart_engine(w, 2, "Hello.")
    await after.send("Hi", message="m1", mode="plan")
    await after.settle()
    assert after.of(ev.TurnStart)[0].mode == "plan"
    check(after)


async def test_long_log_is_read_in_pages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory_store, "PAGE", 3)
    w = make_engine(turn(Say("One.")), "Two.")
    await w.say()
    after = await restart_engine(w, None, "Two.")
    await w.say("More", message="x")
    await after.say("More", message="x")
    assert after.provider.requests[0].messages == w.provider.requests[1].messages


async def test_restart_twice_says_it_once():
    w = await crashed(turn(Say("Half a")), before=ev.TextEnd)
    again = await restart_engine(w)
    assert len(again.of(ev.Notice)) == 1
    assert again.session.status == "interrupted"


async def test_session_that_cannot_be_read_does_not_block_the_others():
    w = make_engine("Hi.")
    await w.say()
    other = SessionId("s2")
    w.store.add(make_session(id=other))
    w.store.append(other, w.of(ev.MessageAdd)[0])
    w.store.append(other, w.of(ev.TurnStart)[0])
    read = w.store.read

    def fail(session_id: SessionId, after: int = 0, limit: int | None = None) -> list[LoggedEvent]:
        if session_id == other:
            raise StateUnavailable("Event 3 cannot be understood.", code="quarantined")
        return read(session_id, after, limit)

    w.store.read = fail
    again = make_engine_around(w.store, w.probe, ScriptedProvider("Hi."), ids=w.ids)
    await again.engine.start()
    await again.say("Hi", message="m2")
    assert again.exits() == ["final_response", "final_response"]
    with pytest.raises(StateUnavailable):
        await again.engine.send(other, SendMessage(id=MessageId("m"), text="Hi"))


# a full disk


async def test_disk_full_while_sending_records_nothing_and_recovers():
    w = make_engine("Hello.")
    w.store.before_append = full_disk
    with pytest.raises(StateUnavailable):
        await w.send("Hi", message="m1")
    assert len(w.events) == 1
    w.store.before_append = None
    await w.say("Hi", message="m1")
    assert w.exits() == ["final_response"]
    check(w)


async def test_disk_full_in_a_reply_stops_the_turn_and_it_is_interrupted_when_read_again():
    gate = Gate()
    w = make_engine(turn(Say("One"), gate, Say("Two")), "Answer.")
    await w.send()
    await gate.reached.wait()
    w.store.before_append = full_disk
    gate.open.set()
    await w.settle()
    assert not w.engine.is_running(SESSION)
    w.store.before_append = None
    await w.say("Next")
    assert w.exits() == ["interrupted", "final_response"]
    check(w)


async def test_disk_full_before_an_effect_means_no_effect():
    w = make_engine(
        turn(Call("edit", {"path": "a"}, "c1")), "Answer.", given=make_session(mode="auto_edit")
    )

    def full(event: ev.Event) -> None:
        if isinstance(event, ev.ToolStart | ev.ToolResult | ev.TurnEnd):
            full_disk(event)

    w.store.before_append = full
    await w.say()
    assert w.probe.started == []
    w.store.before_append = None
    await w.say("Next")
    assert w.exits() == ["interrupted", "final_response"]
    check(w)


def full_disk(event: ev.Event) -> None:
    raise StateUnavailable("The disk is full.", code="disk_full")


# every prefix

STORY: tuple[ScriptEntry, ...] = (
    turn(Think("Hm."), Say("I look."), Call("look", {"path": "a"}), Call("look", {"path": "b"})),
    turn(Call("edit", {"path": "a"}), Call("run_it", {"path": "a"}), Call("look", {"path": "a"})),
    turn(Say("Done with that.")),
)


async def make_conversation() -> EngineHarness:
    """A conversation with reads, edits, an approval, a steer and two turns."""
    w = make_engine(*STORY, "Second answer.", given=make_session(mode="auto_edit"))
    await w.say()
    await w.send("Also mind c")
    await w.answer("allow")
    w.provider.extend("Third.")
    await w.say("Second question")
    return w


async def test_after_a_crash_at_any_event_the_conversation_goes_on_with_a_message():
    conversation = await make_conversation()
    for count in range(1, len(conversation.events) + 1):
        w = await restart_engine(conversation, count, "Answer.")
        await w.say("Next", message="next")
        assert w.exits()[-1] == "final_response", count
        assert w.session.status == "idle", count
        check(w)


async def test_after_a_crash_at_any_event_the_status_says_what_can_be_done():
    conversation = await make_conversation()
    for count in range(1, len(conversation.events) + 1):
        w = await restart_engine(conversation, count)
        turns = [e for e in w.events if isinstance(e, ev.TurnStart | ev.TurnEnd)]
        is_open = bool(turns) and isinstance(turns[-1], ev.TurnStart)
        assert w.session.status == ("interrupted" if is_open else "idle"), count


async def test_crash_after_a_discard_does_not_leave_the_session_interrupted():
    w = await crashed(turn(Say("Half a")), before=ev.TextEnd)
    await w.engine.resume(SESSION, DISCARD)
    end = w.of(ev.TurnEnd)[0].seq
    again = await restart_engine(w, end)
    assert again.session.status == "idle"


async def test_after_a_crash_at_any_event_an_open_turn_can_be_resumed():
    conversation = await make_conversation()
    for count in range(1, len(conversation.events) + 1):
        w = await restart_engine(conversation, count, *["Answer."] * 3)
        if w.session.status != "interrupted":
            continue
        effects = len(w.probe.started)
        started = {event.call_id for event in w.of(ev.ToolStart)}
        await w.engine.resume(SESSION, RESUME)
        await w.settle()
        if w.engine.is_running(SESSION):
            await w.answer()
        assert w.exits()[-1] == "final_response", count
        assert len({event.call_id for event in w.of(ev.ToolStart)} - started) == (
            len(w.probe.started) - effects
        ), "a call that had started was started again"
        check(w)


async def test_turn_that_goes_on_with_another_model_has_its_tools_and_says_so():
    waiting = Gate()
    w = make_engine(
        turn(Call("look", {"path": "a"})), turn(waiting), turn(Call("look", {"path": "b"}))
    )
    other = model_spec("m2", tools=False)
    w.models.specs[other.id] = other
    await w.send()
    await waiting.reached.wait()
    await w.engine.stop()
    w.store.update(w.session.model_copy(update={"model": other.id}))
    await w.engine.resume(SESSION, RESUME)
    await w.settle()
    sent = [(request.model, bool(request.tools)) for request in w.provider.requests]
    assert sent[:3] == [("vendor-m1", True), ("vendor-m1", True), ("vendor-m2", False)]
    assert [event.reason for event in w.of(ev.ContextRebase)] == ["model", "tools"]
