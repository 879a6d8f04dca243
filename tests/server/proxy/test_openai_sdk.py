"""The official OpenAI SDK, unchanged, in front of a model of each vendor."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from jupyter_ai_shoulders.testing.simulator import (
    Delivery,
    Failure,
    Reasoning,
    Simulator,
    Text,
    ToolUse,
    Usage,
    reply,
)
from tests.server.proxy.conftest import CLAUDE, GEMINI, GPT, LOCAL, MODELS, OPENROUTER, QWEN
from tests.server.proxy.test_anthropic_sdk import PIXEL

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "read",
        "description": "Read a cell.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}


async def ask(
    sdk: AsyncOpenAI, model: str, messages: Any, *, stream: bool, **more: Any
) -> ChatCompletion:
    """Ask through the SDK, streaming or not; the answer is the same object."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    given: Any = {"model": model, "messages": messages, **more}
    if not stream:
        create: Any = sdk.chat.completions.create  # its overloads need literal arguments
        return await create(**given)
    options: Any = {"include_usage": True}
    async with sdk.chat.completions.stream(**given, stream_options=options) as events:
        async for _ in events:
            pass
        return await events.get_final_completion()


def message_of(completion: ChatCompletion) -> Any:
    return completion.choices[0].message


def plain(completion: ChatCompletion) -> Any:
    """The answer as most programs send it back: without what the format does not name."""
    message = completion.choices[0].message
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in message.tool_calls or ()
        if call.type == "function"
    ]
    sent: dict[str, Any] = {"role": "assistant", "content": message.content}
    return {**sent, "tool_calls": calls} if calls else sent


both = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
every_model = pytest.mark.parametrize("model", MODELS)


@both
@every_model
async def test_text(openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool) -> None:
    usage = Usage(input=120, output=7, cache_read=40)
    upstream.script(reply("Hällo, 日本 🙂.", usage=usage))
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]

    completion = await ask(openai_sdk, model, messages, stream=stream)

    assert message_of(completion).content == "Hällo, 日本 🙂."
    assert completion.choices[0].finish_reason == "stop"
    assert completion.model == model
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (120, 7)
    assert completion.usage.prompt_tokens_details is not None
    assert completion.usage.prompt_tokens_details.cached_tokens == (0 if model == QWEN else 40)


@both
@every_model
async def test_parallel_calls_of_a_program_that_keeps_no_state(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool
) -> None:
    """The thinking that a vendor wants back with its calls is remembered for the caller."""
    upstream.script(
        reply(
            Reasoning(text="Two cells."),
            "I look.",
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={}),
        ),
        reply(Reasoning(text="Once more."), ToolUse(name="read", arguments={"n": 3})),
        reply("Done."),
    )
    messages: list[Any] = [{"role": "user", "content": "Look"}]
    for _ in range(2):
        answer = await ask(openai_sdk, model, messages, stream=stream, tools=[TOOL])
        assert answer.choices[0].finish_reason == "tool_calls"
        sent = plain(answer)
        messages.append(sent)
        messages += [
            {
                "role": "tool",
                "tool_call_id": call["id"],
                "content": str(json.loads(call["function"]["arguments"])),
            }
            for call in sent["tool_calls"]
        ]
    last = await ask(openai_sdk, model, messages, stream=stream, tools=[TOOL])

    assert message_of(last).content == "Done."
    assert [record.refusal for record in upstream.requests] == [None] * 3
    seen = upstream.requests[1].seen
    assert seen is not None
    assert ["'n': 1" in text for text in seen.tool_results] == [True, False]
    if model == CLAUDE:
        blocks = upstream.requests[2].body["messages"][1]["content"]
        assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use", "tool_use"]


@both
@every_model
async def test_reasoning_is_shown_and_can_be_sent_back(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool
) -> None:
    upstream.script(reply(Reasoning(text="Look at cell 3."), "So."), reply("Well."))

    answer = await ask(openai_sdk, model, "Why?", stream=stream)
    message = message_of(answer).model_dump(exclude_unset=True, exclude={"parsed"})
    await ask(
        openai_sdk,
        model,
        [{"role": "user", "content": "Why?"}, message, {"role": "user", "content": "And?"}],
        stream=stream,
    )

    assert message["reasoning"] == "Look at cell 3."
    assert [record.refusal for record in upstream.requests] == [None, None]
    if model == CLAUDE:
        before = upstream.requests[1].body["messages"][1]["content"]
        assert [block["type"] for block in before] == ["thinking", "text"]


@both
@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI, LOCAL, OPENROUTER])
async def test_images(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool
) -> None:
    upstream.script(reply("A pixel."))
    url = f"data:image/png;base64,{PIXEL}"
    content = [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]

    completion = await ask(openai_sdk, model, [{"role": "user", "content": content}], stream=stream)

    assert message_of(completion).content == "A pixel."
    assert PIXEL in str(upstream.requests[0].body)


ERRORS = [
    (Failure(status=400), openai.BadRequestError, None),
    (Failure(status=401), openai.AuthenticationError, "invalid_api_key"),
    (Failure(status=402), openai.RateLimitError, "insufficient_quota"),
    (Failure(status=404), openai.NotFoundError, "model_not_found"),
    (Failure(status=429), openai.RateLimitError, "rate_limit_exceeded"),
    (Failure(status=500), openai.InternalServerError, None),
    (Failure(status=529), openai.InternalServerError, None),
]


@both
@pytest.mark.parametrize("model", [CLAUDE, LOCAL])
@pytest.mark.parametrize(
    ("failure", "error", "code"), ERRORS, ids=[str(e[0].status) for e in ERRORS]
)
async def test_errors_have_the_sdk_s_own_type(
    *,
    openai_sdk: AsyncOpenAI,
    upstream: Simulator,
    model: str,
    failure: Failure,
    error: type[openai.APIStatusError],
    code: str | None,
    stream: bool,
) -> None:
    upstream.script(reply(failure=failure))

    with pytest.raises(error) as caught:
        await ask(openai_sdk, model, "Hi", stream=stream)

    body: Any = caught.value.body
    assert body["code"] == code
    assert upstream.key not in str(body)
    assert caught.value.request_id


@every_model
@pytest.mark.parametrize(
    "broken",
    [
        reply("A long text", failure=Failure(status=529, after=2)),
        reply("A long text", delivery=Delivery(ending="cut")),
    ],
    ids=["error", "cut"],
)
async def test_an_error_in_the_stream_ends_it(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, broken: Any
) -> None:
    upstream.script(broken)

    with pytest.raises(openai.APIError, match=r"overloaded|failed|too early|connection"):
        await ask(openai_sdk, model, "Hi", stream=True)


async def test_an_unknown_model_is_not_found(openai_sdk: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="no-such-model"):
        await ask(openai_sdk, "no-such-model", "Hi", stream=True)


@both
async def test_a_stop_text_ends_the_answer(
    openai_sdk: AsyncOpenAI, upstream: Simulator, stream: bool
) -> None:
    upstream.script(reply(Text(text="one two three four", split=2)))

    completion = await ask(openai_sdk, CLAUDE, "Count", stream=stream, stop="three")

    assert message_of(completion).content == "one two "
    assert completion.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("model", [CLAUDE, GPT, LOCAL])
async def test_parallel_calls_can_be_switched_off(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str
) -> None:
    upstream.script("Hm")

    await ask(openai_sdk, model, "Hi", stream=True, tools=[TOOL], parallel_tool_calls=False)

    body = upstream.requests[0].body
    if model == CLAUDE:
        assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    else:
        assert body["parallel_tool_calls"] is False


async def test_models_are_listed_in_this_format(openai_sdk: AsyncOpenAI) -> None:
    listed = [model.id async for model in openai_sdk.models.list()]

    assert {CLAUDE, LOCAL} <= set(listed)
