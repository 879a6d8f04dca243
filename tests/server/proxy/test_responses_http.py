"""The Responses route on the wire; its state does not depend on the server's memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI

from jupyter_ai_shoulders.proxy.state_cache import StateCache
from jupyter_ai_shoulders.server.handlers.request_body import MAX_BODY_BYTES
from jupyter_ai_shoulders.server.proxy import handlers
from jupyter_ai_shoulders.server.proxy.request_limiter import RequestLimiter
from jupyter_ai_shoulders.wire.parts import AssistantMessage
from tests.server.proxy.conftest import CLAUDE, GEMINI, GPT, LOCAL
from tests.server.proxy.test_responses_sdk import TOOL, ask
from tests.simulator import Delivery, Reasoning, Simulator, ToolUse, reply

ASK: dict[str, Any] = {"model": LOCAL, "input": "Hi"}


@pytest.fixture
def http(
    jp_asyncio_loop: asyncio.AbstractEventLoop, proxy_url: str, jp_serverapp: Any
) -> Iterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {jp_serverapp.identity_provider.token}"}
    client = httpx.AsyncClient(base_url=proxy_url, timeout=60, headers=headers)
    yield client
    jp_asyncio_loop.run_until_complete(client.aclose())


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that keeps no answers, as after a restart."""

    def forget(_: StateCache, message: AssistantMessage) -> AssistantMessage:
        return message

    monkeypatch.setattr(StateCache, "restore", forget)


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("included", [True, False], ids=["included", "not stored"])
@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI])
async def test_state_travels_in_the_answer_itself(
    *, openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, included: bool, stream: bool
) -> None:
    upstream.script(
        reply(Reasoning(text="Two."), "I look.", ToolUse(name="read"), ToolUse(name="read")),
        reply("Done."),
    )
    more: Any = {"include": ["reasoning.encrypted_content"], "store": False} if included else {}
    question = {"role": "user", "content": "Look"}

    first = await ask(openai_sdk, model, [question], stream=stream, tools=[TOOL], **more)
    calls = [item for item in first.output if item.type == "function_call"]
    results = [
        {"type": "function_call_output", "call_id": call.call_id, "output": "ok"} for call in calls
    ]
    items = [question, *first.output, *results]
    last = await ask(openai_sdk, model, items, stream=stream, tools=[TOOL], **more)

    assert last.output_text == "Done."
    assert [record.refusal for record in upstream.requests] == [None, None]
    assert STATES[model](upstream.requests[1].body)


def _thinking(body: Any) -> bool:
    return body["messages"][1]["content"][0]["type"] == "thinking"


def _reasoning(body: Any) -> bool:
    return bool(body["input"][1]["encrypted_content"])


def _signature(body: Any) -> bool:
    parts = body["contents"][1]["parts"]
    first = next(part for part in parts if "functionCall" in part)
    return "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I" not in first["thoughtSignature"]


STATES = {CLAUDE: _thinking, GPT: _reasoning, GEMINI: _signature}


async def test_a_silent_stream_shows_signs_of_life(
    http: httpx.AsyncClient, upstream: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "PING_SECONDS", 0.1)
    upstream.script(reply("Hi", delivery=Delivery(first_byte_delay=0.5)))

    answer = await http.post("/v1/responses", json=ASK | {"stream": True})

    blocks = answer.text.split("\n\n")
    assert blocks[0].startswith("event: response.created\n")
    assert blocks.count(": keep-alive") >= 2
    assert '"text":"Hi"' in answer.text
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


async def test_an_error_after_the_first_sign_of_life_is_in_the_stream(
    http: httpx.AsyncClient, upstream: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "PING_SECONDS", 0.1)
    slow = Delivery(first_byte_delay=0.3, ending="no_terminator", ending_after=0)
    upstream.script(reply("Hi", delivery=slow))

    answer = await http.post("/v1/responses", json=ASK | {"stream": True})

    assert answer.status_code == 200
    events = [line for line in answer.text.split("\n") if line.startswith("event: ")]
    assert events == [
        "event: response.created",
        "event: response.in_progress",
        "event: response.failed",
        "event: error",
    ]


async def test_when_the_caller_leaves_so_does_the_call(
    http: httpx.AsyncClient, upstream: Simulator
) -> None:
    upstream.script(reply("One two three", delivery=Delivery(ending="stall", ending_after=3)))

    async with http.stream("POST", "/v1/responses", json=ASK | {"stream": True}) as answer:
        async for _ in answer.aiter_bytes():
            break
    await asyncio.wait_for(upstream.settled(), 60)

    assert upstream.requests[0].outcome == "client-left"


async def test_a_request_that_is_too_large_is_refused(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/responses", json=ASK | {"input": "x" * (MAX_BODY_BYTES + 1)})

    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "invalid_request_error"


async def test_more_requests_than_places_are_to_come_again(
    http: httpx.AsyncClient, upstream: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        RequestLimiter.__init__, "__defaults__", (1,)
    )  # before the routes are loaded
    upstream.script(reply("One", delivery=Delivery(ending="stall", ending_after=3)))

    async with http.stream("POST", "/v1/responses", json=ASK | {"stream": True}) as taken:
        await anext(taken.aiter_bytes())
        answer = await http.post("/v1/responses", json=ASK)

    assert answer.status_code == 429
    assert answer.headers["x-should-retry"] == "true"
    assert answer.json()["error"]["code"] == "rate_limit_exceeded"


async def test_nothing_the_format_does_not_define_is_passed_on(
    http: httpx.AsyncClient, upstream: Simulator
) -> None:
    upstream.script("Hi")
    steering = {
        "metadata": {"secret_note": "1"},
        "safety_identifier": "somebody",
        "user": "somebody",
        "temperature": 0.3,
    }

    await http.post("/v1/responses", json=ASK | steering, headers={"x-smuggled": "yes"})

    (sent,) = upstream.requests
    assert "x-smuggled" not in sent.headers
    assert not {"metadata", "user", "temperature", "safety_identifier"} & set(sent.body)
    assert "somebody" not in json.dumps(sent.body)
