"""Search in the workspace at three sizes.

The documents are the Python files of this environment's packages, split into chunks. A query is one
of eight, from one word to a sentence, over HTTP on a kept connection. The floor of a query is
SQLite's FTS5 with its stemmer over the same chunks, in this process. Indexing is measured in this
process with nothing else to do; its floor reads the files and puts their text into FTS5. Words and
meaning together are measured in this process, without embedding the query, over random vectors of
384 numbers; the floor is the search for the nearest vectors alone. The event loop is late by at
most what is given. A saved change is searched for until it is found. Memory is that of the server
after the queries, beside its memory before the first.
"""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import psutil

from jupyter_ai_shoulders.cli.in_process import InProcessPages
from jupyter_ai_shoulders.host.build import HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.host.host import Host
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.retrieval.document_kinds import split_text
from jupyter_ai_shoulders.retrieval.fusion import rank_places
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.service import CANDIDATES
from jupyter_ai_shoulders.retrieval.snippets import MatchingWords, snippet
from jupyter_ai_shoulders.retrieval.vectors.edge_store import EdgeVectorStore
from jupyter_ai_shoulders.retrieval.word_index import ChunkFilter, WordIndex
from jupyter_ai_shoulders.wire.api.search import SearchQuery
from tests.bench.figures import Figure, Goal, single, timed
from tests.bench.server_and_provider import API, client
from tests.bench.timing import Sample, Stopwatch, Way, interleaved
from tests.support.lab_server import Lab

ROUNDS = 9
SIZES = (1_000, 10_000, 100_000)
GOALS = {1_000: 5, 10_000: 5, 100_000: 25}
DIMENSION = 384
MB = 1 << 20
QUERIES = (
    "parse",
    "event loop",
    "readJson",
    "write a file",
    "default encoding of a text",
    "raise an error if the value is missing",
    "http cli",
    "what happens when a connection is closed before the answer is complete",
)


def measure() -> list[Figure]:
    """Measure all sizes."""
    return [figure for size in SIZES for figure in asyncio.run(_measure(size))]


async def _measure(size: int) -> list[Figure]:
    name = f"{size:,} chunks".replace(",", " ")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        chunks = fill(root, size)
        figures = await _indexing(root, Path(folder, "home"), name, size)
        figures.append(await _hybrid(root, Path(folder, "vectors"), name, size))
        with sqlite3.connect(":memory:") as floor:
            _fts5(floor, chunks)
            figures += await _queries(root, Path(folder, "lab"), floor, name, size)
    return figures


def fill(root: Path, size: int) -> list[str]:
    """Write Python files until they have so many chunks; return these."""
    chunks: list[str] = []
    packages = Path(sysconfig.get_path("purelib"))
    sources = sorted(packages.rglob("*.py"))
    for copy, source in ((copy, each) for copy in itertools.count() for each in sources):
        text = source.read_text(encoding="utf-8", errors="replace")
        target = root / f"copy_{copy}" / source.relative_to(packages)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        chunks += [chunk.text for chunk in split_text(target.name, "code", text)]
        if len(chunks) >= size:
            return chunks
    raise AssertionError("unreachable")


# indexing


async def _indexing(root: Path, home: Path, name: str, size: int) -> list[Figure]:
    floor = Stopwatch()
    with tempfile.TemporaryDirectory() as folder, sqlite3.connect(Path(folder, "floor")) as base:
        _fts5(base, [path.read_text() for path in root.rglob("*.py")])  # noqa: ASYNC240 nothing else runs
    floor_sample = floor.sample()
    host = _host(root, home)
    try:
        late = [0.0]
        watching = asyncio.create_task(_watch_loop(late))
        watch = Stopwatch()
        while (await host.search.search(SearchQuery(q="parse", wait_s=60))).index.behind:
            pass
        sample = watch.sample()
        watching.cancel()
    finally:
        await host.aclose()
    goal = Goal("at most", 3_000 * size / 10_000)
    return [
        Figure(
            f"indexing, {name}, CPU",
            "ms",
            single(sample.cpu),
            single(floor_sample.cpu),
            goal if size == 10_000 else None,
        ),
        Figure(
            f"longest wait of the event loop, {name}",
            "ms",
            single(max(late)),
            goal=Goal("at most", 50),
        ),
    ]


async def _watch_loop(late: list[float]) -> None:
    """Note by how many milliseconds the event loop is late, again and again."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.002)
        late.append((time.perf_counter() - began - 0.002) * 1e3)


def _host(root: Path, home: Path) -> Host:
    settings = HostSettings(workspace=root, state_dir=root / ".shoulders", home=home)
    ports = HostPorts(kernels=LocalKernels(root), pages=InProcessPages(), environ={})
    return build_host(settings, ports)


# words and meaning


async def _hybrid(root: Path, folder: Path, name: str, size: int) -> Figure:
    index = WordIndex(IndexFile(root / ".shoulders" / "index" / "words.db"))
    store = EdgeVectorStore(folder)
    with index.reading() as reader:
        digests = [row[0] for row in reader.execute("SELECT DISTINCT digest FROM chunks")]
    for start in range(0, len(digests), 1_000):
        part = digests[start : start + 1_000]
        await store.add(dict(zip(part, unit_vectors(len(part)), strict=True)))
    queries, vectors = itertools.cycle(QUERIES), itertools.cycle(unit_vectors(len(QUERIES)))

    async def ours() -> Sample:
        query, vector = next(queries), next(vectors)
        watch = Stopwatch()
        nearest = [digest for digest, _ in await store.nearest(vector, CANDIDATES)]
        await asyncio.to_thread(_ranked, index, query, nearest)
        return watch.sample()

    async def bare() -> Sample:
        vector = next(vectors)
        watch = Stopwatch()
        await store.nearest(vector, CANDIDATES)
        return watch.sample()

    ways: dict[str, Way] = {"ours": ours, "floor": bare}
    taken = await interleaved(ROUNDS * len(QUERIES), ways, warm=len(QUERIES))
    await store.aclose()
    index.close()
    goal = Goal("at most", 60 if size > 10_000 else 10)
    return timed(f"words and meaning, {name}", taken["ours"], taken["floor"], goal)


def _ranked(index: WordIndex, query: str, nearest: list[str]) -> None:
    by_words = index.search(query, ChunkFilter(), CANDIDATES)
    by_meaning = index.with_digests(nearest, ChunkFilter())
    words = MatchingWords(query)
    for place in rank_places(by_words, by_meaning)[:20]:
        snippet(place.chunk.chunk.text, words)


def unit_vectors(count: int) -> list[list[float]]:
    """Return vectors of length 1, the same ones each time."""
    vectors = np.random.default_rng(count).standard_normal((count, DIMENSION), dtype=np.float32)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).tolist()


# queries


async def _queries(
    root: Path, folder: Path, floor: sqlite3.Connection, name: str, size: int
) -> list[Figure]:
    lab = Lab(root, folder, env={})
    lab.start()
    try:
        async with client(lab) as http:
            url = f"http://127.0.0.1:{lab.port}/{API}/search"
            process = psutil.Process(lab.pid)
            await _get(http, f"{url.rpartition('/')[0]}/status")
            before = process.memory_info().rss
            while (await _get(http, url, q="parse", wait_s=60))["index"]["behind"]:
                pass
            queries, floors = itertools.cycle(QUERIES), itertools.cycle(QUERIES)

            async def ours() -> Sample:
                watch = Stopwatch(lab.pid)
                await _get(http, url, q=next(queries))
                return watch.sample()

            async def bare() -> Sample:
                watch = Stopwatch()
                _floor_query(floor, next(floors))
                return watch.sample()

            ways: dict[str, Way] = {"ours": ours, "floor": bare}
            taken = await interleaved(ROUNDS * len(QUERIES), ways, warm=len(QUERIES))
            saved = await _saved_change(http, url, root)
            used = (process.memory_info().rss - before) / MB
    finally:
        lab.stop()
    return [
        timed(f"query, {name}", taken["ours"], taken["floor"], Goal("at most", GOALS[size])),
        Figure(f"saved change found, {name}", "s", single(saved), goal=Goal("at most", 2)),
        Figure(f"memory of the server, {name}", "MB", single(used)),
    ]


async def _get(http: aiohttp.ClientSession, url: str, **query: str | float) -> dict[str, Any]:
    async with http.get(url, params=query) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def _saved_change(http: aiohttp.ClientSession, url: str, root: Path) -> float:
    (root / "fresh.py").write_text("def utterly_new_name(): ...\n")
    began = time.perf_counter()
    while not (await _get(http, url, q="utterly_new_name ", path="fresh.py"))["matches"]:  # noqa: ASYNC110 there is no event
        await asyncio.sleep(0.02)
    return time.perf_counter() - began


def _fts5(connection: sqlite3.Connection, texts: list[str]) -> None:
    connection.execute("CREATE VIRTUAL TABLE floor USING fts5(text, tokenize = 'porter')")
    connection.executemany("INSERT INTO floor VALUES (?)", ((text,) for text in texts))
    connection.commit()


def _floor_query(connection: sqlite3.Connection, query: str) -> None:
    match = " OR ".join(f'"{word}"' for word in query.split())
    connection.execute(
        "SELECT text FROM floor WHERE floor MATCH ? ORDER BY rank LIMIT 20", (match,)
    ).fetchall()
