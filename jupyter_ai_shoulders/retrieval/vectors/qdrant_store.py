"""The vector store on a Qdrant server or cluster, for indexes that outgrow one machine.

Wired by ``host`` where ``Shoulders.qdrant_url`` is set. Uses Qdrant's official client over REST.
The client's local mode is never used: it unpickles what lies in its folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_ai_shoulders.retrieval.ports import VectorStoreUnavailable
from jupyter_ai_shoulders.retrieval.vectors.optional_packages import qdrant_client
from jupyter_ai_shoulders.retrieval.vectors.qdrant_errors import (
    ANSWER_ERRORS,
    URL_SETTING,
    status_of,
    unavailable,
)
from jupyter_ai_shoulders.retrieval.vectors.qdrant_points import (
    TENANT,
    TenantPoints,
    UnfinishedUpdate,
)
from jupyter_ai_shoulders.retrieval.vectors.vector_checks import (
    batches,
    check_digests,
    check_vector,
    check_vectors,
)

NUMBERS_PER_REQUEST = 65_536
"""Numbers of the vectors of one request: some 1.3 MB of JSON, encoded in 15 ms."""
DIGESTS_PER_REQUEST = 1_000
SECONDS = 10.0
"""For one request, connecting included."""
LINKS = 16
"""Links of a point in the graph of its tenant. There is no graph over all tenants, because every
query has a tenant (Qdrant's guide to multitenancy: ``m`` 0, ``payload_m`` 16)."""


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """Where a server is. Without a port in the URL, the client uses 6333."""

    url: str
    api_key: str | None = field(default=None, repr=False)
    seconds: float = SECONDS


class QdrantVectorStore:
    """A ``VectorStore`` in a collection that all tenants of the server share.

    ``tenant`` names a user and a workspace; no call sees or changes the points of another one. The
    collection is made by the first ``add``; the client is imported by the first call.
    """

    def __init__(self, server: QdrantServer, collection: str, tenant: str) -> None:
        if not collection or not tenant:
            raise ValueError("A collection and a tenant have names.")
        self._server = server
        self._collection = collection
        self._tenant = tenant
        self._lock = asyncio.Lock()
        """Of the next three, which the first call sets."""
        self._client: Any = None
        self._models: Any = None
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
            client, self._client, self._dimension = self._client, None, None
            if client is not None:
                await client.close()

    # the client and the collection

    def _points(self) -> TenantPoints:
        return TenantPoints(self._client, self._models, self._collection, self._tenant)

    async def _find(self) -> int | None:
        """Return the dimension of the collection; None if there is none."""
        async with self._request("be reached"), self._lock:
            if self._dimension is None:
                await self._connect()
                self._dimension = await self._look()
            return self._dimension

    async def _make(self, dimension: int) -> None:
        """Make the collection, unless it exists by now."""
        async with self._request("make the collection"), self._lock:
            if self._dimension is None:
                await self._create(dimension)
                self._dimension = await self._look()

    async def _connect(self) -> None:
        if self._client is not None:
            return
        package = await asyncio.to_thread(qdrant_client)
        # As a header: the client warns of a key over http, which is common inside a cluster.
        headers = {"api-key": self._server.api_key} if self._server.api_key else None
        try:
            self._client = package.AsyncQdrantClient(
                url=self._server.url,
                headers=headers,
                prefer_grpc=False,
                check_compatibility=False,
                timeout=self._server.seconds,
            )
        except ValueError as error:
            raise VectorStoreUnavailable(
                f"{self._server.url!r} is not the address of a Qdrant server: {error}",
                hint=f"Correct {URL_SETTING}, for example to http://localhost:6333.",
            ) from error
        self._models = package.models

    async def _look(self) -> int | None:
        """Read the collection's dimension, and see to the index that its filter needs."""
        async with self._request("describe the collection", missing_ok=True):
            info = await self._client.get_collection(self._collection)
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
        models = self._models
        async with self._request("make the collection", existing_ok=True):
            await self._client.create_collection(
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
        schema = self._models.KeywordIndexParams(type="keyword", is_tenant=True)
        await self._client.create_payload_index(self._collection, TENANT, schema, wait=True)

    @asynccontextmanager
    async def _request(
        self, doing: str, *, missing_ok: bool = False, existing_ok: bool = False
    ) -> AsyncGenerator[None]:
        """Bound a request in time and translate its errors, but for those that are expected."""
        try:
            async with asyncio.timeout(self._server.seconds):
                yield
        except VectorStoreUnavailable:
            raise
        except Exception as error:
            status = status_of(error)
            if (missing_ok and status == 404) or (existing_ok and status == 409):
                return
            if not _is_of_the_client(error):
                raise
            if status == 404:
                self._dimension = None  # the collection was deleted: the next call looks again
            raise unavailable(doing, self._server.url, error) from error


def _is_of_the_client(error: Exception) -> bool:
    """Return whether an error is the client's or the network's, not ours."""
    known = (TimeoutError, OSError, UnfinishedUpdate, *ANSWER_ERRORS)
    return isinstance(error, known) or type(error).__module__.startswith("qdrant_client.")
