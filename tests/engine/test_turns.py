"""Turns from a message to an exit, through the public interface of the engine."""

from __future__ import annotations

from jupyter_ai_shoulders.testing.scripted import Say, Think, turn
from jupyter_ai_shoulders.wire import events as ev
from tests.engine.world import CONTEXT, types, world

SUMMARY = "Cell 4 now imports numpy before it uses it, and runs without the error."


async def test_turn_with_text_only_is_final_response():
    w = world(turn(Think("Hm."), Say("Two words here.")))
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
    assert (w.session.status, w.session.title, w.session.model) == ("idle", "What is it?", "m1")
    assert w.session.cost_micro_usd == 100 + 200
