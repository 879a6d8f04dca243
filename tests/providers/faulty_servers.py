"""Faulty servers, and assertions on the resulting errors, for tests of faults."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    Provider,
    ProviderEvent,
)
from tests.providers.adapter_fixtures import (
    Kind,
    ask,
    chat_model,
    claude,
    collect,
    gemini,
    gpt,
    llama,
)
from tests.providers.conversation import connected
from tests.simulator import (
    Reply,
    Simulator,
)

KINDS: list[Kind] = ["anthropic", "openai_chat", "openai_responses", "google", "ollama"]
MODELS = {
    "anthropic": claude("claude-haiku-5-5"),
    "openai_chat": chat_model(id="gpt-4.1", model="gpt-4.1"),
    "openai_responses": gpt("gpt-6-luna"),
    "google": gemini("gemini-3.8-flash"),
    "ollama": llama("sim-llama:latest"),
}


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
Answering = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(answer: Answering) -> AsyncGenerator[str]:
    """A server with a given behaviour, for faults the simulator cannot produce; yields its URL."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def read_request(reader: asyncio.StreamReader) -> bool:
    """Read one request; False when the client has disconnected."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return False
    length = re.search(rb"(?i)content-length: (\d+)", head)
    await reader.readexactly(int(length.group(1)) if length else 0)
    return True


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the simulator has no event to wait for
            await asyncio.sleep(0)


async def failure_of(provider: Provider, model: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await collect(provider, ask("Hi", model=model))
    return caught.value


async def append_all(provider: Provider, request: ModelRequest, seen: list[ProviderEvent]) -> None:
    async for event in provider.stream(request):
        seen.append(event)  # noqa: PERF401 - what came before an error must be kept


async def failed(simulator: Simulator, kind: Kind, answer: Reply, **more: Any) -> ProviderError:
    simulator.script(answer)
    async with connected(simulator, kind, model=MODELS[kind], **more) as provider:
        return await failure_of(provider, MODELS[kind].model)
