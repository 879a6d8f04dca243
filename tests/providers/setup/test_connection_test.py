"""The Test button with gateways that break streaming or tool calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.providers.setup.connection_test import run_connection_test
from jupyter_ai_shoulders.wire.api.responses import ProviderTest
from jupyter_ai_shoulders.wire.errors import ErrorCode
from tests.providers.adapter_fixtures import Kind, chat_model, claude
from tests.providers.conversation import connected
from tests.simulator import (
    Delivery,
    Failure,
    Reply,
    Simulator,
    ToolUse,
    html_error,
    overloaded,
    reply,
)
from tests.simulator.script import SimRequest

WORD = ToolUse(name="report_word", arguments={"word": "shoulders"})
SPECS = {"anthropic": claude("claude-haiku-5-5"), "openai_chat": chat_model(model="sim-local")}
KINDS: list[Kind] = ["anthropic", "openai_chat"]


def gateway(with_tools: Reply, plain: Reply) -> Callable[[SimRequest], Reply]:
    """A gateway that treats requests with tools differently."""
    return lambda request: with_tools if request.tool_names else plain


async def outcome_of(simulator: Simulator, kind: Kind) -> ProviderTest:
    spec = SPECS[kind]
    async with connected(simulator, kind, model=spec) as provider:
        return await run_connection_test(ResolvedModel(spec, provider), SystemClock())


@pytest.mark.parametrize("kind", KINDS)
async def test_one_call_is_enough_where_all_is_well(simulator: Simulator, kind: Kind) -> None:
    simulator.default(reply(WORD))
    outcome = await outcome_of(simulator, kind)
    assert (outcome.ok, outcome.stream_ok, outcome.tool_call_ok) == (True, True, True)
    assert len(simulator.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_the_time_to_the_first_delta_stands_beside_the_total(
    simulator: Simulator, kind: Kind
) -> None:
    simulator.default(reply(WORD, delivery=Delivery(event_delay=0.02)))
    outcome = await outcome_of(simulator, kind)
    assert outcome.first_delta_ms is not None
    assert 0 < outcome.first_delta_ms < outcome.duration_ms


async def test_a_test_without_an_answer_has_no_first_delta(simulator: Simulator) -> None:
    simulator.default(reply(failure=Failure(status=401)))
    assert (await outcome_of(simulator, "anthropic")).first_delta_ms is None


COLLECTED = reply(
    failure=Failure(status=200, body=json.dumps({"id": "1", "content": [], "choices": []}))
)
ONLY_PLAIN: dict[str, Reply] = {
    "calls left out": reply("shoulders"),
    "arguments cut": reply(ToolUse(name="report_word", arguments='{"wor')),
    "arguments doubled": reply(
        ToolUse(name="report_word", arguments='{"word": "shoulders"}{"word": "shoulders"}')
    ),
    "tools refused": reply(failure=Failure(status=400, message="tools are not supported")),
    "end left out": reply(WORD, delivery=Delivery(ending="no_terminator")),
    "cut inside the call": reply(WORD, delivery=Delivery(ending="cut", ending_after=3)),
    "calls collected": COLLECTED,
    "server error with tools": reply(failure=Failure(status=500)),
}
NOTHING: dict[str, Reply] = {
    "answers collected": COLLECTED,
    "end left out": reply("shoulders", delivery=Delivery(ending="no_terminator")),
    "connection cut": reply("shoulders", delivery=Delivery(ending="cut", ending_after=2)),
    "web page": html_error(200),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("broken", ONLY_PLAIN)
async def test_gateway_that_breaks_the_tool_call_is_told_from_others(
    simulator: Simulator, broken: str, kind: Kind
) -> None:
    simulator.default(gateway(ONLY_PLAIN[broken], reply("shoulders")))
    outcome = await outcome_of(simulator, kind)
    assert (outcome.ok, outcome.stream_ok, outcome.tool_call_ok) == (False, True, False)
    assert outcome.error is not None
    assert outcome.error.message.startswith("Plain streaming works, the streamed tool call does")
    assert "pick another model for notebooks" in (outcome.error.hint or "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("broken", NOTHING)
async def test_gateway_that_breaks_streaming_is_told_from_others(
    simulator: Simulator, broken: str, kind: Kind
) -> None:
    simulator.default(NOTHING[broken])
    outcome = await outcome_of(simulator, kind)
    assert (outcome.ok, outcome.stream_ok, outcome.tool_call_ok) == (False, False, False)
    assert outcome.error is not None
    assert outcome.error.message.startswith("Plain streaming is broken: ")
    assert "own address" in (outcome.error.hint or "")
    assert len(simulator.requests) == 2


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (reply(failure=Failure(status=401)), "authentication"),
        (reply(failure=Failure(status=402)), "billing"),
        (reply(failure=Failure(status=404)), "model_not_found"),
        (overloaded(), "overloaded"),
    ],
)
async def test_what_is_no_gateways_fault_is_asked_once(
    simulator: Simulator, answer: Any, code: ErrorCode
) -> None:
    simulator.default(answer)
    outcome = await outcome_of(simulator, "anthropic")
    assert outcome.error is not None
    assert (outcome.ok, outcome.error.code) == (False, code)
    assert len(simulator.requests) == 1
