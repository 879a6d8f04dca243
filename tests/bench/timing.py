"""Samples of several ways to do one thing, taken in turn, so that noise falls on all of them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

Way = Callable[[], Awaitable[float]]
"""Does the thing once and returns what it measured, in milliseconds; may prepare it untimed."""


async def interleaved(
    rounds: int, ways: Mapping[str, Way], warm: int = 1
) -> dict[str, list[float]]:
    """Take ``rounds`` samples of each way in turn, after ``warm`` rounds that do not count."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(warm + rounds):
        for name, way in ways.items():
            sample = await way()
            if number >= warm:
                samples[name].append(sample)
    return samples


class Stopwatch:
    """Milliseconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def ms(self) -> float:
        """Milliseconds until now."""
        return (time.perf_counter() - self._began) * 1e3


class SyncClock:
    """Milliseconds that this process has spent in ``fsync`` and ``fdatasync``, in any thread."""

    def __init__(self) -> None:
        self.ms = 0.0
        self._lock = threading.Lock()

    def timed(self, sync: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return the call with its time noted."""

        def noting(descriptor: Any) -> None:
            began = Stopwatch()
            try:
                sync(descriptor)
            finally:
                with self._lock:
                    self.ms += began.ms

        return noting


@contextmanager
def syncs_noted() -> Generator[SyncClock]:
    """Note the time of syncs: they are the disk's own, and differ by a hundred between disks."""
    clock = SyncClock()
    before: dict[str, Any] = {name: getattr(os, name) for name in ("fsync", "fdatasync")}
    for name, sync in before.items():
        setattr(os, name, clock.timed(sync))
    try:
        yield clock
    finally:
        for name, sync in before.items():
            setattr(os, name, sync)
