"""From sending a message to its first piece of text, with one conversation at a time.

The floor asks the simulated provider directly, with the system prompt and the tools of a turn; the
relay is the least a server in between can do.
Ours: from sending a message on the page socket, or with `POST messages`, to the first `text-delta`
on the page socket, or on an event stream, with everything in between (log, context, request,
decoding). A new conversation is made and followed before the clock starts; connections are open, as
in real use. CPU is the server process's time until then, beside the relay's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
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
    async with serving(SCRIPT, as_in_a_turn=True) as (server, provider):
        with relay_to(provider.url) as relay:
            case = _Case(server, provider, replace(provider, url=relay.url), relay.pid)
            ways = {
                "direct": case.direct,
                "relay": case.through_relay,
                "new, socket": case.on_socket,
                "new, stream": case.on_stream,
                "next, socket": lambda: case.on_socket(again=True),
                "next, stream": lambda: case.on_stream(again=True),
            }
            taken = await interleaved(ROUNDS, ways, warm=3)
    relayed = median(sample.cpu for sample in taken["relay"])
    new, following = Goal("added", 4), Goal("added", 3)
    return [
        replace(timed(name, taken[way], taken["direct"], limit), floor_cpu=relayed)
        for name, way, limit in (
            ("bare relay", "relay", None),
            ("new conversation, page socket", "new, socket", new),
            ("new conversation, POST and event stream", "new, stream", new),
            ("next message, page socket", "next, socket", following),
            ("next message, POST and event stream", "next, stream", following),
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

    async def on_socket(self, *, again: bool = False) -> Sample:
        session, seq = await self.server.session()
        async with self.server.page({session: seq}) as socket:

            async def frames() -> AsyncIterator[str]:
                await self.server.say(socket, session, "Hello")
                while True:
                    yield await socket.receive_str()

            if again:
                await self._until_end(frames())
            return await self._until_end(frames())

    async def on_stream(self, *, again: bool = False) -> Sample:
        session, seq = await self.server.session()
        async with self.server.events(session, seq) as stream:

            async def lines() -> AsyncIterator[str]:
                sending = asyncio.create_task(self.server.send(session, "Hello"))
                while True:
                    line = (await stream.readline()).decode()
                    if OUR_END in line:
                        await sending
                    yield line

            if again:
                await self._until_end(lines())
            return await self._until_end(lines())

    async def _until_end(self, texts: AsyncIterator[str]) -> Sample:
        """Measure until the first text; wait for the end, so that no write disturbs the next."""
        watch = Stopwatch(self.server.lab.pid)
        taken: Sample | None = None
        async for text in texts:
            if taken is None and OUR_DELTA in text:
                taken = watch.sample()
            if OUR_END in text:
                break
        assert taken is not None
        return taken

    async def _first(self, provider: Provider) -> Sample:
        watch = Stopwatch(self.relay_pid)
        taken: Sample | None = None
        async for piece in provider.stream("Hello"):
            if taken is None and VENDOR_DELTA in piece:
                taken = watch.sample()
        assert taken is not None
        return taken
