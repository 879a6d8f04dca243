"""Reads JSON of services, whose shape may be wrong. Pure; wrong parts count as absent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast


def json_object(content: bytes) -> Mapping[str, Any]:
    """Return an answer that is an object; an empty one for anything else."""
    return mapping(_loaded(content))


def json_list(content: bytes) -> list[Any]:
    """Return an answer that is a list; an empty one for anything else."""
    found = _loaded(content)
    return cast("list[Any]", found) if isinstance(found, list) else []


def items(value: object) -> list[object]:
    """Return the items of a list; none for anything else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def mapping(value: object) -> Mapping[str, Any]:
    """Return a value that is an object; an empty one for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the objects in a list."""
    return [found for item in items(value) if (found := mapping(item))]


def text(value: Mapping[str, Any], *path: str) -> str:
    """Return a text or number at a path of names; the first of a list; empty if absent."""
    found: object = value
    for name in path:
        found = mapping(found).get(name)
    if isinstance(found, list) and found:
        found = cast("list[object]", found)[0]
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return ""
    return " ".join(str(found).split())


def _loaded(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
