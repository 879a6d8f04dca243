"""Finds the line of a value in JSON text, to report problems in a user's file.

Used for models.json and settings.json. Lines count from 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

_SPACE = re.compile(r"[\s,:]*")
_DECODER = json.JSONDecoder()


def json_line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the first line of the value at ``path``, or of its nearest ancestor.

    ``text`` must be valid JSON. A key has the line of its value.
    """
    at = _skip(text, 0)
    for step in path:
        found = _places(text, at).get(step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


@lru_cache(maxsize=16)
def _places(text: str, at: int) -> Mapping[str | int, int]:
    """Return the start of each value in the object or list at ``at``, by key or index.

    Cached, because callers usually look up several lines of one file.
    """
    if text.startswith("{", at):
        return dict(reversed(list(_members(text, at))))  # the first occurrence of a key wins
    if text.startswith("[", at):
        return dict(enumerate(_items(text, at)))
    return {}


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    at = _skip(text, at + 1)
    while not text.startswith("}", at):
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        yield name, at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])


def _items(text: str, at: int) -> Iterator[int]:
    at = _skip(text, at + 1)
    while not text.startswith("]", at):
        yield at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
