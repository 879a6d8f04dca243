"""Cancelling a turn, through a real server.

From the request to the event that ends the turn, which comes when the model's stream is closed and
the kernel has stopped the interrupted cell. A slow model is cancelled at its first words; a cell
that sleeps, in the notebook's own kernel, once it has printed. Each figure is the 95th percentile.
"""

from __future__ import annotations

import asyncio
import json
from statistics import quantiles
from typing import Any

import aiohttp

from tests.bench.figures import Figure, Goal, single
from tests.bench.server_and_provider import Server, serving
from tests.bench.timing import Stopwatch
from tests.simulator_process import calls, notebook, says

ROUNDS = 25
FILE = "n.ipynb"
SLEEPS = "import time\nprint('on', flush=True)\nfor _ in range(3000): time.sleep(0.02)"


def measure() -> list[Figure]:
    """Cancel a speaking model and a running cell, many times each."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with serving(_script()) as (server, _):
        (server.lab.root / FILE).write_text(notebook(("c1", SLEEPS)))
        speaking = [await _cancelled(server, "Speak.", "text-delta") for _ in range(ROUNDS)]
        await _cancelled(server, "Run it.", "tool-progress", saying="on")  # starts the kernel
        running = [
            await _cancelled(server, "Run it.", "tool-progress", saying="on") for _ in range(ROUNDS)
        ]
    return [
        Figure("a model that speaks", "ms", single(_p95(speaking)), goal=Goal("at most", 1_000)),
        Figure("a cell that runs", "ms", single(_p95(running)), goal=Goal("at most", 2_000)),
    ]


def _script() -> dict[str, Any]:
    """A model that runs the cell, or speaks for minutes."""
    run = calls("run_cell", {"path": FILE, "cell_id": "c1"})
    rules = [{"when": {"user": "^Run", "has_results": False}, "reply": run}]
    return {"rules": rules, "default": says("word " * 5_000, event_delay=0.02)}


async def _cancelled(server: Server, text: str, kind: str, saying: str = "") -> float:
    """Return the milliseconds from the cancel at an event to the end of the turn."""
    session, after = await server.session(mode="bypass")
    async with server.events(session, after) as events:
        await server.send(session, text)
        await _until(events, kind, saying)
        watch = Stopwatch()
        async with server.http.post(f"{server.url}/sessions/{session}/cancel") as answer:
            assert answer.status < 300, await answer.text()
        end = await _until(events, "turn-end")
        assert end["exit"] == "cancelled", end
        return watch.ms


async def _until(events: aiohttp.StreamReader, kind: str, saying: str = "") -> dict[str, Any]:
    async for line in events:
        if line.startswith(b"data:"):
            event = json.loads(line.removeprefix(b"data:"))
            if event.get("type") == kind and saying in event.get("text", ""):
                return event
    raise AssertionError(f"no {kind}")


def _p95(taken: list[float]) -> float:
    return quantiles(taken, n=20)[-1]
