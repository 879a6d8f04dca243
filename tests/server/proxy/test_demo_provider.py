"""Every format in front of the demo, in this process so that it answers without pauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google.genai import Client
from openai import AsyncOpenAI

from tests.server.proxy.format_cases import PIXEL
from tests.server.proxy.sdk_programs import FORMATS, Options, Program, status_of
from tests.simulator import Simulator

pytestmark = [
    # The Google SDK makes a subclass of aiohttp's session.
    pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning"),
]

DEMO = "demo"

Open = Callable[[str, str], Program]

every_format = pytest.mark.parametrize("caller", FORMATS)


@pytest.fixture
def opened(claude_sdk: AsyncAnthropic, openai_sdk: AsyncOpenAI, google_sdk: Client) -> Open:
    """Begins a conversation in a format with a model."""
    sdks: dict[str, Any] = {
        "anthropic": claude_sdk,
        "openai_chat": openai_sdk,
        "openai_responses": openai_sdk,
        "google": google_sdk,
    }
    return lambda name, model: FORMATS[name](sdks[name], model)


@pytest.fixture
def unpaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo answers at once."""

    def never(event: object) -> bool:
        del event
        return False

    monkeypatch.setattr("jupyter_ai_shoulders.providers.demo.provider.paced", never)


@every_format
@pytest.mark.usefixtures("unpaced")
@pytest.mark.parametrize("stream", [False, True], ids=["text", "stream"])
async def test_the_demo_answers_in_each_format(
    opened: Open, upstream: Simulator, caller: str, stream: bool
) -> None:
    program = opened(caller, DEMO)
    program.say("Hi")

    said = await program.ask(Options(stream=stream))

    assert "demo" in said.text.lower()
    asked = [request for request in upstream.requests if request.method != "GET"]
    assert asked == []  # the server may request the provider's models in between


@every_format
@pytest.mark.usefixtures("unpaced")
@pytest.mark.parametrize("think", [False, True], ids=["tools", "reasoning"])
async def test_the_demo_calls_only_tools_it_knows_and_does_not_think(
    opened: Open, caller: str, think: bool
) -> None:
    program = opened(caller, DEMO)
    program.say("Hi")

    said = await program.ask(Options(tools=True, think=think))

    assert (said.calls, said.reasoning) == ([], "")
    assert said.text


@every_format
async def test_the_demo_reads_no_images(opened: Open, upstream: Simulator, caller: str) -> None:
    program = opened(caller, DEMO)
    program.say("What is it?", PIXEL)

    with pytest.raises(program.error, match="does not read images") as caught:
        await program.ask(Options())
    assert status_of(caught.value) == 400
    assert upstream.requests == []
