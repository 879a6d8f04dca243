"""A page that comes back: 5 000 events over HTTP, from a log that holds twice as many.

The floor is a file of the same bytes from the same server. Usable means that the list of
conversations has come and the last one's end has been read: measured from the start of the server
process, beside the time at which that server first answers anything.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import aiohttp

from jupyter_ai_shoulders.wire.ids import SessionId
from tests.bench.figures import Figure, Goal, single, spread, timed
from tests.bench.prepared_store import add_session, delta, open_store
from tests.bench.server_and_provider import Server, client
from tests.bench.timing import Sample, Stopwatch, interleaved
from tests.support.lab_server import Lab

ROUNDS = 25
STARTS = 3
EVENTS = 5_000
FILE = "events.json"


def measure() -> list[Figure]:
    """Fill a log, start servers on it, and catch up."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "root")
        root.mkdir()
        return asyncio.run(_measure(Lab(root, Path(name, "state"))))


async def _measure(lab: Lab) -> list[Figure]:
    session = await _filled(lab.root / ".shoulders")
    try:
        starts = [await _start(lab, session) for _ in range(STARTS)]
        async with client(lab) as http:
            case = _Case(Server(lab, http), session)
            (lab.root / FILE).write_bytes(await case.body())
            ways = {"file": case.file, "events": case.events}
            taken = await interleaved(ROUNDS, ways, warm=3)
    finally:
        lab.stop()
    ours, floor = taken["events"], taken["file"]
    return [
        timed("5 000 events", ours, floor),
        Figure(
            "5 000 events, 95th percentile",
            "ms",
            single(_p95(ours)),
            single(_p95(floor)),
            Goal("at most", 300),
        ),
        Figure(
            "start to usable, 10 000 events",
            "s",
            spread([usable for _, usable in starts]),
            spread([answers for answers, _ in starts]),
            Goal("added", 2),
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Case:
    server: Server
    session: SessionId

    async def body(self) -> bytes:
        url = f"{self.server.url}/sessions/{self.session}/events?after=0&limit={EVENTS}"
        return await _get(self.server.http, url)

    async def events(self) -> Sample:
        watch = Stopwatch(self.server.lab.pid)
        await self.body()
        return watch.sample()

    async def file(self) -> Sample:
        watch = Stopwatch(self.server.lab.pid)
        await _get(self.server.http, f"http://127.0.0.1:{self.server.lab.port}/files/{FILE}")
        return watch.sample()


async def _filled(state: Path) -> SessionId:
    """Put two conversations into a log; return the second one."""
    async with open_store(state) as store:
        for session in (add_session(store, "one"), last := add_session(store, "two")):
            for number in range(EVENTS):
                store.log.append(session, delta(number))
        return last


async def _start(lab: Lab, session: SessionId) -> tuple[float, float]:
    """Return the seconds until the server answers, and until the conversations can be used."""
    began = time.perf_counter()
    await asyncio.to_thread(lab.restart)
    answers = time.perf_counter() - began
    async with client(lab) as http:
        url = Server(lab, http).url
        await _get(http, f"{url}/sessions")
        await _get(http, f"{url}/sessions/{session}/events?after={EVENTS - 20}")
    return answers, time.perf_counter() - began


async def _get(http: aiohttp.ClientSession, url: str) -> bytes:
    async with http.get(url) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.read()


def _p95(samples: Sequence[Sample]) -> float:
    return quantiles([sample.ms for sample in samples], n=20, method="inclusive")[-1]
