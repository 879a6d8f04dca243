"""A cached value that is slow to fetch."""

from __future__ import annotations

import asyncio
import threading

import pytest

from jupyter_ai_shoulders.host.context.cached_value import CachedValue
from jupyter_ai_shoulders.testing.memory_store import FixedClock


class Slow:
    """Counts fetches; blocks the second one until released."""

    def __init__(self) -> None:
        self.asked = 0
        self.go = threading.Event()

    def __call__(self) -> int:
        self.asked += 1
        asked = self.asked
        if asked == 2:
            self.go.wait(10)
        return asked


async def test_answer_is_good_for_some_seconds():
    slow, clock = Slow(), FixedClock()
    latest = CachedValue(slow, clock, good_for=5)
    assert [await latest.value(), await latest.value()] == [1, 1]
    clock.advance(6)
    slow.go.set()
    assert await latest.value() == 2


async def test_known_answer_is_given_while_a_new_one_takes_long():
    slow, clock = Slow(), FixedClock()
    latest = CachedValue(slow, clock, good_for=5, timeout=0.01)
    assert await latest.value() == 1
    clock.advance(6)
    assert [await latest.value(), await latest.value()] == [1, 1]
    slow.go.set()
    await latest.aclose()
    assert (await latest.value(), slow.asked) == (2, 2)


async def test_two_who_ask_at_once_are_answered_by_one_question():
    slow = Slow()
    latest = CachedValue(slow, FixedClock())
    assert await asyncio.gather(latest.value(), latest.value()) == [1, 1]
    assert slow.asked == 1


async def test_failure_is_raised_and_asked_again():
    answers = iter([OSError("away"), 7])

    def ask() -> int:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    latest = CachedValue(ask, FixedClock())
    with pytest.raises(OSError, match="away"):
        await latest.value()
    assert await latest.value() == 7
