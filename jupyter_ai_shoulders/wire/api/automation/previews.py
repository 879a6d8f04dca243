"""What the form of a schedule shows before it is stored, and how watchers fare.

``POST schedules/preview`` and ``GET schedules/watchers``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.api.automation.schedules import Trigger
from jupyter_ai_shoulders.wire.base import CommandModel, Timestamp, WireModel


class PreviewSchedule(CommandModel):
    """``POST schedules/preview``."""

    trigger: Trigger


class SchedulePreview(WireModel):
    """The next times of a trigger; for files, how many match now."""

    next_times: tuple[Timestamp, ...]
    """At most three."""
    matching_files: int | None
    """Null for a trigger without files, and where too many match."""


class WatcherStatus(WireModel):
    """How a watcher finds changes."""

    schedule_id: str
    method: Literal["notifications", "polling"]
    problem: str | None
    """What is wrong, in words."""
    files: int | None
    """Files that match; null before the first look."""


class WatcherList(WireModel):
    """``GET schedules/watchers``: the enabled watchers."""

    watchers: tuple[WatcherStatus, ...]
