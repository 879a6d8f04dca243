"""Calls that overlap become blocks that do not."""

from __future__ import annotations

from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
)
from jupyter_ai_shoulders.proxy.stream_order import BlockEvent, BlockSequencer
from jupyter_ai_shoulders.wire.ids import CallId, PartId


def start(name: str) -> BlockEvent:
    return ToolCallStart(CallId(name), "read")


def more(name: str, text: str) -> BlockEvent:
    return ToolArgumentsDelta(CallId(name), text)


def ready(name: str, raw: str, **arguments: int) -> BlockEvent:
    return ToolCallReady(CallId(name), "read", dict(arguments), raw)


def run(*events: BlockEvent) -> list[BlockEvent]:
    turns = BlockSequencer()
    return [passed for event in events for passed in turns.feed(event)]


def test_calls_that_take_turns_become_one_after_the_other() -> None:
    assert run(
        start("a"),
        start("b"),
        more("a", '{"n":'),
        more("b", '{"n":'),
        more("a", "1}"),
        more("b", "2}"),
        ready("a", '{"n":1}', n=1),
        ready("b", '{"n":2}', n=2),
    ) == [
        start("a"),
        more("a", '{"n":'),
        more("a", "1}"),
        ready("a", '{"n":1}', n=1),
        start("b"),
        more("b", '{"n":'),
        more("b", "2}"),
        ready("b", '{"n":2}', n=2),
    ]


def test_a_call_with_whole_arguments_ends_when_the_next_begins() -> None:
    """Chat servers say only at the end that a call is complete; nobody should wait for that."""
    turns = BlockSequencer()
    for event in (start("a"), more("a", '{"n":1}')):
        assert turns.feed(event) == (event,)

    assert turns.feed(start("b")) == [ready("a", '{"n":1}', n=1), start("b")]
    assert turns.feed(more("b", "{}")) == (more("b", "{}"),)
    assert turns.feed(ready("a", '{"n":1}', n=1)) == ()
    assert turns.feed(ready("b", "{}")) == [ready("b", "{}")]


def test_text_after_an_open_call_waits_for_it() -> None:
    part = PartId("p")
    text = [PartStart("text", part), PartDelta(part, "So."), PartEnd(part)]
    assert run(start("a"), *text, ready("a", "")) == [start("a"), ready("a", ""), *text]


def test_three_calls_whose_ends_come_in_another_order() -> None:
    passed = run(
        *(start(name) for name in "abc"),
        ready("c", ""),
        ready("b", ""),
        ready("a", ""),
    )
    assert passed == [event for name in "abc" for event in (start(name), ready(name, ""))]
