"""Servers of the tests, and what a pool of them needs."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import mcp_types

from jupyter_ai_shoulders.guard.process.stdio_launcher import StdioLauncher
from jupyter_ai_shoulders.mcp_client.connection_events import (
    ConnectionEnvironment,
    ConnectionLimits,
    OpenServer,
)
from jupyter_ai_shoulders.mcp_client.pool import ConfiguredServer, ConnectionPool
from jupyter_ai_shoulders.mcp_client.ports import ServerRoot
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry, checked_entry
from jupyter_ai_shoulders.wire.base import JsonObject

RAW_SERVER = Path(__file__).with_name("raw_server.py")
HOSTILE_SERVER = Path(__file__).with_name("hostile_server.py")
SDK_SERVER = Path(__file__).with_name("sdk_server.py")


class Requests:
    """Answers what servers ask."""

    def __init__(
        self,
        elicitation: mcp_types.ElicitResult | None = None,
        *,
        sample: mcp_types.CreateMessageResult | None = None,
        root: Path = Path("/work"),
    ) -> None:
        self._sample = sample
        self._elicitation = elicitation
        self._root = root
        self.asked: list[str] = []

    def allows_sampling(self, server: str) -> bool:
        del server
        return self._sample is not None

    def allows_elicitation(self, server: str) -> bool:
        del server
        return self._elicitation is not None

    async def elicit(
        self, server: str, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        self.asked.append(f"{server}: {params.message}")
        assert self._elicitation is not None
        return self._elicitation

    async def sample(
        self, server: str, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.ErrorData:
        self.asked.append(f"{server}: {params.messages[0].content}")
        assert self._sample is not None
        return self._sample

    def roots(self, server: str) -> Sequence[ServerRoot]:
        return (ServerRoot(self._root.as_uri(), f"work of {server}"),)


class Heard:
    """Notes what a pool announces."""

    def __init__(self) -> None:
        self.changes: list[str] = []

    def tools_changed(self, server: str) -> None:
        self.changes.append(f"tools of {server}")

    def resources_changed(self, server: str) -> None:
        self.changes.append(f"resources of {server}")

    def prompts_changed(self, server: str) -> None:
        self.changes.append(f"prompts of {server}")

    def state_changed(self, server: str) -> None:
        del server


def raw_entry(*behaviour: str, name: str = "raw", **fields: JsonObject) -> ServerEntry:
    """Return an entry of ``raw_server.py``."""
    arguments = [str(RAW_SERVER), *behaviour]
    return checked_entry(name, {"command": sys.executable, "args": [*arguments], **fields}, "user")


def sdk_entry(name: str = "probe") -> ServerEntry:
    """Return an entry of ``sdk_server.py``."""
    return checked_entry(
        name, {"command": sys.executable, "args": [str(SDK_SERVER), "stdio"]}, "user"
    )


@asynccontextmanager
async def pool_of(
    *entries: ServerEntry,
    folder: Path,
    requests: Requests | None = None,
    limits: ConnectionLimits | None = None,
    idle_s: float = 600.0,
    opener: OpenServer | None = None,
) -> AsyncGenerator[ConnectionPool]:
    """Yield a pool of these servers."""
    environment = ConnectionEnvironment(
        StdioLauncher(),
        {**os.environ, "SECRET_TOKEN": "not for servers"},
        folder,
        folder,
        requests or Requests(),
        limits or ConnectionLimits(),
    )
    pool = ConnectionPool(environment, opener, idle_s=idle_s)
    pool.update([ConfiguredServer(entry) for entry in entries])
    try:
        yield pool
    finally:
        await pool.aclose()


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def http_server(script: str, *arguments: str, port: int | None = None) -> AsyncGenerator[int]:
    """Run a server of this folder on a port of its own, which is its last argument."""
    port = port or free_port()
    path = str(Path(__file__).with_name(script))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        path,
        *arguments,
        str(port),
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(30):
            while not accepts(port):  # noqa: ASYNC110 another process decides
                await asyncio.sleep(0.05)
        yield port
    finally:
        process.kill()
        await process.wait()


def accepts(port: int) -> bool:
    """Return whether something listens on a port."""
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0
