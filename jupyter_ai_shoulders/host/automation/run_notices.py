"""What the person is notified of about runs. Pure; used by ``scheduler``."""

from __future__ import annotations

from jupyter_ai_shoulders.host.automation.ports import Notification, NotificationLevel
from jupyter_ai_shoulders.wire.api.automation.schedules import RunState, Schedule, ScheduleRun

_TITLES = {
    "done": "is done",
    "failed": "failed",
    "refused": "did not run",
    "interrupted": "was interrupted",
    "cancelled": "was stopped",
}


_LEVELS: dict[RunState, NotificationLevel] = {
    "done": "info",
    "cancelled": "info",
    "failed": "error",
}


def run_notification(run: ScheduleRun, schedule: Schedule, key: str) -> Notification:
    """Return the notification of a run; ``key`` tells it from others."""
    return Notification(
        key=key,
        title=f"{schedule.options.title} {_TITLES.get(run.state, run.state)}",
        message=run.message or "",
        level=_LEVELS.get(run.state, "warning"),
        owner=schedule.owner,
        session_id=run.session_id,
        schedule_id=schedule.id,
    )
