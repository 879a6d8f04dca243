"""The contract of the proxy: every format in front of every kind of provider.

Each case goes from an official SDK over real sockets to a real server, and from there to the strict
simulator, whose requests ``tests.conftest`` validates by the SDKs' own types. A pairing that cannot
do something is a case too, with the error the program gets. What only one format has is tested in
its own module.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google.genai import Client
from google.genai.types import HttpOptions
from jupyter_core.utils import ensure_event_loop
from openai import AsyncOpenAI

from tests.server.proxy.conftest import (
    CLAUDE,
    DEEPSEEK,
    GEMINI,
    GPT,
    LOCAL,
    OPENROUTER,
    QWEN,
    catalogue,
)
from tests.server.proxy.format_cases import (
    BROKEN_STREAM,
    GREETING,
    PIXEL,
    both,
    broken_in_the_middle,
    check_looks_of_claude,
    looks_twice,
)
from tests.server.proxy.sdk_programs import FORMATS, Options, Program, status_of
from tests.simulator import (
    Failure,
    Reasoning,
    Reply,
    Simulator,
    ToolUse,
    Usage,
    reply,
)
from tests.support.lab_server import Lab

pytestmark = [
    # The Google SDK makes a subclass of aiohttp's session.
    pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning"),
]


@dataclass(frozen=True)
class Row:
    """A kind of provider: its model, the model's capabilities, and how its thinking is returned."""

    model: str
    images: bool = False
    tools: bool = True
    thinks: bool = True
    counts: bool = True
    """Whether it reports its usage; otherwise the program gets an estimate."""
    replays: str | None = None
    """The part of the next request that returns the thinking."""


PROVIDERS = {
    "anthropic": Row(CLAUDE, images=True, replays='"signature"'),
    "openai_responses": Row(GPT, images=True, replays='"encrypted_content"'),
    "google": Row(GEMINI, images=True, replays='"thoughtSignature"'),
    "ollama": Row(QWEN, replays='"thinking": "'),
    "ollama_vision": Row("llava", images=True, tools=False, thinks=False),
    "chat_generic": Row(LOCAL, images=True),
    "chat_openai": Row("gpt41", images=True, thinks=False),
    "chat_openrouter": Row(OPENROUTER, images=True, replays='"reasoning_details"'),
    "chat_deepseek": Row(DEEPSEEK, replays='"reasoning_content"'),
    "chat_mistral": Row("mistral", thinks=False, counts=False),
    "chat_lenient": Row("lenient", counts=False),
}

Open = Callable[[str, str], Program]


def table_catalogue(upstream: Simulator) -> dict[str, Any]:
    """The models of this table, in addition to the common ones."""
    models = catalogue(upstream)
    lab = models["providers"]["lab"]
    models["providers"] |= {
        "mistral": {**lab, "profile": "mistral"},
        "gpt": {**lab, "profile": "openai"},
        "lenient": {**lab, "profile": "lenient"},
    }
    models["models"] += [
        {"id": "llava", "provider": "ollama", "model": "sim-llava", "images": True, "tools": False},
        {"id": "gpt41", "provider": "gpt", "model": "gpt-4.1", "images": True},
        {"id": "mistral", "provider": "mistral", "model": "mistral-large-latest"},
        {"id": "lenient", "provider": "lenient", "model": "sim-local"},
    ]
    return models


@pytest.fixture(scope="module", autouse=True)
def jp_asyncio_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """One event loop for all cells: simulator and clients live as long as the server."""
    loop = ensure_event_loop(prefer_selector_loop=True)  # pytest-jupyter runs tests in this one
    yield loop
    loop.close()


@pytest.fixture(scope="module")
def simulator(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Simulator]:
    """The provider behind all models."""
    simulator = Simulator()
    jp_asyncio_loop.run_until_complete(simulator.start())
    yield simulator
    jp_asyncio_loop.run_until_complete(simulator.stop())


@pytest.fixture(scope="module")
def server(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One server in its own process: starting one takes longer than ten cells."""
    root, state = (tmp_path_factory.mktemp(name) for name in ("workspace", "lab"))
    models = state / "home" / ".shoulders" / "models.json"
    models.parent.mkdir(mode=0o700, parents=True)
    models.write_text(json.dumps(table_catalogue(simulator)), encoding="utf-8")
    env = {"ANTHROPIC_API_KEY": simulator.key, "OLLAMA_HOST": ""}
    lab = Lab(root, state, env=env, base_url="/a%40b/")
    try:
        lab.start()
        yield lab
    finally:
        lab.stop()


@pytest.fixture(scope="module")
def opened(server: Lab, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Open]:
    """Begins a conversation in a format with a model."""
    url = f"http://127.0.0.1:{server.port}{server.base_url}shoulders/proxy"
    claude = AsyncAnthropic(base_url=url, api_key=server.token, max_retries=0)
    openai = AsyncOpenAI(base_url=f"{url}/v1", api_key=server.token, max_retries=0)
    google = Client(api_key=server.token, http_options=HttpOptions(base_url=url))
    sdks: dict[str, Any] = {
        "anthropic": claude,
        "openai_chat": openai,
        "openai_responses": openai,
        "google": google,
    }
    yield lambda name, model: FORMATS[name](sdks[name], model)
    for closing in (claude.close(), openai.close(), google.aio.aclose()):
        jp_asyncio_loop.run_until_complete(closing)
    google.close()


@pytest.fixture
def upstream(simulator: Simulator) -> Simulator:
    """The provider, with nothing scripted yet."""
    simulator.reset()
    return simulator


every_format = pytest.mark.parametrize("caller", FORMATS)
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def refusals(upstream: Simulator) -> list[str | None]:
    return [record.refusal for record in upstream.requests]


@pytest.mark.sampled(5)
@both
@every_provider
@every_format
async def test_text(
    *, opened: Open, upstream: Simulator, caller: str, provider: str, stream: bool
) -> None:
    row = PROVIDERS[provider]
    program = opened(caller, row.model)
    upstream.script(reply(GREETING, usage=Usage(input=120, output=7)))
    program.say("Hi")

    said = await program.ask(Options(stream=stream))

    assert said.text == GREETING
    assert (said.calls, said.waits_for_results) == ([], False)
    assert (said.tokens == (120, 7)) is row.counts
    assert min(said.tokens) > 0
    assert refusals(upstream) == [None]


@pytest.mark.sampled(5)
@every_provider
@every_format
async def test_tools(opened: Open, upstream: Simulator, caller: str, provider: str) -> None:
    row = PROVIDERS[provider]
    program = opened(caller, row.model)
    upstream.script(reply(ToolUse(name="read", arguments={"n": 4})), "It is 42.")
    program.say("What is in cell 4?")
    if not row.tools:
        await check_refused(program, upstream, Options(tools=True), "does not call tools")
        return

    asked = await program.ask(Options(tools=True))
    program.give("the answer is 42")
    said = await program.ask(Options(tools=True))

    assert (asked.calls, asked.waits_for_results) == ([("read", {"n": 4})], True)
    assert (said.text, said.waits_for_results) == ("It is 42.", False)
    assert refusals(upstream) == [None, None]
    seen = upstream.requests[1].seen
    assert seen is not None
    assert seen.tool_names == ("read",)
    assert ["the answer is 42" in result for result in seen.tool_results] == [True]


@pytest.mark.sampled(5)
@both
@every_provider
@every_format
async def test_parallel_tools(
    *, opened: Open, upstream: Simulator, caller: str, provider: str, stream: bool
) -> None:
    row = PROVIDERS[provider]
    program = opened(caller, row.model)
    upstream.script(*looks_twice())
    program.say("Read all.")
    options = Options(stream=stream, tools=True)
    if not row.tools:
        await check_refused(program, upstream, options, "does not call tools")
        return

    asked = await program.ask(options)
    program.give("one", "two")
    again = await program.ask(options)
    program.give("three")
    last = await program.ask(options)

    assert asked.text == "I look."
    assert (asked.calls, asked.waits_for_results) == ([("read", {"n": 1}), ("read", {})], True)
    assert (again.calls, again.waits_for_results) == ([("read", {"n": 3})], True)
    assert (last.text, last.waits_for_results) == ("Done.", False)
    assert refusals(upstream) == [None, None, None]
    seen = upstream.requests[1].seen
    assert seen is not None
    results = zip(seen.tool_results, ("one", "two"), strict=True)
    assert all(word in result for result, word in results)
    check_looks_of_claude(upstream, row.model)


@pytest.mark.parametrize("model", [CLAUDE, GPT, LOCAL])
@pytest.mark.parametrize("caller", ["anthropic", "openai_chat", "openai_responses"])
async def test_parallel_calls_can_be_switched_off(
    opened: Open, upstream: Simulator, caller: str, model: str
) -> None:
    upstream.script("Hm")
    program = opened(caller, model)
    program.say("Hi")

    await program.ask(Options(tools=True, parallel=False))

    body = upstream.requests[0].body
    if model == CLAUDE:
        assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    else:
        assert body["parallel_tool_calls"] is False


@pytest.mark.sampled(5)
@both
@every_provider
@every_format
async def test_images(
    *, opened: Open, upstream: Simulator, caller: str, provider: str, stream: bool
) -> None:
    row = PROVIDERS[provider]
    program = opened(caller, row.model)
    upstream.script("A pixel.")
    program.say("What is it?", PIXEL)
    if not row.images:
        await check_refused(program, upstream, Options(stream=stream), "does not read images")
        return

    said = await program.ask(Options(stream=stream))

    assert said.text == "A pixel."
    assert PIXEL in json.dumps(upstream.requests[0].body)
    assert refusals(upstream) == [None]


@pytest.mark.sampled(5)
@every_provider
@every_format
async def test_reasoning(opened: Open, upstream: Simulator, caller: str, provider: str) -> None:
    """A model's thinking is shown, and goes back to it with the result of its call."""
    row = PROVIDERS[provider]
    program = opened(caller, row.model)
    call = ToolUse(name="read", arguments={"n": 3})
    thought = [Reasoning(text="Look at cell 3.")] if row.thinks else []
    upstream.script(reply(*thought, call) if row.tools else reply(*thought, "So."), "Well.")
    program.say("Why?")

    said = await program.ask(Options(think=True, tools=row.tools))
    if row.tools:
        program.give("because")
    else:
        program.say("And?")
    last = await program.ask(Options(think=True, tools=row.tools))

    assert said.reasoning == ("Look at cell 3." if row.thinks else "")
    assert last.text == "Well."
    assert refusals(upstream) == [None, None]
    if row.replays is not None:
        assert row.replays in json.dumps(upstream.requests[1].body)


BEFORE = {400: 400, 401: 401, 429: 429, 500: 502}
"""The provider's status, and the program's."""


@pytest.mark.sampled(5)
@every_provider
@every_format
async def test_errors(opened: Open, upstream: Simulator, caller: str, provider: str) -> None:
    """An error before the first byte has a status."""
    program = opened(caller, PROVIDERS[provider].model)
    program.say("Hi")
    statuses: list[int] = []
    for status in BEFORE:
        upstream.script(reply(failure=Failure(status=status)))
        with pytest.raises(program.error) as caught:
            await program.ask(Options())
        statuses.append(status_of(caught.value))
        assert upstream.key not in str(caught.value)

    assert statuses == list(BEFORE.values())
    assert refusals(upstream) == [None] * len(BEFORE)
    assert len(program.history) == 1


@pytest.mark.sampled(5)
@every_provider
@every_format
@broken_in_the_middle()
async def test_an_error_in_the_stream_ends_it(
    *, opened: Open, upstream: Simulator, caller: str, provider: str, broken: Reply
) -> None:
    program = opened(caller, PROVIDERS[provider].model)
    upstream.script(broken)
    program.say("Hi")

    with pytest.raises(program.error, match=BROKEN_STREAM):
        await program.ask(Options(stream=True))
    assert len(program.history) == 1


async def check_refused(
    program: Program, upstream: Simulator, options: Options, words: str
) -> None:
    """The program gets an error as from a vendor, and nothing is sent."""
    with pytest.raises(program.error, match=words) as caught:
        await program.ask(options)
    assert status_of(caught.value) == 400
    assert upstream.requests == []


@both
@every_format
async def test_a_model_nobody_knows_is_not_found(opened: Open, caller: str, stream: bool) -> None:
    program = opened(caller, "no-such-model")
    program.say("Hi")

    with pytest.raises(program.error, match="no-such-model") as caught:
        await program.ask(Options(stream=stream))
    assert status_of(caught.value) == 404


@pytest.mark.parametrize("caller", ["anthropic", "openai_chat"])
async def test_models_are_listed(opened: Open, caller: str) -> None:
    listed = [model.id async for model in opened(caller, LOCAL).sdk.models.list()]

    assert {CLAUDE, LOCAL} <= set(listed)
