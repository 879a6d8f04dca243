"""The collections of the simulated server: points, filters and ranking by brute force."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.simulator.refusal import RequestRefused


@dataclass(frozen=True)
class StoredPoint:
    """A point as it was sent."""

    id: str
    vector: tuple[float, ...]
    payload: Mapping[str, Any]


@dataclass
class StoredCollection:
    """A collection with the settings that were sent."""

    settings: Mapping[str, Any]
    points: dict[str, StoredPoint] = field(default_factory=dict[str, StoredPoint])
    indexes: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    @property
    def dimension(self) -> int:
        return self.settings["vectors"]["size"]

    def upsert(self, points: Sequence[StoredPoint]) -> None:
        """Store all points, or none when one has another dimension."""
        for point in points:
            self.check(point.vector)
        self.points.update({point.id: point for point in points})

    def check(self, vector: Sequence[float]) -> None:
        if len(vector) != self.dimension:
            expected = f"expected dim: {self.dimension}, got {len(vector)}"
            raise RequestRefused(f"Wrong input: Vector dimension error: {expected}")

    def matching(self, condition: Mapping[str, Any]) -> Iterator[StoredPoint]:
        """Yield the points that a filter selects; it must name the tenant by an indexed field."""
        if set(condition) != {"must"}:
            raise RequestRefused(f"Only `must` is understood here, not {sorted(condition)}")
        ids: set[str] | None = None
        fields: dict[str, Any] = {}
        for each in condition["must"]:
            if set(each) == {"has_id"}:
                ids = set(each["has_id"])
            elif set(each) == {"key", "match"} and set(each["match"]) == {"value"}:
                fields[each["key"]] = each["match"]["value"]
            else:
                raise RequestRefused(f"Not a condition that is understood here: {each}")
        if "tenant" not in fields:
            raise RequestRefused("The filter has no tenant")
        for name in fields:  # as in Qdrant's strict mode
            if name not in self.indexes:
                raise RequestRefused(f'Index required but not found for "{name}"')
        chosen = self.points if ids is None else ids & self.points.keys()
        for point in [self.points[each] for each in chosen]:
            if fields.items() <= point.payload.items():
                yield point

    def nearest(
        self, vector: Sequence[float], condition: Mapping[str, Any], limit: int
    ) -> list[tuple[StoredPoint, float]]:
        """Return the selected points with their cosine, best first."""
        self.check(vector)
        ranked = [(point, cosine(point.vector, vector)) for point in self.matching(condition)]
        return sorted(ranked, key=lambda entry: -entry[1])[:limit]


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the cosine of the angle between two vectors."""
    product = sum(a * b for a, b in zip(first, second, strict=True))
    return product / (math.hypot(*first) * math.hypot(*second))
