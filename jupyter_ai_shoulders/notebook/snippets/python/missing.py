"""Missing values of a column: counted within the time limit, else estimated.

Runs in the kernel, as part of the description of its variables.
"""

from __future__ import annotations

import time
from typing import Any

from jupyter_ai_shoulders.notebook.snippets.python.objects import entry, genuine, kind_of, library
from jupyter_ai_shoulders.notebook.snippets.python.values import Budget

NULL_CHUNK = 500_000
SAMPLE = 5_000
"""Values sampled for an estimate, and Python objects examined one by one."""
SCATTER = 2_654_435_761
"""Knuth's multiplicative hash: periodic data must not align with the sample."""


def is_missing(value: Any) -> bool:
    kind: Any = kind_of(value)
    if kind is str:
        return False
    if kind is float:
        return bool(value != value)  # noqa: PLR0124 - only NaN differs from itself
    if value is None:
        return True
    if value is library("pandas", "NaT") or value is library("pandas", "NA"):
        return True
    is_number = genuine(value) in ("numpy.float64", "numpy.float32")
    return is_number and bool(value != value)  # noqa: PLR0124 - as above


def nulls(values: Any, budget: Budget) -> dict[str, Any]:
    """Return how many values of a column are missing: counted, estimated, or nothing."""
    found = genuine(values) or ""
    if found == "numpy.ndarray":
        return array_nulls(values, budget)
    name = found.partition(".")[2]
    if not found.startswith("pandas."):
        return {}
    if name == "Categorical":
        return flags(values.codes, is_minus_one, budget)
    if name in ("IntegerArray", "FloatingArray", "BooleanArray"):
        return flags(entry(values, "_mask"), itself, budget)
    if name.startswith("Arrow"):
        count = getattr(getattr(values, "_pa_array", None), "null_count", None)
        return {"nulls": count} if kind_of(count) is int else {}
    inner = getattr(values, "_ndarray", None)
    return array_nulls(inner, budget) if genuine(inner) == "numpy.ndarray" else {}


def array_nulls(values: Any, budget: Budget) -> dict[str, Any]:
    kind = values.dtype.kind
    if kind in "fc":
        return flags(values, library("numpy", "isnan"), budget)
    if kind in "mM":
        return flags(values, library("numpy", "isnat"), budget)
    if kind == "O":
        return object_nulls(values)
    return {"nulls": 0} if kind in "biuSU" else {}


def object_nulls(values: Any) -> dict[str, Any]:
    """Examine objects one by one; a sample of them if there are many."""
    some = values if len(values) <= SAMPLE else values[positions_in(len(values))]
    count = sum(is_missing(some[at]) for at in range(len(some)))
    return counted(count, len(some), len(values))


def flags(values: Any, test: Any, budget: Budget) -> dict[str, Any]:
    """Count the values that ``test`` marks, in chunks within the time limit, else in a sample."""
    if genuine(values) != "numpy.ndarray":
        return {}
    begun = time.perf_counter()
    size, done, count = len(values), 0, 0
    while done < size and time.perf_counter() - begun < budget.null_seconds:
        count += int(test(values[done : done + NULL_CHUNK]).sum())
        done += NULL_CHUNK
    budget.null_seconds -= time.perf_counter() - begun
    if done >= size:
        return {"nulls": count}
    some = values if size <= SAMPLE else values[positions_in(size)]
    return counted(int(test(some).sum()), len(some), size)


def positions_in(size: int) -> list[int]:
    """Return positions spread over a column, at irregular distances."""
    step = size / SAMPLE
    return [int(part * step + (part * SCATTER % 65_536) / 65_536 * step) for part in range(SAMPLE)]


def counted(count: int, seen: int, size: int) -> dict[str, Any]:
    if seen >= size:
        return {"nulls": count}
    return {"nulls": round(count * size / max(1, seen)), "nulls_estimated": True}


def is_minus_one(codes: Any) -> Any:
    return codes == -1


def itself(mask: Any) -> Any:
    return mask
