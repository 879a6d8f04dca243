"""Ollama's own format: bodies, whole conversations with the simulator, errors and the listing."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import AnyTool, ListedModel, ModelRequest, ToolChoice
from jupyter_ai_shoulders.providers.ollama.encode import encode
from jupyter_ai_shoulders.providers.ollama.provider import OllamaProvider, api_url
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.parts import (
    ImagePart,
    ModelMessage,
    ReasoningPart,
    TextPart,
    UserMessage,
)
from tests.providers.adapter_fixtures import (
    READ,
    Sent,
    answering,
    ask,
    assistant,
    call,
    collect,
    llama,
    make_endpoint,
    result,
    results,
    user,
)
from tests.providers.anthropic.test_conversations import HISTORIES
from tests.providers.conversation import Conversation, connected
from tests.providers.faulty_servers import failure_of
from tests.simulator import (
    Failure,
    Reasoning,
    Simulator,
    ToolUse,
    reply,
)

BOOLEAN: dict[str, Any] = {"mode": "effort", "off": "disabled"}
MODELS: dict[str, ModelSpec] = {
    "sim-llama": llama(),
    "sim-qwen": llama("sim-qwen", thinking_support=BOOLEAN, context_window=8_192),
    "gpt-oss:20b": llama("gpt-oss:20b"),
}
LEVELS: list[ThinkingLevel] = ["default", "none", "low", "high"]


def body_of(request: ModelRequest, model: ModelSpec | None = None) -> dict[str, Any]:
    return json.loads(encode(request, make_endpoint("ollama", model=model)))


def test_whole_body() -> None:
    made = make_endpoint("ollama", model=MODELS["gpt-oss:20b"])
    thought = ReasoningPart(text="Hm.", state=made.state({}))
    request = ask(
        user("Look"),
        assistant(thought, TextPart(text="I look."), call("a", n=1), call("b")),
        results(result("a", "x=1"), result("b", "")),
        tools=(READ,),
        model="gpt-oss:20b",
        max_output=50_000,
    )
    function = {"name": READ.name, "description": READ.description, "parameters": READ.parameters}
    assert json.loads(encode(request, made)) == {
        "model": "gpt-oss:20b",
        "stream": True,
        "truncate": False,
        "shift": False,
        "options": {"num_ctx": 32_768, "num_predict": 32_768},
        "tools": [{"type": "function", "function": function}],
        "think": True,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Look"},
            {
                "role": "assistant",
                "content": "I look.",
                "thinking": "Hm.",
                "tool_calls": [
                    {"id": "a", "function": {"index": 0, "name": "read", "arguments": {"n": 1}}},
                    {"id": "b", "function": {"index": 1, "name": "read", "arguments": {}}},
                ],
            },
            {"role": "tool", "content": "x=1", "tool_name": "read", "tool_call_id": "a"},
            {"role": "tool", "content": "(no output)", "tool_name": "read", "tool_call_id": "b"},
        ],
    }


def test_window_is_the_users_and_the_same_every_time() -> None:
    model = llama(context_window=8_192, max_output=1_000)
    for request in (ask("Hi"), ask("x" * 10_000)):
        assert body_of(request, model)["options"] == {"num_ctx": 8_192, "num_predict": 1_000}


@pytest.mark.parametrize(
    ("changes", "level", "think"),
    [
        ({}, "high", None),
        ({"thinking_support": BOOLEAN}, "default", True),
        ({"thinking_support": BOOLEAN}, "high", True),
        ({"thinking_support": BOOLEAN}, "none", False),
        ({"thinking": "low"}, "default", True),
        ({"thinking_support": {"mode": "effort"}}, "none", None),
        ({"model": "gpt-oss:20b"}, "default", True),
        ({"model": "gpt-oss:20b"}, "medium", "medium"),
        ({"model": "gpt-oss:20b"}, "none", "low"),
    ],
)
def test_thinking_is_asked_for_as_the_model_can(
    changes: dict[str, Any], level: ThinkingLevel, think: Any
) -> None:
    assert body_of(ask("Hi", thinking=level), llama(**changes)).get("think") == think


def test_who_may_not_call_is_not_told_of_tools() -> None:
    assert "tools" not in body_of(ask("Hi", tools=(READ,), tool_choice="none"))


def test_schema_is_the_format_where_there_are_no_tools() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    assert body_of(ask("Hi", response_schema=schema))["format"] == schema
    assert "format" not in body_of(ask("Hi", response_schema=schema, tools=(READ,)))


@pytest.mark.parametrize(
    ("images", "sent"),
    [
        (True, {"role": "user", "content": "What?", "images": ["iVBORw0KGgo="]}),
        (
            False,
            {
                "role": "user",
                "content": "What?\n\n[An image was here; this model cannot read images.]",
            },
        ),
    ],
)
def test_images_are_sent_to_models_that_see(images: bool, sent: Any) -> None:
    image = ImagePart(media_type="image/png", data="iVBORw0KGgo=")
    message = UserMessage(parts=(TextPart(text="What?"), image))
    assert body_of(ask(message), llama(images=images))["messages"][1] == sent


@pytest.mark.parametrize(
    "url",
    [
        *("http://o.test", "http://o.test/", "http://o.test/api", "http://o.test/api/chat"),
        *("http://o.test/v1", "http://o.test/v1/chat/completions"),
    ],
)
def test_address(url: str) -> None:
    assert api_url(url, "chat") == "http://o.test/api/chat"
    assert api_url("http://gw.test/ollama", "tags") == "http://gw.test/ollama/api/tags"


@asynccontextmanager
async def talking(simulator: Simulator, model: ModelSpec) -> AsyncGenerator[Conversation]:
    async with connected(simulator, "ollama", model=model, key=None) as provider:
        yield Conversation(provider, model)
    assert [record.refusal for record in simulator.requests if record.refusal] == []
    assert all("authorization" not in record.headers for record in simulator.requests)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
async def test_tool_loop_is_accepted(simulator: Simulator, name: str, level: ThinkingLevel) -> None:
    simulator.script(
        reply(
            Reasoning(text="First."),
            "I will look.",
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={}),
        ),
        reply(Reasoning(text="Again."), ToolUse(name="read", arguments={"n": 2})),
        reply("There are 2."),
        reply("Bye."),
    )
    async with talking(simulator, MODELS[name]) as talk:
        await talk.say("How many?", thinking=level)
        await talk.answer_calls(thinking=level)
        last = await talk.answer_calls(thinking=level)
        assert last.parts[-1] == TextPart(text="There are 2.")
        await talk.say("Thanks.", thinking=level)
    sent = simulator.requests[-1].body
    assert sent["options"]["num_ctx"] == MODELS[name].window
    thoughts = [message.get("thinking") for message in sent["messages"] if message.get("thinking")]
    shown = name != "sim-llama" and (level != "none" or name == "gpt-oss:20b")
    assert thoughts == (["First.", "Again."] if shown else [])


@pytest.mark.parametrize("choice", [AnyTool(), "none", "auto"])
async def test_every_tool_choice_is_accepted(simulator: Simulator, choice: ToolChoice) -> None:
    simulator.script(reply("Hm."))
    async with talking(simulator, llama()) as talk:
        await talk.say("How many?", tool_choice=choice)


@pytest.mark.parametrize("history", HISTORIES)
async def test_history_is_accepted(simulator: Simulator, history: str) -> None:
    simulator.script(reply("Yes."))
    messages: list[ModelMessage] = list(HISTORIES[history])
    async with talking(simulator, llama()) as talk:
        talk.messages += messages
        await talk.step()


async def test_images_reach_a_model_that_sees(simulator: Simulator) -> None:
    simulator.script(reply("A plot."))
    model = llama("sim-llava", images=True, context_window=4_096)
    async with talking(simulator, model) as talk:
        talk.messages += HISTORIES["image result"]
        await talk.step(tools=())
    assert simulator.requests[0].body["messages"][-1] == {
        "role": "user",
        "content": "",
        "images": ["iVBORw0KGgo="],
    }


async def test_models_are_listed_with_what_they_can_do(simulator: Simulator) -> None:
    async with connected(simulator, "ollama", key=None) as provider:
        found = {model.name: model for model in await provider.list_models()}
    assert found["sim-qwen:latest"] == ListedModel(
        "sim-qwen:latest", 262_144, None, frozenset({"completion", "tools", "thinking"})
    )
    assert len(found) == 6


async def test_model_that_cannot_be_shown_is_listed_by_name() -> None:
    sent = Sent()
    body = b'{"models": [{"name": "a"}, {"model": "b:1"}, {}, 3]}'
    made = make_endpoint(
        "ollama", transport=answering(body, headers={"content-type": "application/json"}, sent=sent)
    )
    found = await OllamaProvider(made).list_models()
    assert found == [ListedModel("a"), ListedModel("b:1")]
    shown = sorted(json.loads(request.content)["model"] for request in sent.requests[1:])
    assert shown == ["a", "b:1"]


ERRORS: list[tuple[int, str, ErrorCode, bool, str]] = [
    (404, "model 'sim-llama' not found", "model_not_found", False, "ollama pull sim-llama"),
    (400, "model not found, try pulling it", "model_not_found", False, "ollama pull sim-llama"),
    (400, '"m" does not support tools', "bad_request_upstream", False, "ollama show sim-llama"),
    (400, "the input length exceeds the context length", "context_overflow", False, "num_ctx"),
    (401, "unauthorized", "authentication", False, "key"),
    (429, "too many requests", "rate_limited", True, "Wait"),
    (500, "llama runner process has terminated", "provider_error", True, "Try again"),
    (500, "model requires more system memory (9 GiB)", "provider_error", False, "another model"),
    (503, "server busy", "overloaded", True, "Wait"),
]


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case[1])
async def test_refusal_says_what_to_do(
    simulator: Simulator, case: tuple[int, str, ErrorCode, bool, str]
) -> None:
    status, message, code, retryable, hint = case
    simulator.script(reply(failure=Failure(status=status, message=message)))
    async with connected(simulator, "ollama") as provider:
        error = await failure_of(provider, "sim-llama")
    assert (error.info.code, error.info.retryable) == (code, retryable)
    assert hint in (error.info.hint or "")


async def test_model_that_was_not_pulled_is_named(simulator: Simulator) -> None:
    async with connected(simulator, "ollama", model=llama("mistral")) as provider:
        error = await failure_of(provider, "mistral")
    assert error.info.code == "model_not_found"
    assert "`ollama pull mistral`" in (error.info.hint or "")


async def test_ollama_that_does_not_run_is_to_be_started() -> None:
    made = make_endpoint("ollama", url="http://127.0.0.1:9")
    with pytest.raises(ProviderError) as caught:
        await collect(OllamaProvider(made))
    await made.upstream.aclose()
    assert caught.value.info.code == "provider_unreachable"
    assert "ollama serve" in (caught.value.info.hint or "")


async def test_too_long_prompt_is_refused_not_cut(simulator: Simulator) -> None:
    async with connected(simulator, "ollama", model=llama(context_window=100)) as provider:
        request = ask("word " * 500, model="sim-llama")
        with pytest.raises(ProviderError) as caught:
            await collect(provider, request)
    assert caught.value.info.code == "context_overflow"


@pytest.mark.parametrize("said", ['{"error":"boom"}', '{"error":{"message":"boom"}}'])
async def test_error_line_cut_at_every_byte_is_the_same(said: str) -> None:
    line = '{"message":{"role":"assistant","content":"Hi"},"done":false}'
    whole = f"{line}\r\n{said}\r\n".encode()
    for at in range(1, len(whole)):
        made = make_endpoint("ollama", transport=answering([whole[:at], whole[at:]]))
        error = await failure_of(OllamaProvider(made), "sim-llama")
        assert (error.info.code, error.info.retryable) == ("provider_error", True)
        assert "boom" in error.info.message


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"message":{"content":"Hi"},"done":false}\n', "stream_truncated"),
        (b'{"message":{"content":"Hi"},"do', "stream_truncated"),
        (b'{"message":\n{"done":true}\n', "provider_protocol"),
        (b"", "stream_truncated"),
    ],
)
async def test_broken_stream_is_an_error(body: bytes, code: ErrorCode) -> None:
    made = make_endpoint("ollama", transport=answering(body))
    assert (await failure_of(OllamaProvider(made), "sim-llama")).info.code == code


async def test_model_that_turns_out_to_lack_tools_chats_without(simulator: Simulator) -> None:
    """As before it was listed, when its capabilities are unknown."""
    simulator.script(reply("Hello."))
    model = llama("sim-plain")
    async with connected(simulator, "ollama", model=model, key=None) as provider:
        answer = await Conversation(provider, model).say("Hi")
    assert answer.parts == (TextPart(text="Hello."),)
    assert [record.status for record in simulator.requests] == [400, 200]
    assert ["tools" in record.body for record in simulator.requests] == [True, False]


async def test_other_refusals_are_not_tried_again(simulator: Simulator) -> None:
    simulator.script(reply(failure=Failure(status=400, message='"m" does not support thinking')))
    async with connected(simulator, "ollama") as provider:
        with pytest.raises(ProviderError):
            await collect(provider, ask("Hi", model="sim-llama", tools=(READ,)))
    assert len(simulator.requests) == 1
