"""The official Google SDK, unchanged, in front of a model of each vendor."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.genai import Client, errors, types
from pydantic import BaseModel
from traitlets.config import Config

from jupyter_ai_shoulders.server.proxy import handlers
from tests.server.proxy.conftest import CLAUDE, GEMINI, GPT, LOCAL
from tests.server.proxy.format_cases import (
    GREETING,
    PARAMETERS,
    both,
    broken_in_the_middle,
    cached,
    every_model,
    greets,
    thinks_and_answers,
)
from tests.simulator import (
    Delivery,
    Failure,
    Reasoning,
    Reply,
    Simulator,
    Text,
    ToolUse,
    reply,
)
from tests.simulator.script import SimRequest

# The SDK's own; as in the tests of the simulator.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")

READ = types.FunctionDeclaration(
    name="read",
    description="Read a cell.",
    parameters_json_schema=PARAMETERS,
)
TOOLS = [types.Tool(function_declarations=[READ])]


async def ask(
    sdk: Client, model: str, contents: Any, *, stream: bool, **config: Any
) -> types.GenerateContentResponse:
    """Request through the SDK; for a stream the answer is the last chunk, with the parts of all."""
    given = types.GenerateContentConfig(**config)
    if not stream:
        return await sdk.aio.models.generate_content(model=model, contents=contents, config=given)
    parts: list[types.Part] = []
    last = types.GenerateContentResponse()
    chunks = await sdk.aio.models.generate_content_stream(
        model=model, contents=contents, config=given
    )
    async for last in chunks:
        parts += parts_of(last)
    assert last.candidates
    last.candidates[0].content = types.Content(role="model", parts=parts)
    return last


def parts_of(answer: types.GenerateContentResponse) -> list[types.Part]:
    assert answer.candidates
    assert answer.candidates[0].content
    return answer.candidates[0].content.parts or []


def content_of(answer: types.GenerateContentResponse) -> types.Content:
    """The answer as a program sends it back."""
    return types.Content(role="model", parts=parts_of(answer))


def text_of(answer: types.GenerateContentResponse) -> str:
    return "".join(part.text or "" for part in parts_of(answer) if not part.thought)


def thoughts_of(answer: types.GenerateContentResponse) -> str:
    return "".join(part.text or "" for part in parts_of(answer) if part.thought)


def reason_of(answer: types.GenerateContentResponse) -> str | None:
    assert answer.candidates
    return answer.candidates[0].finish_reason


TEAM = "team/model:8b"
"""A model whose id contains characters with a meaning in addresses."""


@pytest.fixture
def jp_server_config(jp_server_config: Config) -> Config:
    """A model with a difficult id."""
    model = {"id": TEAM, "provider": "lab", "model": "sim-local"}
    jp_server_config.Shoulders.models["models"].append(model)
    return jp_server_config


@pytest.fixture
def http(
    jp_asyncio_loop: asyncio.AbstractEventLoop, proxy_url: str, jp_serverapp: Any
) -> Iterator[httpx.AsyncClient]:
    """A client without any SDK."""
    key = {"x-goog-api-key": jp_serverapp.identity_provider.token}
    client = httpx.AsyncClient(base_url=proxy_url, headers=key, timeout=60)
    yield client
    jp_asyncio_loop.run_until_complete(client.aclose())


@pytest.mark.sampled(5)
@both
@every_model
async def test_text(google_sdk: Client, upstream: Simulator, model: str, stream: bool) -> None:
    upstream.script(greets())

    answer = await ask(google_sdk, model, "Hi", stream=stream, system_instruction="Be brief.")

    assert text_of(answer) == GREETING
    assert (reason_of(answer), answer.model_version) == ("STOP", model)
    used = answer.usage_metadata
    assert used is not None
    assert (used.prompt_token_count, used.candidates_token_count) == (120, 7)
    assert used.cached_content_token_count == cached(model)


@pytest.mark.sampled(5)
@both
@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI])
async def test_reasoning_that_was_not_asked_for_is_hidden_and_comes_back_all_the_same(
    google_sdk: Client, upstream: Simulator, model: str, stream: bool
) -> None:
    upstream.script(*thinks_and_answers())

    answer = await ask(google_sdk, model, "Why?", stream=stream)
    contents = [
        types.Content(role="user", parts=[types.Part.from_text(text="Why?")]),
        content_of(answer),
        types.Content(role="user", parts=[types.Part.from_text(text="And?")]),
    ]
    await ask(google_sdk, model, contents, stream=stream)

    assert (thoughts_of(answer), text_of(answer)) == ("", "So.")
    assert [record.refusal for record in upstream.requests] == [None, None]
    marks = {CLAUDE: "'signature'", GPT: "'encrypted_content'", GEMINI: "'thoughtSignature'"}
    assert marks[model] in str(upstream.requests[1].body)


@pytest.mark.sampled(5)
@both
@every_model
async def test_a_function_may_have_a_name_that_only_google_takes(
    google_sdk: Client, upstream: Simulator, model: str, stream: bool
) -> None:
    names: list[str] = []

    def called(request: SimRequest) -> Reply:
        """Call the tool by the name that the provider got."""
        names.extend(request.tool_names)
        return reply(ToolUse(name=request.tool_names[0], arguments={"n": 1}))

    upstream.script(called, "Done.")
    read = READ.model_copy(update={"name": "notebook.cells:read"})
    contents = [types.Content(role="user", parts=[types.Part.from_text(text="Look")])]
    tools = [types.Tool(function_declarations=[read])]
    answer = await ask(google_sdk, model, contents, stream=stream, tools=tools)
    [call] = [part.function_call for part in parts_of(answer) if part.function_call]
    part = types.Part.from_function_response(name=call.name or "", response={"result": "one"})
    contents += [content_of(answer), types.Content(role="user", parts=[part])]
    last = await ask(google_sdk, model, contents, stream=stream, tools=tools)

    assert (call.name, text_of(last)) == ("notebook.cells:read", "Done.")
    assert len(names) == 1
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", names[0])
    assert [record.refusal for record in upstream.requests] == [None, None]
    seen = upstream.requests[1].seen
    assert seen is not None
    assert seen.tool_names == tuple(names)


@both
async def test_functions_are_called_by_the_sdk_itself(
    google_sdk: Client, upstream: Simulator, stream: bool
) -> None:
    """Automatic function calling: the SDK runs Python functions and asks again."""
    called: list[int] = []

    def read(n: int) -> str:
        """Read a cell."""
        called.append(n)
        return f"cell {n}"

    upstream.script(
        reply(
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={"n": 2}),
        ),
        "Both.",
    )

    answer = await ask(google_sdk, CLAUDE, "Look", stream=stream, tools=[read])

    assert (sorted(called), text_of(answer).endswith("Both.")) == ([1, 2], True)
    seen = upstream.requests[1].seen
    assert seen is not None
    assert seen.tool_results == ("cell 1", "cell 2")
    declared = upstream.requests[0].body["tools"][0]
    assert declared["input_schema"]["properties"]["n"]["type"] == "integer"


@pytest.mark.parametrize("model", [CLAUDE, GPT, GEMINI, LOCAL])
async def test_a_chat_keeps_its_history_in_chunks(
    google_sdk: Client, upstream: Simulator, model: str
) -> None:
    upstream.script(reply(Reasoning(text="Hm."), "One two three."), "Four.")
    thinking = types.ThinkingConfig(include_thoughts=True)
    chat = google_sdk.aio.chats.create(
        model=model, config=types.GenerateContentConfig(thinking_config=thinking)
    )

    said = ["", ""]
    for index, words in enumerate(("Count", "More")):
        async for chunk in await chat.send_message_stream(words):
            said[index] += text_of(chunk)

    assert said == ["One two three.", "Four."]
    assert [record.refusal for record in upstream.requests] == [None, None]
    assert "One two three." in str(upstream.requests[1].body)


@both
async def test_an_answer_follows_a_schema(
    google_sdk: Client, upstream: Simulator, stream: bool
) -> None:
    class City(BaseModel):
        name: str
        people: int | None

    upstream.script('{"name": "Bonn", "people": null}')

    answer = await ask(
        google_sdk,
        GPT,
        "Where?",
        stream=stream,
        response_mime_type="application/json",
        response_schema=City,
    )

    assert City.model_validate_json(text_of(answer)) == City(name="Bonn", people=None)
    schema = upstream.requests[0].body["text"]["format"]["schema"]
    assert schema["properties"]["people"]["type"] == ["integer", "null"]


ERRORS = [
    (400, 400, "INVALID_ARGUMENT"),
    (401, 401, "UNAUTHENTICATED"),
    (402, 429, "RESOURCE_EXHAUSTED"),
    (404, 404, "NOT_FOUND"),
    (429, 429, "RESOURCE_EXHAUSTED"),
    (500, 502, "UNAVAILABLE"),
    (529, 503, "UNAVAILABLE"),
]


@both
@pytest.mark.parametrize(("status", "code", "name"), ERRORS)
async def test_an_error_of_the_provider_is_one_of_this_format(
    *, google_sdk: Client, upstream: Simulator, status: int, code: int, name: str, stream: bool
) -> None:
    upstream.script(reply(failure=Failure(status=status)))

    with pytest.raises(errors.APIError) as caught:
        await ask(google_sdk, CLAUDE, "Hi", stream=stream)

    assert (caught.value.code, caught.value.status) == (code, name)
    assert isinstance(caught.value, errors.ClientError if code < 500 else errors.ServerError)
    assert upstream.key not in str(caught.value)


@pytest.mark.sampled(3)
@every_model
@broken_in_the_middle()
async def test_an_error_in_the_stream_ends_it(
    google_sdk: Client, upstream: Simulator, model: str, broken: Any
) -> None:
    upstream.script(broken)

    with pytest.raises(errors.ServerError) as caught:
        await ask(google_sdk, model, "Hi", stream=True)

    assert caught.value.status == "UNAVAILABLE"


@both
async def test_a_stop_text_ends_the_answer(
    google_sdk: Client, upstream: Simulator, stream: bool
) -> None:
    upstream.script(reply(Text(text="one two three four", split=2)))

    answer = await ask(google_sdk, CLAUDE, "Count", stream=stream, stop_sequences=["three"])

    assert (text_of(answer), reason_of(answer)) == ("one two ", "STOP")


@both
async def test_a_model_with_a_slash_and_a_colon_answers(
    google_sdk: Client, upstream: Simulator, stream: bool
) -> None:
    upstream.script("Hi")

    answer = await ask(google_sdk, TEAM, "Hi", stream=stream)

    assert (text_of(answer), answer.model_version) == ("Hi", TEAM)


async def test_models_are_listed_and_shown(google_sdk: Client) -> None:
    listed = [model.name async for model in await google_sdk.aio.models.list()]
    shown = await google_sdk.aio.models.get(model=TEAM)

    assert {f"models/{name}" for name in (CLAUDE, LOCAL, TEAM)} <= set(listed)
    assert shown.name == f"models/{TEAM}"
    assert "generateContent" in (shown.supported_actions or [])
    with pytest.raises(errors.ClientError) as caught:
        await google_sdk.aio.models.get(model="no-such-model")
    assert (caught.value.code, caught.value.status) == (404, "NOT_FOUND")


async def test_tokens_are_counted(google_sdk: Client) -> None:
    few = await google_sdk.aio.models.count_tokens(model=LOCAL, contents="Hi")
    many = await google_sdk.aio.models.count_tokens(model=LOCAL, contents="Hi there. " * 200)

    assert 0 < (few.total_tokens or 0) < 20
    assert (many.total_tokens or 0) > 300


SAY_HI: dict[str, Any] = {"contents": [{"parts": [{"text": "Hi"}]}]}


@pytest.mark.parametrize("version", ["v1", "v1alpha", "v1beta"])
@pytest.mark.parametrize("model", [TEAM, TEAM.replace("/", "%2F").replace(":", "%3A")])
async def test_without_the_sdk_a_stream_is_an_array(
    http: httpx.AsyncClient, upstream: Simulator, version: str, model: str
) -> None:
    upstream.script(reply(Text(text="one two", split="words")))

    answer = await http.post(f"/{version}/models/{model}:streamGenerateContent", json=SAY_HI)

    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    chunks = [types.GenerateContentResponse.model_validate(chunk) for chunk in answer.json()]
    assert "".join(map(text_of, chunks)) == "one two"
    assert reason_of(chunks[-1]) == "STOP"


async def test_an_error_in_an_array_is_its_last_chunk(
    http: httpx.AsyncClient, upstream: Simulator
) -> None:
    upstream.script(reply("A long text", failure=Failure(status=529, after=2)))

    answer = await http.post(f"/v1beta/models/{LOCAL}:streamGenerateContent", json=SAY_HI)

    assert [list(chunk) for chunk in answer.json()][-1] == ["error"]


@pytest.mark.parametrize("query", ["", "?alt=sse"])
async def test_a_silent_stream_shows_signs_of_life_that_are_no_part_of_it(
    http: httpx.AsyncClient, upstream: Simulator, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "PING_SECONDS", 0.1)
    upstream.script(reply("Hi", delivery=Delivery(first_byte_delay=0.5)))

    path = f"/v1beta/models/{LOCAL}:streamGenerateContent{query}"
    answer = await http.post(path, json=SAY_HI)

    assert answer.text.startswith("\r\n\r\n")
    if query:
        assert '"Hi"' in answer.text
    else:
        assert text_of(types.GenerateContentResponse.model_validate(answer.json()[0])) == "Hi"


async def test_the_sdk_passes_over_signs_of_life(
    google_sdk: Client, upstream: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handlers, "PING_SECONDS", 0.1)
    upstream.script(reply("Hi", delivery=Delivery(first_byte_delay=0.5)))

    assert text_of(await ask(google_sdk, LOCAL, "Hi", stream=True)) == "Hi"


async def test_a_method_nobody_knows_is_not_found(http: httpx.AsyncClient) -> None:
    answer = await http.post(f"/v1beta/models/{LOCAL}:embedContent", json=SAY_HI)

    assert (answer.status_code, answer.json()["error"]["status"]) == (404, "NOT_FOUND")


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"base_url": "http://x"}, 'Unknown name "base_url": Cannot find field.'),
    (
        {"generationConfig": {"max_tokens": 1}},
        "Unknown name \"max_tokens\" at 'generation_config'",
    ),
    ({"contents": []}, "Invalid value at 'contents'"),
    (
        {"contents": [{"parts": [{"fileData": {"fileUri": "gs://x"}}]}]},
        "'contents[0].parts[0].file_data' is not supported",
    ),
    ({"tools": [{"googleSearch": {}}]}, "'tools[0].google_search' is not supported"),
    ({"generation_config": {"temperature": 3}}, "'generation_config.temperature'"),
]


@pytest.mark.parametrize(("change", "words"), UNFIT, ids=[words for _, words in UNFIT])
async def test_what_the_format_does_not_define_or_nobody_can_do_is_refused(
    http: httpx.AsyncClient, upstream: Simulator, change: dict[str, Any], words: str
) -> None:
    answer = await http.post(f"/v1beta/models/{LOCAL}:generateContent", json=SAY_HI | change)

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert words in error["message"]
    assert upstream.requests == []


async def test_data_may_be_in_either_alphabet(http: httpx.AsyncClient, upstream: Simulator) -> None:
    data = bytes(range(256))
    part = {"mime_type": "image/png", "data": base64.urlsafe_b64encode(data).decode()}
    upstream.script("A picture.")

    body = {"contents": [{"parts": [{"text": "What?"}, {"inline_data": part}]}]}
    answer = await http.post(f"/v1beta/models/{LOCAL}:generateContent", json=body)

    assert answer.status_code == 200
    assert base64.b64encode(data).decode() in str(upstream.requests[0].body)


class TestWithoutMoney:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        """An administrator who allows no money at all."""
        jp_server_config.Shoulders.budget_month_usd = 0.0
        return jp_server_config

    @both
    async def test_at_the_limit_the_quota_of_the_day_is_spent(
        self, google_sdk: Client, upstream: Simulator, stream: bool
    ) -> None:
        with pytest.raises(errors.ClientError) as caught:
            await ask(google_sdk, CLAUDE, "Hi", stream=stream)

        assert (caught.value.code, caught.value.status) == (429, "RESOURCE_EXHAUSTED")
        assert "PerDay" in str(caught.value)
        assert upstream.requests == []
