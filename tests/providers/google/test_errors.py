"""Google's errors, before and inside a stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    ProviderEvent,
    Stop,
    ToolCallReady,
    UsageReport,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from tests.providers.adapter_fixtures import (
    READ,
    answering,
    ask,
    collect,
    data_lines,
    make_endpoint,
    provider_of,
)
from tests.providers.conversation import connected
from tests.providers.faulty_servers import append_all
from tests.simulator import Simulator, ToolUse, Usage, reply

JSON = {"content-type": "application/json"}
RPC = "type.googleapis.com/google.rpc"
HELLO = '{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"index":0}]}'


def error(code: int, status: str, message: str = "Oh.", *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


async def failure(
    body: Sequence[bytes] | bytes, status: int = 200, headers: dict[str, str] | None = None
) -> tuple[ProviderError, list[ProviderEvent]]:
    """The error, and the events before it."""
    made = make_endpoint("google", transport=answering(body, status=status, headers=headers))
    seen: list[ProviderEvent] = []
    with pytest.raises(ProviderError) as caught:
        await append_all(provider_of(made), ask("Hi"), seen)
    return caught.value, seen


WAIT = {"@type": f"{RPC}.RetryInfo", "retryDelay": "34.4s"}
DAY = {"@type": f"{RPC}.QuotaFailure", "violations": [{"quotaId": "RequestsPerDayPerProject"}]}
MINUTE = {"@type": f"{RPC}.QuotaFailure", "violations": [{"quotaId": "TokensPerMinute"}]}
BAD_KEY = {"@type": f"{RPC}.ErrorInfo", "reason": "API_KEY_INVALID"}

ERRORS: dict[str, tuple[dict[str, Any], ErrorCode, bool, int | None]] = {
    "argument": (error(400, "INVALID_ARGUMENT"), "bad_request_upstream", False, None),
    "bad key": (error(400, "INVALID_ARGUMENT", "x", BAD_KEY), "authentication", False, None),
    "bad key in words": (
        error(400, "INVALID_ARGUMENT", "API key not valid. Pass a valid one."),
        "authentication",
        False,
        None,
    ),
    "overflow": (
        error(
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        ),
        "context_overflow",
        False,
        None,
    ),
    "region": (
        error(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        "permission",
        False,
        None,
    ),
    "billing": (error(400, "FAILED_PRECONDITION", "Enable billing."), "billing", False, None),
    "unauthenticated": (error(401, "UNAUTHENTICATED"), "authentication", False, None),
    "denied": (error(403, "PERMISSION_DENIED"), "permission", False, None),
    "not found": (error(404, "NOT_FOUND"), "model_not_found", False, None),
    "rate": (error(429, "RESOURCE_EXHAUSTED", "x", MINUTE, WAIT), "rate_limited", True, 34_400),
    "quota": (error(429, "RESOURCE_EXHAUSTED", "x", WAIT, DAY), "quota_exhausted", False, 34_400),
    "internal": (error(500, "INTERNAL"), "provider_error", True, None),
    "overloaded": (error(503, "UNAVAILABLE"), "overloaded", True, None),
    "deadline": (error(504, "DEADLINE_EXCEEDED"), "provider_timeout", True, None),
    "words alone": ({"error": "gone"}, "provider_error", True, None),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("in_list", [False, True])
async def test_refusal_is_read(name: str, in_list: bool) -> None:
    body, code, retryable, wait = ERRORS[name]
    status: int = 500 if isinstance(body["error"], str) else body["error"]["code"]
    sent = json.dumps([body] if in_list else body).encode()
    found, _ = await failure(sent, status, headers=JSON)
    assert (found.info.code, found.info.retryable, found.retry_after_ms) == (code, retryable, wait)
    assert found.status == status


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("shape", ["event", "event in a list", "bare", "bare list", "one line"])
async def test_error_inside_the_stream_is_read(name: str, shape: str) -> None:
    body, code, retryable, _ = ERRORS[name]
    found, seen = await failure(stream(body, shape))
    assert (found.info.code, found.info.retryable) == (code, retryable)
    assert any(isinstance(event, PartDelta) for event in seen)


def stream(body: Any, shape: str) -> bytes:
    """A reply that ends with an error in this form."""
    match shape:
        case "event":
            said = data_lines(json.dumps(body))
        case "event in a list":
            said = data_lines(json.dumps([body]))
        case "bare":
            said = json.dumps(body, indent=2).encode()
        case "bare list":
            said = json.dumps([body], indent=2).encode() + b"\r\n"
        case _:
            said = json.dumps(body).encode()
    return data_lines(HELLO) + said


@pytest.mark.parametrize("shape", ["event", "bare", "bare list"])
async def test_error_cut_at_every_byte_is_the_same(shape: str) -> None:
    sent = stream(ERRORS["rate"][0], shape)
    expected = (await failure(sent))[0].info
    for at in range(1, len(sent)):
        assert (await failure([sent[:at], sent[at:]]))[0].info == expected, at
    assert (await failure([bytes([byte]) for byte in sent]))[0].info == expected


async def test_error_that_is_cut_off_is_truncation() -> None:
    sent = stream(ERRORS["rate"][0], "bare")
    found, _ = await failure(sent[:-40])
    assert (found.info.code, found.info.retryable) == ("stream_truncated", True)


@pytest.mark.parametrize(
    ("reason", "code", "retryable"),
    [
        ("MALFORMED_FUNCTION_CALL", "provider_error", True),
        ("MALFORMED_RESPONSE", "provider_error", True),
        ("UNEXPECTED_TOOL_CALL", "provider_error", True),
        ("MISSING_THOUGHT_SIGNATURE", "bad_request_upstream", False),
    ],
)
async def test_reason_that_is_a_failure_is_raised(
    reason: str, code: ErrorCode, retryable: bool
) -> None:
    last = {"candidates": [{"finishReason": reason}], "usageMetadata": {"promptTokenCount": 9}}
    found, seen = await failure(data_lines(HELLO, json.dumps(last)))
    assert (found.info.code, found.info.retryable) == (code, retryable)
    assert [type(event).__name__ for event in seen[-2:]] == ["PartDelta", "UsageReport"]


@pytest.mark.parametrize("chunks", [[], [HELLO], ['{"usageMetadata":{"promptTokenCount":1}}']])
async def test_stream_without_a_reason_is_truncation(chunks: list[str]) -> None:
    found, _ = await failure(data_lines(*chunks))
    assert (found.info.code, found.info.retryable) == ("stream_truncated", True)


async def test_arguments_nested_too_deeply_are_an_error() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    call = '{"functionCall":{"name":"x","args":' + deep + "}}"
    chunk = '{"candidates":[{"content":{"parts":[' + call + "]}}]}"
    found, _ = await failure(data_lines(chunk))
    assert found.info.code == "provider_protocol"


async def test_array_instead_of_a_stream_is_named() -> None:
    sent = f"[{HELLO},{HELLO}]".encode()
    found, _ = await failure(sent, headers=JSON)
    assert found.info.code == "provider_protocol"


READ_TWICE = reply(ToolUse(name="read", arguments={"n": 1}), usage=Usage(input=40, output=5))
UNREADABLE = reply(ToolUse(name="read", arguments='{"n": '), usage=Usage(input=40, output=3))


async def test_unreadable_call_is_asked_for_once_more(simulator: Simulator) -> None:
    simulator.script(UNREADABLE, READ_TWICE)
    async with connected(simulator, "google") as provider:
        request = ask("Look", tools=(READ,), model="gemini-3.8-flash")
        events = await collect(provider, request)
    calls = [event for event in events if isinstance(event, ToolCallReady)]
    usage = [event.usage for event in events if isinstance(event, UsageReport)][-1]
    assert [call.arguments for call in calls] == [{"n": 1}]
    assert (usage.input_tokens, usage.output_tokens) == (80, 8)
    assert [event for event in events if isinstance(event, Stop)] == [Stop("tool_use")]
    assert len(simulator.requests) == 2


async def test_call_that_stays_unreadable_is_an_error_for_good(simulator: Simulator) -> None:
    simulator.script(UNREADABLE, UNREADABLE)
    async with connected(simulator, "google") as provider:
        with pytest.raises(ProviderError) as caught:
            await collect(provider, ask("Look", tools=(READ,), model="gemini-3.8-flash"))
    assert (caught.value.info.code, caught.value.info.retryable) == ("provider_error", False)
    assert len(simulator.requests) == 2


async def test_unreadable_call_after_text_is_not_asked_for_again(simulator: Simulator) -> None:
    simulator.script(reply("I look.", *UNREADABLE.parts))
    async with connected(simulator, "google") as provider:
        with pytest.raises(ProviderError):
            await collect(provider, ask("Look", tools=(READ,), model="gemini-3.8-flash"))
    assert len(simulator.requests) == 1
