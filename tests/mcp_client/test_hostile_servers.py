"""Hostile servers as real processes: bounded time and memory, a reason that is shown."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.process import stdio_launcher
from jupyter_ai_shoulders.mcp_client import paced_transport
from jupyter_ai_shoulders.mcp_client.connection_events import ConnectionLimits
from jupyter_ai_shoulders.mcp_client.pool import ConnectionPool
from jupyter_ai_shoulders.mcp_client.ports import ConnectionStatus
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry, checked_entry
from jupyter_ai_shoulders.wire.base import JsonObject
from tests.mcp_client.probes import HOSTILE_SERVER, http_server, pool_of

MEMORY = Path("/proc/self/statm")
MOST_MB = 130
LONGEST_S = 10.0
LONGEST_TURN_S = 0.5
"""Of the loop, in time of its processor: a busy machine is no failure."""
LIMITS = ConnectionLimits(start_s=10, list_s=10, call_s=10, close_s=2, flood_s=0.3)
FLOOD = r"It sent more than 1,000 messages a second for 0\.3 s\."
REQUESTS = rf"(It sent more than 100 requests without waiting for their answers\.|{FLOOD})"
"""Pipes hold some answers, so the rate may be exceeded first."""
LONG = r"It sent a message that is too long\."
ENDED = "The MCP server h has ended. "


@dataclass(frozen=True, slots=True)
class Row:
    """What is asserted of a behaviour; texts are patterns."""

    behaviour: str
    error: str = ""
    """Of the action; empty: it works."""
    status: ConnectionStatus = "running"
    state: str = ""
    """The error of the state."""
    log: str = ""
    """A line of the log."""
    tools: int = 1
    """How many are listed."""
    unread: str = ""
    limits: ConnectionLimits = LIMITS


def flood(behaviour: str, why: str = FLOOD, log: str = "") -> Row:
    return Row(behaviour, why, "failed", ENDED + why, log or why)


WIDE = r"SSE stream failed: The answer has more than 300,000 lists and objects\."
SLOW = "It sends more than 1,000 messages a second, read slowly"
CUT = "Only the first {} were read, because {}."
ROWS = (
    flood("requests", REQUESTS),
    flood("same_request", REQUESTS),
    flood("notifications"),
    flood("answers", log="An answer to no open request, with the id 'r0'"),
    flood("invalid"),
    flood("garbage", log="this is no message"),
    flood("blank"),
    flood("long_line", LONG),
    flood("deep_unknown", r"It sent an answer that cannot be read: .*recursion"),
    flood("call:requests", REQUESTS),
    flood("call:progress", log=SLOW),
    flood("call:long_line", LONG),
    flood("call:crash", r"It closed its output\.", "about to end"),
    Row(
        "start:silent",
        "did not finish its start within 0.5 s",
        "waiting",
        "within 0.5 s",
        limits=replace(LIMITS, start_s=0.5),
    ),
    Row("start:crash", "ended while it started. about to end", "waiting", "about to end"),
    Row("start:long_line", LONG, "waiting", LONG),
    Row("start:requests", REQUESTS, "waiting", REQUESTS),
    Row("start:deep", "start: Invalid JSON: recursion limit", "waiting", "recursion limit"),
    Row(
        "silent",
        "did not finish the list of its tools within 0.3 s",
        limits=replace(LIMITS, list_s=0.3),
    ),
    Row("deep", "answer that is not valid, for the list of its tools: .*recursion limit"),
    Row(
        "call:silent",
        "did not finish the tool go within 0.3 s",
        limits=replace(LIMITS, call_s=0.3),
    ),
    Row("call:deep", "answer that is not valid, for the tool go: .*recursion limit"),
    Row("wide", "not valid, for the list of its tools: it has more than 300,000 lists"),
    Row("refuses", r"refused the list of its tools: no\\u202e"),
    Row("call:refuses", r"refused the tool go: no\\u202e"),
    Row("twice", log=r"An answer to no open request, with the id \d$"),
    Row("text_id", log=r"An answer to no open request, with the id '\d'"),
    Row("changes"),
    Row("hidden", log=r"info: a\\u200bb"),
    Row("errors", log="no news no news"),
    Row("deaf"),
    Row("large_schema", tools=2),
    Row("large_pages", unread=CUT.format(1, "the list is larger than 16 MB")),
    Row("endless_pages", tools=50, unread=CUT.format(50, "the list has more than 50 pages")),
    Row("same_page", tools=2, unread=CUT.format(2, "its pages repeat")),
    Row(
        "many_tools",
        tools=5_000,
        unread=CUT.format("5,000", "the list has more than 5,000 entries"),
    ),
)


def entry_of(behaviour: str) -> ServerEntry:
    content: JsonObject = {
        "command": sys.executable,
        "args": ["-IS", str(HOSTILE_SERVER), behaviour],
    }
    return checked_entry("h", content, "user")


def memory_mb() -> float:
    """Return the memory of this process in use; 0 where the system does not say."""
    return int(MEMORY.read_text().split()[1]) * 4096 / 2**20 if MEMORY.exists() else 0.0


@asynccontextmanager
async def bounded() -> AsyncGenerator[None]:
    """Fail when the block takes too long, too much memory, or stops the loop."""
    began, before = time.monotonic(), memory_mb()
    most, longest = before, 0.0

    async def watch() -> None:
        nonlocal most, longest
        while True:
            turned = time.thread_time()
            await asyncio.sleep(0.01)
            longest = max(longest, time.thread_time() - turned)
            most = max(most, memory_mb())

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
    assert time.monotonic() - began < LONGEST_S
    assert most - before < MOST_MB
    assert longest < LONGEST_TURN_S


async def used(pool: ConnectionPool, row: Row) -> None:
    """Use a server as the row says."""
    connection = await pool.connection("h")
    assert len(await connection.list_tools()) == row.tools
    assert (connection.unread_tools or "") == row.unread
    if row.behaviour.startswith("call:"):
        await connection.call_tool("go", {})


async def assert_shown(pool: ConnectionPool, row: Row) -> None:
    """Assert state and log; the program's lines may come a little later."""
    state = pool.states()[0]
    assert (state.status, bool(state.error)) == (row.status, bool(row.state))
    assert re.search(row.state, state.error or "")
    async with asyncio.timeout(2):
        while not any(re.search(row.log or row.unread, line) for line in pool.log_lines("h")):
            if not row.log + row.unread:
                break
            await asyncio.sleep(0.01)
    assert all(line.isprintable() and len(line) <= 600 for line in pool.log_lines("h"))


@pytest.mark.parametrize("row", ROWS, ids=[row.behaviour for row in ROWS])
async def test_a_hostile_program(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_launcher, "EXIT_SECONDS", 0.1)
    async with (
        bounded(),
        pool_of(entry_of(row.behaviour), folder=tmp_path, limits=row.limits) as pool,
    ):
        if row.error:
            with pytest.raises(ShouldersError, match=row.error):
                await used(pool, row)
        else:
            await used(pool, row)
        await assert_shown(pool, row)


@asynccontextmanager
async def service(behaviour: str, folder: Path) -> AsyncGenerator[ConnectionPool]:
    """Yield a pool of one hostile service."""
    async with http_server(HOSTILE_SERVER.name, f"http:{behaviour}") as port:
        entry = checked_entry("h", {"url": f"http://127.0.0.1:{port}/"}, "user")
        limits = replace(LIMITS, list_s=1.5)
        async with bounded(), pool_of(entry, folder=folder, limits=limits) as pool:
            yield pool


async def test_a_stream_that_is_closed_again_and_again_is_opened_slowly(tmp_path: Path) -> None:
    async with service("reopened", tmp_path) as pool:
        connection = await pool.connection("h")
        await asyncio.sleep(0.5)
        assert 2 <= len(await connection.list_tools()) <= 10


async def test_endless_comments_of_a_stream_leave_the_loop_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paced_transport, "BURST_BYTES", 2**20)
    async with service("comments", tmp_path) as pool:
        connection = await pool.connection("h")
        busy = time.thread_time()
        with pytest.raises(ShouldersError, match=r"within 1\.5 s"):
            await connection.list_tools()
        assert time.thread_time() - busy < 0.5


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [("requests", REQUESTS), ("notifications", FLOOD), ("wide", WIDE)],
    ids=str,
)
async def test_a_hostile_service(behaviour: str, said: str, tmp_path: Path) -> None:
    async with http_server(HOSTILE_SERVER.name, f"http:{behaviour}") as port:
        entry = checked_entry("h", {"url": f"http://127.0.0.1:{port}/"}, "user")
        async with bounded(), pool_of(entry, folder=tmp_path, limits=LIMITS) as pool:
            row = flood(behaviour, said)
            with pytest.raises(ShouldersError, match=said):
                await used(pool, row)
            await assert_shown(pool, row)
