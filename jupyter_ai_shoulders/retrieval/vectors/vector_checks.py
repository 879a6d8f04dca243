"""Checks digests and vectors before a store gets them. Pure; used by both vector stores."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from jupyter_ai_shoulders.core.errors import InvalidRequest

DIGEST = re.compile(r"[0-9a-f]{64}")
LONGEST = 1e15
"""Length up to which the engine's numbers of single precision hold the square of a vector."""

T = TypeVar("T")


def is_digest(value: object) -> bool:
    """Return whether a value is a hex SHA-256."""
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None


def check_digests(digests: Collection[str]) -> None:
    """Raise ``InvalidRequest`` if one is not a hex SHA-256."""
    for digest in digests:
        if not is_digest(digest):
            raise InvalidRequest(f"{digest[:80]!r} is not a SHA-256 in lower-case hexadecimals.")


def check_vectors(vectors: Mapping[str, Sequence[float]], dimension: int | None) -> int:
    """Return the dimension of all vectors, which is ``dimension`` unless it is None.

    Raises ``InvalidRequest``.
    """
    check_digests(vectors.keys())
    for vector in vectors.values():
        dimension = check_vector(vector, dimension)
    if not dimension:
        raise InvalidRequest("A vector has no numbers.")
    return dimension


def check_vector(vector: Sequence[float], dimension: int | None) -> int:
    """Return the dimension of a vector. Raises ``InvalidRequest``.

    A vector without a direction has no cosine, and one that is not a number spoils the ranking.
    """
    if dimension is not None and len(vector) != dimension:
        raise InvalidRequest(
            f"The vector has {len(vector)} numbers, those of the collection have {dimension}.",
            hint="Use one collection for each embedder.",
        )
    length = math.hypot(*vector)
    if not 1 / LONGEST < length < LONGEST:
        raise InvalidRequest(f"A vector of length {length} has no direction.")
    return len(vector)


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most ``size``."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
