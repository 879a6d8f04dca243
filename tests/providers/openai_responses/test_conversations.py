"""Whole conversations with the strict Responses simulator over a real socket.

Every request is validated twice: by the simulator, and by the types of the official SDK.
"""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import (
    AnyTool,
    NamedTool,
    PartDelta,
    ProviderEvent,
    Stop,
    ToolChoice,
    UsageReport,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.parts import (
    ImagePart,
    ModelMessage,
    ProviderState,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UserMessage,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.providers.adapter_fixtures import (
    Kind,
    Sent,
    ask,
    assistant,
    call,
    chat_model,
    claude,
    collect,
    gpt,
    result,
    results,
    shipped,
    user,
)
from tests.providers.anthropic.test_conversations import HISTORIES
from tests.providers.conversation import Conversation, connected
from tests.providers.faulty_servers import append_all
from tests.sdk_validation.request_schemas import responses_problems
from tests.simulator import (
    Failure,
    Reasoning,
    Reply,
    Simulator,
    ToolUse,
    Usage,
    reply,
)

SHIPPED = [name for name, spec in shipped().models.items() if spec.provider == "openai"]
MODELS = [*SHIPPED, "gpt-6-sol", "gpt-5.6-terra", "gpt-5.5", "gpt-5.4", "gpt-4.1"]
LEVELS: list[ThinkingLevel] = ["default", "none", "low", "medium", "high"]
PICTURE = ImagePart(media_type="image/png", data="iVBORw0KGgo=")
OUTPUT_LIMITS = {"gpt-4.1": 32_768}


def model_of(name: str) -> ModelSpec:
    return gpt(name, **({"max_output": OUTPUT_LIMITS[name]} if name in OUTPUT_LIMITS else {}))


def judge(simulator: Simulator, count: int) -> None:
    """Every request was accepted, by the simulator and by the SDK's types."""
    assert [record.refusal for record in simulator.requests] == [None] * count
    asked = [record for record in simulator.requests if record.path == "/v1/responses"]
    assert [problem for record in asked for problem in responses_problems(record.body)] == []


def kinds(body: dict[str, Any]) -> list[str]:
    return [item.get("role") or item["type"] for item in body["input"]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
async def test_tool_loop_is_accepted(simulator: Simulator, name: str, level: ThinkingLevel) -> None:
    simulator.script(
        reply(
            Reasoning(text="First.\n\nThen."),
            "I will look.",
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={}),
        ),
        reply(Reasoning(text="", redacted=True), ToolUse(name="read", arguments={"n": 2})),
        reply(Reasoning(text="Done."), "There are 2."),
        reply("Bye."),
    )
    model = model_of(name)
    async with connected(simulator, "openai_responses", model=model) as provider:
        talk = Conversation(provider, model)
        await talk.say("How many?", thinking=level)
        await talk.answer_calls(thinking=level)
        last = await talk.answer_calls(thinking=level)
        assert last.parts[-1].model_copy(update={"state": None}) == TextPart(text="There are 2.")
        await talk.say("Thanks.", thinking=level)
    judge(simulator, 4)
    thinks = model.reasoning and (level != "none" or model.thinking_support.off == "impossible")
    once = ["reasoning"] if thinks else []
    assert kinds(simulator.requests[3].body) == [
        "user",
        *once,
        *("assistant", "function_call", "function_call"),
        *("function_call_output", "function_call_output"),
        *once,
        *("function_call", "function_call_output"),
        *once,
        *("assistant", "user"),
    ]


@pytest.mark.parametrize("choice", [AnyTool(), NamedTool("read"), "none", "auto"])
@pytest.mark.parametrize("name", MODELS)
async def test_every_tool_choice_is_accepted(
    simulator: Simulator, name: str, choice: ToolChoice
) -> None:
    simulator.script(reply("Hm."))
    model = model_of(name)
    async with connected(simulator, "openai_responses", model=model) as provider:
        await Conversation(provider, model).say("How many?", tool_choice=choice)
    judge(simulator, 1)


@pytest.mark.parametrize("history", HISTORIES)
async def test_history_is_accepted(simulator: Simulator, history: str) -> None:
    simulator.script(reply("Yes."))
    messages: list[ModelMessage] = list(HISTORIES[history])
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        await Conversation(provider, gpt(), messages).step()
    judge(simulator, 1)


async def test_images_are_sent_by_the_user_and_by_tools(simulator: Simulator) -> None:
    simulator.script(reply("Yes."))
    shown = results(result("a").model_copy(update={"content": (TextPart(text="A"), PICTURE)}))
    seen = UserMessage(parts=(TextPart(text="And this?"), PICTURE))
    messages: list[ModelMessage] = [user("Hi"), assistant(call("a")), shown, seen]
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        await Conversation(provider, gpt(), messages).step()
    judge(simulator, 1)
    url = "data:image/png;base64,iVBORw0KGgo="
    image = {"type": "input_image", "detail": "auto", "image_url": url}
    sent = simulator.requests[0].body["input"]
    assert sent[-2]["output"] == [{"type": "input_text", "text": "A"}, image]
    assert sent[-1]["content"] == [{"type": "input_text", "text": "And this?"}, image]


async def test_reasoning_comes_back_as_it_came_and_only_to_its_model(simulator: Simulator) -> None:
    """The simulator refuses encrypted content of another model."""
    simulator.default(reply(Reasoning(text="Hm."), "So."))
    first, second = gpt("gpt-6.1-sol"), gpt("gpt-6.1-terra")
    async with connected(simulator, "openai_responses", model=first) as provider:
        talk = Conversation(provider, first)
        await talk.say("One?")
        await talk.say("Two?")
    async with connected(simulator, "openai_responses", model=second) as provider:
        await Conversation(provider, second, talk.messages).say("Three?")
    judge(simulator, 3)
    _, own, other = (record.body["input"] for record in simulator.requests)
    assert own[1]["summary"] == [{"type": "summary_text", "text": "Hm."}]
    assert own[1]["encrypted_content"]
    assert own[2] == {
        "type": "message",
        "role": "assistant",
        "content": "So.",
        "phase": "final_answer",
    }
    assert kinds({"input": other}) == ["user", "assistant", "user", "assistant", "user"]
    assert "phase" not in other[1]


async def test_phases_are_kept(simulator: Simulator) -> None:
    simulator.script(reply("I look.", ToolUse(name="read")), reply("Two."), reply("Bye."))
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        talk = Conversation(provider, gpt())
        await talk.say("How many?")
        await talk.answer_calls()
        await talk.say("Thanks.")
    sent = simulator.requests[2].body["input"]
    assert [item["phase"] for item in sent if "phase" in item] == ["commentary", "final_answer"]


async def test_conversation_moves_between_vendors(simulator: Simulator) -> None:
    """Each vendor accepts ids, reasoning and results of the others."""
    simulator.default(reply(Reasoning(text="Hm."), "I look.", ToolUse(name="read", arguments={})))
    sides: list[tuple[Kind, ModelSpec]] = [
        ("openai_responses", gpt()),
        ("anthropic", claude("claude-sonnet-5-5")),
        ("openai_responses", gpt("gpt-6-luna")),
        ("openai_chat", chat_model(id="sim-local", model="sim-local")),
    ]
    messages: list[ModelMessage] = [user("Look.")]
    for kind, model in [*sides, *sides, sides[0]]:
        async with connected(simulator, kind, model=model) as provider:
            await Conversation(provider, model, messages).step()
        made = [part for part in messages[-1].parts if isinstance(part, ToolCallPart)]
        messages.append(results(*(result(part.call_id) for part in made)))
    judge(simulator, 9)


async def test_usage_and_stop_are_the_common_ones(simulator: Simulator) -> None:
    spent = Usage(input=900, output=50, cache_read=600, cache_write=200, reasoning=40)
    simulator.script(reply("Hi", usage=spent))
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        events = await collect(provider, ask("Hi", model="gpt-6.1-sol"))
    assert [event for event in events if isinstance(event, UsageReport)] == [
        UsageReport(
            TokenUsage(
                input_tokens=900,
                output_tokens=50,
                cache_read_tokens=600,
                cache_write_tokens=200,
                reasoning_tokens=40,
            )
        )
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(reply("Hi"), Stop("end_turn"), id="end"),
        pytest.param(reply(ToolUse(name="read")), Stop("tool_use"), id="calls"),
        pytest.param(reply("Hi", stop="max_tokens"), Stop("max_tokens"), id="limit"),
        pytest.param(reply("No.", stop="refusal"), Stop("content_filter"), id="refusal"),
        pytest.param(reply("T", stop="content_filter"), Stop("content_filter"), id="filter"),
        pytest.param(
            reply("T", stop="pause_turn"), Stop("other", "max_messages"), id="another reason"
        ),
    ],
)
async def test_reason_of_the_end(simulator: Simulator, answer: Reply, expected: Stop) -> None:
    simulator.script(answer)
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        assert (await collect(provider, ask("Hi", model="gpt-6.1-sol")))[-1] == expected


STALE = assistant(
    ReasoningPart(
        text="Hm.",
        state=ProviderState(
            provider="openai",
            model="gpt-6.1-sol",
            data={
                "item": {
                    "type": "reasoning",
                    "id": "rs_old",
                    "summary": [],
                    "encrypted_content": "gAAA-of-another-organisation",
                }
            },
        ),
    ),
    call("a"),
)


async def test_reasoning_of_another_account_is_left_out_of_a_second_try(
    simulator: Simulator,
) -> None:
    simulator.script(reply("Two."))
    sent = Sent()
    messages: list[ModelMessage] = [user("How many?"), STALE, results(result("a"))]
    async with connected(simulator, "openai_responses", model=gpt(), sent=sent) as provider:
        answer = await Conversation(provider, gpt(), messages).step()
    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == ["Two."]
    first, second = simulator.requests
    assert first.refusal is not None
    assert "could not be verified" in first.refusal
    assert second.refusal is None
    assert kinds(second.body) == ["user", "function_call", "function_call_output"]
    assert sent.reports[-1] is None


@pytest.mark.parametrize("times", [1, 2])
async def test_refused_summary_is_asked_for_once(simulator: Simulator, times: int) -> None:
    body = (
        '{"error": {"message": "Your organization must be verified.", "type":'
        ' "invalid_request_error", "param": "reasoning.summary", "code": "unsupported_value"}}'
    )
    simulator.script(*[reply(failure=Failure(status=400, body=body))] * times, reply("Hi"))
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        if times == 1:
            await collect(provider, ask("Hi", model="gpt-6.1-sol"))
        else:
            with pytest.raises(ProviderError):
                await collect(provider, ask("Hi", model="gpt-6.1-sol"))
    assert [record.body["reasoning"] for record in simulator.requests] == [
        {"effort": "medium", "summary": "auto"},
        {"effort": "medium"},
    ]


SHAPES = ["nested", "flat", "failed"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("failure", "code", "retryable"),
    [
        pytest.param(Failure(status=500), "provider_error", True, id="server error"),
        pytest.param(Failure(status=429), "rate_limited", True, id="rate limit"),
        pytest.param(
            Failure(status=429, code="insufficient_quota"), "quota_exhausted", False, id="quota"
        ),
        pytest.param(
            Failure(status=400, code="context_length_exceeded"),
            "context_overflow",
            False,
            id="overflow",
        ),
        pytest.param(
            Failure(status=400, code="bio_policy"), "content_filtered", False, id="policy"
        ),
        pytest.param(
            Failure(status=400, code="invalid_image_format"),
            "bad_request_upstream",
            False,
            id="image",
        ),
        pytest.param(
            Failure(status=400, code="image_file_too_large"), "too_large", False, id="large image"
        ),
    ],
)
async def test_error_inside_a_stream_is_named(
    simulator: Simulator, shape: Any, failure: Failure, code: ErrorCode, retryable: bool
) -> None:
    placed = failure.model_copy(update={"after": 6, "shape": shape, "message": "Oh no."})
    simulator.script(reply("One two three four five.", failure=placed))
    seen: list[ProviderEvent] = []
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        with pytest.raises(ProviderError) as caught:
            await append_all(provider, ask("Hi", model="gpt-6.1-sol"), seen)
    assert (caught.value.info.code, caught.value.info.retryable) == (code, retryable)
    assert "Oh no." in caught.value.info.message
    assert any(isinstance(event, PartDelta) for event in seen)


async def test_late_refusal_of_reasoning_is_not_tried_again(simulator: Simulator) -> None:
    failure = Failure(status=400, code="invalid_encrypted_content", after=6)
    simulator.script(reply("One two three four five.", failure=failure))
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        with pytest.raises(ProviderError):
            await collect(provider, ask("Hi", model="gpt-6.1-sol"))
    assert len(simulator.requests) == 1


async def test_cache_key_names_the_conversation(simulator: Simulator) -> None:
    simulator.script(reply("Hi"))
    async with connected(simulator, "openai_responses", model=gpt()) as provider:
        request = ask("Hi", model="gpt-6.1-sol", cache_key=SessionId("session_1"))
        await collect(provider, request)
    assert simulator.requests[0].body["prompt_cache_key"] == "session_1"
    judge(simulator, 1)
