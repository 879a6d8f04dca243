"""The points of one tenant in a Qdrant collection: every request for them is made here.

Used by ``qdrant_store``. Tenants share a collection, so a request without the tenant's filter would
read or delete other people's vectors. That is why nothing else calls the client for points, and why
points are never fetched by id alone, which takes no filter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

from jupyter_ai_shoulders.retrieval.vectors.vector_checks import is_digest

TENANT = "tenant"
DIGEST = "digest"
_POINTS = UUID("0b6f5c1e-8e55-5d0b-9a55-9d2f3c6e7a41")
"""Name space of the ids of points; another one would orphan the stored points."""


class UnfinishedUpdate(Exception):
    """The server accepted a change and has not applied it in its time limit."""


class TenantPoints:
    """Requests to one collection that see and change one tenant's points only.

    ``client`` is an ``AsyncQdrantClient`` and ``models`` its module of request models. Raises what
    the client raises, and ``UnfinishedUpdate``.
    """

    def __init__(self, client: Any, models: Any, collection: str, tenant: str) -> None:
        self._client = client
        self._models = models
        self._collection = collection
        self._tenant = tenant
        self._ids = uuid5(_POINTS, tenant)

    async def upsert(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store points and wait until the server has applied it."""
        points = [
            self._models.PointStruct(
                id=self._point_id(digest),
                vector=[*vector],
                payload={TENANT: self._tenant, DIGEST: digest},
            )
            for digest, vector in vectors.items()
        ]
        _check(await self._client.upsert(self._collection, points, wait=True))

    async def delete(self, digests: Collection[str] | None = None) -> None:
        """Delete points, or all of the tenant, and wait until the server has applied it."""
        selector = self._models.FilterSelector(filter=self._filter(digests))
        _check(await self._client.delete(self._collection, selector, wait=True))

    async def known(self, digests: Collection[str]) -> set[str]:
        """Return which digests have a point."""
        records, _ = await self._client.scroll(
            self._collection,
            scroll_filter=self._filter(digests),
            limit=len(digests),
            with_payload=[TENANT, DIGEST],
            with_vectors=False,
        )
        return {digest for record in records if (digest := self._digest(record))}

    async def nearest(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return digests and cosines, best first."""
        answer = await self._client.query_points(
            self._collection,
            query=[*vector],
            query_filter=self._filter(),
            limit=limit,
            with_payload=[TENANT, DIGEST],
            with_vectors=False,
        )
        hits = [(self._digest(point), min(point.score, 1.0)) for point in answer.points]
        return [(digest, score) for digest, score in hits if digest]

    async def count(self) -> int:
        """Return the number of points."""
        found = await self._client.count(self._collection, count_filter=self._filter(), exact=True)
        return found.count

    def _filter(self, digests: Collection[str] | None = None) -> Any:
        models = self._models
        match = models.MatchValue(value=self._tenant)
        must: list[Any] = [models.FieldCondition(key=TENANT, match=match)]
        if digests is not None:
            must.append(models.HasIdCondition(has_id=[self._point_id(each) for each in digests]))
        return models.Filter(must=must)

    def _point_id(self, digest: str) -> str:
        """Two tenants with the same text have two points."""
        return str(uuid5(self._ids, digest))

    def _digest(self, point: Any) -> str | None:
        """Return the digest of this tenant's point; None for any other, should one come."""
        payload: dict[str, object] = point.payload or {}
        digest = payload.get(DIGEST)
        is_own = payload.get(TENANT) == self._tenant
        return digest if is_own and isinstance(digest, str) and is_digest(digest) else None


def _check(result: Any) -> None:
    """``wait_timeout`` and ``acknowledged`` are answers of status 200 (``UpdateStatus``)."""
    if str(result.status) != "completed":
        raise UnfinishedUpdate(f"the change is {result.status}")
