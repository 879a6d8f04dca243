"""The official OpenAI SDK, as a client over a real socket, takes every answer of the simulator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    AsyncOpenAI,
    AuthenticationError,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    RateLimitError,
    UnprocessableEntityError,
)
from openai.types.chat import ChatCompletion

from tests.simulator import (
    Delivery,
    Failure,
    Reasoning,
    Reply,
    Simulator,
    Text,
    ToolUse,
    Usage,
    html_error,
    rate_limited,
    reply,
)

HI: list[Any] = [{"role": "user", "content": "Hi"}]
RUN: Any = {"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}
MODEL = "sim-local"


@pytest.fixture
def client(
    simulator: Simulator, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[AsyncOpenAI]:
    made = AsyncOpenAI(base_url=simulator.openai_url, api_key=simulator.key, max_retries=0)
    yield made
    jp_asyncio_loop.run_until_complete(made.close())


@dataclass
class Answer:
    text: str = ""
    reasoning: str = ""
    calls: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    finish: str | None = None
    prompt: int | None = None


async def streamed(client: AsyncOpenAI, **more: Any) -> Answer:
    body: dict[str, Any] = {"model": MODEL, "messages": HI, "tools": [RUN], **more}
    answer, ids = Answer(), dict[int, str]()
    stream = await client.chat.completions.create(
        stream=True, stream_options={"include_usage": True}, **body
    )
    async for chunk in stream:
        answer.prompt = chunk.usage.prompt_tokens if chunk.usage else answer.prompt
        for choice in chunk.choices:
            answer.text += choice.delta.content or ""
            answer.reasoning += getattr(choice.delta, "reasoning", None) or ""
            answer.finish = choice.finish_reason or answer.finish
            for call in choice.delta.tool_calls or []:
                call_id = ids.setdefault(call.index, call.id or "")
                name, arguments = answer.calls.get(call_id, ("", ""))
                assert call.function is not None
                answer.calls[call_id] = (
                    name + (call.function.name or ""),
                    arguments + (call.function.arguments or ""),
                )
    return answer


async def complete(client: AsyncOpenAI, **body: Any) -> ChatCompletion:
    create: Any = client.chat.completions.create
    return await create(**body)


async def at_once(client: AsyncOpenAI, **more: Any) -> Answer:
    body: dict[str, Any] = {"model": MODEL, "messages": HI, "tools": [RUN], **more}
    completion = await complete(client, **body)
    choice = completion.choices[0]
    return Answer(
        choice.message.content or "",
        getattr(choice.message, "reasoning", None) or "",
        {
            call.id: (call.function.name, call.function.arguments)
            for call in choice.message.tool_calls or []
            if call.type == "function"
        },
        choice.finish_reason,
        completion.usage.prompt_tokens if completion.usage else None,
    )


EVERYTHING = reply(
    Reasoning(text="Look at cell 3 first."),
    "I'll run both.",
    ToolUse(name="run", arguments={"path": "a.ipynb", "cell_id": "ünïcödé 🐧"}, id="call_1"),
    ToolUse(name="run", arguments="", id="call_2"),
    usage=Usage(input=1000, output=48, cache_read=900, reasoning=20),
)

REPLIES: dict[str, Reply] = {
    "text": reply("Hello there,\nfriend"),
    "everything": EVERYTHING,
    "nothing": reply(),
    "one long delta": reply(Text(text="x" * 100_000, split="whole")),
    "single characters": reply(Text(text="naïve 🐧", split=1)),
    "filtered": reply("I can", stop="refusal"),
    "max_tokens": reply("I was cut", stop="max_tokens"),
    "invalid arguments": reply(ToolUse(name="run", arguments='{"path": nope}', id="call_3")),
    "no usage": reply("Hi", report_usage=False),
}


@pytest.mark.parametrize("name", REPLIES)
async def test_stream_and_whole_answer_are_the_same(
    name: str, client: AsyncOpenAI, simulator: Simulator
) -> None:
    fixed = REPLIES[name].model_copy(update={"usage": REPLIES[name].usage or Usage()})
    simulator.script(fixed, fixed)
    assert await streamed(client) == await at_once(client)


DELIVERIES: dict[str, Delivery] = {
    "single bytes": Delivery(chunk=1),
    "odd pieces": Delivery(chunk=(3, 7, 1, 50)),
    "CRLF": Delivery(line_end="\r\n", chunk=2),
    "CR": Delivery(line_end="\r"),
    "comments": Delivery(comments=True),
    "unknown chunks": Delivery(unknown_events=True),
    "no space after the colon": Delivery(space_after_colon=False),
    "slow": Delivery(first_byte_delay=0.01, event_delay=0.001, tokens_per_second=2000),
}


@pytest.mark.parametrize("name", DELIVERIES)
async def test_delivery_does_not_change_the_answer(
    name: str, client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING.model_copy(update={"delivery": DELIVERIES[name]}))
    assert await streamed(client) == Answer(
        "I'll run both.",
        "Look at cell 3 first.",
        {
            "call_1": ("run", json.dumps({"path": "a.ipynb", "cell_id": "ünïcödé 🐧"})),
            "call_2": ("run", ""),
        },
        "tool_calls",
        1000,
    )


async def test_missing_finish_reason_is_missing(client: AsyncOpenAI, simulator: Simulator) -> None:
    simulator.script(reply("Hi", stop="missing"))
    assert (await streamed(client)).finish is None


async def test_deepseek_reasons_under_another_name(
    client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING)
    completion = await client.chat.completions.create(model="deepseek-v4-flash", messages=HI)
    assert completion.choices[0].message.model_dump()["reasoning_content"] == (
        "Look at cell 3 first."
    )


async def test_tool_loop_is_accepted(client: AsyncOpenAI, simulator: Simulator) -> None:
    simulator.script(EVERYTHING, "Done")
    body: dict[str, Any] = {"model": "gpt-4.1", "tools": [RUN]}
    first = await complete(client, messages=HI, **body)
    said = first.choices[0].message.model_dump(exclude_none=True)
    results: list[Any] = [
        {"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in said["tool_calls"]
    ]
    body["messages"] = [*HI, said, *results]
    assert (await at_once(client, **body)).text == "Done"
    assert simulator.requests[1].seen is not None
    assert simulator.requests[1].seen.tool_results == ("ok", "ok")


ERRORS: dict[str, tuple[Reply, type[APIStatusError]]] = {
    "rate limit": (rate_limited(retry_after="2"), RateLimitError),
    "rate limit in ms": (rate_limited(retry_after_ms="30"), RateLimitError),
    "quota": (reply(failure=Failure(status=429, code="insufficient_quota")), RateLimitError),
    "overloaded": (reply(failure=Failure(status=503)), InternalServerError),
    "html": (html_error(), InternalServerError),
    "server error": (reply(failure=Failure(status=500)), InternalServerError),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_failures_become_the_sdk_exceptions(
    name: str, client: AsyncOpenAI, simulator: Simulator
) -> None:
    answer, kind = ERRORS[name]
    simulator.script(answer, answer)
    failure = answer.failure
    assert failure is not None
    for ask in (streamed, at_once):
        with pytest.raises(kind) as caught:
            await ask(client)
        assert caught.value.status_code == failure.status
        headers = caught.value.response.headers
        assert {key: headers[key] for key in failure.headers} == failure.headers
        if failure.code is not None:
            assert caught.value.code == failure.code


async def test_refusals_become_the_sdk_exceptions(client: AsyncOpenAI) -> None:
    with pytest.raises(NotFoundError, match="gpt-0"):
        await streamed(client, model="gpt-0")
    with pytest.raises(AuthenticationError, match="Incorrect API key"):
        await streamed(client.with_options(api_key="wrong"))
    with pytest.raises(UnprocessableEntityError):
        await streamed(client, model="mistral-large-latest", reasoning_effort="low")
    with pytest.raises(BadRequestError) as caught:
        await streamed(client, model="gpt-6.1-sol")
    assert caught.value.param == "reasoning_effort"
    assert caught.value.request_id is not None


async def test_error_inside_a_stream_is_raised(client: AsyncOpenAI, simulator: Simulator) -> None:
    simulator.script(reply("Hello there", failure=Failure(status=500, after=2)))
    with pytest.raises(APIError, match="The server had an error"):
        await streamed(client)


async def test_error_body_with_status_200_holds_no_answer(
    client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(reply(failure=Failure(status=200, message="Loading model")))
    assert await streamed(client) == Answer()


@pytest.mark.parametrize("ending", ["cut", "reset"])
async def test_broken_connection_is_a_connection_error(
    ending: Any, client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", delivery=Delivery(ending=ending, ending_after=3)))
    with pytest.raises(APIConnectionError):
        await streamed(client)


async def test_leaving_a_stalled_stream_is_noticed(
    client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", delivery=Delivery(ending="stall", ending_after=2)))
    stream = await client.chat.completions.create(model=MODEL, messages=HI, stream=True)
    await anext(aiter(stream))
    await stream.close()
    await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


async def test_models_are_listed(client: AsyncOpenAI) -> None:
    assert MODEL in [model.id async for model in client.models.list()]
