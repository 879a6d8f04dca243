"""Embedding into a Qdrant server resumes after cuts; every text is embedded exactly once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

import pytest

from jupyter_ai_shoulders.core.embedding import EmbedderInfo
from jupyter_ai_shoulders.retrieval.chunk import Chunk, ChunkedDocument
from jupyter_ai_shoulders.retrieval.collection_names import collection_name
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.meaning_index import BATCH, MeaningIndex
from jupyter_ai_shoulders.retrieval.vector_records import VectorRecords
from jupyter_ai_shoulders.retrieval.vectors.collections import ServerCollections
from jupyter_ai_shoulders.retrieval.vectors.qdrant_connection import QdrantServer
from jupyter_ai_shoulders.retrieval.word_index import FileStamp, WordIndex
from tests.retrieval.fake_vectors import FakeEmbedder, FakeEmbedders
from tests.retrieval.vectors.qdrant_simulator.server import Cut, QdrantSimulator, Status

CHUNKS_PER_DOCUMENT = 100
FAULTS = (Cut(), Status(503), Status(429), Status(500))
"""The first is carried out, the others are not."""


@dataclass
class SmallEmbedder(FakeEmbedder):
    """Vectors of four numbers, in batches as large as the index makes them."""

    @property
    def info(self) -> EmbedderInfo:
        return replace(super().info, max_batch=BATCH)

    async def embed(
        self, texts: Sequence[str], purpose: Literal["document", "query"]
    ) -> Sequence[Sequence[float]]:
        self.sent.extend(texts)
        return [[1.0 + byte for byte in sha256(text.encode()).digest()[:4]] for text in texts]


def filled(folder: Path, chunks: int) -> tuple[WordIndex, set[str]]:
    """Return an index of so many chunks, and their digests."""
    index = WordIndex(IndexFile(folder / "words.db"))
    digests: set[str] = set()
    with index.transaction():
        for first in range(0, chunks, CHUNKS_PER_DOCUMENT):
            numbers = range(first, first + CHUNKS_PER_DOCUMENT)
            texts = tuple(Chunk(number - first + 1, f"text {number}") for number in numbers)
            index.replace(ChunkedDocument(f"{first}.md", "text", texts), FileStamp(0, 0))
            digests.update(chunk.digest for chunk in texts)
    return index, digests


async def embed_until_done(meaning: MeaningIndex) -> list[str]:
    """Refresh as the comparisons of the index do; return the errors."""
    errors: list[str] = []
    while True:
        meaning.refresh()
        tasks = [task for task in asyncio.all_tasks() if task.get_name() == "shoulders-embedding"]
        await asyncio.wait(tasks)
        if meaning.error is None:
            return errors
        errors.append(meaning.error)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("chunks", "cuts"), [(2_000, 8), pytest.param(100_000, 40, marks=pytest.mark.full)]
)
async def test_every_text_is_embedded_once_though_the_server_fails(
    tmp_path: Path, chunks: int, cuts: int
):
    index, digests = filled(tmp_path, chunks)
    records, embedder, chance = VectorRecords(index), SmallEmbedder(), random.Random(chunks)
    requests = 2 * chunks // BATCH
    """At least: each batch is looked up and stored."""
    async with QdrantSimulator() as simulator:
        collections = ServerCollections(QdrantServer(simulator.url, simulator.key), "ada")
        meaning = MeaningIndex(records, FakeEmbedders(embedder), collections, changed=lambda: None)
        for number in range(cuts):
            simulator.fail(FAULTS[number % 4], after=chance.randrange(requests // cuts))
        errors = await embed_until_done(meaning)
        await meaning.stop()
        stored = simulator.routes.collections[collection_name(embedder.name)].points.values()
    assert len(errors) == cuts
    assert all("The Qdrant server at" in error for error in errors)
    assert sorted(point.payload["digest"] for point in stored) == sorted(digests)
    assert records.count(embedder.name) == chunks
    assert meaning.missing == 0
    assert Counter(Counter(embedder.sent).values()) == {1: chunks}
    assert simulator.refusals == []
    index.close()
