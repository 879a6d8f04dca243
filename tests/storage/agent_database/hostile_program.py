"""Runs all hostile statements through the host's service; prints outcomes and measurements.

A program of its own, so that its memory is that of a server which does nothing else.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.host.agent_database.service import AgentDatabaseService
from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.storage.agent_database.requests import DatabaseRequests
from jupyter_ai_shoulders.wire.api.settings import AgentDatabaseSettings
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.storage.agent_database.hostile_statements import ALL, Hostile

SECONDS = 1.0
ORIGIN = ChangeOrigin(SessionId("ses_1"))


def resident_bytes() -> int:
    """Return the memory of this process, at its highest."""
    text = Path("/proc/self/status").read_text()
    line = next(line for line in text.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


async def longest_stall(stop: asyncio.Event) -> float:
    """Return how long the event loop did not run, although it had a processor."""
    longest, last = 0.0, time.monotonic() - waited_seconds()
    while not stop.is_set():
        await asyncio.sleep(0.005)
        now = time.monotonic() - waited_seconds()
        longest, last = max(longest, now - last - 0.005), now
    return longest


def waited_seconds() -> float:
    """Return for how long this thread was ready and had no processor."""
    _, waited, _ = Path("/proc/thread-self/schedstat").read_text().split()
    return int(waited) / 1e9


async def outcome(service: AgentDatabaseService, hostile: Hostile) -> tuple[str, str, float]:
    began = time.monotonic()
    try:
        if hostile.tool == "query":
            await service.query(hostile.sql, hostile.params, 100)  # pyright: ignore[reportArgumentType]
        else:
            await service.execute(hostile.sql, hostile.params, ORIGIN)  # pyright: ignore[reportArgumentType]
    except ShouldersError as error:
        return type(error).__name__, str(error), time.monotonic() - began
    return "ran", "", time.monotonic() - began


async def main(place: Path) -> None:
    store = StateStore(place, SystemClock(), RandomIds(), str, place / "home")
    settings = AgentDatabaseSettings(enabled=True, limit_mb=20)
    requests = DatabaseRequests(store.directory, seconds=SECONDS)
    service = AgentDatabaseService(store.directory, store.operations, lambda: settings, requests)
    await service.execute("CREATE TABLE kept (a, b)", None, ORIGIN)
    await service.execute("INSERT INTO kept VALUES (?, ?)", [[1, "a"], [2, "b"]], ORIGIN)
    stop, before = asyncio.Event(), resident_bytes()
    watch = asyncio.create_task(longest_stall(stop))
    outcomes = await asyncio.gather(*(outcome(service, hostile) for hostile in ALL))
    stop.set()
    rows = await service.query("SELECT a, b FROM kept", None, 100)
    tables = await service.tables()
    sys.stdout.write(
        json.dumps(
            {
                "outcomes": outcomes,
                "grown": resident_bytes() - before,
                "stall": await watch,
                "rows": rows.rows,
                "tables": [table.name for table in tables],
            }
        )
    )
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
