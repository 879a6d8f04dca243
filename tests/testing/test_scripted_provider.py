"""The scripted provider keeps the port's promises, so that engine tests can rely on it."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    PartDelta,
    PartEnd,
    PartStart,
    Provider,
    ProviderEvent,
    Stop,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
    UsageReport,
)
from jupyter_ai_shoulders.testing.scripted_provider import (
    TYPICAL_USAGE,
    Call,
    Fail,
    Gate,
    Say,
    ScriptedProvider,
    ScriptExhausted,
    Think,
    split_words,
    turn,
)
from jupyter_ai_shoulders.wire.ids import CallId, PartId

REQUEST = ModelRequest(model="scripted", system="", messages=())


async def collect(provider: Provider) -> list[ProviderEvent]:
    return [event async for event in provider.stream(REQUEST)]


async def test_items_become_events_in_order_and_end_with_one_stop() -> None:
    provider = ScriptedProvider(turn(Think("Look."), Say("Hi there"), Call("run", {"a": 1})))
    assert await collect(provider) == [
        PartStart("reasoning", PartId("part_1")),
        PartDelta(PartId("part_1"), "Look."),
        PartEnd(PartId("part_1")),
        PartStart("text", PartId("part_2")),
        PartDelta(PartId("part_2"), "Hi "),
        PartDelta(PartId("part_2"), "there"),
        PartEnd(PartId("part_2")),
        ToolCallStart(CallId("call_3"), "run"),
        ToolArgumentsDelta(CallId("call_3"), '{"a"'),
        ToolArgumentsDelta(CallId("call_3"), ": 1}"),
        ToolCallReady(CallId("call_3"), "run", {"a": 1}, '{"a": 1}'),
        UsageReport(TYPICAL_USAGE),
        Stop("tool_use"),
    ]
    assert provider.finished == 1


async def test_text_arguments_are_reported_as_a_problem() -> None:
    events = await collect(ScriptedProvider(turn(Call("run", "{oops", "c1"))))
    ready = next(event for event in events if isinstance(event, ToolCallReady))
    assert (ready.call_id, ready.arguments, ready.raw) == ("c1", None, "{oops")
    assert ready.problem


async def test_entry_may_be_a_function_of_the_request() -> None:
    events = await collect(ScriptedProvider(lambda request: request.model))
    assert PartDelta(PartId("part_1"), "scripted") in events


async def test_failure_is_raised_where_the_script_has_it() -> None:
    provider = ScriptedProvider(turn(Say("Hi"), Fail(ProviderError("Down", retryable=True))))
    with pytest.raises(ProviderError, match="Down"):
        await collect(provider)
    assert provider.closed_early == 1


async def test_gate_holds_the_stream_until_opened() -> None:
    gate = Gate()
    task = asyncio.create_task(collect(ScriptedProvider(turn(gate, Say("late")))))
    await gate.reached.wait()
    assert not task.done()
    gate.open.set()
    assert (await task)[-1] == Stop("end_turn")


async def test_cancel_at_a_gate_counts_as_closed_early() -> None:
    gate = Gate()
    provider = ScriptedProvider(turn(gate))
    task = asyncio.create_task(collect(provider))
    await gate.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (provider.finished, provider.closed_early) == (0, 1)


async def test_request_beyond_the_script_fails_loudly() -> None:
    with pytest.raises(ScriptExhausted):
        await collect(ScriptedProvider())


@given(st.text())
def test_words_join_to_the_text(text: str) -> None:
    assert "".join(split_words(text)) == text
