"""The official Anthropic SDK, a client over a real socket, takes every answer of the simulator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from anthropic import (
    APIStatusError,
    AsyncAnthropic,
    AuthenticationError,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    RateLimitError,
)
from anthropic.types import Message, MessageParam, ToolParam

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
    overloaded,
    rate_limited,
    reply,
)

HI: list[MessageParam] = [{"role": "user", "content": "Hi"}]
RUN: ToolParam = {"name": "run", "input_schema": {"type": "object"}}
MODEL = "claude-haiku-5-5"
DOES: Any = {"type": "adaptive", "display": "summarized"}


@pytest.fixture
def client(
    simulator: Simulator, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[AsyncAnthropic]:
    made = AsyncAnthropic(base_url=simulator.url, api_key=simulator.key, max_retries=0)
    yield made
    jp_asyncio_loop.run_until_complete(made.close())


async def streamed(client: AsyncAnthropic, **more: Any) -> Message:
    body: dict[str, Any] = {"model": MODEL, "max_tokens": 500, "messages": HI, "tools": [RUN]}
    async with client.messages.stream(**{**body, **more}) as stream:
        return await stream.get_final_message()


async def at_once(client: AsyncAnthropic, **more: Any) -> Message:
    body: dict[str, Any] = {"model": MODEL, "max_tokens": 500, "messages": HI, "tools": [RUN]}
    create: Any = client.messages.create
    return await create(**{**body, **more})


EVERYTHING = reply(
    Reasoning(text="Look at cell 3 first."),
    "I'll run both.",
    ToolUse(name="run", arguments={"path": "a.ipynb", "cell_id": "ünïcödé 🐧"}, id="toolu_1"),
    ToolUse(name="run", id="toolu_2"),
    usage=Usage(input=1000, output=48, cache_read=900, cache_write=50, reasoning=20),
)

REPLIES: dict[str, Reply] = {
    "text": reply("Hello there,\nfriend"),
    "everything": EVERYTHING,
    "nothing": reply(),
    "redacted": reply(Reasoning(text="", redacted=True), "Done"),
    "one long delta": reply(Text(text="x" * 100_000, split="whole")),
    "single characters": reply(Text(text="naïve 🐧", split=1)),
    "refusal": reply("I can", stop="refusal"),
    "refusal without content": reply(stop="refusal"),
    "max_tokens": reply("I was cut", stop="max_tokens"),
    "pause": reply("Wait", stop="pause_turn"),
    "window full": reply("Too", stop="context_window"),
}


@pytest.mark.parametrize("name", REPLIES)
async def test_stream_and_whole_answer_are_the_same(
    name: str, client: AsyncAnthropic, simulator: Simulator
) -> None:
    fixed = REPLIES[name].model_copy(update={"usage": REPLIES[name].usage or Usage()})
    simulator.script(fixed, fixed)
    whole = await at_once(client, thinking=DOES)
    stream = await streamed(client, thinking=DOES)
    assert ids_out(stream) == ids_out(whole)


def ids_out(message: Message) -> dict[str, Any]:
    return message.model_dump(exclude={"id", "parsed_output"}, exclude_none=True, warnings=False)


DELIVERIES: dict[str, Delivery] = {
    "single bytes": Delivery(chunk=1),
    "odd pieces": Delivery(chunk=(3, 7, 1, 50)),
    "CRLF": Delivery(line_end="\r\n", chunk=2),
    "CR": Delivery(line_end="\r"),
    "comments and pings": Delivery(comments=True, pings=2),
    "unknown events": Delivery(unknown_events=True),
    "no space after the colon": Delivery(space_after_colon=False),
    "slow": Delivery(first_byte_delay=0.01, event_delay=0.001, tokens_per_second=2000),
}


@pytest.mark.parametrize("name", DELIVERIES)
async def test_delivery_does_not_change_the_answer(
    name: str, client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING.model_copy(update={"delivery": DELIVERIES[name]}))
    message = await streamed(client, thinking=DOES)
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[2].model_dump()["input"] == {
        "path": "a.ipynb",
        "cell_id": "ünïcödé 🐧",
    }
    assert message.stop_reason == "tool_use"


async def test_empty_arguments_are_an_empty_object(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(reply(ToolUse(name="run")), reply(ToolUse(name="run", arguments="")))
    for _ in range(2):
        message = await streamed(client)
        assert message.content[0].model_dump()["input"] == {}


async def test_invalid_arguments_reach_the_client_as_they_are(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(reply(ToolUse(name="run", arguments='{"path": nope}')))
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        await streamed(client)


async def test_usage_is_reported_as_scripted(client: AsyncAnthropic, simulator: Simulator) -> None:
    simulator.script(EVERYTHING)
    usage = (await streamed(client)).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (50, 900)
    assert (usage.cache_creation_input_tokens, usage.output_tokens) == (50, 48)


async def test_missing_usage_is_survived(client: AsyncAnthropic, simulator: Simulator) -> None:
    simulator.script(reply("Hi", report_usage=False))
    assert (await streamed(client)).stop_reason == "end_turn"


async def test_thinking_is_shown_as_the_model_and_the_request_say(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    thinking = reply(Reasoning(text="Hm"), "Hi")
    simulator.script(thinking, thinking, thinking)
    quiet = await streamed(client, model="claude-opus-5-5")
    shown = await streamed(client, model="claude-opus-5-5", thinking=DOES)
    off = await streamed(client, thinking={"type": "disabled"})
    assert [
        quiet.content[0].model_dump()["thinking"],
        shown.content[0].model_dump()["thinking"],
    ] == [
        "",
        "Hm",
    ]
    assert [block.type for block in off.content] == ["text"]


async def agent_loop(client: AsyncAnthropic, **changes: Any) -> Message:
    """One call and its result, the assistant's turn sent back as it came; then the changes."""
    body: dict[str, Any] = {"model": "claude-opus-5-5", "tools": [RUN], "system": "Be kind"}
    first = await streamed(client, **body)
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": "ok"}
        for block in first.content
        if block.type == "tool_use"
    ]
    said = first.model_dump(include={"content"}, exclude_none=True, warnings=False)["content"]
    answer = [*HI, {"role": "assistant", "content": said}, {"role": "user", "content": results}]
    return await streamed(client, **{**body, "messages": answer, **changes})


async def test_thinking_comes_back_in_a_tool_loop(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING, "Done")
    assert (await agent_loop(client)).content[0].model_dump()["text"] == "Done"
    assert simulator.requests[1].seen is not None
    assert simulator.requests[1].seen.tool_results == ("ok", "ok")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"system": "Be brief"}, "The `system` prompt differs"),
        ({"tools": [RUN, {**RUN, "name": "walk"}]}, "The `tools` differ"),
        ({"model": "claude-fable-5-2"}, "Invalid `signature`"),
    ],
    ids=["system", "tools", "model"],
)
async def test_thinking_is_bound_to_its_conversation(
    changes: dict[str, Any], words: str, client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING, "Done")
    with pytest.raises(BadRequestError, match=words):
        await agent_loop(client, **changes)


async def test_moving_cache_breakpoints_keeps_thinking_valid(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING, "Done")
    system = [{"type": "text", "text": "Be kind", "cache_control": {"type": "ephemeral"}}]
    assert (await agent_loop(client, system=system)).stop_reason == "end_turn"


async def test_thinking_left_out_of_an_open_loop_is_refused(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING, "Done")
    await streamed(client)
    calls: list[Any] = [
        {"type": "tool_use", "id": call, "name": "run", "input": {}}
        for call in ("toolu_1", "toolu_2")
    ]
    results = [
        {"type": "tool_result", "tool_use_id": call, "content": "ok"}
        for call in ("toolu_1", "toolu_2")
    ]
    messages: list[Any] = [
        *HI,
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
    ]
    with pytest.raises(BadRequestError, match="Expected `thinking` or `redacted_thinking`"):
        await streamed(client, messages=messages)


ERRORS: dict[str, tuple[Reply, type[APIStatusError]]] = {
    "rate limit": (rate_limited(retry_after="2"), RateLimitError),
    "rate limit in ms": (rate_limited(retry_after_ms="30"), RateLimitError),
    "do not retry": (rate_limited(x_should_retry="false"), RateLimitError),
    "overloaded": (overloaded(), InternalServerError),
    "html": (html_error(), InternalServerError),
    "billing": (reply(failure=Failure(status=402)), APIStatusError),
    "server error": (reply(failure=Failure(status=500)), InternalServerError),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_failures_become_the_sdk_exceptions(
    name: str, client: AsyncAnthropic, simulator: Simulator
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


async def test_refusals_become_the_sdk_exceptions(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    with pytest.raises(NotFoundError, match="model: claude-1"):
        await streamed(client, model="claude-1")
    with pytest.raises(AuthenticationError, match="Invalid bearer token"):
        await streamed(client.with_options(api_key="wrong"))
    with pytest.raises(BadRequestError) as caught:
        await streamed(client, max_tokens=10**6)
    assert caught.value.request_id == simulator.requests[-1].to_json()["request_id"]


async def test_error_inside_a_stream_is_raised_after_the_text(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(overloaded(after=4))
    async with client.messages.stream(model=MODEL, max_tokens=9, messages=HI) as stream:
        pieces = aiter(stream.text_stream)
        assert [await anext(pieces), await anext(pieces)] == ["This ", "answer "]
        with pytest.raises(APIStatusError, match="Overloaded"):
            await anext(pieces)


@pytest.mark.parametrize("ending", ["cut", "reset"])
async def test_broken_connection_is_a_transport_error(
    ending: Any, client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", delivery=Delivery(ending=ending, ending_after=3)))
    with pytest.raises(httpx2.TransportError):
        await streamed(client)
    await simulator.settled()
    assert simulator.requests[0].outcome == "closed"


async def test_stream_without_terminator_ends_in_order(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", delivery=Delivery(ending="no_terminator")))
    async with client.messages.stream(model=MODEL, max_tokens=9, messages=HI) as stream:
        types = [event.type async for event in stream]
    assert "message_stop" not in types


async def test_leaving_a_stalled_stream_is_noticed(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", delivery=Delivery(ending="stall", ending_after=4)))
    async with client.messages.stream(model=MODEL, max_tokens=9, messages=HI) as stream:
        assert await anext(aiter(stream.text_stream)) == "Hello "
    await simulator.settled()
    assert simulator.requests[0].outcome == "client-left"


async def test_count_tokens_and_models(client: AsyncAnthropic, simulator: Simulator) -> None:
    count = await client.messages.count_tokens(model=MODEL, messages=HI, tools=[RUN])
    assert count.input_tokens > 0
    listed = {model.id: model async for model in client.models.list()}
    opus = listed["claude-opus-5-5"]
    assert opus.max_tokens == 128_000
    assert opus.capabilities is not None
    assert opus.capabilities.thinking.types.adaptive.supported
    assert not opus.capabilities.thinking.types.disabled.supported


async def test_foreign_thinking_can_be_dropped_with_the_beta(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING, "Done")
    dropping = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    header = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
    answer = await agent_loop(client, system="Be brief", thinking=dropping, extra_headers=header)
    assert answer.stop_reason == "end_turn"


async def test_redacted_thinking_comes_back_too(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.script(reply(Reasoning(text="", redacted=True), ToolUse(name="run")), "Done")
    assert (await agent_loop(client)).stop_reason == "end_turn"
