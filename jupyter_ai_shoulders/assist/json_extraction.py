"""Finds the JSON object in what a model wrote; called by ``single``.

Models put fences, remarks or thoughts around it. Only whole objects count: nothing is completed.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

LONGEST = 100_000
"""Characters looked at."""
MOST_TRIES = 32
"""Opening braces tried; text with more is no answer."""

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder()


def find_json_object(text: str) -> dict[str, Any] | None:
    """Return the first JSON object, one in a fence before others; None where there is none."""
    text = text[:LONGEST]
    fenced = (_first_object(found) for found in _FENCE.findall(text))
    return next((found for found in fenced if found is not None), None) or _first_object(text)


def _first_object(text: str) -> dict[str, Any] | None:
    at = text.find("{")
    for _ in range(MOST_TRIES):
        if at < 0:
            return None
        try:
            found, _ = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
        else:
            return cast("dict[str, Any]", found)  # what begins with a brace is an object
    return None
