"""Keeps a schedule that fails from stopping the others: it is paused, with a notification.

Used by ``scheduler``.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, StateUnavailable
from jupyter_ai_shoulders.host.automation.ports import Notification, Notifier
from jupyter_ai_shoulders.host.automation.service import ScheduleService
from jupyter_ai_shoulders.host.automation.timing import stored
from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.wire.api.automation.schedules import Schedule

FAILED = "It could not be started: {problem} Correct it, or resume it to try again."
UNREADABLE = "Its entry in the database is damaged, so it will not run. Make it again."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FailingSchedules:
    """Pauses schedules whose times or starts raise what nobody expected."""

    service: ScheduleService
    schedules: SqliteSchedules
    notifier: Notifier
    clock: Clock

    @contextmanager
    def isolated(self, schedule: Schedule) -> Generator[None]:
        """Pause the schedule when the block fails.

        Raises ``Conflict`` and ``NotFound`` (it was changed), and ``StateUnavailable``, which
        concerns all.
        """
        try:
            yield
        except (Conflict, NotFound, StateUnavailable):
            raise
        except Exception as error:  # noqa: BLE001 a bug: logged, shown, and the others go on
            _log.exception("Schedule %s failed and is paused.", schedule.id)
            self._pause(schedule, error)

    def set_aside_unreadable(self, now: str) -> None:
        """Take due schedules that cannot be read out of the plan, which they would block."""
        for schedule_id in self.schedules.take_unreadable(now):
            _log.error("Schedule %s cannot be read and will not run.", schedule_id)
            self.notifier.notify(
                Notification(
                    key=f"{schedule_id}:unreadable",
                    title="A schedule cannot be read",
                    message=UNREADABLE,
                    level="error",
                )
            )

    def _pause(self, schedule: Schedule, error: Exception) -> None:
        problem = str(error).rstrip(".") or type(error).__name__
        reason = FAILED.format(problem=f"{problem}.")
        update = {
            "state": "paused",
            "state_reason": reason,
            "next_at": None,
            "updated_at": stored(self.clock.now()),
        }
        with suppress(Conflict, NotFound):  # changed or deleted since
            paused = self.schedules.update(schedule.model_copy(update=update))
            self.notifier.notify(
                Notification(
                    key=f"{schedule.id}:paused:{paused.revision}",
                    title=f"{schedule.options.title} is paused",
                    message=reason,
                    level="error",
                    owner=schedule.owner,
                    schedule_id=schedule.id,
                )
            )
        self.service.changed()
