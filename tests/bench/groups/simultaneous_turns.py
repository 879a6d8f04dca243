"""A hundred messages sent at once, each to its own conversation: how long until each first token.

The floor asks the simulated provider directly, a hundred times at once, with the system prompt and
the tools of a turn. Ours: from the first message on the page socket to each conversation's first
`text-delta`. CPU is what the server's process uses for each turn, with its events.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from statistics import median

from tests.bench.figures import Figure, Goal, spread
from tests.bench.server_and_provider import Provider, Server, serving
from tests.bench.timing import Stopwatch
from tests.simulator_process import says

TURNS = 100
ROUNDS = 5
SCRIPT = {"default": says("Certainly. Here is what I found in your data.")}
VENDOR_DELTA = b"content_block_delta"


def measure() -> list[Figure]:
    """Measure both ways in turn."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    direct: list[float] = []
    ours: list[float] = []
    last: list[float] = []
    cpu: list[float] = []
    async with serving(SCRIPT, as_in_a_turn=True) as (server, provider):
        for _ in range(ROUNDS):
            direct.append(median(await _direct(provider)))
            waits, taken = await _turns(server)
            cpu.append(taken)
            ours.append(median(waits))
            last.append(max(waits))
    floor = spread(direct)
    return [
        Figure("first token, median of 100", "ms", spread(ours), floor, Goal("at most", 250)),
        Figure("first token, last of 100", "ms", spread(last), floor),
        Figure("CPU of a turn with its events", "ms", spread(cpu), None),
    ]


async def _direct(provider: Provider) -> list[float]:
    watch = Stopwatch()

    async def first(pieces: AsyncIterator[bytes]) -> float:
        taken = 0.0
        async for piece in pieces:
            if not taken and VENDOR_DELTA in piece:
                taken = watch.ms
        return taken

    return await asyncio.gather(*(first(provider.stream("Go on")) for _ in range(TURNS)))


async def _turns(server: Server) -> tuple[list[float], float]:
    """Return each turn's wait, and the CPU of one turn, in milliseconds."""
    cursors = dict([await server.session() for _ in range(TURNS)])
    waits: dict[str, float] = {}
    ended = 0
    async with server.page(cursors) as socket:
        watch = Stopwatch(server.lab.pid)
        for session in cursors:
            await server.say(socket, session, "Go on")
        while ended < TURNS:
            frame = json.loads(await socket.receive_str())
            for event in frame.get("events", ()):
                if event["type"] == "text-delta":
                    waits.setdefault(event["session_id"], watch.ms)
                ended += event["type"] == "turn-end"
        return list(waits.values()), watch.sample().cpu / TURNS
