"""Keys in streamed text are never shown, however they are cut."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.redaction.redactor import MASK, Redactor
from jupyter_ai_shoulders.engine.calls.delta_buffer import DeltaBuffer
from jupyter_ai_shoulders.wire.events import ReasoningDelta, TextDelta
from tests.engine.simulator_harness import wired
from tests.simulator import Reasoning, Simulator, Text, reply

KEY = "live-key-canary-0123456789"


async def joined(pieces: Sequence[str], redactor: Redactor | None) -> list[str]:
    shown: list[str] = []
    coalescer = DeltaBuffer(0.0, shown.append, None if redactor is None else lambda: redactor)
    for piece in pieces:
        coalescer.push(piece)
        coalescer.flush()
    coalescer.close()
    return shown


@pytest.mark.parametrize("at", range(1, len(KEY)))
async def test_a_key_cut_anywhere_never_leaves(at: int) -> None:
    shown = await joined(["It is ", KEY[:at], KEY[at:], ", so use it."], Redactor([KEY]))
    assert "".join(shown) == f"It is {MASK}, so use it."
    assert not any(piece and piece in KEY for piece in shown)


async def test_what_only_began_like_a_key_is_shown_at_the_end() -> None:
    shown = await joined(["It is ", KEY[:9]], Redactor([KEY]))
    assert shown == ["It is ", KEY[:9]]


async def test_ordinary_text_is_held_back_to_the_end_of_a_word_at_most() -> None:
    assert await joined(["It is sk", "y blue, s", "o"], Redactor()) == [
        "It is ",
        "sky blue, ",
        "so",
    ]


async def test_nothing_is_held_back_without_a_redactor() -> None:
    assert await joined(["It is sk", "y blue, s", "o"], None) == ["It is sk", "y blue, s", "o"]


async def test_a_model_that_says_the_key_word_by_word_is_not_heard(
    simulator: Simulator, tmp_path: Path
) -> None:
    said = f"Your key is {simulator.key}."
    simulator.script(reply(Reasoning(text=said), Text(text=said, split=3)))
    async with wired(simulator, tmp_path) as talk:
        await talk.say("What is my key?", "claude-haiku-5-5")
        for kind in (TextDelta, ReasoningDelta):
            assert "".join(event.text for event in talk.of(kind)) == f"Your key is {MASK}."
        deltas = (event for event in talk.events if isinstance(event, (TextDelta, ReasoningDelta)))
        assert all(simulator.key not in event.text for event in deltas)


async def test_holding_back_costs_little() -> None:
    """A delta costs some tens of microseconds; only a mistake exceeds this bound."""
    redactor = Redactor([f"{KEY}-{number}" for number in range(6)])
    shown: list[str] = []
    coalescer = DeltaBuffer(0.0, shown.append, lambda: redactor)
    began = time.process_time()
    for number in range(2_000):
        coalescer.push(f"word{number} ")
        coalescer.flush()
    coalescer.close()
    per_delta = (time.process_time() - began) / 2_000
    assert per_delta < 0.000_5, per_delta
