"""Token counts, from services that count, with the request that would be sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.demo.provider import DemoProvider
from jupyter_ai_shoulders.wire.parts import ModelMessage
from tests.providers.adapter_fixtures import (
    READ,
    Kind,
    Sent,
    answering,
    ask,
    chat_model,
    claude,
    gemini,
    gpt,
    llama,
    make_endpoint,
    provider_of,
)
from tests.providers.anthropic.test_conversations import HISTORIES
from tests.providers.conversation import Conversation, connected
from tests.simulator import Reasoning, Simulator, ToolUse, reply

COUNTING: dict[str, tuple[Kind, Callable[[], ModelSpec], str]] = {
    "claude": ("anthropic", claude, "/v1/messages/count_tokens"),
    "claude with a budget": (
        "anthropic",
        lambda: claude("claude-haiku-4-5", thinking="high"),
        "/v1/messages/count_tokens",
    ),
    "gemini": ("google", gemini, "/v1beta/models/gemini-3.8-flash:countTokens"),
    "openai": ("openai_responses", gpt, "/v1/responses/input_tokens"),
}
JSON = {"content-type": "application/json"}
FIELDS = {"anthropic": "input_tokens", "google": "totalTokens", "openai_responses": "input_tokens"}
KINDS: list[Kind] = ["anthropic", "google", "openai_responses"]


def request_of(model: ModelSpec, *messages: ModelMessage | str, **more: Any) -> ModelRequest:
    return ask(*messages, model=model.model, tools=(READ,), **more)


@pytest.mark.parametrize("name", COUNTING)
async def test_conversation_is_counted_as_it_would_be_sent(simulator: Simulator, name: str) -> None:
    kind, make, path = COUNTING[name]
    model = make()
    thought = (Reasoning(text="First."), "I look.", ToolUse(name="read", arguments={"n": 1}))
    simulator.script(reply(*thought), reply("There is one."))
    async with connected(simulator, kind, model=model) as provider:
        talk = Conversation(provider, model)
        await talk.say("How many?")
        await talk.answer_calls()
        request = request_of(model, *talk.messages, "And now?", cache_key="ses_1")
        count = await provider.count_tokens(request)
        shorter = await provider.count_tokens(request_of(model, "Hi"))
    assert [record.refusal for record in simulator.requests] == [None] * 4
    counted = simulator.requests[2]
    assert counted.path == path
    assert count is not None
    assert shorter is not None
    assert count > shorter > 0
    assert "How many?" in json.dumps(counted.body)
    assert "read" in json.dumps(
        counted.body["generateContentRequest" if kind == "google" else "tools"]
    )


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("name", COUNTING)
async def test_any_history_is_accepted(simulator: Simulator, name: str, history: str) -> None:
    kind, make, _ = COUNTING[name]
    model = make()
    async with connected(simulator, kind, model=model) as provider:
        assert await provider.count_tokens(request_of(model, *HISTORIES[history]))
    assert [record.refusal for record in simulator.requests] == [None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [404, 405, 501])
async def test_gateway_that_does_not_count_gives_none(kind: Kind, status: int) -> None:
    sent = Sent()
    transport = answering(b"{}", status=status, headers=JSON)
    made = make_endpoint(kind, transport=transport, sent=sent)
    assert await provider_of(made).count_tokens(ask("Hi")) is None
    assert sent.reports == []


@pytest.mark.parametrize("kind", KINDS)
async def test_refusal_is_an_error_but_says_nothing_of_the_provider(kind: Kind) -> None:
    sent = Sent()
    transport = answering(b'{"error": {"message": "Slow."}}', status=429, headers=JSON)
    made = make_endpoint(kind, transport=transport, sent=sent)
    with pytest.raises(ProviderError) as caught:
        await provider_of(made).count_tokens(ask("Hi"))
    assert caught.value.info.code == "rate_limited"
    assert sent.reports == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("number", "count"), [("17", 17), ('"17"', None), ("-1", None)])
async def test_only_a_number_is_a_count(kind: Kind, number: str, count: int | None) -> None:
    body = f'{{"{FIELDS[kind]}": {number}}}'.encode()
    made = make_endpoint(kind, transport=answering(body, headers=JSON))
    assert await provider_of(made).count_tokens(ask("Hi")) == count


async def test_others_do_not_count(simulator: Simulator) -> None:
    for kind, model in (("openai_chat", chat_model()), ("ollama", llama())):
        async with connected(simulator, kind, model=model) as provider:  # pyright: ignore[reportArgumentType] - literals
            assert await provider.count_tokens(ask("Hi")) is None
    assert await DemoProvider().count_tokens(ask("Hi")) is None
    assert simulator.requests == []
