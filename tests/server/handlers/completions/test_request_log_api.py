"""The log of requests for suggestions, for the user."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from jupyter_ai_shoulders.assist.inline_completion.request_log import MAX_REQUESTS
from tests.server.client import Api
from tests.server.completion_models import Use, filling
from tests.server.conftest import MODEL
from tests.server.handlers.completions.completion_client import COMPLETIONS, suggest, suggesting
from tests.simulator import Failure, Simulator, reply


async def sent(api: Api) -> list[dict[str, Any]]:
    """The logged requests, newest first."""
    return (await api.get(COMPLETIONS)).body["requests"]


async def test_what_a_model_was_sent_can_be_looked_at(api: Api, upstream: Simulator) -> None:
    upstream.script(suggesting("1", "2", "3"))
    assert await sent(api) == []
    await suggest(api, "x = 1\ny = ", "\nprint(y)")

    (shown,) = await sent(api)

    body = upstream.requests[-1].body
    assert shown["system"] == body["system"][0]["text"]
    assert shown["messages"][0]["parts"][0]["text"] == body["messages"][0]["content"][0]["text"]
    assert [tool["name"] for tool in shown["tools"]] == [tool["name"] for tool in body["tools"]]
    assert shown["tools"][0]["parameters"] == body["tools"][0]["input_schema"]
    named = {key: shown[key] for key in ("request_id", "path", "trigger", "model", "provider")}
    assert named == {
        "request_id": "r1",
        "path": "work.py",
        "trigger": "plus",
        "model": MODEL,
        "provider": "anthropic",
    }
    assert (shown["calls"], shown["suffix"], shown["response_schema"]) == (1, None, None)


async def test_of_a_model_that_fills_in_both_sides_are_shown_and_how_often_it_was_asked(
    api: Api, upstream: Simulator, use: Use
) -> None:
    use(*filling(upstream, "mistral"))
    upstream.default("sum(x)")
    await suggest(api, "x = [1]\ny = ", "\nprint(y)")

    (shown,) = await sent(api)

    body = upstream.requests[-1].body
    assert shown["messages"][0]["parts"][0]["text"] == body["prompt"]
    assert shown["suffix"] == body["suffix"] == "\nprint(y)"
    assert shown["calls"] == len(upstream.requests) == 3


async def test_what_is_known_already_is_not_sent_and_not_listed(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(suggesting("1", "2", "3"))
    await suggest(api, "x = ", request_id="first")
    await suggest(api, "x = ", request_id="again")

    assert [one["request_id"] for one in await sent(api)] == ["first"]
    assert len(upstream.requests) == 1


async def test_what_the_budget_forbids_is_not_listed_and_what_failed_is(
    api: Api, upstream: Simulator
) -> None:
    await api.put("budget", {"month_micro_usd": 0})
    refused = await suggest(api, "y = ", request_id="refused")
    await api.put("budget", {"month_micro_usd": None})
    upstream.script(reply(failure=Failure(status=500)))
    await suggest(api, "x = ", request_id="failed")

    assert refused.body["reason"] == "budget"
    assert [one["request_id"] for one in await sent(api)] == ["failed"]
    assert len(upstream.requests) == 1


async def test_only_the_latest_are_kept_the_newest_first(api: Api, upstream: Simulator) -> None:
    upstream.default(suggesting("1", "2", "3"))
    for number in range(MAX_REQUESTS + 2):
        await suggest(api, f"x_{number} = ", request_id=f"r{number}")

    names = [one["request_id"] for one in await sent(api)]

    assert names == [f"r{number}" for number in range(MAX_REQUESTS + 1, 1, -1)]


async def test_a_key_that_was_set_since_is_not_shown(
    api: Api, upstream: Simulator, use: Use
) -> None:
    use(*filling(upstream, "mistral"))
    upstream.default("1")
    late = "a-key-of-no-known-form-" + "0123456789"
    await suggest(api, f"name = '{late}'\nx = ")
    assert late in json.dumps(await sent(api)), "until then it is a text like others"

    assert (await api.put("providers/openai/key", {"key": late})).status == 200
    async with asyncio.timeout(30):  # keys are looked up once a second
        while late in (shown := json.dumps(await sent(api))):
            pass
    await api.delete("providers/openai/key")

    assert "name = '[redacted]'" in shown


async def test_nothing_is_listed_of_a_file_of_secrets(api: Api, upstream: Simulator) -> None:
    await suggest(api, "TOKEN=", path=".env")

    assert await sent(api) == []
    assert upstream.requests == []
