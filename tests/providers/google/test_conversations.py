"""Whole conversations with the strict Gemini of the simulator over a real socket.

Every request is also validated by the types of Google's own SDK.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.providers.base import (
    AnyTool,
    ListedModel,
    NamedTool,
    PartDelta,
    Stop,
    ToolChoice,
    UsageReport,
)
from jupyter_ai_shoulders.providers.google.provider import GoogleProvider
from jupyter_ai_shoulders.wire.parts import ModelMessage, ReasoningPart, TextPart, ToolCallPart
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.providers.adapter_fixtures import (
    KEY,
    Kind,
    Sent,
    answering,
    ask,
    chat_model,
    claude,
    collect,
    gemini,
    gpt,
    llama,
    make_endpoint,
    result,
    results,
)
from tests.providers.anthropic.test_conversations import HISTORIES
from tests.providers.conversation import Conversation, connected
from tests.sdk_validation.google_types import google_problems
from tests.simulator import (
    Reasoning,
    Simulator,
    Text,
    ToolUse,
    Usage,
    reply,
)

MODELS = [
    *("gemini-4-argon", "gemini-4-argon-low", "gemini-4-argon-high", "gemini-3.8-flash"),
    *("gemini-3.8-flash-low", "gemini-3.5-flash-lite", "gemini-3.1-pro"),
    *("gemini-2.5-pro", "gemini-2.5-flash"),
]
LEVELS: list[ThinkingLevel] = ["default", "none", "low", "medium", "high"]


@asynccontextmanager
async def talking(
    simulator: Simulator, model: ModelSpec, messages: list[ModelMessage] | None = None
) -> AsyncGenerator[Conversation]:
    """A conversation whose requests must all be accepted by the simulator and the SDK."""
    async with connected(simulator, "google", model=model) as provider:
        yield Conversation(provider, model, [] if messages is None else messages)
    refused = [record.refusal for record in simulator.requests if record.refusal]
    sent = [record.body for record in simulator.requests if "contents" in (record.body or {})]
    assert (refused, [google_problems(body) for body in sent]) == ([], [[]] * len(sent))


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
        reply(Reasoning(text="Done."), "There are 2."),
        reply("Bye."),
    )
    async with talking(simulator, gemini(name)) as talk:
        await talk.say("How many?", thinking=level)
        await talk.answer_calls(thinking=level)
        last = await talk.answer_calls(thinking=level)
        assert isinstance(last.parts[-1], TextPart)
        assert last.parts[-1].text == "There are 2."
        await talk.say("Thanks.", thinking=level)
    assert len(simulator.requests) == 4


@pytest.mark.parametrize("choice", [AnyTool(), NamedTool("read"), "none", "auto"])
@pytest.mark.parametrize("name", ["gemini-3.8-flash", "gemini-2.5-flash"])
async def test_every_tool_choice_is_accepted(
    simulator: Simulator, name: str, choice: ToolChoice
) -> None:
    simulator.script(reply("Hm."))
    async with talking(simulator, gemini(name)) as talk:
        await talk.say("How many?", tool_choice=choice)


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("name", ["gemini-3.8-flash", "gemini-2.5-flash"])
async def test_history_is_accepted(simulator: Simulator, name: str, history: str) -> None:
    simulator.script(reply("Yes."))
    async with talking(simulator, gemini(name), list(HISTORIES[history])) as talk:
        await talk.step()


async def test_thoughts_are_shown_and_billed(simulator: Simulator) -> None:
    used = Usage(input=100, output=48, cache_read=90, reasoning=20)
    simulator.script(reply(Reasoning(text="Look."), "Done.", usage=used))
    async with connected(simulator, "google") as provider:
        events = await collect(provider, ask("Why?", model="gemini-3.8-flash"))
    assert [event.text for event in events if isinstance(event, PartDelta)] == ["Look.", "Done."]
    assert [event for event in events if isinstance(event, UsageReport)][-1].usage == TokenUsage(
        input_tokens=100, output_tokens=48, cache_read_tokens=90, reasoning_tokens=20
    )


async def test_signatures_make_the_round_trip(simulator: Simulator) -> None:
    """The simulator refuses a missing signature, and one that moved to another part."""
    simulator.script(
        reply("One two.", ToolUse(name="read", arguments={"n": 1}), ToolUse(name="read")),
        reply(ToolUse(name="read", arguments={"n": 2})),
        reply("So."),
        reply("Bye."),
    )
    async with talking(simulator, gemini()) as talk:
        await talk.say("Look.")
        await talk.answer_calls()
        await talk.answer_calls()
        await talk.say("Thanks.")
    sent = simulator.requests[-1].body["contents"]
    signed = [[bool(p.get("thoughtSignature")) for p in content["parts"]] for content in sent]
    assert signed == [
        [False],
        [False, True, False],
        [False, False],
        [True],
        [False],
        [False, True],
        [False],
    ]


async def test_call_without_its_signature_is_refused_by_the_simulator(
    simulator: Simulator,
) -> None:
    """Proves that the tests above can fail."""
    simulator.default(reply(ToolUse(name="read", arguments={"n": 1})))
    async with connected(simulator, "google") as provider:
        talk = Conversation(provider, gemini())
        answer = await talk.say("Look.")
        call = answer.parts[0]
        assert isinstance(call, ToolCallPart)
        assert call.state is not None
        moved = call.model_copy(update={"arguments": {"n": 2}})
        talk.messages[-1] = answer.model_copy(update={"parts": (moved,)})
        with pytest.raises(Exception, match="thought signature"):
            await talk.answer_calls()


async def test_conversation_moves_between_vendors_and_back(simulator: Simulator) -> None:
    simulator.default(
        reply(
            Reasoning(text="Hm."),
            "I look.",
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={"n": 2}),
        )
    )
    models: dict[Kind, ModelSpec] = {
        "anthropic": claude("claude-sonnet-5-5"),
        "google": gemini(),
        "openai_chat": chat_model(id="sim-local", model="sim-local"),
        "openai_responses": gpt(),
        "ollama": llama("sim-qwen", thinking="low"),
    }
    messages: list[ModelMessage] = []
    others: tuple[Kind, ...] = ("anthropic", "openai_chat", "openai_responses", "ollama")
    kinds: list[Kind] = ["google", *(turn for other in others for turn in (other, "google"))]
    for kind in kinds:
        spec = models[kind]
        async with connected(simulator, kind, model=spec) as provider:
            await Conversation(provider, spec, messages).say("Look.")
            await Conversation(provider, spec, messages).answer_calls()
        calls = [part for part in messages[-1].parts if isinstance(part, ToolCallPart)]
        messages.append(results(*(result(part.call_id) for part in calls)))
    async with connected(simulator, "google", model=gemini("gemini-4-argon")) as provider:
        await Conversation(provider, gemini("gemini-4-argon"), messages).step()
    assert [record.refusal for record in simulator.requests] == [None] * 19


async def test_schema_is_followed(simulator: Simulator) -> None:
    simulator.script(reply('{"title": "x"}'))
    schema = {"type": "object", "title": "T", "properties": {"title": {"type": "string"}}}
    async with talking(simulator, gemini("gemini-2.5-flash")) as talk:
        await talk.say("Name it.", tools=(), response_schema=schema)


async def test_long_answer_goes_on_in_another_stream(simulator: Simulator) -> None:
    simulator.script(
        reply(
            Reasoning(text="Long."),
            Text(text="One ", split="whole"),
            stop="pause_turn",
            usage=Usage(input=10, output=5, cache_read=1, reasoning=2),
        ),
        reply("", stop="pause_turn", report_usage=False),
        reply("two.", ToolUse(name="read"), usage=Usage(input=11, output=7)),
    )
    async with connected(simulator, "google", model=gemini("gemini-4-argon")) as provider:
        events = await collect(provider, ask("Hi", model="gemini-4-argon"))
    assert (
        "".join(event.text for event in events if isinstance(event, PartDelta)) == "Long.One two."
    )
    assert [type(event).__name__ for event in events].count("PartStart") == 2
    assert events[-1] == Stop("tool_use")
    last = [event.usage for event in events if isinstance(event, UsageReport)][-1]
    assert (last.cache_read_tokens, last.reasoning_tokens, last.estimated) == (1, 2, True)
    assert last.input_tokens > 21
    assert last.output_tokens >= 12
    tokens = [record.body.pop("continuationToken", None) for record in simulator.requests]
    assert [bool(token) for token in tokens] == [False, True, True]
    assert simulator.requests[0].body == simulator.requests[2].body


async def test_answer_without_end_is_ended() -> None:
    chunk = {
        "finishReason": "CONTINUATION",
        "continuationToken": "t",
        "content": {"parts": [{"text": "x"}]},
    }
    sent = Sent()
    body = f"data: {json.dumps({'candidates': [chunk]})}\n\n".encode()
    events = await collect(
        GoogleProvider(make_endpoint("google", transport=answering(body, sent=sent)))
    )
    assert len(sent.requests) == 8
    assert events[-1] == Stop("max_tokens")


async def test_models_are_listed_page_by_page(simulator: Simulator) -> None:
    async with connected(simulator, "google", query={"pageSize": "2"}) as provider:
        found = await provider.list_models()
    assert len(simulator.requests) == 4
    assert found[0] == ListedModel("gemini-4-argon", 1_048_576, 65_536, frozenset({"thinking"}))
    assert len(found) == 7


async def test_key_goes_into_a_header_only(simulator: Simulator) -> None:
    sent = Sent()
    made = make_endpoint("google", transport=answering(b"", status=500, sent=sent))
    with pytest.raises(Exception, match="failed"):
        await collect(GoogleProvider(made))
    request = sent.requests[0]
    assert request.headers["x-goog-api-key"] == KEY
    assert KEY not in str(request.url)
    assert str(request.url).endswith("/v1/models/m:streamGenerateContent?alt=sse")


async def test_reasoning_of_others_is_left_out(simulator: Simulator) -> None:
    simulator.script(reply("Yes."))
    async with talking(simulator, gemini()) as talk:
        talk.messages += HISTORIES["reasoning of another vendor"]
        await talk.step()
    assert isinstance(talk.messages[1].parts[0], ReasoningPart)
    assert simulator.requests[0].body["contents"][1]["parts"] == [{"text": "So."}]
