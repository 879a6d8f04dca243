"""The strategies for suggestions, each against the strict simulator."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.client import Api
from tests.server.completion_models import FILL, Use, chat, filling
from tests.server.handlers.completions.completion_client import (
    arguments,
    sent_text,
    suggest,
    suggesting,
)
from tests.simulator import Delivery, Failure, Simulator, ToolUse, reply
from tests.simulator.script import SimRequest

TEXTS = ("sum(x)", "max(x)", "min(x)")
JSON = json.dumps(arguments(*TEXTS))


async def test_a_model_that_can_be_made_to_call_a_tool_is(
    api: Api, upstream: Simulator, use: Use
) -> None:
    use(chat(upstream, profile="vllm"), {"model": "sim-local"})
    upstream.script(suggesting(*TEXTS))

    found = await suggest(api, "x = [1]\ny = ")

    body = upstream.requests[-1].body
    assert found.body["suggestions"] == list(TEXTS)
    assert found.body["model"] == "small"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "answer"}}


async def test_a_model_that_follows_a_schema_is_given_one(
    api: Api, upstream: Simulator, use: Use
) -> None:
    ability = {"forced_tool": "no", "structured_output": True}
    use(chat(upstream, profile="vllm"), {"model": "sim-local", **ability})
    upstream.script(JSON)

    found = await suggest(api, "x = [1]\ny = ")

    body = upstream.requests[-1].body
    assert found.body["suggestions"] == list(TEXTS)
    assert "tools" not in body
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["prefix_end", "suffix_start", "suggestions"]


async def test_ollama_is_given_the_schema_as_its_format(
    api: Api, upstream: Simulator, use: Use
) -> None:
    use({"kind": "ollama", "url": upstream.url, "auth": "none"}, {"model": "sim-llama"})
    upstream.script(JSON)

    found = await suggest(api, "x = [1]\ny = ")

    assert found.body["suggestions"] == list(TEXTS)
    assert "suggestions" in upstream.requests[-1].body["format"]["properties"]


async def test_any_other_model_is_asked_in_words(api: Api, upstream: Simulator, use: Use) -> None:
    use(chat(upstream, profile="vllm"), {"model": "sim-local", "tools": False})
    upstream.script(f"Sure!\n```json\n{JSON}\n```\n")

    found = await suggest(api, "x = [1]\ny = ")

    body = upstream.requests[-1].body
    assert found.body["suggestions"] == list(TEXTS)
    assert "tools" not in body
    assert "response_format" not in body
    assert "one JSON object and nothing else" in body["messages"][0]["content"]


@pytest.mark.parametrize("ability", [{"tools": False}, {"forced_tool": "no"}])
async def test_prose_instead_of_the_object_gives_nothing(
    api: Api, upstream: Simulator, use: Use, ability: dict[str, Any]
) -> None:
    use(chat(upstream, profile="vllm"), {"model": "sim-local", **ability})
    upstream.script("You could write sum(x) or {max(x)}.")

    found = await suggest(api, "x = [1]\ny = ")

    assert found.body["suggestions"] == []
    assert found.body["reason"] == "nothing"


def by_temperature(request: SimRequest) -> str:
    """Another answer for each temperature."""
    body = request.body
    given = body.get("temperature", body.get("options", {}).get("temperature"))
    return {0.1: "sum(x)", 0.6: "max(x)", 0.9: "sum(x)  "}[given]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILL)
async def test_a_model_that_fills_in_gets_both_sides_and_gives_one_at_a_time(
    api: Api, upstream: Simulator, use: Use, name: str
) -> None:
    use(*filling(upstream, name))
    upstream.default(by_temperature)

    found = await suggest(api, "x = [1]\ny = ", "\nprint(y)")

    assert sorted(found.body["suggestions"]) == ["max(x)", "sum(x)"]
    assert [one.path for one in upstream.requests] == [FILL[name][2]] * 3
    body = upstream.requests[0].body
    before, after = ("input_prefix", "input_suffix") if name == "llamacpp" else ("prompt", "suffix")
    assert body[before].endswith("x = [1]\ny = ")
    assert body[after] == "\nprint(y)"


async def test_while_one_types_such_a_model_is_asked_once(
    api: Api, upstream: Simulator, use: Use
) -> None:
    use(*filling(upstream, "mistral"))
    await api.put("settings", {"ghost": {"automatic": True}})
    upstream.default(by_temperature)

    found = await suggest(api, "x = [1]\ny = ", trigger="automatic")

    assert found.body["suggestions"] == ["sum(x)"]
    assert [one.body["temperature"] for one in upstream.requests] == [0.1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILL)
async def test_what_filling_in_cost_is_counted_for_each_call(
    api: Api, upstream: Simulator, use: Use, name: str
) -> None:
    use(*filling(upstream, name))
    upstream.default(by_temperature)

    await suggest(api, "x = ")
    usage = await api.get("usage", by="model")

    (row,) = usage.body["rows"]
    assert (row["key"], row["calls"], row["ok"], row["estimated"]) == ("small", 3, 3, 0)
    assert row["input_tokens"] > 0
    assert row["output_tokens"] > 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILL)
@pytest.mark.parametrize(
    "delivery",
    [Delivery(chunk=1, line_end="\r\n"), Delivery(comments=True, unknown_events=True)],
    ids=["bytes", "unknown"],
)
async def test_streams_of_such_models_may_be_cut_anywhere(
    api: Api, upstream: Simulator, use: Use, name: str, delivery: Delivery
) -> None:
    if name == "ollama" and delivery.comments:
        delivery = Delivery(chunk=3)
    use(*filling(upstream, name))
    upstream.default(reply("sum(größe) — 😀", delivery=delivery))

    assert (await suggest(api, "x = ")).body["suggestions"] == ["sum(größe) — 😀"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILL)
@pytest.mark.parametrize("ending", ["cut", "no_terminator"])
async def test_a_stream_that_ends_too_early_gives_nothing(
    api: Api, upstream: Simulator, use: Use, name: str, ending: Any
) -> None:
    use(*filling(upstream, name))
    upstream.default(reply("sum(x)", delivery=Delivery(ending=ending)))

    found = await suggest(api, "x = ")

    assert found.body["suggestions"] == []
    assert found.body["reason"] == "provider_down"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILL)
async def test_an_answer_cut_by_the_limit_keeps_its_whole_lines(
    api: Api, upstream: Simulator, use: Use, name: str
) -> None:
    use(*filling(upstream, name))
    upstream.default(reply("sum(x)\nz = ma", stop="max_tokens"))

    assert (await suggest(api, "x = ")).body["suggestions"] == ["sum(x)"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILL)
async def test_one_call_that_fails_leaves_the_others(
    api: Api, upstream: Simulator, use: Use, name: str
) -> None:
    use(*filling(upstream, name))
    upstream.script(reply(failure=Failure(status=503)))
    upstream.default("sum(x)")

    assert (await suggest(api, "x = ")).body["suggestions"] == ["sum(x)"]


async def test_a_model_without_the_ability_is_refused_by_the_server_and_silent(
    api: Api, upstream: Simulator, use: Use
) -> None:
    use({"kind": "ollama", "url": upstream.url}, {"model": "sim-llama", "fill_in": True})

    found = await suggest(api, "x = ", "\nprint(x)")

    assert found.body["reason"] == "provider_down"
    assert "does not support insert" in found.body["message"]


async def test_a_server_without_such_an_endpoint_is_asked_in_the_ordinary_way(
    api: Api, upstream: Simulator, use: Use
) -> None:
    use(chat(upstream, profile="vllm"), {"model": "sim-local", "fill_in": True})
    upstream.script(suggesting(*TEXTS))

    assert (await suggest(api, "x = ")).body["suggestions"] == list(TEXTS)
    assert upstream.requests[-1].path == "/v1/chat/completions"


async def test_nothing_is_left_out_visibly_of_a_text_that_is_only_continued(
    api: Api, upstream: Simulator, use: Use
) -> None:
    use(*filling(upstream, "mistral"))
    upstream.default("1")

    await suggest(api, "word " * 2_000, " tail" * 2_000)

    body = upstream.requests[0].body
    assert "[…]" not in sent_text(upstream)
    assert len(body["suffix"]) <= 1_000


async def test_tool_arguments_in_words_of_another_tool_give_nothing(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(reply(ToolUse(name="other", arguments={"suggestion": "x"})))

    assert (await suggest(api, "x = ")).body["reason"] == "nothing"
