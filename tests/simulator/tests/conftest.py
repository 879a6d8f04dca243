"""A running simulator, and plain HTTP to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from tests.simulator import Simulator
from tests.simulator.openai_chat.models import VLLM, ChatModel
from tests.simulator.openai_responses.models import ResponsesModel

SMALL = ChatModel(VLLM, window=400)


@pytest.fixture
def simulator(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Simulator]:
    running = Simulator(
        windows={"claude-sonnet-4-6": 400, "gemini-3.7-flash": 400},
        chat_models={"sim-small": SMALL},
        responses_models={"gpt-small": ResponsesModel(window=400)},
    )
    running.default("Hello there")
    jp_asyncio_loop.run_until_complete(running.start())
    yield running
    jp_asyncio_loop.run_until_complete(running.stop())


@pytest.fixture
def http(
    simulator: Simulator, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[httpx.AsyncClient]:
    client = httpx.AsyncClient(base_url=simulator.url, timeout=10, verify=False)  # plain HTTP
    yield client
    jp_asyncio_loop.run_until_complete(client.aclose())
