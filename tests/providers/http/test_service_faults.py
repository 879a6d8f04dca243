"""Failures of a service over a real socket, and the errors the caller gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    ProviderEvent,
    Stop,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from tests.providers.adapter_fixtures import (
    KEY,
    Kind,
    ask,
    collect,
)
from tests.providers.conversation import connected
from tests.providers.faulty_servers import KINDS, MODELS, append_all, failed, until
from tests.simulator import (
    Delivery,
    Failure,
    Reply,
    Simulator,
    Text,
    html_error,
    overloaded,
    rate_limited,
    reply,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answer", "code", "retryable"),
    [
        pytest.param(rate_limited(retry_after="2"), "rate_limited", True, id="429"),
        pytest.param(
            reply(failure=Failure(status=401, message=f"bad key {KEY}")),
            "authentication",
            False,
            id="401",
        ),
        pytest.param(reply(failure=Failure(status=402)), "billing", False, id="402"),
        pytest.param(reply(failure=Failure(status=403)), "permission", False, id="403"),
        pytest.param(reply(failure=Failure(status=404)), "model_not_found", False, id="404"),
        pytest.param(reply(failure=Failure(status=408)), "provider_timeout", True, id="408"),
        pytest.param(reply(failure=Failure(status=409)), "provider_error", True, id="409"),
        pytest.param(reply(failure=Failure(status=413)), "too_large", False, id="413"),
        pytest.param(reply(failure=Failure(status=500)), "provider_error", True, id="500"),
        pytest.param(reply(failure=Failure(status=503)), "overloaded", True, id="503"),
        pytest.param(overloaded(), "overloaded", True, id="529"),
        pytest.param(html_error(502), "provider_error", True, id="502 page"),
        pytest.param(html_error(200), "provider_protocol", False, id="200 page"),
        pytest.param(
            reply(failure=Failure(status=200, body='{"hello": 1}')),
            "provider_protocol",
            False,
            id="200 with other JSON",
        ),
        pytest.param(
            reply(failure=Failure(status=200, body='{"error": {"message": "Oh"}}')),
            "provider_error",
            True,
            id="200 with an error",
        ),
        pytest.param(
            reply(failure=Failure(status=302, body="", headers={"location": "/login"})),
            "provider_protocol",
            False,
            id="redirection",
        ),
        pytest.param(
            reply(failure=Failure(status=500, headers={"x-should-retry": "false"})),
            "provider_error",
            False,
            id="x-should-retry: false",
        ),
        pytest.param(
            reply(failure=Failure(status=400, headers={"x-should-retry": "true"})),
            "bad_request_upstream",
            True,
            id="x-should-retry: true",
        ),
    ],
)
async def test_refusal_is_named(
    simulator: Simulator, kind: Kind, answer: Reply, code: ErrorCode, retryable: bool
) -> None:
    error = await failed(simulator, kind, answer)
    assert (error.info.code, error.info.retryable) == (code, retryable)
    assert MODELS[kind].model in error.info.message
    assert error.info.model == MODELS[kind].model
    assert error.info.hint
    assert KEY not in repr(error.info)
    assert simulator.key not in repr(error.info)


async def test_message_names_provider_model_status_and_request(simulator: Simulator) -> None:
    error = await failed(simulator, "anthropic", reply(failure=Failure(status=404, message="Gone")))
    assert error.info.message == (
        "Anthropic, claude-haiku-5-5: the model or the address does not exist there: Gone"
        " (HTTP 404, request req_sim00000001)"
    )
    assert error.status == 404
    assert error.info.request_id == "req_sim00000001"
    assert error.info.provider == "anthropic"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("headers", "wait_ms", "retryable"),
    [
        pytest.param({"retry-after-ms": "1500"}, 1500, True, id="milliseconds"),
        pytest.param({"retry-after": "2.5"}, 2500, True, id="seconds"),
        pytest.param({"retry-after": "Sat, 21 Nov 2026 12:00:07 GMT"}, 7000, True, id="date"),
        pytest.param({"retry-after": "3600"}, 3_600_000, False, id="longer than we wait"),
        pytest.param({}, None, True, id="none"),
    ],
)
async def test_asked_wait_is_passed_on(
    simulator: Simulator,
    kind: Kind,
    headers: dict[str, str],
    wait_ms: int | None,
    retryable: bool,
) -> None:
    error = await failed(simulator, kind, reply(failure=Failure(status=429, headers=headers)))
    assert (error.retry_after_ms, error.info.retryable) == (wait_ms, retryable)


QUOTA: list[tuple[Kind, Failure, ErrorCode]] = [
    (
        "anthropic",
        Failure(status=400, message="Your credit balance is too low to access the API."),
        "billing",
    ),
    (
        "anthropic",
        Failure(
            status=429,
            body='{"type":"error","error":{"type":"rate_limit_error","message":"x",'
            '"details":{"error_code":"contract_spend_limit_reached"}}}',
        ),
        "quota_exhausted",
    ),
    (
        "openai_chat",
        Failure(status=429, code="insufficient_quota", type="insufficient_quota"),
        "quota_exhausted",
    ),
    (
        "openai_responses",
        Failure(status=429, code="billing_hard_limit_reached"),
        "quota_exhausted",
    ),
    (
        "google",
        Failure(status=429, code="GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
        "quota_exhausted",
    ),
    (
        "google",
        Failure(status=400, type="FAILED_PRECONDITION", message="Please enable billing on it."),
        "billing",
    ),
]


@pytest.mark.parametrize(("kind", "failure", "code"), QUOTA)
async def test_spent_account_is_not_a_rate_limit(
    simulator: Simulator, kind: Kind, failure: Failure, code: ErrorCode
) -> None:
    error = await failed(simulator, kind, reply(failure=failure))
    assert (error.info.code, error.info.retryable) == (code, False)


OVERFLOW = [
    ("anthropic", "prompt is too long: 210000 tokens > 200000 maximum", None),
    ("openai_chat", "Too much.", "context_length_exceeded"),
    ("openai_chat", "This model's maximum context length is 4096 tokens.", None),
    ("openai_chat", "the request exceeds the available context size", None),
    ("openai_responses", "Your input is too long.", "context_length_exceeded"),
    ("openai_responses", "Your input exceeds the context window of this model.", None),
    (
        "google",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        None,
    ),
    ("ollama", "the input length exceeds the context length", None),
]


@pytest.mark.parametrize(("kind", "message", "code"), OVERFLOW)
async def test_overflow_is_recognised(
    simulator: Simulator, kind: Kind, message: str, code: str | None
) -> None:
    error = await failed(
        simulator, kind, reply(failure=Failure(status=400, message=message, code=code))
    )
    assert (error.info.code, error.info.retryable) == ("context_overflow", False)


@pytest.mark.parametrize("kind", KINDS)
async def test_error_inside_the_stream_is_raised_after_what_came(
    simulator: Simulator, kind: Kind
) -> None:
    simulator.script(reply("One two three four five six.", failure=Failure(status=529, after=6)))
    seen: list[ProviderEvent] = []
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        with pytest.raises(ProviderError) as caught:
            await append_all(provider, ask("Hi", model=MODELS[kind].model), seen)
    assert caught.value.info.code in {"overloaded", "provider_error"}
    assert caught.value.info.retryable
    assert any(isinstance(event, PartDelta) for event in seen)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["no_terminator", "cut", "reset"])
@pytest.mark.parametrize("after", [None, 0, 2])
async def test_stream_without_its_end_is_an_error(
    simulator: Simulator, kind: Kind, ending: Any, after: int | None
) -> None:
    delivery = Delivery(ending=ending, ending_after=after)
    error = await failed(simulator, kind, reply("One two three.", delivery=delivery))
    assert (error.info.code, error.info.retryable) == ("stream_truncated", True)


@pytest.mark.parametrize("kind", KINDS)
async def test_stalled_stream_is_given_up(simulator: Simulator, kind: Kind) -> None:
    delivery = Delivery(ending="stall", ending_after=3)
    error = await failed(
        simulator, kind, reply("One two three.", delivery=delivery), idle_timeout=0.1
    )
    assert (error.info.code, error.info.retryable) == ("provider_timeout", True)
    assert "0.1 seconds" in error.info.message
    await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


@pytest.mark.parametrize("kind", KINDS)
async def test_trickle_ends_with_the_total_time(simulator: Simulator, kind: Kind) -> None:
    delivery = Delivery(chunk=1, event_delay=0.02)
    words = reply("word " * 500, delivery=delivery)
    error = await failed(simulator, kind, words, total_timeout=0.3)
    assert error.info.code == "provider_timeout"
    assert "longer than 0.3 seconds" in error.info.message


@pytest.mark.parametrize("kind", KINDS)
async def test_no_answer_within_the_idle_time(simulator: Simulator, kind: Kind) -> None:
    late = reply("Hi", delivery=Delivery(first_byte_delay=5))
    error = await failed(simulator, kind, late, idle_timeout=0.1)
    assert error.info.code == "provider_timeout"


@pytest.mark.parametrize("kind", KINDS)
async def test_closing_the_stream_closes_the_connection(simulator: Simulator, kind: Kind) -> None:
    simulator.script(reply("word " * 200, delivery=Delivery(event_delay=0.05)))
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        request = ask("Hi", model=MODELS[kind].model)
        events = cast("AsyncGenerator[ProviderEvent]", provider.stream(request))
        async with aclosing(events):
            async for event in events:
                if isinstance(event, PartDelta):
                    break
        await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


@pytest.mark.parametrize("kind", KINDS)
async def test_cancelling_the_reader_closes_the_connection(
    simulator: Simulator, kind: Kind
) -> None:
    simulator.script(reply("Hi", delivery=Delivery(ending="stall", ending_after=1)))
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        reading = asyncio.ensure_future(collect(provider, ask("Hi", model=MODELS[kind].model)))
        await until(lambda: bool(simulator.requests))
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "delivery",
    [
        Delivery(chunk=1),
        Delivery(chunk=(3, 50, 7), line_end="\r\n"),
        Delivery(line_end="\r", chunk=5),
        Delivery(byte_order_mark=True, comments=True, pings=2),
        Delivery(unknown_events=True, space_after_colon=False),
        Delivery(final_blank_line=False),
    ],
    ids=repr,
)
async def test_odd_but_legal_delivery_is_read(
    simulator: Simulator, kind: Kind, delivery: Delivery
) -> None:
    simulator.script(reply("Grüße, 日本 😀", delivery=delivery))
    async with connected(simulator, kind, model=MODELS[kind]) as provider:
        events = await collect(provider, ask("Hi", model=MODELS[kind].model))
    text = "".join(event.text for event in events if isinstance(event, PartDelta))
    assert text == "Grüße, 日本 😀"
    assert events[-1] == Stop("end_turn")


async def test_ten_megabyte_line_is_refused(simulator: Simulator) -> None:
    huge = reply(Text(text="x" * 10_000_000, split="whole"))
    error = await failed(simulator, "anthropic", huge)
    assert error.info.code == "provider_protocol"
    assert "longer than 8 MB" in error.info.message
