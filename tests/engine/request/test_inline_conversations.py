"""Inline conversations: their prompt, and no tools."""

from __future__ import annotations

from pathlib import Path

from jupyter_ai_shoulders.engine.request.system_prompt import INLINE_SECTIONS, system_prompt
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.messages import SelectionAttachment
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.sessions import TextRange
from tests.engine.engine_harness import make_engine, make_session

INLINE = make_session(toolset="inline", tools="disabled")


def test_inline_prompt_is_as_it_was_last_looked_at():
    """A changed prompt changes every inline edit: review the whole text."""
    golden = Path(__file__).parent / "golden" / "inline_prompt.md"
    prompt = system_prompt("2026-03-02T09:30:00.000Z", "/work", "en_GB", sections=INLINE_SECTIONS)
    assert prompt + "\n" == golden.read_text("utf-8")


async def test_inline_conversation_has_its_own_prompt_and_no_tools():
    w = make_engine("````python\na = 2\n````", given=INLINE)
    text = "for i in a:\n    print(i)"
    selection = SelectionAttachment(
        kind="selection",
        path="a.ipynb",
        cell_id=CellId("c1"),
        range=TextRange.model_validate({"from": 0, "to": len(text)}),
        text=text,
        before="",
        after="",
    )
    await w.say("shorter", attachments=(selection,))
    (request,) = w.provider.requests
    assert request.tools == ()
    assert request.system.startswith("You write for a data scientist")
    assert "narrow side panel" not in request.system
    texts = [part.text for part in request.messages[0].parts if isinstance(part, TextPart)]
    assert texts[0] == "shorter"
    assert texts[1].startswith("[attached selection in cell c1 of a.ipynb]\n<data")
    assert text in texts[1]
    assert w.exits() == ["final_response"]


async def test_inline_conversation_runs_no_tool_a_model_makes_up():
    w = make_engine(turn(Call("run_it", {"path": "b"}, "c2")), "````\na\n````", given=INLINE)
    await w.say()
    assert w.results() == [("c2", "error")]
    assert w.probe.started == []
