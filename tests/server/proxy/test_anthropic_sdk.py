"""The official Anthropic SDK, unchanged, in front of a model of each vendor."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message

from tests.server.proxy.conftest import (
    CLAUDE,
    GPT,
    LOCAL,
)
from tests.server.proxy.format_cases import (
    GREETING,
    PARAMETERS,
    both,
    cached,
    check_count,
    every_model,
    greets,
    kinds_sent,
    thinking_models,
    thinks_and_answers,
)
from tests.simulator import (
    Failure,
    Simulator,
    Text,
    rate_limited,
    reply,
)

TOOL: Any = {
    "name": "read",
    "description": "Read a cell.",
    "input_schema": PARAMETERS,
}


async def ask(
    sdk: AsyncAnthropic, model: str, messages: Any, *, stream: bool, **more: Any
) -> Message:
    """Request through the SDK, streaming or not; the answer is the same object."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    given: Any = {"model": model, "max_tokens": 8000, "messages": messages, **more}
    if not stream:
        create: Any = sdk.messages.create  # its overloads need literal arguments
        return await create(**given)
    async with sdk.messages.stream(**given) as events:
        return await events.get_final_message()


def content(message: Message) -> Any:
    """The blocks as the SDK sends them back."""
    return [block.model_dump(exclude_unset=True) for block in message.content]


def text(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


@pytest.mark.sampled(5)
@both
@every_model
async def test_text(
    claude_sdk: AsyncAnthropic, upstream: Simulator, model: str, stream: bool
) -> None:
    upstream.script(greets())

    message = await ask(claude_sdk, model, "Hi", stream=stream, system="Be brief.")

    assert text(message) == GREETING
    assert (message.stop_reason, message.model) == ("end_turn", model)
    assert message.usage.input_tokens + (message.usage.cache_read_input_tokens or 0) == 120
    assert message.usage.output_tokens == 7
    assert message.usage.cache_read_input_tokens == cached(model)


@both
@thinking_models
async def test_thinking_is_shown_and_goes_back_to_the_model_that_made_it(
    claude_sdk: AsyncAnthropic, upstream: Simulator, model: str, stream: bool
) -> None:
    upstream.script(*thinks_and_answers())

    answer = await ask(claude_sdk, model, "Why?", stream=stream)
    await ask(
        claude_sdk,
        model,
        [
            {"role": "user", "content": "Why?"},
            {"role": "assistant", "content": content(answer)},
            {"role": "user", "content": "And?"},
        ],
        stream=stream,
    )

    assert [(b.thinking if b.type == "thinking" else b.type) for b in answer.content] == [
        "Look at cell 3.",
        "text",
    ]
    assert upstream.requests[1].refusal is None
    if model == CLAUDE:
        assert kinds_sent(upstream.requests[1].body) == ["thinking", "text"]
    if model == GPT:
        assert upstream.requests[1].body["input"][1]["type"] == "reasoning"


ERRORS = [
    (Failure(status=400), anthropic.BadRequestError, "invalid_request_error"),
    (Failure(status=401), anthropic.AuthenticationError, "authentication_error"),
    (Failure(status=403), anthropic.PermissionDeniedError, "permission_error"),
    (Failure(status=404), anthropic.NotFoundError, "not_found_error"),
    (Failure(status=429), anthropic.RateLimitError, "rate_limit_error"),
    (Failure(status=500), anthropic.InternalServerError, "api_error"),
    (Failure(status=529), anthropic.InternalServerError, "overloaded_error"),
]


@both
@pytest.mark.parametrize("model", [CLAUDE, LOCAL])
@pytest.mark.parametrize(("failure", "error", "kind"), ERRORS, ids=[e[2] for e in ERRORS])
async def test_errors_have_the_sdk_s_own_type(
    *,
    claude_sdk: AsyncAnthropic,
    upstream: Simulator,
    model: str,
    failure: Failure,
    error: type[anthropic.APIStatusError],
    kind: str,
    stream: bool,
) -> None:
    upstream.script(reply(failure=failure))

    with pytest.raises(error) as caught:
        await ask(claude_sdk, model, "Hi", stream=stream)

    body: Any = caught.value.body
    assert body["error"]["type"] == kind
    assert upstream.key not in str(body)
    assert caught.value.response.headers["request-id"] == body["request_id"]


async def test_the_wait_a_provider_asks_for_reaches_the_caller(
    claude_sdk: AsyncAnthropic, upstream: Simulator
) -> None:
    upstream.script(rate_limited(retry_after="3"))

    with pytest.raises(anthropic.RateLimitError) as caught:
        await ask(claude_sdk, CLAUDE, "Hi", stream=True)

    headers = caught.value.response.headers
    assert (headers["retry-after"], headers["retry-after-ms"]) == ("3", "3000")
    assert headers["x-should-retry"] == "true"


@both
async def test_a_stop_sequence_ends_the_answer_and_the_call(
    claude_sdk: AsyncAnthropic, upstream: Simulator, stream: bool
) -> None:
    upstream.script(reply(Text(text="one two three four", split=2)))

    message = await ask(claude_sdk, LOCAL, "Count", stream=stream, stop_sequences=["thr", "zzz"])

    assert text(message) == "one two "
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "thr")


@both
@pytest.mark.parametrize(
    ("stop", "word"),
    [("max_tokens", "max_tokens"), ("refusal", "refusal"), ("end_turn", "end_turn")],
)
async def test_stop_reasons(
    claude_sdk: AsyncAnthropic, upstream: Simulator, stop: Any, word: str, stream: bool
) -> None:
    upstream.script(reply("Hm", stop=stop))

    message = await ask(claude_sdk, CLAUDE, "Hi", stream=stream)

    assert message.stop_reason == word


async def test_a_model_is_described(claude_sdk: AsyncAnthropic) -> None:
    model = await claude_sdk.models.retrieve(CLAUDE)

    assert (model.id, model.type, model.lifecycle) == (CLAUDE, "model", "active")
    with pytest.raises(anthropic.NotFoundError, match="no-such-model"):
        await claude_sdk.models.retrieve("no-such-model")


@pytest.mark.sampled(2)
@every_model
async def test_tokens_are_counted_by_the_provider_if_it_can(
    claude_sdk: AsyncAnthropic, upstream: Simulator, model: str
) -> None:
    count = await claude_sdk.messages.count_tokens(
        model=model, messages=[{"role": "user", "content": "Hi " * 100}], tools=[TOOL]
    )

    check_count(upstream, model, count.input_tokens)


async def test_a_provider_that_refuses_to_count_says_so(
    claude_sdk: AsyncAnthropic, upstream: Simulator
) -> None:
    with pytest.raises(anthropic.BadRequestError, match="unique"):
        await claude_sdk.messages.count_tokens(
            model=CLAUDE, messages=[{"role": "user", "content": "Hi"}], tools=[TOOL, TOOL]
        )

    assert upstream.requests[0].refusal is not None
