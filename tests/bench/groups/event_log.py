"""The event log: what it adds to a delta, and what a boundary waits for.

An append encodes, commits and publishes one ``text-delta``; its floor inserts the same text into a
plain SQLite table in WAL mode, one commit each. The 99th percentile is over all appends, in rounds
with a sync running in its thread beside them. A sync is what a boundary waits for after one append;
its floor is ``fdatasync`` of a file that just grew by one page, called on the event loop (which
ours must never do) and, in the last row, in a thread.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import quantiles

from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.bench.figures import Figure, Goal, single, timed
from tests.bench.prepared_store import add_session, delta, open_store
from tests.bench.timing import Sample, Stopwatch, interleaved

ROUNDS = 60
APPENDS = 50
"""In a round."""
PAGE = b"x" * 4096


def measure() -> list[Figure]:
    """Measure appends and syncs on a fresh state directory."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, _plain(Path(folder)) as plain:
        async with open_store(Path(folder, "state")) as store:
            case = _Case(store, add_session(store, "log"), plain)
            # Syncs first: one must not pay for what the plain table leaves to write.
            syncs = {
                "sync": case.sync,
                "fdatasync": case.fdatasync,
                "hop": case.fdatasync_in_thread,
            }
            taken = await interleaved(ROUNDS, syncs)
            await interleaved(ROUNDS, {"append": case.append, "insert": case.insert})
    ours, floor = case.appends[APPENDS:], case.inserts[APPENDS:]
    return [
        timed("append a delta", ours, floor),
        Figure(
            "append a delta, 99th percentile",
            "ms",
            single(_p99(ours)),
            single(_p99(floor)),
            Goal("at most", 2),
        ),
        timed("sync at a boundary", taken["sync"], taken["fdatasync"], Goal("times", 1.5)),
        timed("sync at a boundary, over one in a thread", taken["sync"], taken["hop"]),
    ]


@dataclass(frozen=True, slots=True)
class _Plain:
    """The floors: a table of texts, and a file that grows."""

    table: sqlite3.Connection
    grown: int


@dataclass
class _Case:
    store: StateStore
    session: SessionId
    plain: _Plain
    numbers: count[int] = field(default_factory=lambda: count(10_000))
    appends: list[Sample] = field(default_factory=list[Sample])
    inserts: list[Sample] = field(default_factory=list[Sample])
    text: str = ""

    async def append(self) -> Sample:
        syncing = asyncio.create_task(self.store.log.sync())
        await asyncio.sleep(0)
        round_ = Stopwatch()
        for _ in range(APPENDS):
            watch = Stopwatch()
            self.text = self.store.log.append(self.session, delta(next(self.numbers))).text
            self.appends.append(watch.sample())
        taken = round_.sample()
        await syncing
        await self.store.log.sync()
        return taken

    async def insert(self) -> Sample:
        round_ = Stopwatch()
        for _ in range(APPENDS):
            watch = Stopwatch()
            self.plain.table.execute("INSERT INTO texts (body) VALUES (?)", (self.text,))
            self.inserts.append(watch.sample())
        return round_.sample()

    async def sync(self) -> Sample:
        self.store.log.append(self.session, delta(next(self.numbers)))
        watch = Stopwatch()
        await self.store.log.sync()
        return watch.sample()

    async def fdatasync(self) -> Sample:
        os.write(self.plain.grown, PAGE)
        watch = Stopwatch()
        os.fdatasync(self.plain.grown)
        return watch.sample()

    async def fdatasync_in_thread(self) -> Sample:
        os.write(self.plain.grown, PAGE)
        watch = Stopwatch()
        await asyncio.to_thread(os.fdatasync, self.plain.grown)
        return watch.sample()


@contextmanager
def _plain(folder: Path) -> Generator[_Plain]:
    grown = os.open(folder / "grown", os.O_CREAT | os.O_WRONLY)
    try:
        with closing(sqlite3.connect(folder / "plain.db", isolation_level=None)) as table:
            table.execute("PRAGMA journal_mode = WAL").fetchone()
            table.execute("PRAGMA synchronous = NORMAL")
            table.execute("PRAGMA wal_autocheckpoint = 0")
            table.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT)")
            yield _Plain(table, grown)
    finally:
        os.close(grown)


def _p99(samples: list[Sample]) -> float:
    return quantiles([sample.ms for sample in samples], n=100)[-1]
