"""Search by meaning in the store on this machine, beside the bare engine, at three sizes.

The vectors are random, with 384 numbers as those of small sentence embedders. The floor calls
``qdrant-edge-py`` with the same settings in the event loop's thread; ours adds checks, a thread and
digests. Both search exactly. A query asks for ten. Adding is the time of 1 000 vectors, on the disk
at the end. Opening is the first query of a store that was closed. The event loop is held while the
engine works, which does not let other threads of Python run: as long as a query takes.

Memory is what a process grows by, at 768 numbers: after a query of a store that was opened, after
all were added, and after the store was closed.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psutil

from jupyter_ai_shoulders.retrieval.vectors.edge_store import EdgeVectorStore
from tests.bench.figures import Figure, Goal, single, timed
from tests.bench.timing import Sample, Stopwatch, Way, interleaved

ROUNDS = 15
SIZES = (1_000, 10_000, 100_000)
DIMENSION = 384
QUERY_GOALS = {1_000: 2, 10_000: 8, 100_000: 50}
MEMORY_SIZE, MEMORY_DIMENSION, MEMORY_GOAL = 100_000, 768, 250
BATCH = 1_000
FOUND = 10


class BareEngine:
    """The engine with the settings of the store."""

    def __init__(self, folder: Path) -> None:
        self._engine: Any = import_module("qdrant_edge")
        engine = self._engine
        vectors = engine.EdgeVectorParams(
            size=DIMENSION,
            distance=engine.Distance.Cosine,
            datatype=engine.VectorStorageDatatype.Float16,
            memory=engine.Memory.Cold,
        )
        config = engine.EdgeConfig(vectors=vectors, wal_enabled=False, max_search_threads=1)
        folder.mkdir()
        self._folder = str(folder)
        self._shard = engine.EdgeShard.create(self._folder, config)

    def add(self, vectors: Mapping[str, list[float]]) -> None:
        """Store vectors on the disk."""
        engine = self._engine
        points = [
            engine.Point(UUID(digest[:32]), vector, {"digest": digest})
            for digest, vector in vectors.items()
        ]
        self._shard.update(engine.UpdateOperation.upsert_points(points))
        self._shard.flush()

    def search(self, vector: list[float]) -> list[Any]:
        """Return the nearest points."""
        engine = self._engine
        query, params = engine.Query.Nearest(vector), engine.SearchParams(exact=True)
        return self._shard.query(
            engine.QueryRequest(limit=FOUND, query=query, with_payload=True, params=params)
        )

    def close(self) -> None:
        """Close the files."""
        self._shard.close()

    def open(self) -> None:
        """Open them again."""
        self._shard = self._engine.EdgeShard.load(self._folder)


class Case:
    """A store and the bare engine with the same vectors."""

    def __init__(self, folder: Path) -> None:
        self.store = EdgeVectorStore(folder / "store")
        self.bare = BareEngine(folder / "bare")
        self._queries = itertools.cycle(batch(77, 20, DIMENSION).values())

    def ways(self) -> dict[str, Way]:
        """Return what is measured, by name."""
        return {
            "floor": self.bare_query,
            "query": self.query,
            "opened floor": self.bare_opening,
            "opened": self.opening,
        }

    async def fill(self, size: int) -> dict[str, list[Sample]]:
        """Add the vectors to both, and return what each batch took."""
        taken: dict[str, list[Sample]] = {"floor": [], "ours": []}
        for vectors in batches(size, DIMENSION):
            watch = Stopwatch()
            self.bare.add(vectors)
            taken["floor"].append(watch.sample())
            watch = Stopwatch()
            await self.store.add(vectors)
            taken["ours"].append(watch.sample())
        return taken

    async def bare_query(self) -> Sample:
        """Search with the engine."""
        query = next(self._queries)
        watch = Stopwatch()
        assert len(self.bare.search(query)) == FOUND
        return watch.sample()

    async def query(self) -> Sample:
        """Search with the store."""
        query = next(self._queries)
        watch = Stopwatch()
        assert len(await self.store.nearest(query, FOUND)) == FOUND
        return watch.sample()

    async def bare_opening(self) -> Sample:
        """Open the engine and search."""
        self.bare.close()
        watch = Stopwatch()
        self.bare.open()
        self.bare.search(next(self._queries))
        return watch.sample()

    async def opening(self) -> Sample:
        """Open the store and search."""
        await self.store.aclose()
        query = next(self._queries)
        watch = Stopwatch()
        await self.store.nearest(query, FOUND)
        return watch.sample()


def measure() -> list[Figure]:
    """Measure all sizes, and memory in a process that does nothing else."""
    return [*asyncio.run(_measure()), *_memory()]


async def _measure() -> list[Figure]:
    figures: list[Figure] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(Path(folder))
            added = await case.fill(size)
            taken = await interleaved(ROUNDS, case.ways())
            name = f"{size:,} vectors".replace(",", " ")
            goal = Goal("at most", QUERY_GOALS[size])
            figures += [
                timed(f"query, {name}", taken["query"], taken["floor"], goal),
                timed(f"opening and query, {name}", taken["opened"], taken["opened floor"]),
                timed(f"1 000 more, up to {name}", added["ours"], added["floor"]),
            ]
            case.bare.close()
            await case.store.aclose()
    return figures


def _memory() -> list[Figure]:
    grown: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for what in ("added", "opened"):
            command = [sys.executable, "-m", __name__, what, folder]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            grown |= json.loads(printed)
    size = f"{MEMORY_SIZE:,} × {MEMORY_DIMENSION}".replace(",", " ")
    limits = {"opened": Goal("at most", MEMORY_GOAL), "added": Goal("at most", MEMORY_GOAL)}
    return [
        Figure(f"memory, {what}, {size}", "MB", single(value), goal=limits.get(what))
        for what, value in grown.items()
    ]


async def _grown(what: str, folder: Path) -> dict[str, float]:
    """Return the MB that this process grows by when it adds or opens, and when it closes."""
    vectors = batch(77, BATCH, MEMORY_DIMENSION)  # what the callers of the store need anyhow
    import_module("qdrant_edge")
    before = psutil.Process().memory_info().rss
    store = EdgeVectorStore(folder / "store")
    if what == "added":
        for each in batches(MEMORY_SIZE, MEMORY_DIMENSION):
            await store.add(each)
            del each  # not the store's
    await store.nearest(next(iter(vectors.values())), FOUND)
    open_size = psutil.Process().memory_info().rss
    await store.aclose()
    gc.collect()
    closed = psutil.Process().memory_info().rss
    return {
        what: (open_size - before) / 1e6,
        f"closed after it was {what}": (closed - before) / 1e6,
    }


def batches(size: int, dimension: int) -> Iterator[dict[str, list[float]]]:
    """Yield random vectors by digest, a thousand at a time."""
    for start in range(0, size, BATCH):
        yield batch(start, min(BATCH, size - start), dimension)


def batch(seed: int, size: int, dimension: int) -> dict[str, list[float]]:
    """Return random vectors by digest."""
    vectors = np.random.default_rng(seed).standard_normal((size, dimension))
    return {
        sha256(f"{seed} {number}".encode()).hexdigest(): [*map(float, vector)]
        for number, vector in enumerate(vectors)
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_grown(sys.argv[1], Path(sys.argv[2])))))
