"""The official OpenAI SDK as a client of the Responses format takes every kind of stream."""

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
)
from openai.types.responses import Response, ResponseStreamEvent

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

MODEL = "gpt-6.1-sol"
RUN: Any = {"type": "function", "name": "run", "parameters": {"type": "object"}, "strict": None}
ASKED: dict[str, Any] = {
    "model": MODEL,
    "input": "Hi",
    "tools": [RUN],
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"effort": "low", "summary": "auto"},
}


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
    refusal: str = ""
    reasoning: list[str] = field(default_factory=list[str])
    calls: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    status: str | None = None
    reason: str | None = None
    tokens: tuple[int, int, int, int] | None = None


async def create(client: AsyncOpenAI, **more: Any) -> Any:
    make: Any = client.responses.create
    return await make(**{**ASKED, **more})


async def events(client: AsyncOpenAI, **more: Any) -> list[ResponseStreamEvent]:
    return [event async for event in await create(client, stream=True, **more)]


def answer_of(response: Response) -> Answer:
    answer = Answer(status=response.status)
    for item in response.output:
        match item.type:
            case "message":
                for part in item.content:
                    answer.text += part.text if part.type == "output_text" else ""
                    answer.refusal += part.refusal if part.type == "refusal" else ""
            case "reasoning":
                answer.reasoning += [part.text for part in item.summary]
                assert item.encrypted_content
            case "function_call":
                answer.calls.append((item.call_id, item.name, item.arguments))
            case _:
                raise AssertionError(item.type)
    if response.incomplete_details is not None:
        answer.reason = response.incomplete_details.reason
    usage = response.usage
    if usage is not None:
        details = usage.input_tokens_details
        spent = (usage.input_tokens, usage.output_tokens)
        answer.tokens = (*spent, details.cached_tokens, details.cache_write_tokens)
    return answer


async def at_once(client: AsyncOpenAI, **more: Any) -> Answer:
    return answer_of(await create(client, **more))


async def streamed(client: AsyncOpenAI, **more: Any) -> Answer:
    """What the deltas say; the terminal event has to agree."""
    answer, last = Answer(), Answer()
    calls: dict[int, list[str]] = {}
    summaries: dict[tuple[int, int], str] = {}
    for event in await events(client, **more):
        match event.type:
            case "response.output_text.delta":
                answer.text += event.delta
            case "response.refusal.delta":
                answer.refusal += event.delta
            case "response.reasoning_summary_text.delta":
                place = (event.output_index, event.summary_index)
                summaries[place] = summaries.get(place, "") + event.delta
            case "response.output_item.added" if event.item.type == "function_call":
                calls[event.output_index] = [event.item.call_id, event.item.name, ""]
            case "response.function_call_arguments.delta":
                calls[event.output_index][2] += event.delta
            case "response.completed" | "response.incomplete":
                last = answer_of(event.response)
            case _:
                pass
    answer.reasoning = list(summaries.values())
    answer.calls = [(call_id, name, text) for call_id, name, text in calls.values()]
    answer.status, answer.reason, answer.tokens = last.status, last.reason, last.tokens
    assert answer == last
    return answer


async def accumulated(client: AsyncOpenAI, **more: Any) -> Answer:
    """What the SDK's own accumulator makes of the stream."""
    stream: Any = client.responses.stream
    async with stream(**{**ASKED, **more}) as running:
        return answer_of(await running.get_final_response())


EVERYTHING = reply(
    Reasoning(text="Look at cell 3 first.\n\nThen run it."),
    "I'll run both.",
    ToolUse(name="run", arguments={"path": "a.ipynb", "cell_id": "ünïcödé 🐧"}, id="call_1"),
    ToolUse(name="run", arguments="{}", id="call_2"),
    usage=Usage(input=1000, output=48, cache_read=900, cache_write=50, reasoning=20),
)
WHOLE = Answer(
    text="I'll run both.",
    reasoning=["Look at cell 3 first.", "Then run it."],
    calls=[
        ("call_1", "run", json.dumps({"path": "a.ipynb", "cell_id": "ünïcödé 🐧"})),
        ("call_2", "run", "{}"),
    ],
    status="completed",
    tokens=(1000, 48, 900, 50),
)
REPLIES: dict[str, Reply] = {
    "text": reply("Hello there,\nfriend"),
    "everything": EVERYTHING,
    "nothing": reply(),
    "reasoning alone": reply(Reasoning(text="Hm.")),
    "redacted reasoning": reply(Reasoning(text="Hm.", redacted=True), "Hi"),
    "two messages": reply("First.", "Second."),
    "one long delta": reply(Text(text="x" * 100_000, split="whole")),
    "single characters": reply(Text(text="naïve 🐧", split=1)),
    "refusal": reply("I can not.", stop="refusal"),
    "filtered": reply("I can", stop="content_filter"),
    "cut": reply("I was cut", stop="max_tokens"),
    "cut in a call": reply(ToolUse(name="run", arguments='{"pa'), stop="max_tokens"),
    "paused": reply("I pause", stop="pause_turn"),
    "invalid arguments": reply(ToolUse(name="run", arguments='{"path": nope}', id="call_3")),
    "no usage": reply("Hi", report_usage=False),
}


@pytest.mark.parametrize("name", REPLIES)
async def test_stream_and_whole_answer_are_the_same(
    name: str, client: AsyncOpenAI, simulator: Simulator
) -> None:
    fixed = REPLIES[name].model_copy(update={"usage": REPLIES[name].usage or Usage()})
    fixed = fixed.model_copy(
        update={
            "parts": tuple(
                part.model_copy(update={"id": f"call_{index}"})
                if isinstance(part, ToolUse)
                else part
                for index, part in enumerate(fixed.parts)
            )
        }
    )
    simulator.script(fixed, fixed, fixed)
    whole = await at_once(client)
    assert await streamed(client) == whole
    if whole.status == "completed" and "invalid" not in name:
        assert await accumulated(client) == whole


DELIVERIES: dict[str, Delivery] = {
    "single bytes": Delivery(chunk=1),
    "odd pieces": Delivery(chunk=(3, 7, 1, 50)),
    "CRLF": Delivery(line_end="\r\n", chunk=2),
    "CR": Delivery(line_end="\r"),
    "comments": Delivery(comments=True),
    "keepalives": Delivery(pings=2),
    "unknown events": Delivery(unknown_events=True),
    "no space after the colon": Delivery(space_after_colon=False),
    "slow": Delivery(first_byte_delay=0.01, event_delay=0.001, tokens_per_second=2000),
}


@pytest.mark.parametrize("name", DELIVERIES)
async def test_delivery_does_not_change_the_answer(
    name: str, client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING.model_copy(update={"delivery": DELIVERIES[name]}))
    assert await streamed(client) == WHOLE


async def test_events_are_numbered_and_in_order(client: AsyncOpenAI, simulator: Simulator) -> None:
    simulator.script(reply(Reasoning(text="Hm."), "Hi", ToolUse(name="run", arguments="{}")))
    found = await events(client)
    assert [event.sequence_number for event in found] == list(range(len(found)))
    assert [event.type.removeprefix("response.") for event in found] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]


@pytest.mark.parametrize("plain", [True, False])
async def test_deltas_are_obfuscated_unless_asked_not_to(
    plain: bool, client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script("Hello there")
    options = {"stream_options": {"include_obfuscation": False}} if plain else {}
    deltas = [event for event in await events(client, **options) if "delta" in event.type]
    assert [hasattr(event, "obfuscation") for event in deltas] == [not plain] * 2


async def test_tool_loop_is_accepted(client: AsyncOpenAI, simulator: Simulator) -> None:
    simulator.script(EVERYTHING, "Done")
    first: Response = await create(client)
    made = [item.model_dump(exclude_none=True) for item in first.output]
    results = [
        {"type": "function_call_output", "call_id": call_id, "output": "ok"}
        for call_id, _, _ in answer_of(first).calls
    ]
    asked = {"role": "user", "content": "Hi"}
    assert (await at_once(client, input=[asked, *made, *results])).text == "Done"
    assert simulator.requests[1].seen is not None
    assert simulator.requests[1].seen.tool_results == ("ok", "ok")


async def test_model_that_need_not_reason_does_as_told(
    client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(reply(Reasoning(text="Hm."), "Hi"))
    answer = await streamed(client, model="gpt-6-luna", reasoning={"effort": "none"})
    assert answer.reasoning == []


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
    with pytest.raises(BadRequestError) as caught:
        await streamed(client, reasoning={"effort": "minimal"})
    assert (caught.value.param, caught.value.code) == ("reasoning.effort", "unsupported_value")
    assert caught.value.request_id is not None


@pytest.mark.parametrize("after", [1, 4])
async def test_nested_error_inside_a_stream_is_raised(
    after: int, client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", failure=Failure(status=500, after=after)))
    with pytest.raises(APIError, match="The server had an error"):
        await streamed(client)


@pytest.mark.parametrize("shape", ["flat", "failed"])
async def test_other_errors_inside_a_stream_are_events(
    shape: Any, client: AsyncOpenAI, simulator: Simulator
) -> None:
    failure = Failure(status=429, after=4, shape=shape)
    simulator.script(reply("Hello there", failure=failure))
    found = await events(client)
    last = found[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.code == "rate_limit_exceeded"
    assert [event.sequence_number for event in found] == list(range(len(found)))
    if shape == "flat":
        error = found[-2]
        assert error.type == "error"
        assert error.code == "rate_limit_exceeded"


@pytest.mark.parametrize("ending", ["cut", "reset"])
async def test_broken_connection_is_a_connection_error(
    ending: Any, client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", delivery=Delivery(ending=ending, ending_after=3)))
    with pytest.raises(APIConnectionError):
        await streamed(client)


async def test_missing_terminal_event_is_missing(client: AsyncOpenAI, simulator: Simulator) -> None:
    simulator.script(reply("Hi", stop="missing"))
    assert (await events(client))[-1].type == "response.output_item.done"


async def test_leaving_a_stalled_stream_is_noticed(
    client: AsyncOpenAI, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", delivery=Delivery(ending="stall", ending_after=2)))
    stream = await create(client, stream=True)
    await anext(aiter(stream))
    await stream.close()
    await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


async def test_tokens_are_counted(client: AsyncOpenAI) -> None:
    counted = await client.responses.input_tokens.count(model=MODEL, input="x" * 400)
    assert counted.input_tokens == 108


async def test_a_call_of_a_grouped_function_names_its_group(
    client: AsyncOpenAI, simulator: Simulator
) -> None:
    group = {"type": "namespace", "name": "mcp__jupyter", "description": "Notebooks"}
    simulator.script(reply(ToolUse(name="run", arguments="{}")))
    answer = await create(client, tools=[{**group, "tools": [RUN]}])
    assert [item.namespace for item in answer.output] == ["mcp__jupyter"]
