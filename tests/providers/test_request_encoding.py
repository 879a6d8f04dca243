"""Request bodies, whole: what each format is sent."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.providers.anthropic import encode as anthropic
from jupyter_ai_shoulders.providers.anthropic.provider import api_url as anthropic_endpoint
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.formats.server_profiles import PROFILES, profile_of
from jupyter_ai_shoulders.providers.message_cache import MessageCache
from jupyter_ai_shoulders.providers.openai_chat import encode as chat
from jupyter_ai_shoulders.providers.openai_chat.provider import api_url as chat_endpoint
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.parts import ReasoningPart, TextPart, ToolDefinition, UserMessage
from tests.providers.adapter_fixtures import (
    READ,
    Sent,
    answering,
    ask,
    assistant,
    call,
    chat_model,
    claude,
    collect,
    data_lines,
    make_endpoint,
    provider_of,
    result,
    user,
)

CONVERSATION = (
    "Hi",
    assistant(TextPart(text="I look."), call("a", n=1), call("b")),
    UserMessage(parts=(TextPart(text="And?"), result("a"), result("b", "No.", error=True))),
)


def claude_body(request: ModelRequest, model: ModelSpec | None = None) -> dict[str, Any]:
    return json.loads(anthropic.encode(request, make_endpoint("anthropic", model=model)).body)


def chat_body(
    request: ModelRequest, model: ModelSpec | None = None, profile: Any = "generic"
) -> dict[str, Any]:
    made = make_endpoint("openai_chat", model=model, profile=profile)
    return json.loads(chat.encode(request, made, profile_of(made.provider)))


def test_anthropic_body() -> None:
    cache = {"type": "ephemeral"}
    assert claude_body(ask(*CONVERSATION, model="claude-sonnet-5-5", tools=(READ,))) == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 16_384,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": cache}],
        "tools": [
            {
                "name": "read",
                "description": "Read it.",
                "input_schema": READ.parameters,
            }
        ],
        "cache_control": cache,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "medium"},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"n": 1}},
                    {"type": "tool_use", "id": "b", "name": "read", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": [{"type": "text", "text": "done"}],
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "b",
                        "content": [{"type": "text", "text": "No."}],
                        "is_error": True,
                    },
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
    }


def test_anthropic_without_cache_sends_no_breakpoints() -> None:
    body = claude_body(ask("Hi"), claude("claude-haiku-5-5", cache=False))
    assert "cache_control" not in json.dumps(body)


def test_anthropic_schema_goes_where_the_model_follows_it() -> None:
    request = ask("Hi", response_schema={"type": "object"})
    expected = {"type": "json_schema", "schema": {"type": "object"}}
    assert claude_body(request)["output_config"]["format"] == expected
    unknown = claude("a-gateway-model")
    assert "output_config" not in claude_body(request, unknown)


THINKING: list[tuple[str, ThinkingLevel, object, object]] = [
    ("claude-opus-5-5", "none", {"type": "adaptive", "display": "summarized"}, "low"),
    ("claude-opus-5-5", "high", {"type": "adaptive", "display": "summarized"}, "high"),
    ("claude-sonnet-5-5", "none", {"type": "between_tools"}, None),
    ("claude-haiku-5-5", "none", {"type": "disabled"}, None),
    ("claude-opus-4-8", "none", None, None),
    ("claude-opus-4-8", "default", {"type": "adaptive", "display": "summarized"}, "medium"),
    ("claude-haiku-4-5", "none", None, None),
    ("claude-haiku-4-5", "default", {"type": "enabled", "budget_tokens": 10_000}, None),
    ("claude-haiku-4-5", "low", {"type": "enabled", "budget_tokens": 4_000}, None),
    ("claude-haiku-4-5", "high", {"type": "enabled", "budget_tokens": 15_360}, None),
    ("claude-unknown", "high", None, None),
]


@pytest.mark.parametrize(("name", "level", "thinking", "effort"), THINKING)
def test_anthropic_thinking_follows_the_catalogue(
    name: str, level: ThinkingLevel, thinking: object, effort: object
) -> None:
    body = claude_body(ask("Hi", thinking=level), claude(name))
    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == effort


def test_anthropic_budget_must_fit_the_output() -> None:
    model = claude("claude-haiku-4-5", thinking_budget=30_000)
    assert "thinking" not in claude_body(ask("Hi", max_output=2_000), model)
    body = claude_body(ask("Hi", max_output=40_000), model)
    assert body["thinking"]["budget_tokens"] == 30_000


def test_users_level_replaces_the_models_own() -> None:
    model = claude("claude-haiku-5-5", thinking="none")
    assert claude_body(ask("Hi"), model)["thinking"] == {"type": "disabled"}
    assert claude_body(ask("Hi", thinking="low"), model)["output_config"] == {"effort": "low"}


def test_output_is_capped_by_the_model() -> None:
    assert claude_body(ask("Hi", max_output=10**6))["max_tokens"] == 128_000
    assert chat_body(ask("Hi", max_output=10**6), chat_model(max_output=99))["max_tokens"] == 99


def test_chat_body() -> None:
    assert chat_body(ask(*CONVERSATION, tools=(READ,))) == {
        "model": "m",
        "stream": True,
        "max_tokens": 16_384,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Read it.",
                    "parameters": READ.parameters,
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "a",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"n":1}'},
                    },
                    {
                        "id": "b",
                        "type": "function",
                        "function": {"name": "read", "arguments": "{}"},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "done"},
            {"role": "tool", "tool_call_id": "b", "content": "No."},
            {"role": "user", "content": "And?"},
        ],
    }


def test_chat_profiles_change_what_is_sent() -> None:
    request = ask("Hi", cache_key=SessionId("s1"))
    openai, mistral = chat_body(request, profile="openai"), chat_body(request, profile="mistral")
    assert openai["max_completion_tokens"] == 16_384
    assert openai["prompt_cache_key"] == "s1"
    assert "max_tokens" not in openai
    assert "stream_options" not in mistral
    assert "prompt_cache_key" not in chat_body(request)


@pytest.mark.parametrize(
    ("url", "profile"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.deepseek.com", "deepseek"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("http://127.0.0.1:8000/v1", "generic"),
    ],
)
def test_host_tells_the_profile(url: str, profile: Any) -> None:
    assert profile_of(make_endpoint("openai_chat", url=url).provider) == PROFILES[profile]


def test_mistral_ids_are_nine_letters_and_digits() -> None:
    body = chat_body(ask("Hi", assistant(call("toolu_01A-b"))), profile="mistral")
    sent = body["messages"][-1]["tool_calls"][0]["id"]
    assert len(sent) == 9
    assert sent.isalnum()
    body = chat_body(ask("Hi", assistant(call("abcdef123"))), profile="mistral")
    assert body["messages"][-1]["tool_calls"][0]["id"] == "abcdef123"


EFFORT = {"mode": "effort", "off": "disabled", "efforts": ["low", "high"]}


@pytest.mark.parametrize(
    ("level", "profile", "expected"),
    [
        ("high", "generic", {"reasoning_effort": "high"}),
        ("none", "generic", {"reasoning_effort": "none"}),
        ("default", "generic", {"reasoning_effort": "low"}),
        ("medium", "generic", {"reasoning_effort": None}),
        ("high", "openrouter", {"reasoning": {"effort": "high"}}),
    ],
)
def test_effort_is_sent_to_models_that_take_one(
    level: ThinkingLevel, profile: str, expected: dict[str, Any]
) -> None:
    model = chat_model(thinking="low", thinking_support=EFFORT)
    body = chat_body(ask("Hi", thinking=level), model, profile)
    assert {name: body.get(name) for name in expected} == expected
    plain = chat_body(ask("Hi", thinking=level), chat_model(), profile)
    assert not expected.keys() & plain.keys()


def test_openrouter_gets_its_reasoning_details_back() -> None:
    made = make_endpoint("openai_chat", profile="openrouter")
    details = [{"type": "reasoning.text", "text": "Hm", "signature": "s", "index": 0}]
    own = ReasoningPart(text="Hm", state=made.state({"details": details}))
    request = ask("Hi", assistant(own, TextPart(text="So.")), "And?")
    body = json.loads(chat.encode(request, made, PROFILES["openrouter"]))
    assert body["messages"][2]["reasoning_details"] == details


def test_thought_signature_of_a_call_comes_back_with_it() -> None:
    made = make_endpoint("openai_chat")
    state = made.state({"extra_content": {"google": {"thought_signature": "s"}}})
    signed = call("a").model_copy(update={"state": state})
    body = json.loads(chat.encode(ask("Hi", assistant(signed)), made, PROFILES["generic"]))
    sent = body["messages"][-1]["tool_calls"][0]
    assert sent["extra_content"] == {"google": {"thought_signature": "s"}}


async def test_thought_signature_of_a_call_is_kept() -> None:
    chunk = {
        "index": 0,
        "id": "a",
        "function": {"name": "read", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "s"}},
    }
    choice = {"index": 0, "delta": {"tool_calls": [chunk]}, "finish_reason": "tool_calls"}
    body = data_lines(json.dumps({"choices": [choice]}), "[DONE]")
    made = make_endpoint("openai_chat", transport=answering(body))
    ready = [event for event in await collect(provider_of(made)) if hasattr(event, "raw")]
    states = [getattr(event, "state", None) for event in ready]
    assert states == [made.state({"extra_content": {"google": {"thought_signature": "s"}}})]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
        ("https://gw.test/anthropic/v1/messages", "https://gw.test/anthropic/v1/messages"),
        ("https://gw.test/anthropic?tag=1", "https://gw.test/anthropic/v1/messages?tag=1"),
    ],
)
def test_anthropic_address(url: str, expected: str) -> None:
    assert anthropic_endpoint(url, "messages") == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"),
        ("https://gw.test/x/chat/completions", "https://gw.test/x/chat/completions"),
        ("https://gw.test/x?v=1", "https://gw.test/x/chat/completions?v=1"),
    ],
)
def test_chat_address(url: str, expected: str) -> None:
    assert chat_endpoint(url, "chat/completions") == expected


@pytest.mark.parametrize(
    ("kind", "auth", "expected"),
    [
        ("anthropic", "", {"x-api-key": "test-key-0123456789"}),
        ("anthropic", "bearer", {"authorization": "Bearer test-key-0123456789"}),
        ("openai_chat", "", {"authorization": "Bearer test-key-0123456789"}),
        ("openai_chat", "header:X-Gateway-Key", {"x-gateway-key": "test-key-0123456789"}),
        ("openai_chat", "none", {}),
    ],
)
async def test_headers_and_query(kind: Any, auth: str, expected: dict[str, str]) -> None:
    sent = Sent()
    made = make_endpoint(
        kind,
        auth=auth,
        headers={"X-Team": "a"},
        query={"api-version": "7"},
        transport=answering(b"", sent=sent),
    )
    with pytest.raises(Exception, match="ended too early"):
        await collect(provider_of(made))
    (request,) = sent.requests
    secrets = ("x-api-key", "authorization", "x-gateway-key")
    assert {name: request.headers[name] for name in secrets if name in request.headers} == expected
    assert request.headers["x-team"] == "a"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["content-type"] == "application/json"
    assert dict(request.url.params) == {"api-version": "7"}
    version = request.headers.get("anthropic-version")
    assert version == ("2026-10-21" if kind == "anthropic" else None)


def test_messages_are_encoded_once_and_forgotten_with_their_conversation() -> None:
    cache = MessageCache()
    message, made = user("Hi"), iter([b"one", b"two", b"three"])
    assert cache.get(message, "x", lambda: next(made)) == b"one"
    assert cache.get(message, "x", lambda: next(made)) == b"one"
    assert cache.get(message, "y", lambda: next(made)) == b"two"
    assert cache.get(user("Hi"), "y", lambda: next(made)) == b"three"
    del message
    gc.collect()
    assert len(cache) == 0


def test_tools_are_encoded_once_for_a_model() -> None:
    made, shaped = make_endpoint("anthropic"), list[str]()

    def shape(tool: ToolDefinition) -> dict[str, str]:
        shaped.append(tool.name)
        return {"name": tool.name}

    tools = [ToolDefinition(name=name, description="", parameters={}) for name in "ab"]
    assert made.tools(tools, shape) == [b'{"name":"a"}', b'{"name":"b"}']
    assert made.tools(tools[::-1], shape) == [b'{"name":"b"}', b'{"name":"a"}']
    assert shaped == ["a", "b"]


@pytest.mark.parametrize("kind", ["anthropic", "openai_chat"])
def test_kept_messages_make_the_same_body(kind: Any) -> None:
    made = make_endpoint(kind)
    request = ask(*CONVERSATION)
    bodies = [
        anthropic.encode(request, made).body
        if kind == "anthropic"
        else chat.encode(request, made, PROFILES["generic"])
        for _ in range(2)
    ]
    assert bodies[0] == bodies[1]
    assert len(made.encoded) == len(CONVERSATION)


def test_kept_message_is_encoded_anew_when_its_prefix_changed() -> None:
    model = claude("claude-opus-5-5")
    made = make_endpoint("anthropic", model=model)
    thinking = {"type": "thinking", "thinking": "Hm", "signature": "s"}
    prefix = anthropic.encode(ask("Hi"), made).prefix
    state = made.state({"block": thinking, "prefix": prefix})
    history = (user("Hi"), assistant(ReasoningPart(text="Hm", state=state), TextPart(text="So.")))
    kept = anthropic.encode(ask(*history, "And?"), made).body
    dropped = anthropic.encode(ask(*history, "And?", system="Other."), made).body
    assert b'"thinking":"Hm"' in kept
    assert b'"thinking":"Hm"' not in dropped
    assert anthropic.encode(ask(*history, "And?"), made).body == kept
