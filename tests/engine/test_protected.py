"""What a compaction may replace."""

from __future__ import annotations

from jupyter_ai_shoulders.engine.protected import begins_turn, middle
from jupyter_ai_shoulders.testing.scripted import Call, Say, turn
from tests.engine.surrounded import Place, placed
from tests.engine.world import World


async def conversation(turns: int) -> World:
    script = [turn(Say(f"Step {n}."), Call("look", {"path": "a"})) for n in range(turns)]
    w = placed(Place(), *(entry for n in range(turns) for entry in (script[n], f"Answer {n}.")))
    for number in range(turns):
        await w.say(f"Question {number}")
    return w


async def test_first_message_and_three_turns_are_protected():
    w = await conversation(6)
    messages = w.provider.requests[-1].messages
    start, end = middle(messages)
    assert start == 1
    assert begins_turn(messages[end])
    assert [begins_turn(m) for m in messages[end:]].count(True) == 3
    assert "Question 3" in str(messages[end])
    assert "Question 2" in str(messages[start:end])
    assert "Question 0" in str(messages[0])


async def test_short_conversation_has_nothing_to_replace():
    w = await conversation(3)
    start, end = middle(w.provider.requests[-1].messages)
    assert start == end
