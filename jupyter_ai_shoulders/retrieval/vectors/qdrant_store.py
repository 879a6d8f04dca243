"""The vector store on a Qdrant server or cluster, for indexes that outgrow one machine.

Opened by ``collections`` where ``Shoulders.qdrant_url`` is set.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors.qdrant_connection import QdrantConnection, QdrantServer
from jupyter_ai_shoulders.retrieval.vectors.qdrant_points import TENANT, TenantPoints
from jupyter_ai_shoulders.retrieval.vectors.vector_checks import (
    batches,
    check_digests,
    check_vector,
    check_vectors,
)

NUMBERS_PER_REQUEST = 65_536
"""Numbers of the vectors of one request: some 1.3 MB of JSON, encoded in 15 ms."""
DIGESTS_PER_REQUEST = 1_000
LINKS = 16
"""Links of a point in the graph of its tenant. There is no graph over all tenants, because every
query has a tenant (Qdrant's guide to multitenancy: ``m`` 0, ``payload_m`` 16)."""


class QdrantVectorStore:
    """A ``VectorStore`` in a collection that all tenants of the server share.

    ``tenant`` names a user and a workspace; no call sees or changes the points of another one. The
    collection is made by the first ``add``; the client is imported by the first call.
    """

    def __init__(self, server: QdrantServer, collection: str, tenant: str) -> None:
        if not collection or not tenant:
            raise ValueError("A collection and a tenant have names.")
        self._connection = QdrantConnection(server)
        self._collection = collection
        self._tenant = tenant
        self._lock = asyncio.Lock()
        """Of connecting, and of the dimension."""
        self._dimension: int | None = None
        """Of the collection; None until it is found or made."""

    async def known(self, digests: Collection[str]) -> set[str]:
        """Return which of these digests are stored."""
        check_digests(digests)
        found: set[str] = set()
        if digests and await self._find():
            for batch in batches(digests, DIGESTS_PER_REQUEST):
                async with self._request("look up vectors"):
                    found |= await self._points().known(batch)
        return found.intersection(digests)

    async def add(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store vectors in requests of bounded size; the server has applied them all at the end."""
        if not vectors:
            return
        dimension = check_vectors(vectors, await self._find())
        await self._make(dimension)
        check_vectors(vectors, self._dimension)  # somebody else may have made the collection
        for batch in batches(vectors.items(), max(1, NUMBERS_PER_REQUEST // dimension)):
            async with self._request("store vectors"):
                await self._points().upsert(dict(batch))

    async def remove(self, digests: Collection[str]) -> None:
        """Remove the vectors of these digests."""
        check_digests(digests)
        if digests and await self._find():
            for batch in batches(digests, DIGESTS_PER_REQUEST):
                async with self._request("remove vectors"):
                    await self._points().delete(batch)

    async def clear(self) -> None:
        """Remove all vectors of this tenant."""
        if await self._find():
            async with self._request("remove vectors"):
                await self._points().delete()

    async def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return the digests of the nearest vectors with their cosine, best first.

        The server may use an approximate index once a tenant is large.
        """
        dimension = await self._find() if limit > 0 else None
        if dimension is None:
            return []
        check_vector(vector, dimension)
        async with self._request("search vectors"):
            return await self._points().nearest(vector, limit)

    async def count(self) -> int:
        """Return the number of this tenant's vectors."""
        if await self._find() is None:
            return 0
        async with self._request("count vectors"):
            return await self._points().count()

    async def aclose(self) -> None:
        """Close the connections; the next call opens them again."""
        async with self._lock:
            self._dimension = None
            await self._connection.aclose()

    # the client and the collection

    def _points(self) -> TenantPoints:
        client, models = self._connection.client, self._connection.models
        return TenantPoints(client, models, self._collection, self._tenant)

    async def _find(self) -> int | None:
        """Return the dimension of the collection; None if there is none."""
        await self._connection.connect()
        async with self._request("be reached"), self._lock:
            if self._dimension is None:
                await self._connection.connect()  # again if it was closed since
                self._dimension = await self._look()
            return self._dimension

    async def _make(self, dimension: int) -> None:
        """Make the collection, unless it exists by now."""
        async with self._request("make the collection"), self._lock:
            if self._dimension is None:
                await self._create(dimension)
                self._dimension = await self._look()

    async def _look(self) -> int | None:
        """Read the collection's dimension, and see to the index that its filter needs."""
        async with self._request("describe the collection", missing_ok=True):
            info = await self._connection.client.get_collection(self._collection)
            vectors = info.config.params.vectors
            if str(getattr(vectors, "distance", "")) != "Cosine":
                raise VectorStoreUnavailable(
                    f"The Qdrant server's collection {self._collection!r} is of another program.",
                    hint="Rename it, or use another server.",
                )
            if TENANT not in info.payload_schema:
                await self._create_index()
            return vectors.size
        return None

    async def _create(self, dimension: int) -> None:
        models = self._connection.models
        async with self._request("make the collection", existing_ok=True):
            await self._connection.client.create_collection(
                self._collection,
                vectors_config=models.VectorParams(
                    size=dimension,
                    distance=models.Distance.COSINE,
                    datatype=models.Datatype.FLOAT16,
                    on_disk=True,
                ),
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=LINKS),
                on_disk_payload=True,
            )

    async def _create_index(self) -> None:
        """Without it, a filter reads the payload of every point."""
        schema = self._connection.models.KeywordIndexParams(type="keyword", is_tenant=True)
        await self._connection.client.create_payload_index(
            self._collection, TENANT, schema, wait=True
        )

    @asynccontextmanager
    async def _request(
        self, doing: str, *, missing_ok: bool = False, existing_ok: bool = False
    ) -> AsyncGenerator[None]:
        """See ``QdrantConnection.request``."""
        try:
            async with self._connection.request(
                doing, missing_ok=missing_ok, existing_ok=existing_ok
            ):
                yield
        except VectorStoreUnavailable as error:
            if (error.info.details or {}).get("status") == 404:
                self._dimension = None  # the collection was deleted: the next call looks again
            raise
