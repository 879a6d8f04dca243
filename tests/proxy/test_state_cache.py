"""Answers are found again by their calls, for an hour."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.proxy.state_cache import ENTRY_SECONDS, StateCache
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ProviderState,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from tests.providers.adapter_fixtures import FakeClock

STATE = ProviderState(provider="p", model="m", data={"x": 1})
THOUGHT = ReasoningPart(text="Hm.", state=STATE)


def call(name: str, number: int = 1, state: ProviderState | None = None) -> ToolCallPart:
    return ToolCallPart(call_id=CallId(name), tool="read", arguments={"n": number}, state=state)


def message(*parts: AssistantPart) -> AssistantMessage:
    return AssistantMessage(parts=parts)


WHOLE = message(THOUGHT, TextPart(text="I look. "), call("a"), call("b", state=STATE))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def shelf(clock: FakeClock) -> StateCache:
    shelf = StateCache(clock)
    shelf.store(WHOLE)
    return shelf


def test_an_answer_without_its_state_becomes_whole(shelf: StateCache) -> None:
    assert shelf.restore(message(TextPart(text="I look."), call("a"), call("b"))) is WHOLE


def test_a_changed_answer_gets_the_state_of_its_calls_only(shelf: StateCache) -> None:
    changed = message(TextPart(text="I looked."), call("b"))
    expected = message(TextPart(text="I looked."), call("b", state=STATE))
    assert shelf.restore(changed) == expected


@pytest.mark.parametrize(
    "other",
    [message(TextPart(text="I look.")), message(call("c")), message(call("a", number=2))],
    ids=["no call", "another call", "other arguments"],
)
def test_another_answer_stays_as_it_is(shelf: StateCache, other: AssistantMessage) -> None:
    assert shelf.restore(other) is other


def test_after_an_hour_it_is_forgotten(shelf: StateCache, clock: FakeClock) -> None:
    clock.seconds += ENTRY_SECONDS
    asked = message(TextPart(text="I look."), call("a"), call("b"))
    assert shelf.restore(asked) is asked
    shelf.store(message(THOUGHT, call("z")))
    assert len(shelf) == 1


def test_answers_without_state_or_calls_are_not_kept(clock: FakeClock) -> None:
    shelf = StateCache(clock)
    shelf.store(message(TextPart(text="So."), call("a")))
    shelf.store(message(THOUGHT, TextPart(text="So.")))
    assert len(shelf) == 0


def test_memory_stays_bounded(clock: FakeClock) -> None:
    shelf = StateCache(clock, most=10_000)
    for number in range(200):
        shelf.store(message(THOUGHT, TextPart(text="x" * 500), call("a", number)))
    assert 5 < len(shelf) < 20
    newest = message(TextPart(text="x" * 500), call("a", 199))
    assert shelf.restore(newest).parts[0] == THOUGHT


def test_the_same_answer_twice_counts_once(shelf: StateCache) -> None:
    shelf.store(WHOLE)
    assert len(shelf) == 2
