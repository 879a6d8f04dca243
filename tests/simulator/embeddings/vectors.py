"""Deterministic vectors: hashed bags of words, so that texts with common words are near."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence

DIMENSION = 64
_WORDS = re.compile(r"[^\W_]+")


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """Return the vector of a text, of length 1."""
    counts = [0.0] * dimension
    for word in _WORDS.findall(text.lower()) or [text]:
        counts[zlib.crc32(word.encode("utf-8", "replace")) % dimension] += 1.0
    length = math.hypot(*counts)
    return [count / length for count in counts]


def vectors_of(texts: Sequence[str], dimension: int | None = None) -> list[list[float]]:
    """Return the vectors of texts, in order."""
    return [vector_of(text, dimension or DIMENSION) for text in texts]
