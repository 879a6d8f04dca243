"""The official OpenAI SDK's Responses, unchanged, in front of a model of each vendor."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseReasoningItem
from pydantic import BaseModel

from tests.server.proxy.conftest import (
    CLAUDE,
    GPT,
    LOCAL,
    MODELS,
)
from tests.server.proxy.format_cases import (
    BROKEN_STREAM,
    GREETING,
    PARAMETERS,
    both,
    broken_in_the_middle,
    cached,
    check_count,
    check_openai_error,
    every_model,
    greets,
    kinds_sent,
    openai_errors,
    thinking_models,
    thinks_and_answers,
)
from tests.simulator import (
    Failure,
    Reasoning,
    Simulator,
    ToolUse,
    reply,
)

TOOL: Any = {
    "type": "function",
    "name": "read",
    "description": "Read a cell.",
    "parameters": PARAMETERS,
    "strict": False,
}


async def ask(sdk: AsyncOpenAI, model: str, given: Any, *, stream: bool, **more: Any) -> Response:
    """Request through the SDK, streaming or not; the answer is the same object."""
    request: Any = {"model": model, "input": given, **more}
    if not stream:
        create: Any = sdk.responses.create  # its overloads need literal arguments
        return await create(**request)
    async with sdk.responses.stream(**request) as events:
        return await events.get_final_response()


def kinds(response: Response) -> list[str]:
    return [item.type for item in response.output]


@pytest.mark.sampled(5)
@both
@every_model
async def test_text(openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool) -> None:
    upstream.script(greets())

    response = await ask(openai_sdk, model, "Hi", stream=stream, instructions="Be brief.")

    assert response.output_text == GREETING
    assert (response.status, response.model, response.error) == ("completed", model, None)
    assert response.instructions == "Be brief."
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (120, 7)
    assert response.usage.input_tokens_details.cached_tokens == cached(model)
    assert upstream.requests[0].refusal is None


@pytest.mark.sampled(5)
@both
@thinking_models
async def test_reasoning_is_shown_and_goes_back_to_the_model_that_made_it(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool
) -> None:
    upstream.script(*thinks_and_answers())
    more: Any = {
        "reasoning": {"effort": "medium", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    }

    answer = await ask(openai_sdk, model, "Why?", stream=stream, **more)
    items: list[Any] = [{"role": "user", "content": "Why?"}]
    items += [*answer.output, {"role": "user", "content": "And?"}]
    await ask(openai_sdk, model, items, stream=stream, **more)

    first = answer.output[0]
    assert isinstance(first, ResponseReasoningItem)
    assert [part.text for part in first.summary] == ["Look at cell 3."]
    assert answer.output_text == "So."
    assert [record.refusal for record in upstream.requests] == [None, None]
    if model == CLAUDE:
        assert kinds_sent(upstream.requests[1].body) == ["thinking", "text"]
    if model == GPT:
        assert upstream.requests[1].body["input"][1]["type"] == "reasoning"


@both
async def test_reasoning_nobody_asked_to_see_is_not_shown(
    openai_sdk: AsyncOpenAI, upstream: Simulator, stream: bool
) -> None:
    upstream.script(reply(Reasoning(text="Look at cell 3."), "So."))

    answer = await ask(openai_sdk, CLAUDE, "Why?", stream=stream)

    assert kinds(answer) == ["reasoning", "message"]
    assert "cell 3" not in answer.model_dump_json()


class Found(BaseModel):
    """The structured answer of the model."""

    cell: int
    why: str


@pytest.mark.parametrize("model", MODELS)
async def test_answers_are_parsed_by_their_schema(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str
) -> None:
    upstream.script('{"cell": 3, "why": "typo"}', '{"cell": 4, "why": "ü"}')

    parsed = await openai_sdk.responses.parse(model=model, input="Find", text_format=Found)
    async with openai_sdk.responses.stream(model=model, input="Find", text_format=Found) as events:
        streamed = await events.get_final_response()

    assert parsed.output_parsed == Found(cell=3, why="typo")
    assert streamed.output_parsed == Found(cell=4, why="ü")
    items: Any = [*parsed.output, {"role": "user", "content": "And?"}]
    upstream.script("Well.")
    answer = await ask(openai_sdk, model, items, stream=False)
    assert answer.output_text == "Well."


@pytest.mark.parametrize("model", [CLAUDE, GPT, LOCAL])
async def test_a_schema_reaches_the_model(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str
) -> None:
    upstream.script('{"cell": 3, "why": "typo"}')

    await openai_sdk.responses.parse(model=model, input="Find", text_format=Found)

    sent = str(upstream.requests[0].body)
    assert ("json_schema" in sent) == (model != LOCAL)


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


@pytest.mark.sampled(3)
@every_model
@broken_in_the_middle("A long text " * 9, after=8)
async def test_an_error_in_the_stream_fails_the_response_and_raises(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, broken: Any
) -> None:
    upstream.script(broken)
    seen: list[Any] = []

    async def watch() -> None:
        async with openai_sdk.responses.stream(model=model, input="Hi") as events:
            async for event in events:
                seen.append(event)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(openai.APIError, match=BROKEN_STREAM):
        await watch()

    assert seen[-1].type == "response.failed"
    assert seen[-1].response.error.code == "server_error"


async def test_a_model_is_described(openai_sdk: AsyncOpenAI) -> None:
    model = await openai_sdk.models.retrieve(LOCAL)

    assert (model.id, model.object, model.owned_by) == (LOCAL, "model", "lab")
    with pytest.raises(openai.NotFoundError, match="no-such-model"):
        await openai_sdk.models.retrieve("no-such-model")


@pytest.mark.sampled(2)
@every_model
async def test_tokens_are_counted_by_the_provider_if_it_can(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str
) -> None:
    count = await openai_sdk.responses.input_tokens.count(
        model=model, input="Hi " * 100, instructions="Be brief.", tools=[TOOL]
    )

    assert count.object == "response.input_tokens"
    check_count(upstream, model, count.input_tokens)


async def test_a_response_cannot_be_fetched_again(
    openai_sdk: AsyncOpenAI, upstream: Simulator
) -> None:
    upstream.script("Hi")
    answer = await ask(openai_sdk, LOCAL, "Hi", stream=False)

    with pytest.raises(openai.NotFoundError):
        await openai_sdk.responses.retrieve(answer.id)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"store": True}, "store"),
    ({"previous_response_id": "resp_1"}, "previous_response_id"),
    ({"conversation": "conv_1"}, "conversation"),
    ({"background": True}, "background"),
    ({"prompt": {"id": "pmpt_1"}}, "prompt"),
    ({"tools": [TOOL, {"type": "web_search"}]}, "tools[1]"),
    ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0]"),
    ({"input": [{"type": "web_search_call", "id": "ws_1"}]}, "input[0]"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tools": [TOOL], "tool_choice": {"type": "function", "name": "x"}}, "tool_choice"),
    ({"include": ["message.output_text.logprobs"]}, "include[0]"),
    ({"extra_body": {"some_field": 1}}, "some_field"),
    ({"reasoning": {"effort": "much"}}, "reasoning.effort"),
    ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "text.format.schema"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi", "x": 1}]}]},
        "input[0].content[0].x",
    ),
    (
        {
            "input": [
                {"role": "user", "content": [{"type": "input_image", "image_url": "http://x"}]}
            ]
        },
        "input[0].content[0].image_url",
    ),
]


@pytest.mark.parametrize(
    ("fields", "param"), REFUSED, ids=[f"{n} {param}" for n, (_, param) in enumerate(REFUSED)]
)
async def test_what_cannot_be_done_is_refused_by_name(
    openai_sdk: AsyncOpenAI, upstream: Simulator, fields: dict[str, Any], param: str
) -> None:
    more = {"given": "Hi", **fields}
    more["given"] = more.pop("input", more["given"])

    with pytest.raises(openai.BadRequestError) as caught:
        await ask(openai_sdk, LOCAL, stream=False, **more)

    assert caught.value.param == param
    assert param.rpartition(".")[2] in caught.value.message
    assert upstream.requests == []


@both
async def test_only_allowed_tools_are_offered(
    openai_sdk: AsyncOpenAI, upstream: Simulator, stream: bool
) -> None:
    upstream.script(reply(ToolUse(name="write", arguments={})))
    other = {**TOOL, "name": "write"}
    choice = {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": "write"}],
    }

    answer = await ask(
        openai_sdk, LOCAL, "Hi", stream=stream, tools=[TOOL, other], tool_choice=choice
    )

    assert kinds(answer) == ["function_call"]
    seen = upstream.requests[0].seen
    assert seen is not None
    assert seen.tool_names == ("write",)
    assert upstream.requests[0].body["tool_choice"] == "required"


@pytest.mark.parametrize(
    ("stop", "reason"), [("max_tokens", "max_output_tokens"), ("refusal", "content_filter")]
)
async def test_an_answer_that_was_cut_is_incomplete(
    openai_sdk: AsyncOpenAI, upstream: Simulator, stop: Any, reason: str
) -> None:
    upstream.script(reply("Hm", stop=stop), reply("Hm", stop=stop))

    whole = await ask(openai_sdk, CLAUDE, "Hi", stream=False)
    raw = await openai_sdk.responses.create(model=CLAUDE, input="Hi", stream=True)
    last = [event async for event in raw][-1]

    assert last.type == "response.incomplete"
    for response in (whole, last.response):
        assert response.status == "incomplete"
        assert response.incomplete_details is not None
        assert response.incomplete_details.reason == reason
        last_item = response.output[-1]
        assert last_item.type == "message"
        assert last_item.status == "incomplete"


@pytest.mark.sampled(5)
@both
@every_model
async def test_results_may_stand_right_behind_their_calls(
    openai_sdk: AsyncOpenAI, upstream: Simulator, model: str, stream: bool
) -> None:
    """Some programs run each call of an answer as it arrives."""
    upstream.script(
        reply(
            Reasoning(text="Two."),
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={"n": 2}),
        ),
        reply("Done."),
    )
    items: list[Any] = [{"role": "user", "content": "Look"}]
    answer = await ask(openai_sdk, model, items, stream=stream, tools=[TOOL])
    for item in answer.output:
        items.append(item)
        if item.type == "function_call":
            output = {"type": "function_call_output", "call_id": item.call_id, "output": "ok"}
            items.append(output)
    last = await ask(openai_sdk, model, items, stream=stream, tools=[TOOL])

    assert last.output_text == "Done."
    assert [record.refusal for record in upstream.requests] == [None, None]
