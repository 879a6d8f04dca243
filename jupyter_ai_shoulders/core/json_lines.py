"""Finds the line of a value in JSON text, so that a problem in a user's file can name it.

Used for models.json and settings.json. Lines count from 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_SPACE = re.compile(r"[\s,:]*")
_DECODER = json.JSONDecoder()


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line where the value at ``path`` begins, or that of its nearest ancestor.

    ``text`` must be valid JSON. A key's line is its value's.
    """
    at = _skip(text, 0)
    for step in path:
        found = _key(text, at, step) if isinstance(step, str) else _item(text, at, step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _key(text: str, at: int, key: str) -> int | None:
    if not text.startswith("{", at):
        return None
    at = _skip(text, at + 1)
    while not text.startswith("}", at):
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if name == key:
            return at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
    return None


def _item(text: str, at: int, index: int) -> int | None:
    if not text.startswith("[", at):
        return None
    at = _skip(text, at + 1)
    while not text.startswith("]", at):
        if index == 0:
            return at
        index -= 1
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
    return None


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
