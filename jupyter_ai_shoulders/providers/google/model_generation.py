"""Which generation a Gemini model is of, where the wire format differs; read by ``encode``.

From the third on, signatures of thoughts are enforced and results of functions may hold images.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"gemini-(\d+)")
_LATEST = 4


def generation(model: str) -> int:
    """Return the number in the model's name; names without one stand for current models."""
    found = _NUMBER.search(model)
    return int(found.group(1)) if found else _LATEST


def keeps_signatures(model: str) -> bool:
    """Return whether a call must come back with its thought signature."""
    return generation(model) >= 3
