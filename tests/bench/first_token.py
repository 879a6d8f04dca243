"""From sending a message to its first piece of text, with one conversation at a time.

The floor asks the simulated provider directly; the relay is the least a server in between can do.
Ours: `POST messages` to the first `text-delta` on the page socket, and on an event stream, with
all that lies between (log, context, request, decoding). Each sample has a conversation of its own,
made and followed before the clock starts; connections are open, as in real use.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tests.bench.figures import Figure, Goal, spread
from tests.bench.relay import relay_to
from tests.bench.served import Provider, Server, serving
from tests.bench.timing import Stopwatch, interleaved
from tests.upstream import says

ROUNDS = 40
SCRIPT = {"default": says("Certainly. Here is what I found in your data.")}
VENDOR_DELTA = b"content_block_delta"
OUR_END = '"type":"turn-end"'
OUR_DELTA = '"type":"text-delta"'


def measure() -> list[Figure]:
    """Measure all ways to the first token."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with serving(SCRIPT) as (server, provider):
        with relay_to(provider.url) as relay:
            case = _Case(server, provider, Provider(relay.url, provider.http))
            ways = {
                "direct": case.direct,
                "relay": case.through_relay,
                "socket": case.on_socket,
                "stream": case.on_stream,
            }
            taken = await interleaved(ROUNDS, ways, warm=3)
    found = {name: spread(samples) for name, samples in taken.items()}
    goal = Goal("added", 5)
    return [
        Figure("bare relay", "ms", found["relay"], found["direct"]),
        Figure("session, page socket", "ms", found["socket"], found["direct"], goal),
        Figure("session, event stream", "ms", found["stream"], found["direct"], goal),
    ]


@dataclass(frozen=True, slots=True)
class _Case:
    server: Server
    provider: Provider
    relay: Provider

    async def direct(self) -> float:
        return await _first(self.provider)

    async def through_relay(self) -> float:
        return await _first(self.relay)

    async def on_socket(self) -> float:
        session, seq = await self.server.session()
        async with self.server.page({session: seq}) as socket:
            watch = Stopwatch()
            sending = asyncio.create_task(self.server.send(session, "Hello"))
            while OUR_DELTA not in (frame := await socket.receive_str()):
                pass
            taken = watch.ms
            await sending
            while OUR_END not in frame:  # what is still written must not disturb the next sample
                frame = await socket.receive_str()
            return taken

    async def on_stream(self) -> float:
        session, seq = await self.server.session()
        async with self.server.events(session, seq) as stream:
            watch = Stopwatch()
            sending = asyncio.create_task(self.server.send(session, "Hello"))
            while OUR_DELTA.encode() not in await stream.readline():
                pass
            taken = watch.ms
            await sending
            while OUR_END.encode() not in await stream.readline():
                pass
            return taken


async def _first(provider: Provider) -> float:
    watch = Stopwatch()
    taken: float | None = None
    async for piece in provider.stream("Hello"):
        if taken is None and VENDOR_DELTA in piece:
            taken = watch.ms
    assert taken is not None
    return taken
