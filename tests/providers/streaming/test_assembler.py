"""The assembler's guarantees for any input of a vendor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
)
from jupyter_ai_shoulders.providers.streaming.assembler import (
    Assembler,
    parse_arguments,
    used_call_ids,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId
from tests.providers.adapter_fixtures import SequentialIds, ask, assistant, call, transcript


def assembler(*taken: str) -> Assembler:
    return Assembler(SequentialIds(), [CallId(name) for name in taken])


READ: list[tuple[str, tuple[JsonObject | None, str | None]]] = [
    ('{"a": 1}', ({"a": 1}, None)),
    ("", ({}, None)),
    (" \n", ({}, None)),
    ("{}", ({}, None)),
    (
        '{"big": 123456789012345678901234567890}',
        ({"big": 123456789012345678901234567890}, None),
    ),
    ("[1]", (None, "The arguments must be a JSON object.")),
    ('"{}"', (None, "The arguments must be a JSON object.")),
    ("null", (None, "The arguments must be a JSON object.")),
]


@pytest.mark.parametrize(("raw", "expected"), READ)
def test_arguments_are_read(raw: str, expected: object) -> None:
    assert parse_arguments(raw) == expected


@pytest.mark.parametrize(
    "raw",
    ['{"a": 1', '{"a": NaN}', "{'a': 1}", '{"a": "\\ud800"}', "[" * 5000, '{"a": 1} x', "\x00"],
)
def test_invalid_arguments_are_a_problem(raw: str) -> None:
    arguments, problem = parse_arguments(raw)
    assert arguments is None
    assert problem is not None
    assert "not valid JSON" in problem


@pytest.mark.parametrize(("levels", "fine"), [(63, True), (64, False), (150, False)])
def test_nesting_is_bounded(levels: int, fine: bool) -> None:
    raw = '{"a": ' + "[" * levels + "]" * levels + "}"
    assert (parse_arguments(raw)[1] is None) is fine


def test_split_surrogate_pairs_are_joined() -> None:
    made = assembler()
    events = [
        *made.delta("text", "a\ud83d"),
        *made.delta("text", "\ude00b"),
        *made.delta("text", "\ud83d"),
        *made.finish("end_turn"),
    ]
    assert transcript(events) == [
        "part_1: text",
        "part_1 + 'a'",
        "part_1 + '😀b'",
        "part_1 + '\ufffd'",
        "part_1 end",
    ]


def test_surrogates_in_arguments_are_joined() -> None:
    made = assembler()
    events = [
        *made.start_call(0, "x", "read"),
        *made.arguments(0, '{"a": "\ud83d'),
        *made.arguments(0, '\ude00"}'),
        *made.end_call(0),
    ]
    assert isinstance(events[-1], ToolCallReady)
    assert events[-1].arguments == {"a": "😀"}


def test_repeated_missing_and_taken_ids_become_new_ones() -> None:
    made = assembler("a")
    events = [
        *made.start_call(0, "a", "read"),
        *made.start_call(1, "b", "read"),
        *made.start_call(2, "b", "read"),
        *made.start_call(3, "", "read"),
    ]
    ids = [event.call_id for event in events if isinstance(event, ToolCallStart)]
    assert ids == ["call_1", "b", "call_2", "call_3"]


def test_ids_of_the_conversation_are_taken() -> None:
    request = ask("Hi", assistant(call("a"), call("b")))
    assert used_call_ids(request) == {"a", "b"}


def test_fragments_of_unknown_calls_are_dropped() -> None:
    made = assembler()
    assert [*made.arguments(7, "{}"), *made.end_call(7)] == []


operations = st.one_of(
    st.tuples(st.sampled_from(["text", "reasoning"]), st.text(max_size=3)),
    st.tuples(st.just("start"), st.sampled_from(["", "a", "b"])),
    st.tuples(st.just("arguments"), st.sampled_from(["", "{", "}", '"a":1'])),
    st.tuples(st.just("end"), st.just("")),
    st.tuples(st.just("close"), st.just("")),
)


def perform(made: Assembler, steps: Iterable[tuple[str, str]]) -> Iterator[ProviderEvent]:
    calls = 0
    for kind, value in steps:
        match kind:
            case "text" | "reasoning":
                yield from made.delta("text" if kind == "text" else "reasoning", value)
            case "start":
                calls += 1
                yield from made.start_call(calls, value, "read")
            case "arguments":
                yield from made.arguments(calls, value)
            case "end":
                yield from made.end_call(calls)
            case _:
                yield from made.end_part()
    yield from made.finish("end_turn")


@given(st.lists(operations, max_size=25))
def test_any_order_of_vendor_events_is_well_formed(steps: list[tuple[str, str]]) -> None:
    open_part: str | None = None
    started: list[str] = []
    ready: list[str] = []
    for event in perform(assembler("a"), steps):
        match event:
            case PartStart():
                assert open_part is None
                open_part = event.part_id
            case PartDelta():
                assert event.part_id == open_part
                assert event.text
            case PartEnd():
                assert event.part_id == open_part
                open_part = None
            case ToolCallStart():
                assert open_part is None
                started.append(event.call_id)
            case ToolArgumentsDelta():
                assert event.call_id in started
                assert event.call_id not in ready
            case ToolCallReady():
                assert (event.arguments is None) != (event.problem is None)
                ready.append(event.call_id)
            case _:
                pass
    assert open_part is None
    assert len(set(started)) == len(started)
    assert sorted(ready) == sorted(started)
