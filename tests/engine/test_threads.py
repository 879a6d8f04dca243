"""A thread's model is told of its place: whole at first, later what changed of it (chapter 09)."""

from __future__ import annotations

from jupyter_ai_shoulders.core.anchors import text_range
from jupyter_ai_shoulders.engine.surroundings import Fact
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.testing.scripted import ScriptedProvider
from jupyter_ai_shoulders.wire.sessions import Anchor
from tests.engine.surrounded import Place, engine_in, newest, placed
from tests.engine.world import FakeModels, session, spec

ANCHOR = Anchor(
    document="a.py",
    cell_id=None,
    target="source",
    range=text_range(0, 5),
    quote="x = 1",
    prefix="",
    suffix="\n",
)
ABOUT = Fact("this conversation is about", "line 1 of a.py")


def quote(text: str) -> Fact:
    return Fact("the text it is about", text, is_data=True)


async def test_the_place_is_told_whole_and_then_what_changed_of_it():
    here = Place(around_thread=(ABOUT, quote("x = 1")))
    store = MemoryStore()
    store.add(session("task", anchor=ANCHOR))
    provider = ScriptedProvider("One.", "Two.", "Three.")
    w = engine_in(here, FakeModels(provider, spec()), provider, store)

    await w.say()
    await w.say()
    here.around_thread = (ABOUT, quote("x = 2"))
    await w.say()

    first, second, third = map(newest, w.provider.requests)
    assert "this conversation is about: line 1 of a.py" in first
    assert "x = 1" in first
    assert "this conversation" not in second
    assert "x = 1" not in second
    assert "this conversation" not in third
    assert "x = 2" in third


async def test_a_conversation_without_a_place_is_told_of_none():
    w = placed(Place(around_thread=(ABOUT,)), "One.")

    await w.say()

    assert "this conversation is about" not in newest(w.provider.requests[0])
