"""A real server with the proxy, official SDKs as its clients, the simulator as every provider."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google.genai import Client
from google.genai.types import HttpOptions
from openai import AsyncOpenAI
from traitlets.config import Config

from tests.simulator import Simulator

pytest.register_assert_rewrite("tests.server.proxy.format_cases")

CLAUDE = "claude-opus-5-5"
LOCAL = "local"
OPENROUTER = "router"
DEEPSEEK = "deep"
GPT = "gpt-6.1-sol"
GEMINI = "gemini-3.8-flash-high"
QWEN = "qwen"
MODELS = [CLAUDE, GPT, GEMINI, QWEN, LOCAL, OPENROUTER, DEEPSEEK]
"""One of every kind of provider, and chat servers that want reasoning back."""


def catalogue(upstream: Simulator) -> dict[str, Any]:
    """Chat servers beside the vendors, all played by the simulator, as ``models.json``."""
    key = {"api_key_env": "ANTHROPIC_API_KEY"}
    chat = {"kind": "openai_chat", "url": upstream.openai_url, **key}
    thinks = {"mode": "effort", "efforts": ["low", "medium", "high"]}
    return {
        "providers": {
            "anthropic": {"url": upstream.url},
            "openai": {"url": upstream.openai_url, **key},
            "google": {"url": f"{upstream.url}/v1beta", **key},
            "ollama": {"url": upstream.url},
            "lab": chat,
            "openrouter": {**chat, "profile": "openrouter"},
            "deepseek": {**chat, "profile": "deepseek"},
        },
        "models": [
            {
                "id": QWEN,
                "provider": "ollama",
                "model": "sim-qwen",
                "thinking_support": thinks,
            },
            {"id": LOCAL, "provider": "lab", "model": "sim-local", "images": True},
            {
                "id": OPENROUTER,
                "provider": "openrouter",
                "model": "openrouter/auto",
                "images": True,
                "thinking_support": thinks,
            },
            {
                "id": DEEPSEEK,
                "provider": "deepseek",
                "model": "deepseek-v4-flash",
                "thinking_support": {"mode": "effort", "efforts": ["high"]},
            },
        ],
    }


@pytest.fixture
def jp_server_config(jp_server_config: Config, upstream: Simulator) -> Config:
    """A model of every kind of provider."""
    jp_server_config.Shoulders.models |= catalogue(upstream)
    return jp_server_config


@pytest.fixture
def proxy_url(jp_http_port: int, jp_base_url: str, jp_fetch: Any) -> str:
    """The root of the proxy; the fetcher is requested because it starts the listener."""
    return f"http://127.0.0.1:{jp_http_port}{jp_base_url}shoulders/proxy"


@pytest.fixture
def claude_sdk(
    proxy_url: str, jp_serverapp: Any, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[AsyncAnthropic]:
    """The official Anthropic client, with the Jupyter token as its key."""
    client = AsyncAnthropic(
        base_url=proxy_url, api_key=jp_serverapp.identity_provider.token, max_retries=0
    )
    yield client
    jp_asyncio_loop.run_until_complete(client.close())


@pytest.fixture
def openai_sdk(
    proxy_url: str, jp_serverapp: Any, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[AsyncOpenAI]:
    """The official OpenAI client, with the Jupyter token as its key."""
    client = AsyncOpenAI(
        base_url=f"{proxy_url}/v1", api_key=jp_serverapp.identity_provider.token, max_retries=0
    )
    yield client
    jp_asyncio_loop.run_until_complete(client.close())


@pytest.fixture
def google_sdk(
    proxy_url: str, jp_serverapp: Any, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[Client]:
    """The official Google client, with the Jupyter token as its key."""
    options = HttpOptions(base_url=proxy_url)
    client = Client(api_key=jp_serverapp.identity_provider.token, http_options=options)
    yield client
    jp_asyncio_loop.run_until_complete(client.aio.aclose())
    client.close()
