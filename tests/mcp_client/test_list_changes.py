"""Changes of lists at servers of the SDK that speak the protocol of 2026."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from jupyter_ai_shoulders.mcp_client.connection_events import ConnectionLimits
from jupyter_ai_shoulders.mcp_client.list_changes import NOT_ANNOUNCED
from jupyter_ai_shoulders.mcp_client.pool import ConnectionPool
from jupyter_ai_shoulders.mcp_client.ports import ServerConnection
from jupyter_ai_shoulders.mcp_client.server_entries import checked_entry
from tests.mcp_client.probes import Heard, free_port, http_server, pool_of
from tests.mcp_client.test_connections import until

SERVER = Path(__file__).with_name("asking_server.py")
ALL = ["tools of asking", "resources of asking", "prompts of asking"]


@asynccontextmanager
async def asking(
    folder: Path, limits: ConnectionLimits | None = None
) -> AsyncGenerator[tuple[ConnectionPool, ServerConnection, Heard]]:
    """Run the server as a program, and note what it announces."""
    entry = checked_entry("asking", {"command": sys.executable, "args": [str(SERVER)]}, "user")
    async with pool_of(entry, folder=folder, limits=limits) as pool:
        connection = await pool.connection("asking")
        assert connection.info.protocol_version == "2026-07-28"
        heard = Heard()
        pool.add_listener(heard)
        yield pool, connection, heard


@asynccontextmanager
async def over_http(
    port: int, folder: Path, limits: ConnectionLimits
) -> AsyncGenerator[tuple[ConnectionPool, Heard]]:
    """Yield a pool with the server on this port, and note what it announces."""
    entry = checked_entry("asking", {"url": f"http://127.0.0.1:{port}/mcp"}, "user")
    async with pool_of(entry, folder=folder, limits=limits) as pool:
        heard = Heard()
        pool.add_listener(heard)
        yield pool, heard


async def grown(connection: ServerConnection, heard: Heard, name: str) -> None:
    """Have the server add a tool until that is announced; the stream opens after the start."""
    heard.changes.clear()
    async with asyncio.timeout(10):
        for number in range(1_000):
            await connection.call_tool("grow", {"name": f"{name}{number}"})
            await asyncio.sleep(0.15)
            if heard.changes:
                return


async def test_changes_are_announced_and_new_contents_are_not_asked_for(tmp_path: Path) -> None:
    async with asking(tmp_path) as (_, connection, heard):
        await connection.call_tool("update", {})
        await grown(connection, heard, "more")
        assert heard.changes == ["tools of asking"]
        assert "more0" in {tool.name for tool in await connection.list_tools()}


async def test_a_stream_that_the_server_ends_is_opened_again(tmp_path: Path) -> None:
    limits = ConnectionLimits(listen_pause_s=0.05)
    async with asking(tmp_path, limits) as (pool, connection, heard):
        await grown(connection, heard, "first")
        heard.changes.clear()
        await connection.call_tool("end_stream", {})
        await until(lambda: len(heard.changes) == len(ALL))
        assert heard.changes == ALL  # changes without a stream are not announced later
        await grown(connection, heard, "second")
        assert heard.changes == ["tools of asking"]
        assert pool.log_lines("asking") == ()


async def test_a_stream_that_always_ends_stays_closed_and_says_so(tmp_path: Path) -> None:
    limits = ConnectionLimits(listen_attempts=1)
    async with asking(tmp_path, limits) as (pool, connection, heard):
        await grown(connection, heard, "first")
        await connection.call_tool("end_stream", {})
        said = f"{NOT_ANNOUNCED} The server ended the stream."
        await until(lambda: pool.log_lines("asking")[-1:] == (said,))
        assert pool.states()[0].status == "running"


class Proxy:
    """Passes bytes on to a port, and can cut all connections."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._writers: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[int]:
        """Yield the port."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            self.cut()
            server.close()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        source, sink = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers |= {writer, sink}
        await asyncio.gather(_pass_on(reader, sink), _pass_on(source, writer))


async def _pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await source.read(65_536):
            sink.write(data)
    sink.close()


async def test_a_stream_over_http_that_is_cut_is_opened_again(tmp_path: Path) -> None:
    limits = ConnectionLimits(listen_pause_s=0.05)
    async with http_server(SERVER.name, "http") as target:
        proxy = Proxy(target)
        async with proxy.running() as port, over_http(port, tmp_path, limits) as (pool, heard):
            connection = await pool.connection("asking")
            await grown(connection, heard, "first")
            heard.changes.clear()
            proxy.cut()
            await until(lambda: len(heard.changes) == len(ALL))
            await grown(connection, heard, "second")
            assert pool.running("asking") is connection


async def test_a_service_that_ended_is_shown_so_and_used_again_once_it_is_back(
    tmp_path: Path,
) -> None:
    port = free_port()
    async with over_http(port, tmp_path, ConnectionLimits(listen_pause_s=0.05)) as (pool, heard):
        async with http_server(SERVER.name, "http", port=port):
            await grown(await pool.connection("asking"), heard, "first")
        await until(lambda: pool.states()[0].status == "failed")
        assert "The connection was lost" in (pool.states()[0].error or "")
        async with http_server(SERVER.name, "http", port=port):
            heard.changes.clear()
            connection = await pool.connection("asking")
            assert heard.changes == ["tools of asking"]
            await grown(connection, heard, "second")
