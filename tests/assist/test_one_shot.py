"""Single calls: one checked answer in whatever form the model can be held to, or a typed error."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from jupyter_ai_shoulders.assist.json_answers import answer_schema, find_json_object
from jupyter_ai_shoulders.assist.one_shot import (
    Form,
    OneShotCalls,
    OneShotQuestion,
    choose_output_form,
)
from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.base import Provider, ResolvedModel
from jupyter_ai_shoulders.testing.scripted_provider import Call, Gate, ScriptedProvider, Think, turn
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import ModelId
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.providers.adapter_fixtures import Kind, chat_model, claude, gemini, gpt, llama
from tests.providers.conversation import connected
from tests.simulator import (
    Delivery,
    Failure,
    Reasoning,
    Reply,
    Simulator,
    Text,
    ToolUse,
    Usage,
    reply,
)
from tests.simulator.script import SimRequest

ACCOUNT = UsageAccount("title")
QUESTION = OneShotQuestion("You name things.", "A plot of rain.", "Give the title.", ACCOUNT)


class Place(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid")

    city: str = Field(min_length=2, title="City")


class Title(BaseModel):
    """An answer with whatever schemas can hold."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(max_length=40, description="A few words.")
    tags: list[str] = Field(default_factory=list[str], max_length=3)
    place: Place | None = None


GOOD: dict[str, Any] = {"title": "Rain", "tags": ["weather"], "place": {"city": "Bergen"}}
BAD: dict[str, Any] = {"title": "Rain" * 20, "tags": [], "place": None}
WANTED = Title(title="Rain", tags=["weather"], place=Place(city="Bergen"))


class One:
    """A registry of one model."""

    def __init__(self, spec: ModelSpec, provider: Provider) -> None:
        self._resolved = ResolvedModel(spec, provider)

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        assert model_id == self._resolved.spec.id
        return self._resolved


def calls(spec: ModelSpec, provider: Provider, **limits: Any) -> OneShotCalls:
    return OneShotCalls(One(spec, provider), lambda: ModelPreferences(**limits))


SERVERS: dict[str, tuple[Kind, Callable[[], ModelSpec], Form]] = {
    "claude that can be forced": ("anthropic", lambda: claude("claude-haiku-5-5"), "tool"),
    "claude that cannot": ("anthropic", lambda: claude("claude-opus-5-5"), "schema"),
    "claude forced without thinking": ("anthropic", lambda: claude("claude-opus-4-8"), "tool"),
    "openai": ("openai_responses", lambda: gpt("gpt-6-luna"), "tool"),
    "openai that always thinks": ("openai_responses", lambda: gpt("gpt-6.1-sol"), "tool"),
    "openai by schema": ("openai_responses", lambda: gpt("gpt-6-luna", forced_tool="no"), "schema"),
    "gemini": ("google", lambda: gemini("gemini-3.5-flash-lite"), "tool"),
    "gemini by schema": ("google", lambda: gemini(forced_tool="no"), "schema"),
    "ollama": ("ollama", llama, "schema"),
    "ollama without tools": ("ollama", lambda: llama("sim-plain", tools=False), "schema"),
    "vllm": ("openai_chat", lambda: chat_model(model="sim-local"), "tool"),
    "vllm by schema": (
        "openai_chat",
        lambda: chat_model(model="sim-local", forced_tool="no", structured_output=True),
        "schema",
    ),
    "any server": (
        "openai_chat",
        lambda: chat_model(model="sim-local", tools=False),
        "words",
    ),
}


def as_answered(form: Form, value: dict[str, Any]) -> ToolUse | Text:
    if form == "tool":
        return ToolUse(name="answer", arguments=value)
    text = json.dumps(value)
    return Text(text=text if form == "schema" else f"Here you are:\n```json\n{text}\n```")


@pytest.mark.parametrize("name", SERVERS)
async def test_every_kind_of_model_gives_a_checked_answer(simulator: Simulator, name: str) -> None:
    kind, make, form = SERVERS[name]
    spec = make()
    simulator.script(reply(as_answered(form, GOOD), usage=Usage(input=30, output=7)))
    async with connected(simulator, kind, model=spec) as provider:
        answer = await calls(spec, provider).ask(QUESTION, Title, spec.id)
    assert choose_output_form(spec) == form
    assert (answer.value, answer.model, answer.attempts) == (WANTED, spec.id, 1)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (30, 7)
    assert [record.refusal for record in simulator.requests] == [None]


@pytest.mark.parametrize("name", SERVERS)
async def test_answer_that_does_not_fit_is_asked_for_once_more(
    simulator: Simulator, name: str
) -> None:
    kind, make, form = SERVERS[name]
    spec = make()
    usage = Usage(input=30, output=7)
    simulator.script(
        reply(as_answered(form, BAD), usage=usage), reply(as_answered(form, GOOD), usage=usage)
    )
    async with connected(simulator, kind, model=spec) as provider:
        answer = await calls(spec, provider).ask(QUESTION, Title, spec.id)
    assert (answer.value, answer.attempts) == (WANTED, 2)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (60, 14)
    assert [record.refusal for record in simulator.requests] == [None, None]
    assert "title: String should have at most 40" in json.dumps(simulator.requests[1].body)


SPEC = claude("claude-haiku-5-5")


@pytest.mark.parametrize(
    ("answers", "code", "words", "requests"),
    [
        pytest.param(
            [reply(ToolUse(name="answer", arguments=BAD))] * 2,
            "provider_protocol",
            "at most 40",
            2,
            id="twice unfit",
        ),
        pytest.param(
            [reply("I would rather not.")] * 2, "provider_protocol", "no JSON", 2, id="no"
        ),
        pytest.param(
            [reply(ToolUse(name="answer", arguments='{"title": '))] * 2,
            "provider_protocol",
            "the requested form",
            2,
            id="cut arguments",
        ),
        pytest.param([reply("x" * 9_000)], "provider_protocol", "no JSON", 1, id="too long"),
        pytest.param([reply("")], "provider_protocol", "no JSON", 1, id="empty"),
        pytest.param(
            [reply("So", stop="max_tokens")], "provider_protocol", "1024 tokens", 1, id="cut"
        ),
        pytest.param([reply("No", stop="refusal")], "content_filtered", "refused", 1, id="refused"),
        pytest.param(
            [reply(failure=Failure(status=529))], "overloaded", "overloaded", 1, id="overloaded"
        ),
        pytest.param(
            [reply("Hi", delivery=Delivery(ending="cut"))],
            "stream_truncated",
            "broke off",
            1,
            id="truncated",
        ),
    ],
)
async def test_failure_is_a_typed_error(
    simulator: Simulator, answers: list[Any], code: ErrorCode, words: str, requests: int
) -> None:
    simulator.script(*answers)
    async with connected(simulator, "anthropic", model=SPEC) as provider:
        with pytest.raises(ProviderError) as caught:
            await calls(SPEC, provider).ask(QUESTION, Title, SPEC.id)
    assert caught.value.info.code == code
    assert words in caught.value.info.message
    assert caught.value.info.hint
    assert len(simulator.requests) == requests


async def test_time_is_over_and_the_connection_is_closed(simulator: Simulator) -> None:
    simulator.script(reply("Wait", delivery=Delivery(ending="stall")))
    async with connected(simulator, "anthropic", model=SPEC) as provider:
        with pytest.raises(ProviderError) as caught:
            await calls(SPEC, provider, single_call_timeout_s=1.5).ask(QUESTION, Title, SPEC.id)
        await simulator.settled()
    assert caught.value.info.code == "provider_timeout"
    assert "1.5 seconds" in caught.value.info.message
    assert [record.outcome for record in simulator.requests] == ["client-left"]


async def test_cancelled_call_closes_its_connection(simulator: Simulator) -> None:
    arrived = asyncio.Event()

    def stall(_: SimRequest) -> Reply:
        arrived.set()
        return reply("Wait", delivery=Delivery(ending="stall"))

    simulator.script(stall)
    async with connected(simulator, "anthropic", model=SPEC) as provider:
        asking = asyncio.create_task(calls(SPEC, provider).ask(QUESTION, Title, SPEC.id))
        await arrived.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await simulator.settled()
    assert [record.outcome for record in simulator.requests] == ["client-left"]


async def test_cancel_reaches_the_provider_at_once() -> None:
    gate = Gate()
    provider = ScriptedProvider(turn(gate))
    spec = chat_model()
    asking = asyncio.create_task(calls(spec, provider).ask(QUESTION, Title, spec.id))
    await gate.reached.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert provider.closed_early == 1


async def test_request_is_small_thoughtless_and_booked() -> None:
    provider = ScriptedProvider(turn(Call("answer", GOOD)), turn(Call("answer", GOOD)))
    spec = chat_model()
    asking = calls(spec, provider, single_call_max_tokens=500)
    await asking.ask(QUESTION, Title, spec.id)
    (request,) = provider.requests
    assert request.account == ACCOUNT
    assert (request.thinking, request.max_output) == ("none", 500)
    assert [tool.name for tool in request.tools] == ["answer"]
    assert request.messages[0].parts == (TextPart(text="A plot of rain."),)


async def test_model_that_always_thinks_gets_room_for_it() -> None:
    provider = ScriptedProvider(turn(Think("Hm. {no}"), Call("answer", GOOD)))
    spec = claude("claude-opus-5-5", forced_tool="yes")
    await calls(spec, provider).ask(QUESTION, Title, spec.id)
    assert provider.requests[0].max_output == 4_000


async def test_thoughts_are_not_taken_for_the_answer(simulator: Simulator) -> None:
    spec = chat_model(model="sim-local", tools=False)
    thought = Reasoning(text='Perhaps {"title": "No"}?')
    simulator.script(reply(thought, Text(text=json.dumps(GOOD))))
    async with connected(simulator, "openai_chat", model=spec) as provider:
        answer = await calls(spec, provider).ask(QUESTION, Title, spec.id)
    assert answer.value == WANTED


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure! {"a": {"b": "}"}} Done.', {"a": {"b": "}"}}),
        ('{not json} {"a": 1}', {"a": 1}),
        ('{"draft": 1}\n```json\n{"a": 1}\n```', {"a": 1}),
        ("```\nnothing\n```", None),
        ('{"a": 1', None),
        ("[1, 2]", None),
        ("", None),
        ("{" * 100_000, None),
        ("[" * 50 + '{"a":' * 5_000, None),
    ],
)
def test_object_is_found_in_text(text: str, found: Any) -> None:
    assert find_json_object(text) == found


def test_schema_is_what_strict_servers_take() -> None:
    assert answer_schema(Title) == {
        "type": "object",
        "description": "An answer with whatever schemas can hold.",
        "properties": {
            "title": {"type": "string", "description": "A few words. (at most 40 characters)"},
            "tags": {
                "type": "array",
                "description": "(at most 3 items)",
                "items": {"type": "string"},
            },
            "place": {
                "anyOf": [
                    {
                        "type": "object",
                        "description": "A part of an answer.",
                        "properties": {
                            "city": {"type": "string", "description": "(at least 2 characters)"}
                        },
                        "required": ["city"],
                        "additionalProperties": False,
                    },
                    {"type": "null"},
                ]
            },
        },
        "required": ["title", "tags", "place"],
        "additionalProperties": False,
    }
