"""Digests and vectors for tests, each made from a number."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from hashlib import sha256

DIMENSION = 8


def digest(number: int) -> str:
    """Return the digest of a number's text."""
    return sha256(str(number).encode()).hexdigest()


def vector(number: int, dimension: int = DIMENSION) -> list[float]:
    """Return a direction at random, always the same for a number."""
    chance = random.Random(number)
    return [chance.gauss(0, 1) for _ in range(dimension)]


def vectors(numbers: Iterable[int], dimension: int = DIMENSION) -> dict[str, list[float]]:
    """Return the vectors of numbers by their digests."""
    return {digest(number): vector(number, dimension) for number in numbers}


def ranking(numbers: Iterable[int], query: list[float]) -> list[str]:
    """Return the digests in the order of the cosine, best first."""
    return [digest(number) for number in sorted(numbers, key=lambda each: -cosine(each, query))]


def cosine(number: int, query: list[float]) -> float:
    """Return the cosine between a number's vector and a query."""
    other = vector(number, len(query))
    product = sum(a * b for a, b in zip(other, query, strict=True))
    return product / (math.hypot(*other) * math.hypot(*query))
