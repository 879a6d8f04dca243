"""An earlier message is edited and sent again; the conversation continues from there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.engine.request.context import build_request_content
from jupyter_ai_shoulders.testing.scripted_provider import Call, Gate, Say, turn
from jupyter_ai_shoulders.tools.conversation.clarify import Clarify
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.wire.api.responses import MessageAccepted
from jupyter_ai_shoulders.wire.conversation.reducer import reduce_events
from jupyter_ai_shoulders.wire.conversation.views import (
    BranchView,
    Conversation,
    TextView,
    UserView,
)
from jupyter_ai_shoulders.wire.events import MessageAdd, TodoUpdate, TurnEnd, TurnStart
from jupyter_ai_shoulders.wire.ids import MessageId, TurnId
from jupyter_ai_shoulders.wire.parts import ModelMessage, TextPart
from tests.engine.engine_harness import SESSION, EngineHarness, make_engine, restart_engine
from tests.engine.log_invariants import check_contexts, check_log, check_requests


def lines(conversation: Conversation) -> list[str]:
    """The conversation as a reader sees it, one line for each text."""
    seen: list[str] = []
    for message in conversation.messages:
        if isinstance(message, UserView):
            seen.append(f"> {message.text}")
        else:
            seen += [part.text for part in message.parts if isinstance(part, TextView)]
    return seen


def words(messages: tuple[ModelMessage, ...]) -> list[str]:
    """The first text of each message sent to a model."""
    return [
        part.text
        for message in messages
        for part in message.parts[:1]
        if isinstance(part, TextPart)
    ]


def sent_again(made: EngineHarness) -> MessageAdd:
    return next(event for event in made.of(MessageAdd) if event.replaces is not None)


async def test_conversation_goes_on_from_the_edited_message_for_reader_and_model():
    made = make_engine("one", "two", "three", "new two")
    for text in ("first", "second", "third"):
        await made.say(text, message=text)

    await made.say("other second", message="again", replaces="second")

    assert lines(reduce_events(made.events)) == ["> first", "one", "> other second", "new two"]
    assert words(made.provider.requests[-1].messages) == ["first", "one", "other second"]
    assert made.provider.requests[-1].messages[:2] == made.provider.requests[1].messages[:2]
    check_log(made.events)
    check_requests(made.provider.requests)
    check_contexts(made.events, made.store.blobs)


async def test_what_was_left_stays_in_the_log_and_is_named():
    made = make_engine("one", "two", "new two")
    await made.say("first", message="first")
    await made.say("second", message="second")
    before = list(made.events)

    await made.say("other", message="again", replaces="second")

    assert made.events[: len(before)] == before
    event = sent_again(made)
    assert event.replaces is not None
    conversation = reduce_events(made.events)
    assert conversation.branches == (
        BranchView(
            message_id=MessageId("second"),
            seq=event.seq,
            at=event.at,
            first_seq=event.replaces.seq,
            last_seq=event.seq - 1,
        ),
    )
    left = reduce_events(made.events[: conversation.branches[0].last_seq])
    assert lines(left) == ["> first", "one", "> second", "two"]


async def test_restarted_engine_builds_the_same_request():
    made = make_engine("one", "two", "new two")
    await made.say("first", message="first")
    await made.say("second", message="second")
    await made.say("other", message="again", replaces="second")
    expected = build_request_content(made.events, made.store.blobs).messages

    after = await restart_engine(made, None, "four")
    await after.say("third", message="third")

    sent = after.provider.requests[-1].messages
    assert sent[: len(expected)] == expected
    assert words(sent) == ["first", "one", "other", "new two", "third"]


async def test_first_message_may_be_edited_and_an_edited_one_again():
    made = make_engine("one", "two", "three")
    await made.say("a", message="a")
    await made.say("b", message="b", replaces="a")
    await made.say("c", message="c", replaces="b")

    conversation = reduce_events(made.events)
    assert lines(conversation) == ["> c", "three"]
    assert [branch.message_id for branch in conversation.branches] == ["a", "b"]
    assert words(made.provider.requests[-1].messages) == ["c"]


async def test_sending_the_edit_twice_starts_one_turn():
    made = make_engine("one", "two")
    await made.say("a", message="a")
    first = await made.send("b", message="b", replaces="a")
    again = await made.send("b", message="b", replaces="a")
    await made.settle()

    assert first == again
    assert len(made.of(TurnEnd)) == 2


async def test_hidden_message_sent_again_is_known_and_does_nothing():
    made = make_engine("one", "two", "three")
    await made.say("a", message="a")
    await made.say("b", message="b")
    await made.say("c", message="c", replaces="a")
    count = len(made.events)

    await made.send("b", message="b")

    assert len(made.events) == count


async def test_sending_the_edit_twice_at_once_starts_one_turn():
    made = make_engine("one", "two")
    await made.say("a", message="a")

    first, again = await asyncio.gather(
        made.send("b", message="b", replaces="a"), made.send("b", message="b", replaces="a")
    )
    await made.settle()

    assert first == again
    assert [event.message_id for event in made.of(MessageAdd)] == ["a", "b"]
    assert lines(reduce_events(made.events)) == ["> b", "two"]


async def test_two_edits_at_once_are_not_taken_for_one():
    made = make_engine("one", "two")
    await made.say("a", message="a")

    first, other = await asyncio.gather(
        made.send("b", message="b", replaces="a"),
        made.send("c", message="c", replaces="a"),
        return_exceptions=True,
    )
    await made.settle()

    assert not isinstance(first, BaseException)
    assert isinstance(other, Conflict)
    assert lines(reduce_events(made.events)) == ["> b", "two"]


async def crashed_before_its_turn(message: str, **more: Any) -> EngineHarness:
    """Return a conversation restarted after ``b`` was accepted and before its turn started."""
    made = make_engine("one", "two")
    await made.say("a", message="a")
    await made.say("b", message="b", **more)
    cut = made.of(MessageAdd)[-1].seq
    return await restart_engine(made, cut, message)


async def test_message_replaced_before_its_turn_began_stays_so_when_it_is_sent_again():
    made = await crashed_before_its_turn("three")
    told = made.of(MessageAdd)[-1]
    await made.say("c", message="c", replaces="b")
    count = len(made.events)

    again = await made.send("b", message="b")
    after = await restart_engine(made)
    later = await after.send("b", message="b")

    assert again == later == MessageAccepted(turn_id=told.turn_id or TurnId(""), seq=told.seq)
    assert len(after.events) == count
    assert lines(reduce_events(after.events)) == ["> a", "one", "> c", "three"]


async def test_edit_whose_turn_never_began_begins_when_it_is_sent_again():
    made = await crashed_before_its_turn("three", replaces="a")

    accepted = await made.send("b", message="b", replaces="a")
    await made.settle()

    assert made.of(TurnStart)[-1].turn_id == accepted.turn_id
    assert lines(reduce_events(made.events)) == ["> b", "three"]
    assert words(made.provider.requests[-1].messages) == ["b"]
    check_log(made.events)


async def test_message_that_the_next_turn_has_read_begins_none_of_its_own():
    made = await crashed_before_its_turn("three")
    await made.say("c", message="c")
    count = len(made.events)

    await made.send("b", message="b")

    assert len(made.events) == count


async def test_checklist_is_as_it_was():
    plan = turn(Call("todo", {"markdown": "- [ ] one"}))
    later = turn(Call("todo", {"markdown": "- [x] one\n- [ ] two"}))
    made = make_engine(plan, "one", later, "two", "three", loop=(Todo(),))
    await made.say("a", message="a")
    await made.say("b", message="b")
    first, second = made.of(TodoUpdate)
    assert reduce_events(made.events).todo == second.items

    await made.say("c", message="c", replaces="b")

    assert reduce_events(made.events).todo == first.items


async def test_what_was_spent_stays_counted():
    made = make_engine("one", "two", "three")
    await made.say("a", message="a")
    await made.say("b", message="b", replaces="a")
    spent = made.session.cost_micro_usd or 0
    await made.say("c", message="c", replaces="b")

    assert spent > 0
    assert (made.session.cost_micro_usd or 0) > spent
    assert reduce_events(made.events).usage.cost_micro_usd == made.session.cost_micro_usd
    after = await restart_engine(made, None, "four")
    await after.say("d", message="d")
    assert (after.session.cost_micro_usd or 0) > (made.session.cost_micro_usd or 0)


async def test_versions_read_on_the_branch_that_was_left_count_as_not_read():
    made = make_engine(
        "one",
        turn(Call("look", {"path": "a.ipynb"})),
        "two",
        turn(Call("look", {"path": "b.ipynb"})),
        "x",
    )
    await made.say("a", message="a")
    await made.say("b", message="b")
    await made.say("c", message="c", replaces="b")

    assert "a.ipynb" not in {path for path, _ in made.probe.contexts[-1].seen}


async def test_steering_message_is_edited_at_the_step_it_entered():
    gate = Gate()
    made = make_engine(
        turn(Call("look", {"path": "a"})),
        turn(gate, Say("end"), Call("look", {"path": "b"})),
        "after",
        "new",
    )
    await made.send("go", message="go")
    await gate.reached.wait()
    await made.send("steer", message="steer")
    gate.open.set()
    await made.settle()

    await made.say("other way", message="again", replaces="steer")

    assert "> other way" in lines(reduce_events(made.events))
    assert "> steer" not in lines(reduce_events(made.events))
    assert reduce_events(made.events).queued == ()
    assert "steer" not in str(made.provider.requests[-1].messages)
    check_requests(made.provider.requests)
    check_contexts(made.events, made.store.blobs)
    after = await restart_engine(made, None, "last")
    assert not after.engine.is_running(SESSION)
    await after.say("more", message="more")
    assert reduce_events(after.events).queued == ()


async def test_interrupted_turn_is_discarded_by_the_edit():
    gate = Gate()
    made = make_engine("one", turn(Say("half"), gate), "new")
    await made.say("a", message="a")
    await made.send("b", message="b")
    await gate.reached.wait()
    after = await restart_engine(made, None, "new")

    await after.say("c", message="c", replaces="b")

    assert after.exits() == ["final_response", "interrupted", "final_response"]
    assert lines(reduce_events(after.events)) == ["> a", "one", "> c", "new"]
    gate.open.set()


async def test_running_turn_refuses_the_edit():
    gate = Gate()
    made = make_engine("one", turn(gate, Say("two")))
    await made.say("a", message="a")
    await made.send("b", message="b")
    await gate.reached.wait()

    with pytest.raises(Conflict) as raised:
        await made.send("c", message="c", replaces="a")

    assert raised.value.info.code == "turn_running"
    gate.open.set()
    await made.settle()


async def test_answer_to_a_question_is_not_edited_by_itself():
    ask = turn(Call("clarify", {"question": "Which?", "options": ["x", "y"]}, "q"))
    made = make_engine(ask, "done", loop=(Clarify(),))
    await made.say("a", message="a")
    await made.send("x", message="x")
    await made.settle()

    with pytest.raises(Conflict):
        await made.send("y", message="y", replaces="x")


@pytest.mark.parametrize("message_id", ["never", "b"], ids=["unknown", "hidden"])
async def test_message_out_of_sight_is_not_found(message_id: str):
    made = make_engine("one", "two", "three")
    await made.say("a", message="a")
    await made.say("b", message="b")
    await made.say("c", message="c", replaces="a")

    with pytest.raises(NotFound):
        await made.send("d", message="d", replaces=message_id)


async def test_blank_edit_changes_nothing():
    made = make_engine("one")
    await made.say("a", message="a")
    count = len(made.events)

    with pytest.raises(InvalidRequest):
        await made.send(" ", message="b", replaces="a")

    assert len(made.events) == count


async def test_full_disk_leaves_the_conversation_as_it_was():
    made = make_engine("one", "two", "three")
    await made.say("a", message="a")
    await made.say("b", message="b")

    def full(event: object) -> None:
        if isinstance(event, MessageAdd):
            raise Conflict("The disk is full.")

    made.store.before_append = full
    with pytest.raises(Conflict):
        await made.send("c", message="c", replaces="a")
    made.store.before_append = None

    await made.say("d", message="d")
    assert words(made.provider.requests[-1].messages) == ["a", "one", "b", "two", "d"]
