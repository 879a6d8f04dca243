"""The vector store on this machine: Qdrant's engine in the server's process.

Wired by ``host``; the default where the extra ``search`` is installed. Search is exact, which is
fast up to some 100 000 vectors; above that a Qdrant server is the right store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from jupyter_ai_shoulders.retrieval.vectors.edge_collection import EdgeCollection
from jupyter_ai_shoulders.retrieval.vectors.vector_checks import batches, check_digests

VECTORS_PER_CALL = 256
"""The engine holds Python's lock during a call, so each call is kept to a few milliseconds."""
VECTORS_PER_FLUSH = 8 * VECTORS_PER_CALL
"""A flush takes tens of milliseconds on a slow disk, for a few vectors as for many."""
DIGESTS_PER_CALL = 1_000


class EdgeVectorStore:
    """A ``VectorStore`` in a folder, which the caller has locked for this process.

    The folder is made by the first ``add``. An error with ``is_damaged`` stays until ``clear``.
    """

    def __init__(self, folder: Path) -> None:
        self._collection = EdgeCollection(folder)

    async def known(self, digests: Collection[str]) -> set[str]:
        """Return which of these digests are stored."""
        check_digests(digests)
        found: set[str] = set()
        for batch in batches(digests, DIGESTS_PER_CALL):
            found |= await asyncio.to_thread(self._collection.known, batch)
        return found.intersection(digests)

    async def add(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store vectors in batches, each of which is durable before the next one begins."""
        for batch in batches(vectors.items(), VECTORS_PER_FLUSH):
            losses = self._collection.losses
            for part in batches(batch, VECTORS_PER_CALL):
                await asyncio.to_thread(self._collection.add, dict(part))
            await asyncio.to_thread(self._collection.flush, losses)

    async def remove(self, digests: Collection[str]) -> None:
        """Remove the vectors of these digests."""
        check_digests(digests)
        for batch in batches(digests, DIGESTS_PER_CALL):
            await asyncio.to_thread(self._collection.remove, batch)

    async def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return the digests of the nearest vectors with their cosine, best first."""
        if limit <= 0:
            return []
        return await asyncio.to_thread(self._collection.nearest, vector, limit)

    async def count(self) -> int:
        """Return the number of stored vectors."""
        return await asyncio.to_thread(self._collection.count)

    async def clear(self) -> None:
        """Delete all vectors, damaged ones too, and forget their dimension."""
        await asyncio.to_thread(self._collection.delete)

    async def aclose(self) -> None:
        """Close the files and give back the memory; the next call opens them again."""
        await asyncio.to_thread(self._collection.close)
