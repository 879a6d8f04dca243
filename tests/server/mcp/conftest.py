"""A real server, and the official SDK as clients of its MCP server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation, TextContent

from tests.server.client import Fetch

Connect = Callable[..., AbstractAsyncContextManager[Client]]

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGMwaDiAFTEMLQkAztVcAX2X"
    "hiIAAAAASUVORK5CYII="
)
"""A picture of 8 x 8 pixels."""

NOTEBOOK: dict[str, Any] = {
    "cells": [
        {
            "id": "sum",
            "cell_type": "code",
            "source": "total = 1 + 1\ntotal",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        },
        {
            "id": "plot",
            "cell_type": "code",
            "source": f"""
import base64
from IPython.display import Image
Image(base64.b64decode("{PNG}"))""",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        },
        {"id": "note", "cell_type": "markdown", "source": "# Sums", "metadata": {}},
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def notebook(jp_root_dir: Path) -> str:
    """A notebook of the workspace; returns its path."""
    (jp_root_dir / "sums.ipynb").write_text(json.dumps(NOTEBOOK))
    return "sums.ipynb"


@pytest.fixture
def mcp_url(jp_fetch: Fetch, jp_http_port: int, jp_base_url: str) -> str:
    """The address of the MCP server."""
    return f"http://127.0.0.1:{jp_http_port}{jp_base_url}shoulders/mcp"


@pytest.fixture
def connect(mcp_url: str, jp_auth_header: dict[str, str]) -> Connect:
    """Connects a client, by default with the server's own token."""

    @asynccontextmanager
    async def connected(
        name: str = "Robot", *, token: str | None = None, mode: str = "auto"
    ) -> AsyncGenerator[Client]:
        headers = {"Authorization": f"Bearer {token}"} if token else jp_auth_header
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(
                streamable_http_client(mcp_url, http_client=http),
                client_info=Implementation(name=name, version="1"),
                mode=mode,
            ) as client,
        ):
            yield client

    return connected


def text_of(result: CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


class Progress:
    """The progress reports of a call."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self._news = asyncio.Event()

    async def listen(self, progress: float, total: float | None, message: str | None) -> None:
        """Take a report; the callback of a call."""
        self.messages.append(message or "")
        self._news.set()

    async def until(self, beginning: str) -> None:
        """Wait for a report that begins so."""
        async with asyncio.timeout(20):
            while not any(message.startswith(beginning) for message in self.messages):
                self._news.clear()
                await self._news.wait()
