"""The model proxy: its first token, its CPU, and what it carries.

The floor asks the simulated provider directly; the relay is the least a server in between can do.
One stream at a time for the first token; then 50 and 200 streams of 50 tokens a second, and 50
streams as fast as they come. CPU is what the server's process uses for 1 000 tokens that arrive,
counted between the first fifth and the last tenth of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from statistics import median

from tests.bench.baseline_relay import relay_to
from tests.bench.figures import Figure, Goal, spread, timed
from tests.bench.server_and_provider import Provider, Server, serving
from tests.bench.timing import Sample, Stopwatch, cpu_ms, interleaved
from tests.simulator_process import says

FIRST_ROUNDS = 40
ROUNDS = 3
MARK = "~"
"""Stands in every token and nowhere else, so that counting tokens is cheap."""
ROOT = "shoulders/proxy"


@dataclass(frozen=True, slots=True)
class Load:
    """So many streams at once, of so many tokens each, at a speed or without delay."""

    streams: int
    tokens: int
    speed: int | None
    least: float
    """The least share of the direct throughput."""

    @property
    def name(self) -> str:
        """How the report calls it."""
        return f"{self.streams} × {self.speed}/s" if self.speed else f"{self.streams} without delay"


LOADS = (Load(50, 160, 50, 0.97), Load(200, 100, 50, 0.90), Load(50, 1_000, None, 0.40))


@dataclass(frozen=True, slots=True)
class Way:
    """Where to ask, and the process whose CPU counts."""

    provider: Provider
    pid: int


def measure() -> list[Figure]:
    """Measure first tokens, then each load."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    figures = await _first_tokens()
    for load in LOADS:
        figures += await _under(load)
    return figures


def ways_through(
    server: Server, provider: Provider, relay: Provider, relay_pid: int
) -> dict[str, Way]:
    """Return the ways to the provider: directly, through a bare relay, and through our proxy."""
    proxy = Provider(
        f"http://127.0.0.1:{server.lab.port}/{ROOT}",
        provider.http,
        key=server.lab.token,
        model="simulated",
    )
    chat = replace(proxy, path="/v1/chat/completions")
    return {
        "direct": Way(provider, relay_pid),
        "relay": Way(relay, relay_pid),
        "messages": Way(proxy, server.lab.pid),
        "chat": Way(chat, server.lab.pid),
    }


async def _first_tokens() -> list[Figure]:
    script = {"default": says(f"Certainly.{MARK} Here is what I found in your data.")}
    async with serving(script) as (server, provider):
        with relay_to(provider.url) as relay:
            between = Provider(relay.url, provider.http)
            ways = ways_through(server, provider, between, relay.pid)
            takers = {name: first_token(way) for name, way in ways.items()}
            taken = await interleaved(FIRST_ROUNDS, takers, warm=3)
    relayed = median(sample.cpu for sample in taken["relay"])
    return [
        replace(timed(name, taken[way], taken["direct"], limit), floor_cpu=relayed)
        for name, way, limit in (
            ("first token, bare relay", "relay", None),
            ("first token, Messages", "messages", Goal("added", 2.5)),
            ("first token, Chat Completions", "chat", Goal("added", 2.5)),
        )
    ]


def first_token(way: Way) -> Callable[[], Awaitable[Sample]]:
    """Return what asks once and measures until the first token."""

    async def take() -> Sample:
        watch = Stopwatch(way.pid)
        taken: Sample | None = None
        async for piece in way.provider.stream("Hello"):
            if taken is None and MARK.encode() in piece:
                taken = watch.sample()
        assert taken is not None
        return taken

    return take


async def _under(load: Load) -> list[Figure]:
    text = f"word{MARK} " * load.tokens
    says_it = says(text, tokens_per_second=load.speed) if load.speed else says(text)
    async with serving({"default": says_it}) as (server, provider):
        with relay_to(provider.url) as relay:
            between = Provider(relay.url, provider.http)
            ways = ways_through(server, provider, between, relay.pid)
            await flow(ways["messages"], replace(load, streams=1))
            flows: dict[str, list[Flow]] = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, way in ways.items():
                    flows[name].append(await flow(way, load))
    return _figures(load, flows)


@dataclass(frozen=True, slots=True)
class Flow:
    """Tokens per second, and CPU milliseconds of a process per 1 000 of them."""

    rate: float
    cpu: float


async def flow(way: Way, load: Load) -> Flow:
    """Take all streams of a load; measure without their beginning and end."""
    total = load.streams * load.tokens
    marks: list[tuple[int, float, float]] = []
    bounds = [total // 5, total * 9 // 10]
    watch = Stopwatch()
    seen = 0

    async def follow(pieces: AsyncIterator[bytes]) -> None:
        nonlocal seen
        async for piece in pieces:
            seen += piece.count(MARK.encode())
            while len(marks) < 2 and seen >= bounds[len(marks)]:
                marks.append((seen, watch.ms, cpu_ms(way.pid)))

    await asyncio.gather(*(follow(way.provider.stream("Go on")) for _ in range(load.streams)))
    assert seen == total
    tokens, ms, cpu = (end - begin for begin, end in zip(*marks, strict=True))
    return Flow(tokens / ms * 1e3, cpu / tokens * 1e3)


def _figures(load: Load, flows: Mapping[str, list[Flow]]) -> list[Figure]:
    cpu = {name: spread([flow.cpu for flow in taken]) for name, taken in flows.items()}
    rate = {name: spread([flow.rate for flow in taken]) for name, taken in flows.items()}
    limit = Goal("at most", 80) if load.speed else None
    share = Goal("at least times", load.least)
    return [
        *(
            Figure(f"CPU per 1 000 tokens, {load.name}, {way}", "ms", cpu[way], cpu["relay"], limit)
            for way in ("messages", "chat")
        ),
        *(
            Figure(f"throughput, {load.name}, {way}", "tokens/s", rate[way], rate["direct"], goal)
            for way, goal in (("messages", share), ("chat", share), ("relay", None))
        ),
    ]
