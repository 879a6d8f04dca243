"""Fifty answers at once, 50 tokens a second each, to one page.

The floor of throughput is the same fifty streams taken straight from the simulated provider. CPU
is what the server's process uses for 1 000 tokens that arrive (user and system time, which wall
clocks and a busy machine distort less); beside it stands the bare relay's. The page socket carries
all fifty conversations of a page; event streams are one connection each. Counted between the first
fifth and the last tenth of the tokens, so that sending fifty messages is left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import aiohttp

from tests.bench.baseline_relay import relay_to
from tests.bench.figures import Figure, Goal, Spread, spread
from tests.bench.server_and_provider import Provider, Server, serving
from tests.bench.timing import Stopwatch, cpu_ms
from tests.simulator_process import says

STREAMS = 50
TOKENS = 160
"""Of each stream."""
TOKENS_PER_SECOND = 50
ROUNDS = 3
MARK = "~"
"""Stands in every token and nowhere else, so that counting tokens is cheap."""
SCRIPT = {
    "default": says(f"word{MARK} " * TOKENS, tokens_per_second=TOKENS_PER_SECOND),
}


@dataclass(frozen=True, slots=True)
class Flow:
    """Tokens per second, and CPU milliseconds of a process per 1 000 of them."""

    rate: float
    cpu: float


class Meter:
    """Counts tokens as they arrive; measures between two of the counts."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seen = 0
        self._from = STREAMS * TOKENS // 5
        self._to = STREAMS * TOKENS * 9 // 10
        self._watch = Stopwatch()
        self._begin: tuple[int, float, float] | None = None
        self._end: tuple[int, float, float] | None = None

    def count(self, tokens: int) -> None:
        """Note that so many more have come."""
        self._seen += tokens
        if self._begin is None and self._seen >= self._from:
            self._begin = self._now()
        if self._end is None and self._seen >= self._to:
            self._end = self._now()

    @property
    def is_done(self) -> bool:
        """Whether all have come."""
        return self._seen >= STREAMS * TOKENS

    def flow(self) -> Flow:
        """Return what was measured."""
        assert self._begin is not None
        assert self._end is not None
        tokens, ms, cpu = (end - begin for end, begin in zip(self._end, self._begin, strict=True))
        return Flow(tokens / ms * 1e3, cpu / tokens * 1e3)

    def _now(self) -> tuple[int, float, float]:
        return self._seen, self._watch.ms, cpu_ms(self._pid)


def measure() -> list[Figure]:
    """Measure the four ways in turn."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with serving(SCRIPT) as (server, provider):
        with relay_to(provider.url) as relay:
            between = Provider(relay.url, provider.http)
            ways: dict[str, Callable[[], Awaitable[Flow]]] = {
                "direct": lambda: _plain(provider, relay.pid),
                "relay": lambda: _plain(between, relay.pid),
                "socket": lambda: through_socket(server),
                "streams": lambda: _streams(server),
            }
            flows: dict[str, list[Flow]] = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, way in ways.items():
                    flows[name].append(await way())
    return _figures(flows)


def _figures(flows: dict[str, list[Flow]]) -> list[Figure]:
    cpu = {name: spread([flow.cpu for flow in taken]) for name, taken in flows.items()}
    rate = {name: spread([flow.rate for flow in taken]) for name, taken in flows.items()}
    return [
        _cpu("page socket", cpu["socket"], cpu["relay"]),
        _cpu("event streams", cpu["streams"], cpu["relay"]),
        _rate("page socket", rate["socket"], rate["direct"]),
        _rate("event streams", rate["streams"], rate["direct"]),
        Figure("throughput, bare relay", "tokens/s", rate["relay"], rate["direct"]),
    ]


def _cpu(way: str, ours: Spread, relay: Spread) -> Figure:
    name = f"CPU per 1 000 tokens, {way} (floor: bare relay)"
    return Figure(name, "ms", ours, relay, Goal("at most", 120))


def _rate(way: str, ours: Spread, direct: Spread) -> Figure:
    return Figure(f"throughput, {way}", "tokens/s", ours, direct, Goal("at least times", 0.97))


async def _plain(provider: Provider, pid: int) -> Flow:
    meter = Meter(pid)

    async def follow(pieces: AsyncIterator[bytes]) -> None:
        async for piece in pieces:
            meter.count(piece.count(MARK.encode()))

    await asyncio.gather(*(follow(provider.stream("Go on")) for _ in range(STREAMS)))
    return meter.flow()


async def through_socket(server: Server) -> Flow:
    """Run fifty conversations of one page."""
    cursors = dict([await server.session() for _ in range(STREAMS)])
    async with server.page(cursors) as socket:
        meter = Meter(server.lab.pid)
        sending = asyncio.gather(*(server.send(session, "Go on") for session in cursors))
        while not meter.is_done:
            meter.count((await socket.receive_str()).count(MARK))
        await sending
        return meter.flow()


async def _streams(server: Server) -> Flow:
    cursors = [await server.session() for _ in range(STREAMS)]
    async with AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(server.events(*at)) for at in cursors]
        meter = Meter(server.lab.pid)

        async def follow(reader: aiohttp.StreamReader) -> None:
            tokens = 0
            while tokens < TOKENS:
                more = (await reader.readany()).count(MARK.encode())
                tokens += more
                meter.count(more)

        following = asyncio.gather(*map(follow, readers))
        await asyncio.gather(*(server.send(session, "Go on") for session, _ in cursors))
        await following
        return meter.flow()
