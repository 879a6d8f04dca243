"""Complete request bodies of the Responses format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest, NamedTool, ToolChoice
from jupyter_ai_shoulders.providers.formats.openai_service import api_url
from jupyter_ai_shoulders.providers.openai_responses.encode import Extra, encode, vendor_call_id
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.parts import (
    ImagePart,
    ProviderState,
    ReasoningPart,
    TextPart,
    UserMessage,
)
from tests.providers.adapter_fixtures import READ, ask, assistant, call, gpt, make_endpoint, result
from tests.sdk_validation.request_schemas import responses_problems

KEPT: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "gAAA",
}


def state(data: Any, *, provider: str = "openai", model: str = "gpt-6.1-sol") -> ProviderState:
    return ProviderState(provider=provider, model=model, data=data)


def thought(**owner: str) -> ReasoningPart:
    return ReasoningPart(text="Hm.", state=state({"item": KEPT}, **owner))


def body_of(
    request: ModelRequest,
    model: ModelSpec | None = None,
    without: frozenset[Extra] = frozenset(),
) -> dict[str, Any]:
    body = json.loads(encode(request, make_endpoint("openai_responses", model=model), without))
    assert responses_problems(body) == []
    return body


def test_body() -> None:
    commentary = TextPart(text="I look.", state=state({"phase": "commentary"}))
    request = ask(
        "Hi",
        assistant(thought(), commentary, call("a", n=1), call("b")),
        UserMessage(parts=(TextPart(text="And?"), result("a"), result("b", "No.", error=True))),
        model="gpt-6.1-sol",
        tools=(READ,),
        cache_key=SessionId("s"),
    )
    assert body_of(request) == {
        "model": "gpt-6.1-sol",
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "store": False,
        "max_output_tokens": 16_384,
        "instructions": "Be brief.",
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Read it.",
                "parameters": READ.parameters,
                "strict": False,
            }
        ],
        "parallel_tool_calls": True,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "medium", "summary": "auto"},
        "prompt_cache_key": "s",
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Hi"}],
            },
            KEPT,
            {
                "type": "message",
                "role": "assistant",
                "content": "I look.",
                "phase": "commentary",
            },
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": '{"n":1}'},
            {"type": "function_call", "call_id": "b", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "done"},
            {"type": "function_call_output", "call_id": "b", "output": "No."},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "And?"}],
            },
        ],
    }


REASONING: list[tuple[str, ThinkingLevel, object]] = [
    ("gpt-6.1-sol", "default", {"effort": "medium", "summary": "auto"}),
    ("gpt-6.1-sol", "high", {"effort": "high", "summary": "auto"}),
    ("gpt-6.1-sol", "none", {"effort": "low", "summary": "auto"}),
    ("gpt-6-astra", "none", {"effort": "low", "summary": "auto"}),
    ("gpt-6.1-terra", "none", {"effort": "none"}),
    ("gpt-6-luna", "low", {"effort": "low", "summary": "auto"}),
    ("gpt-5.6-luna", "none", {"effort": "none"}),
    ("gpt-5.4", "none", {"effort": "none"}),
    ("gpt-4.1", "high", None),
]


@pytest.mark.parametrize(("name", "level", "expected"), REASONING)
def test_reasoning_follows_the_catalogue(name: str, level: ThinkingLevel, expected: object) -> None:
    body = body_of(ask("Hi", model=name, thinking=level), gpt(name))
    assert body.get("reasoning") == expected
    assert ("include" in body) == (expected is not None)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", None),
        ("none", "none"),
        (AnyTool(), "required"),
        (NamedTool("read"), {"type": "function", "name": "read"}),
    ],
)
def test_tool_choice(choice: ToolChoice, expected: object) -> None:
    assert body_of(ask("Hi", tools=(READ,), tool_choice=choice)).get("tool_choice") == expected
    free = gpt("a-gateway-model", forced_tool="no")
    forced = body_of(ask("Hi", tools=(READ,), tool_choice=choice), free).get("tool_choice")
    assert forced == ("none" if choice == "none" else None)


def test_tool_choice_is_left_out_without_tools() -> None:
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & body_of(ask("Hi")).keys()


def test_schema_and_verbosity_are_options_of_the_text() -> None:
    request = ask("Hi", response_schema={"type": "object"})
    wanted = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}
    body = body_of(request, gpt(verbosity="low"))
    assert body["text"] == {"format": {**wanted, "strict": False}, "verbosity": "low"}
    assert "text" not in body_of(request, gpt("a-gateway-model"))


@pytest.mark.parametrize(("asked", "sent"), [(5, 16), (500, 500), (500_000, 128_000)])
def test_output_limit_is_one_the_service_takes(asked: int, sent: int) -> None:
    assert body_of(ask("Hi", max_output=asked))["max_output_tokens"] == sent


def test_no_cache_key_where_the_user_wants_no_cache() -> None:
    body = body_of(ask("Hi", cache_key=SessionId("s")), gpt(cache=False))
    assert "prompt_cache_key" not in body


@pytest.mark.parametrize("owner", [{"provider": "gateway"}, {"model": "gpt-6-luna"}])
def test_state_of_another_is_dropped(owner: dict[str, str]) -> None:
    said = TextPart(text="So.", state=state({"phase": "commentary"}, **owner))
    sent = body_of(ask("Hi", assistant(thought(**owner), said), "And?"))["input"]
    assert sent[1:-1] == [{"type": "message", "role": "assistant", "content": "So."}]


def test_reasoning_that_nothing_follows_is_dropped() -> None:
    sent = body_of(ask("Hi", assistant(thought(), TextPart(text=" ")), "And?"))["input"]
    assert [item["type"] for item in sent] == ["message", "message"]


def test_refused_extras_are_left_out() -> None:
    request = ask("Hi", assistant(thought(), call("a")), UserMessage(parts=(result("a"),)))
    made = make_endpoint("openai_responses")
    with_all = json.loads(encode(request, made))
    bare = json.loads(encode(request, made, frozenset({"reasoning_items", "reasoning_summary"})))
    assert with_all["reasoning"] == {"effort": "medium", "summary": "auto"}
    assert bare["reasoning"] == {"effort": "medium"}
    assert [item["type"] for item in bare["input"]] == [
        "message",
        "function_call",
        "function_call_output",
    ]
    assert json.loads(encode(request, made)) == with_all


def test_images_become_words_where_the_model_reads_none() -> None:
    picture = ImagePart(media_type="image/png", data="AAAA")
    message = UserMessage(
        parts=(result("a").model_copy(update={"content": (picture,)}), TextPart(text="See."))
    )
    sent = body_of(ask("Hi", assistant(call("a")), message), gpt("plain", images=False))["input"]
    assert sent[-2]["output"] == "[An image was here; this model cannot read images.]"


def test_long_call_ids_become_digests() -> None:
    long = "functions.read:" + "0" * 80
    sent = body_of(ask("Hi", assistant(call(long)), UserMessage(parts=(result(long),))))["input"]
    assert sent[1]["call_id"] == sent[2]["call_id"] == vendor_call_id(CallId(long))
    assert len(sent[1]["call_id"]) <= 64
    assert vendor_call_id(CallId("toolu_1")) == "toolu_1"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/responses"),
        ("https://gw.test/x/responses", "https://gw.test/x/responses"),
        ("https://gw.test/x?v=1", "https://gw.test/x/responses?v=1"),
    ],
)
def test_address(url: str, expected: str) -> None:
    assert api_url(url, "responses") == expected
