"""What the extension adds to a server's start.

The floor is the same lab with the server extension switched off. Time runs from the start of the
process to the answer to the first request, CPU is the process's time until then, memory is
resident some seconds later, children included, when the warm-up in the background is over. The
first call is one of our API after that, beside one of the lab's own.
"""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import psutil

from tests.bench.figures import Figure, Goal, Spread, spread
from tests.support.lab_server import Lab

RUNS = 7
QUIET_SECONDS = 1.5
"""Without work in the server after which its warm-up is over; it begins half a second late."""
QUIET_CPU = 0.02
"""Seconds of CPU in that time that are not work yet."""
SETTLE_SECONDS = 60.0
"""The longest it waits for that."""
LOOK_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Start:
    """One start."""

    seconds: float
    cpu: float
    warm_up_cpu: float
    megabytes: float
    first_call: float
    children: int


class ClosePolledLab(Lab):
    """A lab whose first answer is noticed within milliseconds."""

    def _wait_until_it_answers(self) -> None:
        while True:
            assert self._running().poll() is None, self.log[-4000:]
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(LOOK_SECONDS)
        with urlopen(self.url("api/status"), timeout=30):
            return


def measure() -> list[Figure]:
    """Start a lab with and without the extension, in turn."""
    _start(enabled=True)  # files come from the disk once
    starts: dict[bool, list[Start]] = {False: [], True: []}
    for _ in range(RUNS):
        for enabled, taken in starts.items():
            taken.append(_start(enabled=enabled))

    def both(value: Callable[[Start], float]) -> tuple[Spread, Spread]:
        return spread([*map(value, starts[True])]), spread([*map(value, starts[False])])

    warm_up = Goal("at most", 0.3)
    return [
        Figure("time to the first answer", "s", *both(lambda s: s.seconds), Goal("added", 0.12)),
        Figure("CPU until then", "s", *both(lambda s: s.cpu)),
        Figure("CPU after that, in the background", "s", *both(lambda s: s.warm_up_cpu), warm_up),
        Figure("first API call", "s", *both(lambda s: s.first_call), Goal("at most", 0.25)),
        Figure("memory", "MB", *both(lambda s: s.megabytes), Goal("added", 20)),
        Figure("child processes", "", *both(lambda s: s.children), Goal("added", 0)),
    ]


def _start(*, enabled: bool) -> Start:
    switch = f"--ServerApp.jpserver_extensions=jupyter_ai_shoulders={enabled}"
    with tempfile.TemporaryDirectory() as folder:
        lab = ClosePolledLab(served(folder), Path(folder, "state"), (switch,))
        with started(lab, "shoulders/api/v1/status" if enabled else "api/status") as start:
            return start


def served(folder: str) -> Path:
    """Make the directory in a folder that a lab serves."""
    root = Path(folder, "root")
    root.mkdir()
    return root


@contextmanager
def started(lab: ClosePolledLab, call: str) -> Generator[Start]:
    """Start a lab, measure until a first call of that route is answered; stop it afterwards."""
    try:
        began = time.perf_counter()
        lab.start()
        seconds = time.perf_counter() - began
        process = psutil.Process(lab.pid)
        used = _cpu(process)
        settle(process)
        warm_up = _cpu(process) - used
        memory, children = megabytes(process), len(process.children(recursive=True))
        began = time.perf_counter()
        urlopen(lab.url(call)).close()
        first_call = time.perf_counter() - began
        yield Start(seconds, used, warm_up, memory, first_call, children)
    finally:
        lab.stop()


def megabytes(process: psutil.Process) -> float:
    """Return the resident memory of a process and its children."""
    family = (process, *process.children(recursive=True))
    return sum(each.memory_info().rss for each in family) / 1e6


def _cpu(process: psutil.Process) -> float:
    """Return the seconds of CPU a process has used."""
    return sum(process.cpu_times()[:2])


def settle(process: psutil.Process) -> None:
    """Wait until the server does nothing more, however long a busy machine lets it take."""
    used, deadline = -1.0, time.monotonic() + SETTLE_SECONDS
    while (now := _cpu(process)) - used > QUIET_CPU and time.monotonic() < deadline:
        used = now
        time.sleep(QUIET_SECONDS)
