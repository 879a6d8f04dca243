"""Values of plain types as text, where the level permits, and the limits of the description.

Runs in the kernel, as part of the description of its variables.
"""

from __future__ import annotations

import datetime as dt
import decimal
import time
from typing import Any

from jupyter_ai_shoulders.notebook.snippets.python.objects import (
    NoneType,
    derives,
    genuine,
    is_any,
    kind_of,
    library,
    text,
    type_name,
)

SECONDS = 0.4
"""Time limit in total; variables after that are only named with their type."""
NULL_SECONDS = 0.2
"""Time limit for counting missing values; columns after that are estimated."""
MAX_COLUMNS = 60
COUNTS = {"samples": 3, "full": 20}
"""Values shown per column or container."""
LENGTHS = {"samples": 60, "full": 2_000}
"""Characters shown per value."""
DEPTHS = {"samples": 1, "full": 3}
SECRET_WORDS = ("password", "passwd", "secret", "token", "api_key", "apikey", "credential")
CONTAINERS: Any = (dict, list, tuple, set, frozenset)


class Budget:
    """The remaining limits."""

    def __init__(self, level: str) -> None:
        self.level = level
        self.count = COUNTS.get(level, 0)
        self.length = LENGTHS.get(level, 0)
        self.depth = DEPTHS.get(level, 0)
        self.columns = MAX_COLUMNS
        self.end = time.perf_counter() + SECONDS
        self.null_seconds = NULL_SECONDS

    def is_over(self) -> bool:
        return time.perf_counter() > self.end


def is_secret(name: str) -> bool:
    lower = name.lower()
    return any(word in lower for word in SECRET_WORDS)


def shown(value: Any, budget: Budget, depth: int | None = None) -> str:
    """Return a value of a plain type as text; of others only the type."""
    depth = budget.depth if depth is None else depth
    kind: Any = kind_of(value)
    if kind is str:
        return repr(text(value, budget.length)) + (" …" if len(value) > budget.length else "")
    if kind is int and int.bit_length(value) > 4_000:
        return "<int of " + str(int.bit_length(value)) + " bits>"
    if is_any(kind, int, float, complex, bool, NoneType):
        return repr(value)
    if is_any(kind, *CONTAINERS):
        return shown_container(value, budget, depth)
    return shown_moment(value, budget) or shown_scalar(value, budget, depth)


def shown_container(value: Any, budget: Budget, depth: int) -> str:
    if depth <= 0:
        return "<" + kind_of(value).__name__ + " of " + str(len(value)) + ">"
    if kind_of(value) is dict:
        pairs = pairs_of(value, budget.count)
        held = [
            shown(key, budget, 0) + ": " + shown(item, budget, depth - 1) for key, item in pairs
        ]
    else:
        held = [shown(item, budget, depth - 1) for item in head(value, budget.count)]
    more = ["… " + str(len(value)) + " in all"] if len(value) > len(held) else []
    opening, closing = ("{", "}") if is_any(kind_of(value), dict, set, frozenset) else ("[", "]")
    return text(opening + ", ".join(held + more) + closing, 2 * budget.length)


def shown_moment(value: Any, budget: Budget) -> str | None:
    kind: Any = kind_of(value)
    if is_any(kind, dt.date, dt.timedelta):
        return str(value)
    if is_any(kind, dt.datetime, dt.time):
        return value.isoformat() if is_any(kind_of(value.tzinfo), NoneType, dt.timezone) else None
    if kind is decimal.Decimal and value.__sizeof__() < 2_000:
        return text(str(value), budget.length)
    return None


def shown_scalar(value: Any, budget: Budget, depth: int) -> str:
    found = genuine(value) or ""
    if found.startswith("numpy.") and derives(value, library("numpy", "generic")):
        item = value.item()
        return "<" + found + ">" if kind_of(item) is kind_of(value) else shown(item, budget, depth)
    if found in ("pandas.NaTType", "pandas.NAType"):
        return "missing"
    if found == "pandas.Timedelta" or (found == "pandas.Timestamp" and value.tzinfo is None):
        return str(value)
    return "<" + type_name(value) + ">"


def container_base(value: Any) -> Any:
    return next((kind for kind in CONTAINERS if derives(value, kind)), None)


def head(value: Any, count: int) -> list[Any]:
    """Return the first elements of a built-in container, without its own iteration."""
    return first(container_base(value).__iter__(value), count)


def pairs_of(value: Any, count: int) -> list[Any]:
    return first(dict.items(value), count)


def first(items: Any, count: int) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if len(found) >= count:
            break
        found.append(item)
    return found
