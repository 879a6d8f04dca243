"""Samples of several ways to do one thing, taken in turn, so that noise falls on all of them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import psutil


class Sample(NamedTuple):
    """One measurement, in milliseconds of the wall clock and of CPU.

    The CPU is that of the process measured, all its threads: other processes on the machine make
    the wall clock lie, this hardly.
    """

    ms: float
    cpu: float

    def less(self, wall_ms: float) -> Sample:
        """Return the sample without some time that was waited."""
        return Sample(self.ms - wall_ms, self.cpu)

    def over(self, count: int) -> Sample:
        """Return the share of one of so many steps."""
        return Sample(self.ms / count, self.cpu / count)


Way = Callable[[], Awaitable[Sample]]
"""Does the thing once and returns what it took; may prepare it untimed."""


async def interleaved(
    rounds: int, ways: Mapping[str, Way], warm: int = 1
) -> dict[str, list[Sample]]:
    """Take ``rounds`` samples of each way in turn, after ``warm`` rounds that do not count."""
    samples: dict[str, list[Sample]] = {name: [] for name in ways}
    for number in range(warm + rounds):
        for name, way in ways.items():
            sample = await way()
            if number >= warm:
                samples[name].append(sample)
    return samples


class Stopwatch:
    """Time since it was made, by the wall clock and of a process (this one by default)."""

    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid
        self._cpu = cpu_ms(pid)
        self._began = time.perf_counter()

    @property
    def ms(self) -> float:
        """Milliseconds until now."""
        return (time.perf_counter() - self._began) * 1e3

    def sample(self) -> Sample:
        """Return both clocks."""
        return Sample(self.ms, cpu_ms(self._pid) - self._cpu)


def cpu_ms(pid: int | None = None) -> float:
    """Return the CPU milliseconds a process has used (this one by default)."""
    if pid is None:
        return time.process_time() * 1e3
    if sys.platform == "linux":  # the clock of another process, see clock_getcpuclockid(3)
        return time.clock_gettime((~pid << 3) | 2) * 1e3
    used = psutil.Process(pid).cpu_times()
    return (used.user + used.system) * 1e3


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
