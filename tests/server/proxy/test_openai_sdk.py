"""The official OpenAI SDK, unchanged, in front of a model of each vendor."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from tests.server.proxy.conftest import CLAUDE, LOCAL
from tests.server.proxy.format_cases import (
    GREETING,
    PARAMETERS,
    both,
    cached,
    check_looks_of_claude,
    check_openai_error,
    every_model,
    greets,
    kinds_sent,
    looks_twice,
    openai_errors,
    thinks_and_answers,
)
from tests.simulator import (
    Failure,
    Simulator,
    Text,
    reply,
)

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "read",
        "description": "Read a cell.",
        "parameters": PARAMETERS,
    },
}


async def ask(
    sdk: AsyncOpenAI, model: str, messages: Any, *, stream: bool, **more: Any
) -> ChatCompletion:
    """Request through the SDK, streaming or not; the answer is the same object."""
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
    """The answer as most programs send it back: without fields unknown to the format."""
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


@pytest.mark.sampled(5)
@both
@every_model
async def test_text(openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool) -> None:
    upstream.script(greets())
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]

    completion = await ask(openai_sdk, model, messages, stream=stream)

    assert message_of(completion).content == GREETING
    assert completion.choices[0].finish_reason == "stop"
    assert completion.model == model
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (120, 7)
    assert completion.usage.prompt_tokens_details is not None
    assert completion.usage.prompt_tokens_details.cached_tokens == cached(model)


@pytest.mark.sampled(5)
@both
@every_model
async def test_parallel_calls_of_a_program_that_keeps_no_state(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool
) -> None:
    """The thinking that a vendor wants back with its calls is kept for the caller."""
    upstream.script(*looks_twice())
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
    check_looks_of_claude(upstream, model)


@pytest.mark.sampled(5)
@both
@every_model
async def test_reasoning_is_shown_and_can_be_sent_back(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool
) -> None:
    upstream.script(*thinks_and_answers())

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
        assert kinds_sent(upstream.requests[1].body) == ["thinking", "text"]


@both
@pytest.mark.parametrize("model", [CLAUDE, LOCAL])
@openai_errors
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

    check_openai_error(upstream, caught.value, code)


@both
async def test_a_stop_text_ends_the_answer(
    openai_sdk: AsyncOpenAI, upstream: Simulator, stream: bool
) -> None:
    upstream.script(reply(Text(text="one two three four", split=2)))

    completion = await ask(openai_sdk, CLAUDE, "Count", stream=stream, stop="three")

    assert message_of(completion).content == "one two "
    assert completion.choices[0].finish_reason == "stop"
