"""The official Google SDK, as a client over a real socket, takes every answer of the simulator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
import pytest
from google import genai
from google.genai import errors, types

from tests.sdk_validation.google_types import google_problems, response_problems
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

# the SDK makes a subclass of aiohttp's session
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")

MODEL = "gemini-3.8-flash"
HI: list[Any] = [{"role": "user", "parts": [{"text": "Hi"}]}]
CONFIG: dict[str, Any] = {
    "tools": [
        {
            "function_declarations": [
                {"name": "run", "parameters_json_schema": {"type": "object", "properties": {}}}
            ]
        }
    ],
    "thinking_config": {"thinking_level": "LOW", "include_thoughts": True},
    "automatic_function_calling": {"disable": True},
}


@pytest.fixture
def client(
    simulator: Simulator, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[genai.Client]:
    options = types.HttpOptions(
        base_url=simulator.url, retry_options=types.HttpRetryOptions(attempts=1)
    )
    made = genai.Client(api_key=simulator.key, http_options=options)
    yield made
    jp_asyncio_loop.run_until_complete(made.aio.aclose())
    made.close()


@dataclass
class Answer:
    text: str = ""
    thoughts: str = ""
    calls: list[tuple[str | None, str | None, Any]] = field(
        default_factory=list[tuple[str | None, str | None, Any]]
    )
    signatures: int = 0
    finish: str | None = None
    blocked: str | None = None
    counts: tuple[int | None, ...] = ()

    def add(self, response: types.GenerateContentResponse) -> None:
        usage, feedback = response.usage_metadata, response.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            self.blocked = feedback.block_reason.value
        if usage is not None:
            counts = (usage.prompt_token_count, usage.candidates_token_count)
            self.counts = (*counts, usage.thoughts_token_count, usage.cached_content_token_count)
        for candidate in response.candidates or []:
            if candidate.finish_reason is not None:
                self.finish = candidate.finish_reason.value
            for part in (candidate.content and candidate.content.parts) or []:
                self._part(part)

    def _part(self, part: types.Part) -> None:
        self.signatures += part.thought_signature is not None
        if part.function_call is not None:
            call = part.function_call
            self.calls.append((call.id, call.name, call.args))
        elif part.thought:
            self.thoughts += part.text or ""
        else:
            self.text += part.text or ""


async def streamed(client: genai.Client, contents: Any = HI, **more: Any) -> Answer:
    answer = Answer()
    model, config = more.pop("model", MODEL), cast("Any", CONFIG | more)
    stream = await client.aio.models.generate_content_stream(
        model=model, contents=contents, config=config
    )
    async for response in stream:
        answer.add(response)
    return answer


async def at_once(client: genai.Client, contents: Any = HI, **more: Any) -> Answer:
    answer = Answer()
    model, config = more.pop("model", MODEL), cast("Any", CONFIG | more)
    answer.add(
        await client.aio.models.generate_content(model=model, contents=contents, config=config)
    )
    return answer


EVERYTHING = reply(
    Reasoning(text="Look at cell 3 first."),
    "I'll run both.",
    ToolUse(name="run", arguments={"path": "a.ipynb", "cell_id": "ünïcödé 🐧"}, id="call_1"),
    ToolUse(name="run", arguments="", id="call_2"),
    usage=Usage(input=1000, output=48, cache_read=900, reasoning=20),
)
SAID = Answer(
    "I'll run both.",
    "Look at cell 3 first.",
    [("call_1", "run", {"path": "a.ipynb", "cell_id": "ünïcödé 🐧"}), ("call_2", "run", None)],
    1,
    "STOP",
    None,
    (1000, 28, 20, 900),
)
REPLIES: dict[str, Reply] = {
    "text": reply("Hello there,\nfriend"),
    "everything": EVERYTHING,
    "nothing": reply(),
    "one long delta": reply(Text(text="x" * 100_000, split="whole")),
    "single characters": reply(Text(text="naïve 🐧", split=1)),
    "filtered": reply("I can", stop="refusal"),
    "blocked": reply("I can", stop="content_filter"),
    "max_tokens": reply("I was cut", stop="max_tokens"),
    "invalid arguments": reply(ToolUse(name="run", arguments='{"path": nope}', id="call_3")),
    "no usage": reply("Hi", report_usage=False),
    "thoughts only": reply(Reasoning(text="Hm."), stop="max_tokens"),
}


@pytest.mark.parametrize("name", REPLIES)
async def test_stream_and_whole_answer_are_the_same(
    name: str, client: genai.Client, simulator: Simulator
) -> None:
    fixed = REPLIES[name].model_copy(update={"usage": REPLIES[name].usage or Usage()})
    simulator.script(fixed, fixed)
    assert await streamed(client) == await at_once(client)


async def test_everything_arrives(client: genai.Client, simulator: Simulator) -> None:
    simulator.script(EVERYTHING)
    assert await streamed(client) == SAID


DELIVERIES: dict[str, Delivery] = {
    "single bytes": Delivery(chunk=1),
    "odd pieces": Delivery(chunk=(3, 7, 1, 50)),
    "CRLF": Delivery(line_end="\r\n", chunk=2),
    "unknown chunks": Delivery(unknown_events=True),
    "slow": Delivery(first_byte_delay=0.01, event_delay=0.001, tokens_per_second=2000),
}


@pytest.mark.parametrize("name", DELIVERIES)
async def test_delivery_does_not_change_the_answer(
    name: str, client: genai.Client, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING.model_copy(update={"delivery": DELIVERIES[name]}))
    assert await streamed(client) == SAID


async def test_long_answer_is_continued(client: genai.Client, simulator: Simulator) -> None:
    """The SDK asks for the rest by itself."""
    simulator.script(reply("One", stop="pause_turn"), reply(" two"))
    answer = await streamed(client, model="gemini-4-argon")
    assert (answer.text, answer.finish) == ("One two", "STOP")
    tokens = [record.body.pop("continuationToken", None) for record in simulator.requests]
    assert [bool(token) for token in tokens] == [False, True]
    assert simulator.requests[0].body == simulator.requests[1].body


def parts_of(response: types.GenerateContentResponse) -> list[types.Part]:
    return response.parts or []


@pytest.mark.parametrize("stream", [True, False])
async def test_tool_loop_is_accepted(
    client: genai.Client, simulator: Simulator, stream: bool
) -> None:
    """With the parts exactly as the SDK keeps them, signatures included."""
    simulator.script(EVERYTHING, "Done")
    parts: list[types.Part] = []
    if stream:
        chunks = await client.aio.models.generate_content_stream(
            model=MODEL, contents=HI, config=cast("Any", CONFIG)
        )
        async for chunk in chunks:
            parts += parts_of(chunk)
    else:
        parts += parts_of(
            await client.aio.models.generate_content(
                model=MODEL, contents=HI, config=cast("Any", CONFIG)
            )
        )
    calls = [part.function_call for part in parts if part.function_call]
    results = [
        types.Part(
            function_response=types.FunctionResponse(
                id=call.id, name=call.name, response={"output": "ok"}
            )
        )
        for call in calls
    ]
    said = types.Content(role="model", parts=parts)
    history = [*HI, said, types.Content(role="user", parts=results)]
    assert (await at_once(client, history)).text == "Done"
    assert simulator.requests[1].seen is not None
    assert simulator.requests[1].seen.tool_results == ('{"output": "ok"}', '{"output": "ok"}')
    assert [google_problems(record.body) for record in simulator.requests] == [[], []]


ERRORS: dict[str, tuple[Reply, type[errors.APIError]]] = {
    "rate limit": (rate_limited(retry_delay="34.4s"), errors.ClientError),
    "quota": (reply(failure=Failure(status=429, code="RequestsPerDay")), errors.ClientError),
    "overloaded": (reply(failure=Failure(status=503)), errors.ServerError),
    "html": (html_error(), errors.ServerError),
    "server error": (reply(failure=Failure(status=500)), errors.ServerError),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_failures_become_the_sdk_exceptions(
    name: str, client: genai.Client, simulator: Simulator
) -> None:
    answer, kind = ERRORS[name]
    simulator.script(answer, answer)
    assert answer.failure is not None
    for ask in (streamed, at_once):
        with pytest.raises(kind) as caught:
            await ask(client)
        assert caught.value.code == answer.failure.status


async def test_refusals_become_the_sdk_exceptions(
    client: genai.Client, simulator: Simulator
) -> None:
    with pytest.raises(errors.ClientError, match="gemini-0 is not found"):
        await streamed(client, model="gemini-0")
    with pytest.raises(errors.ClientError, match="MINIMAL is not supported"):
        await streamed(client, thinking_config={"thinking_level": "MINIMAL"})
    options = types.HttpOptions(base_url=simulator.url)
    stranger = genai.Client(api_key="wrong", http_options=options)
    with pytest.raises(errors.ClientError, match="API_KEY_INVALID"):
        await streamed(stranger)
    await stranger.aio.aclose()
    stranger.close()


@pytest.mark.parametrize("shape", ["nested", "flat"])
async def test_error_inside_a_stream_is_raised(
    shape: Any, client: genai.Client, simulator: Simulator
) -> None:
    simulator.script(reply("Hello there", failure=Failure(status=500, after=1, shape=shape)))
    with pytest.raises(errors.ServerError, match="An internal error"):
        await streamed(client)


async def test_tokens_are_counted_and_models_listed(client: genai.Client) -> None:
    counted = await client.aio.models.count_tokens(model=MODEL, contents=HI)
    assert counted.total_tokens
    pager = await client.aio.models.list(config={"page_size": 3})
    assert f"models/{MODEL}" in [model.name async for model in pager]


@pytest.mark.parametrize("version", ["v1", "v1beta"])
async def test_both_versions_and_forms_of_the_answer_are_served(
    version: str, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    simulator.script(EVERYTHING, EVERYTHING)
    address = f"/{version}/models/{MODEL}"
    headers = {"x-goog-api-key": simulator.key}
    whole = await http.post(f"{address}:generateContent", json={"contents": HI}, headers=headers)
    array = await http.post(
        f"{address}:streamGenerateContent?key={simulator.key}", json={"contents": HI}
    )
    assert response_problems(whole.json()) == []
    assert [response_problems(chunk) for chunk in array.json()] == [[]] * len(array.json())
    assert array.json()[-1]["candidates"][0]["finishReason"] == "STOP"
