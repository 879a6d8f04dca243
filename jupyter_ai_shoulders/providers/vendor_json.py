"""Reads a vendor's JSON without trusting its types; used by every adapter's decode and errors.

Each function returns an empty value for a wrong type, so that such a field counts as absent and no
stream can crash a decoder.
"""

from __future__ import annotations

from typing import Any, cast

VendorObject = dict[str, Any]


def as_object(value: Any) -> VendorObject:
    """Return ``value`` when it is an object, else an empty one."""
    return cast("VendorObject", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return ``value`` when it is an array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """Return ``value`` when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


MAX_COUNT = 10**12
"""No answer has more tokens; a larger count is not one of tokens."""


def as_count(value: Any) -> int | None:
    """Return ``value`` when it is an integer from 0 to ``MAX_COUNT``, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value <= MAX_COUNT and value == value // 1 else None
