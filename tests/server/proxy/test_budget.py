"""At a limit the proxy refuses as each format's own service would, and sends nothing."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from traitlets.config import Config

from tests.server.client import Api
from tests.server.proxy.conftest import CLAUDE, LOCAL
from tests.simulator import Simulator, Usage, reply


@pytest.fixture
def jp_server_config(jp_server_config: Config) -> Config:
    """An administrator who allows no money at all."""
    jp_server_config.Shoulders.budget_month_usd = 0.0
    return jp_server_config


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_anthropic_callers_get_a_billing_error(
    claude_sdk: AsyncAnthropic, upstream: Simulator, stream: bool
) -> None:
    messages: Any = [{"role": "user", "content": "Hi"}]
    create: Any = claude_sdk.messages.create

    with pytest.raises(anthropic.APIStatusError) as caught:
        await create(model=CLAUDE, max_tokens=100, messages=messages, stream=stream)

    assert caught.value.status_code == 402
    body: Any = caught.value.body
    assert body["type"] == "error"
    assert body["error"]["type"] == "billing_error"
    assert "administrator" in body["error"]["message"]
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert upstream.requests == []


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", ["chat", "responses"])
async def test_openai_callers_get_insufficient_quota_and_do_not_retry(
    openai_sdk: AsyncOpenAI, upstream: Simulator, kind: str, stream: bool
) -> None:
    sdk = openai_sdk.with_options(max_retries=3)
    create: Any = {"chat": sdk.chat.completions.create, "responses": sdk.responses.create}[kind]
    said: Any = (
        {"messages": [{"role": "user", "content": "Hi"}]} if kind == "chat" else {"input": "Hi"}
    )

    with pytest.raises(openai.RateLimitError) as caught:
        await create(model=CLAUDE, stream=stream, **said)

    assert caught.value.status_code == 429
    assert caught.value.code == "insufficient_quota"
    assert caught.value.type == "insufficient_quota"
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert caught.value.response.request.headers["x-stainless-retry-count"] == "0"
    assert upstream.requests == []


async def test_the_status_line_of_a_stream_says_it(proxy_url: str, jp_serverapp: Any) -> None:
    token = jp_serverapp.identity_provider.token
    body = {
        "model": CLAUDE,
        "max_tokens": 5,
        "stream": True,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            f"{proxy_url}/v1/messages", json=body, headers={"x-api-key": token}
        )

    assert answer.status_code == 402
    assert answer.headers["content-type"].startswith("application/json")
    assert json.loads(answer.content)["error"]["type"] == "billing_error"


async def test_a_model_of_unknown_price_is_refused_at_a_limit_too(
    openai_sdk: AsyncOpenAI, upstream: Simulator, api: Api
) -> None:
    with pytest.raises(openai.RateLimitError):
        await openai_sdk.chat.completions.create(
            model=LOCAL, messages=[{"role": "user", "content": "Hi"}]
        )

    assert upstream.requests == []
    assert (await api.get("usage")).body["total"]["calls"] == 0


class TestWithinTheLimit:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.budget_month_usd = 1.0
        return jp_server_config

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
    async def test_calls_are_booked_without_a_session_at_what_the_provider_reports(
        self, claude_sdk: AsyncAnthropic, upstream: Simulator, api: Api, stream: bool
    ) -> None:
        upstream.script(reply("Yes.", usage=Usage(input=1_000, output=50)))
        messages: Any = [{"role": "user", "content": "Hi"}]
        create: Any = claude_sdk.messages.create

        answer = await create(model=CLAUDE, max_tokens=100, messages=messages, stream=stream)
        if stream:
            async for _ in answer:
                pass
        usage = (await api.get("usage", by="session")).body

        (row,) = usage["rows"]
        assert (row["key"], row["calls"], row["ok"]) == (None, 1, 1)
        assert (row["input_tokens"], row["output_tokens"], row["estimated"]) == (1_000, 50, 0)
        assert row["known_cost_micro_usd"] == 1_000 * 4 + 50 * 20  # the catalogue's prices
        (month, *_) = usage["budget"]["limits"]
        assert (month["spent_micro_usd"], month["held_micro_usd"]) == (5_000, 0)
