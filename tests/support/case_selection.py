"""Selects how much of a large table of cases a run tries: a part, or all of it with `--full`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

_VARIABLE = "SHOULDERS_TESTS"
"""An environment variable, so that the workers of pytest-xdist know it while they import tests."""

T = TypeVar("T")


def select_full_run() -> None:
    """Let this process and those it starts try everything."""
    os.environ[_VARIABLE] = "full"


def is_full_run() -> bool:
    """Return whether everything is tried."""
    return os.environ.get(_VARIABLE) == "full"


def sample(cases: Sequence[T], step: int, offset: int = 0) -> Sequence[T]:
    """Return every ``step``-th case, starting at ``offset``; all of them in a full run."""
    return cases if is_full_run() else cases[offset % step :: step]


def sample_matrix(cases: Sequence[Mapping[str, int]], step: int) -> frozenset[int]:
    """Return the numbers of the cases to try: every ``step``-th, and one with each value.

    A case has a number for its value of each parameter. A step alone can leave out a value: of
    two that alternate, an even step tries only one. A parameter whose value differs in every case
    counts by the step alone.
    """
    kept = set(range(0, len(cases), step))
    tried = {value for number in kept for value in cases[number].items()}
    sizes = Counter(name for name, _ in {value for case in cases for value in case.items()})
    for number, case in enumerate(cases):
        missing = {value for value in case.items() if sizes[value[0]] < len(cases)} - tried
        if missing:
            kept.add(number)
            tried.update(case.items())
    return frozenset(kept)


def examples(full: int, default: int) -> int:
    """Return how many examples Hypothesis draws."""
    return full if is_full_run() else default
