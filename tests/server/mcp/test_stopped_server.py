"""The server stops or is killed while a client waits for a question to be answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.server.mcp.conftest import NOTEBOOK
from tests.support.lab_server import Lab

pytestmark = pytest.mark.full
RUN = {"path": "sums.ipynb", "cell_id": "sum"}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "sums.ipynb").write_text(json.dumps(NOTEBOOK))
    server = Lab(root, tmp_path / "state")
    server.start()
    yield server
    server.stop()


@asynccontextmanager
async def connected(lab: Lab) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {lab.token}"}
    url = f"http://127.0.0.1:{lab.port}/shoulders/mcp"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy") as client,
    ):
        yield client


async def sessions(lab: Lab) -> list[dict[str, Any]]:
    url = f"http://127.0.0.1:{lab.port}/shoulders/api/v1/sessions"
    async with httpx.AsyncClient(headers={"Authorization": f"token {lab.token}"}) as http:
        return (await http.get(url)).json()["sessions"]


async def until_status(lab: Lab, status: str) -> None:
    for _ in range(600):
        if status in [session["status"] for session in await sessions(lab)]:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"no conversation is {status}")


async def run_once(lab: Lab) -> CallToolResult:
    async with connected(lab) as client:
        return await client.call_tool("run_cell", RUN)


async def has_failed(call: asyncio.Task[CallToolResult]) -> bool:
    """Return whether the call failed, in whatever way the SDK reports a broken connection."""
    await asyncio.wait({call}, timeout=30)
    assert call.done(), "the client still waits"
    return call.cancelled() or call.exception() is not None or call.result().is_error


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_the_call_fails_and_the_next_client_can_work(lab: Lab, kill: bool) -> None:
    call = asyncio.create_task(run_once(lab))
    await until_status(lab, "waiting")
    await asyncio.to_thread(lab.kill if kill else lab.stop)
    assert await has_failed(call)

    await asyncio.to_thread(lab.start)
    async with connected(lab) as client:
        result = await client.call_tool("read_notebook", {"path": "sums.ipynb"})
        shown = sorted(session["status"] for session in await sessions(lab))

    assert not result.is_error
    assert shown in (["interrupted", "running"], ["running", "waiting"]), shown
