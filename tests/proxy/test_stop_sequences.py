"""Stop texts are found however the text is cut, and what is shown stops right before."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    Stop,
    UsageReport,
)
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyEvent, StoppedAt
from jupyter_ai_shoulders.proxy.stop_sequences import StopSequenceFilter
from jupyter_ai_shoulders.wire.ids import PartId
from jupyter_ai_shoulders.wire.usage import TokenUsage

PART = PartId("p")


def events_of(pieces: list[str]) -> list[ProviderEvent]:
    deltas = [PartDelta(PART, piece) for piece in pieces if piece]
    return [PartStart("text", PART), *deltas, PartEnd(PART), Stop("end_turn")]


def run(pieces: list[str], *stops: str) -> list[ReplyEvent]:
    cutter = StopSequenceFilter(stops, "other")
    passed: list[ReplyEvent] = []
    for event in events_of(pieces):
        passed += cutter.feed(event)
        if cutter.found:
            break
    return passed


def shown(events: list[ReplyEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, PartDelta))


@pytest.mark.parametrize(
    ("pieces", "stops", "text", "found"),
    [
        (["one two three"], ("two",), "one ", "two"),
        (["one t", "w", "o three"], ("two",), "one ", "two"),
        (["one t", "hree"], ("two",), "one three", None),
        (["aab"], ("ab",), "a", "ab"),
        (["a", "a", "a", "b"], ("aab",), "a", "aab"),
        (["xyz"], ("z", "y"), "x", "y"),
        (["ends with t"], ("two",), "ends with t", None),
        (["stop"], ("stop",), "", "stop"),
    ],
)
def test_the_text_ends_before_the_first_stop(
    pieces: list[str], stops: tuple[str, ...], text: str, found: str | None
) -> None:
    events = run(pieces, *stops)
    ends = [event.text for event in events if isinstance(event, StoppedAt)]
    assert (shown(events), ends) == (text, [found] if found else [])


@settings(max_examples=150)
@given(
    pieces=st.lists(st.text(alphabet="ab", min_size=1, max_size=4), max_size=8),
    stop=st.text(alphabet="ab", min_size=1, max_size=4),
)
def test_cuts_make_no_difference(pieces: list[str], stop: str) -> None:
    text = "".join(pieces)
    assert shown(run(pieces, stop)) == text.split(stop)[0]


def test_the_answer_ends_in_order_with_an_estimate() -> None:
    assert run(["one two"], "two") == [
        PartStart("text", PART),
        PartDelta(PART, "one "),
        PartEnd(PART),
        UsageReport(TokenUsage(output_tokens=2, estimated=True)),
        StoppedAt("two"),
    ]
