"""Named points where a crash test may kill the process.

``crash_point`` is called at each boundary where the order of an effect and its record matters, in
storage, guard, notebook and engine. It does nothing unless the process was started with ``ENABLED``
in its environment, which only ``tests/crash_sweep`` does::

    JUPYTER_AI_SHOULDERS_CRASH="armed"              nothing yet: a forked child calls ``plan``
    JUPYTER_AI_SHOULDERS_CRASH="trace=/tmp/points"   writes each name on a line of the file
    JUPYTER_AI_SHOULDERS_CRASH="trace=/tmp/points,at=17"          ends itself at the 17th point
    JUPYTER_AI_SHOULDERS_CRASH="trace=/tmp/points,at=2,name=a.b"  at the second time it meets a.b
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

ENABLED = "JUPYTER_AI_SHOULDERS_CRASH"


@dataclass(frozen=True, slots=True)
class CrashPlan:
    """What a process does at its points: record their names, and kill itself at one of them."""

    trace: str | None = None
    """A file that receives the name of each point reached, including the last."""
    at: int | None = None
    """Counted from 1; None for never."""
    name: str | None = None
    """Count only this point; None counts all."""


class CrashPoints:
    """The crash points of a process. Called from any thread."""

    def __init__(self, plan: CrashPlan | None = None) -> None:
        self._lock = threading.Lock()
        self._plan = CrashPlan()
        self._descriptor: int | None = None
        self._count = 0
        self.plan(plan or CrashPlan())

    def plan(self, plan: CrashPlan) -> None:
        """Restart the count with this plan."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if plan.trace is not None:
            self._descriptor = os.open(plan.trace, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._plan, self._count = plan, 0

    def __call__(self, name: str) -> None:
        """Reach the point ``name``; does not return if the plan kills the process."""
        with self._lock:
            if self._descriptor is not None:
                os.write(self._descriptor, f"{name}\n".encode())
            if self._plan.at is None or self._plan.name not in {None, name}:
                return
            self._count += 1
            if self._count == self._plan.at:
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
                threading.Event().wait()  # wait for the signal to arrive


def crash_plan_from_environment(text: str) -> CrashPlan:
    """Parse the plan in the environment. Raises ``ValueError`` if it is invalid."""
    values = dict(part.split("=", 1) for part in text.split(",") if part != "armed")
    unknown = values.keys() - {"trace", "at", "name"}
    if unknown:
        raise ValueError(f"{ENABLED}: unknown {', '.join(sorted(unknown))}")
    at = values.get("at")
    return CrashPlan(values.get("trace"), None if at is None else int(at), values.get("name"))


def _nothing(name: str, /) -> None:
    """Do nothing: crash points are disabled."""


def _chosen(text: str | None) -> Callable[[str], None]:
    return _nothing if text is None else CrashPoints(crash_plan_from_environment(text))


crash_point: Callable[[str], None] = _chosen(os.environ.get(ENABLED))
"""Reach a crash point; does nothing outside the crash tests."""
