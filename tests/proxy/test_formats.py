"""What requests and answers look like beyond what the SDKs' own tests see."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import (
    AnyTool,
    ModelRequest,
    NamedTool,
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    ResolvedModel,
    Stop,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
)
from jupyter_ai_shoulders.proxy.anthropic.format import AnthropicFormat
from jupyter_ai_shoulders.proxy.event_encoding import dump
from jupyter_ai_shoulders.proxy.openai_chat.format import OpenAIChatFormat
from jupyter_ai_shoulders.proxy.relay import ProxyRelay
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.proxy.state_cache import StateCache
from jupyter_ai_shoulders.proxy.wire_format import WireFormat
from jupyter_ai_shoulders.wire.api.responses import ModelList
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, PartId
from jupyter_ai_shoulders.wire.parts import ProviderState, ReasoningPart, ToolCallPart
from tests.providers.adapter_fixtures import FakeClock, SequentialIds, chat_model

BOX = StateSealer(b"secret")
ANTHROPIC = AnthropicFormat(BOX)
CHAT = OpenAIChatFormat(BOX, FakeClock())
STATE = ProviderState(provider="google", model="g", data={"thoughtSignature": "Q0FG"})


def messages(**fields: Any) -> bytes:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    return json.dumps(body | fields).encode()


def chat(**fields: Any) -> bytes:
    return json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}]} | fields
    ).encode()


class Replay:
    """A provider that says what it was told to, and keeps what it was asked."""

    def __init__(self, *events: ProviderEvent) -> None:
        self.events = events
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        self.requests.append(request)
        for event in self.events:
            yield event

    async def list_models(self) -> list[Any]:
        return []

    async def count_tokens(self, request: ModelRequest) -> int | None:
        return None

    async def aclose(self) -> None:
        """Nothing to close."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        return ResolvedModel(chat_model(), self)

    def listing(self) -> ModelList:
        raise NotImplementedError


async def answer(caller: WireFormat, raw: bytes, *events: ProviderEvent) -> Any:
    relay = ProxyRelay(Replay(*events), StateCache(FakeClock()), SequentialIds())
    return json.loads(await relay.open(caller, raw).complete())


async def streamed(caller: WireFormat, raw: bytes, *events: ProviderEvent) -> list[Any]:
    relay = ProxyRelay(Replay(*events), StateCache(FakeClock()), SequentialIds())
    data = b"".join([piece async for piece in relay.open(caller, raw).stream()])
    lines = [line for line in data.decode().split("\n") if line.startswith("data: {")]
    return [json.loads(line[6:]) for line in lines]


def call(name: str, raw: str, arguments: Any, state: ProviderState | None = None) -> Any:
    call_id = CallId(name)
    return (
        ToolCallStart(call_id, "read"),
        ToolArgumentsDelta(call_id, raw),
        ToolCallReady(call_id, "read", arguments, raw, None if arguments else "broken", state),
    )


def test_the_signature_of_older_clients_is_accepted_and_stripped() -> None:
    block: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    history: list[Any] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [block | {"_googleThoughtSignature": "Q0FG"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
    ]
    asked = ANTHROPIC.read(messages(messages=history))
    expected = ToolCallPart(call_id=CallId("a"), tool="read", arguments={})
    assert asked.messages[1].parts == (expected,)


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({}, "default"),
        ({"thinking": {"type": "adaptive"}}, "default"),
        ({"thinking": {"type": "disabled"}}, "none"),
        ({"thinking": {"type": "between_tools"}}, "none"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "low"),
        ({"thinking": {"type": "enabled", "budget_tokens": 8000}}, "medium"),
        ({"thinking": {"type": "enabled", "budget_tokens": 30000}}, "high"),
        ({"output_config": {"effort": "xhigh"}}, "high"),
    ],
)
def test_thinking_becomes_a_level(fields: dict[str, Any], level: str) -> None:
    assert ANTHROPIC.read(messages(**fields)).thinking == level


def test_texts_that_end_an_answer_are_few_enough_to_look_for() -> None:
    few, many = [f"end {n}" for n in range(64)], [f"end {n}" for n in range(65)]

    assert ANTHROPIC.read(messages(stop_sequences=few)).stops == tuple(few)
    assert CHAT.read(chat(stop=few)).stops == tuple(few)
    for caller, body in ((ANTHROPIC, messages(stop_sequences=many)), (CHAT, chat(stop=many))):
        with pytest.raises(InvalidRequest, match="stop"):
            caller.read(body)


def test_tool_choices_mean_the_same_in_both_formats() -> None:
    named = {"type": "function", "function": {"name": "read"}}
    pairs: list[tuple[Any, Any]] = [
        ({"type": "auto"}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "read"}, named),
    ]
    read = [
        (
            ANTHROPIC.read(messages(tool_choice=one)).tool_choice,
            CHAT.read(chat(tool_choice=other)).tool_choice,
        )
        for one, other in pairs
    ]
    assert read == [(choice, choice) for choice in ("auto", AnyTool(), "none", NamedTool("read"))]


def test_schemas_for_the_answer_mean_the_same_in_both_formats() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    given = {"format": {"type": "json_schema", "schema": schema}}
    other = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    assert ANTHROPIC.read(messages(output_config=given)).response_schema == schema
    assert CHAT.read(chat(response_format=other)).response_schema == schema


def test_a_schema_that_is_nested_too_deeply_is_refused() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(70):
        schema = {"items": schema}
    with pytest.raises(InvalidRequest, match="64 levels"):
        ANTHROPIC.read(messages(tools=[{"name": "read", "input_schema": schema}]))


async def test_broken_arguments_reach_a_caller_as_they_are() -> None:
    broken = (*call("a", '{"n": ', None), Stop("tool_use"))

    whole = await answer(ANTHROPIC, messages(), *broken)
    other = await answer(CHAT, chat(), *broken)
    events = await streamed(ANTHROPIC, messages(stream=True), *broken)

    assert whole["content"][0]["input"] == {"INVALID_JSON": '{"n": '}
    function = other["choices"][0]["message"]["tool_calls"][0]["function"]
    assert function == {"name": "read", "arguments": '{"n": '}
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert events[2]["delta"] == {"type": "input_json_delta", "partial_json": '{"n": '}


async def test_a_call_makes_a_tool_turn_of_an_answer_that_just_ends() -> None:
    """As Google's do."""
    ended = (*call("a", "{}", {"n": 1}), Stop("end_turn"))
    assert (await answer(ANTHROPIC, messages(), *ended))["stop_reason"] == "tool_use"
    choice = (await answer(CHAT, chat(), *ended))["choices"][0]
    assert choice["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_the_state_of_a_call_travels_in_a_chat_answer(stream: bool) -> None:
    events = (*call("a", '{"n":1}', {"n": 1}, STATE), Stop("tool_use"))
    if stream:
        chunks = await streamed(CHAT, chat(stream=True), *events)
        deltas = [c["choices"][0]["delta"].get("tool_calls", [{}])[0] for c in chunks]
        extra = next(delta["extra_content"] for delta in deltas if "extra_content" in delta)
    else:
        whole = await answer(CHAT, chat(), *events)
        extra = whole["choices"][0]["message"]["tool_calls"][0]["extra_content"]
    function = {"name": "read", "arguments": '{"n":1}'}
    back = {"id": "a", "type": "function", "function": function, "extra_content": extra}
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [back]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]
    part = CHAT.read(chat(messages=history)).messages[1].parts[0]
    assert part == ToolCallPart(call_id=CallId("a"), tool="read", arguments={"n": 1}, state=STATE)


async def test_the_state_of_a_call_is_remembered_for_an_anthropic_caller() -> None:
    model = Replay(*call("a", '{"n":1}', {"n": 1}, STATE), Stop("tool_use"))
    relay = ProxyRelay(model, StateCache(FakeClock()), SequentialIds())
    first = json.loads(await relay.open(ANTHROPIC, messages()).complete())
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": first["content"]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
    ]
    await relay.open(ANTHROPIC, messages(messages=history)).complete()

    part = model.requests[1].messages[1].parts[0]
    assert isinstance(part, ToolCallPart)
    assert part.state == STATE


async def test_thinking_that_is_not_shown_keeps_its_state() -> None:
    part = PartId("p")
    events = (PartStart("reasoning", part), PartDelta(part, "Hm."), PartEnd(part, STATE))
    thinking = {"type": "adaptive", "display": "omitted"}
    sent = await streamed(
        ANTHROPIC, messages(stream=True, thinking=thinking), *events, Stop("end_turn")
    )

    deltas = [event["delta"] for event in sent if event["type"] == "content_block_delta"]
    assert [delta["type"] for delta in deltas] == ["signature_delta"]
    assert BOX.open(deltas[0]["signature"]) == ReasoningPart(text="Hm.", state=STATE)


def test_lone_surrogates_do_not_break_an_answer() -> None:
    assert dump({"message": "Bad \ud83d"}) == b'{"message":"Bad ?"}'
