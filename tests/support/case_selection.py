"""Selects how much of a large table of cases a run tries: a part, or all of it with `--full`."""

from __future__ import annotations

import os
from collections.abc import Sequence
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


def examples(full: int, default: int) -> int:
    """Return how many examples Hypothesis draws."""
    return full if is_full_run() else default
