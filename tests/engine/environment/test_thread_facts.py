"""A thread's model gets the facts at its anchor: all at first, later only changes."""

from __future__ import annotations

from jupyter_ai_shoulders.core.anchors.text import utf16_range
from jupyter_ai_shoulders.engine.environment.snapshot import WorkspaceFact
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider
from jupyter_ai_shoulders.wire.sessions import Anchor
from tests.engine.engine_harness import FakeModels, make_session, model_spec
from tests.engine.environment_harness import (
    FakeEnvironment,
    engine_in,
    make_engine_in_environment,
    newest,
)

ANCHOR = Anchor(
    document="a.py",
    cell_id=None,
    target="source",
    range=utf16_range(0, 5),
    quote="x = 1",
    prefix="",
    suffix="\n",
)
ABOUT = WorkspaceFact("this conversation is about", "line 1 of a.py")


def quote(text: str) -> WorkspaceFact:
    return WorkspaceFact("the text it is about", text, is_data=True)


async def test_the_place_is_told_whole_and_then_what_changed_of_it():
    here = FakeEnvironment(around_thread=(ABOUT, quote("x = 1")))
    store = MemoryStore()
    store.add(make_session("task", anchor=ANCHOR))
    provider = ScriptedProvider("One.", "Two.", "Three.")
    w = engine_in(here, FakeModels(provider, model_spec()), provider, store)

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
    w = make_engine_in_environment(FakeEnvironment(around_thread=(ABOUT,)), "One.")

    await w.say()

    assert "this conversation is about" not in newest(w.provider.requests[0])
