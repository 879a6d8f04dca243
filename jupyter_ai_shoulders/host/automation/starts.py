"""A run about to start, and what one is about that is due. Pure; used by ``scheduler``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jupyter_ai_shoulders.wire.api.automation.schedules import RunCause, Schedule


@dataclass(frozen=True, slots=True)
class Start:
    """A run about to start."""

    schedule: Schedule
    key: str
    """Tells it from the schedule's other runs: its time, for those with one."""
    cause: RunCause
    due: datetime
    files: tuple[str, ...] = ()


def due_start(schedule: Schedule, key: str, cause: RunCause, due: datetime) -> Start:
    """Return the start of a run whose time has come, of a watcher with what was postponed."""
    change = schedule.postponed
    if change is None:
        return Start(schedule, key, cause, due)
    return Start(schedule, change.key, "files", due, change.files)
