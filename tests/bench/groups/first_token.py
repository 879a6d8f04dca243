"""From sending a message to its first piece of text, with one conversation at a time.

The floor asks the simulated provider directly; the relay is the least a server in between can do.
Ours: `POST messages` to the first `text-delta` on the page socket, and on an event stream, with
everything in between (log, context, request, decoding). Each sample has its own conversation, made
and followed before the clock starts; connections are open, as in real use. CPU is the server
process's time until then, beside the relay's.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from statistics import median

from tests.bench.baseline_relay import relay_to
from tests.bench.figures import Figure, Goal, timed
from tests.bench.server_and_provider import Provider, Server, serving
from tests.bench.timing import Sample, Stopwatch, interleaved
from tests.simulator_process import says

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
            case = _Case(server, provider, Provider(relay.url, provider.http), relay.pid)
            ways = {
                "direct": case.direct,
                "relay": case.through_relay,
                "socket": case.on_socket,
                "stream": case.on_stream,
            }
            taken = await interleaved(ROUNDS, ways, warm=3)
    relayed = median(sample.cpu for sample in taken["relay"])
    goal = Goal("added", 5)
    return [
        replace(timed(name, taken[way], taken["direct"], limit), floor_cpu=relayed)
        for name, way, limit in (
            ("bare relay", "relay", None),
            ("session, page socket", "socket", goal),
            ("session, event stream", "stream", goal),
        )
    ]


@dataclass(frozen=True, slots=True)
class _Case:
    server: Server
    provider: Provider
    relay: Provider
    relay_pid: int

    async def direct(self) -> Sample:
        return await self._first(self.provider)

    async def through_relay(self) -> Sample:
        return await self._first(self.relay)

    async def on_socket(self) -> Sample:
        session, seq = await self.server.session()
        async with self.server.page({session: seq}) as socket:
            watch = Stopwatch(self.server.lab.pid)
            sending = asyncio.create_task(self.server.send(session, "Hello"))
            while OUR_DELTA not in (frame := await socket.receive_str()):
                pass
            taken = watch.sample()
            await sending
            while OUR_END not in frame:  # what is still written must not disturb the next sample
                frame = await socket.receive_str()
            return taken

    async def on_stream(self) -> Sample:
        session, seq = await self.server.session()
        async with self.server.events(session, seq) as stream:
            watch = Stopwatch(self.server.lab.pid)
            sending = asyncio.create_task(self.server.send(session, "Hello"))
            while OUR_DELTA.encode() not in await stream.readline():
                pass
            taken = watch.sample()
            await sending
            while OUR_END.encode() not in await stream.readline():
                pass
            return taken

    async def _first(self, provider: Provider) -> Sample:
        watch = Stopwatch(self.relay_pid)
        taken: Sample | None = None
        async for piece in provider.stream("Hello"):
            if taken is None and VENDOR_DELTA in piece:
                taken = watch.sample()
        assert taken is not None
        return taken
