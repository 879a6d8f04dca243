"""Decides whether a run may start now: the limits of a day, of money, of what runs already.

Used by ``scheduler`` right before a run, whatever started it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jupyter_ai_shoulders.core.budget.limits import format_dollars
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.host.automation.limits import (
    LimitSource,
    limit_refusal,
    narrower_mode,
    narrower_toolset,
)
from jupyter_ai_shoulders.host.automation.service import start_of_day
from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.storage.base import Sessions
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    Schedule,
    ScheduleLimits,
    ScheduleRun,
)
from jupyter_ai_shoulders.wire.sessions import Mode, Toolset


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """What a run may do, decided when it starts."""

    mode: Mode
    toolset: Toolset
    micro_usd: int
    """What its conversation may cost at most."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Checks runs against the limits that apply now."""

    schedules: SqliteSchedules
    limits: LimitSource
    sessions: Sessions
    default_mode: Mode

    def is_full(self) -> bool:
        """Return whether as many runs are at work as allowed; those that wait do not count."""
        working = [run for run in self.schedules.open_runs() if run.state != "waiting"]
        return len(working) >= self.limits.current().most_concurrent

    def is_busy(self, schedule: Schedule) -> bool:
        """Return whether the last run of a schedule has not ended."""
        return any(run.schedule_id == schedule.id for run in self.schedules.open_runs())

    def policy(self, schedule: Schedule, now: datetime) -> RunPolicy:
        """Return what a run may do. Raises ``PolicyRefusal`` and ``Conflict``: it may not start."""
        limits = self.limits.current()
        if schedule.created_by == "agent" and not self.limits.agent_may_schedule():
            raise PolicyRefusal(
                "Schedules made by the agent are switched off here.",
                hint="You can allow them in the AI settings (schedules.agent).",
                limit="schedules.agent",
            )
        if self.is_busy(schedule):
            raise Conflict(
                "The last run of this schedule has not ended.",
                hint="Answer what it waits for, or stop it in its conversation.",
            )
        today = self.schedules.runs_since(start_of_day(now))
        own = [run for run in today if run.schedule_id == schedule.id]
        self._check_runs(limits, schedule, today, own)
        left = self._money_left(limits, schedule, today, own)
        mode, toolset = self._reach(schedule)
        return RunPolicy(mode, narrower_toolset(toolset, limits.largest_toolset), left)

    def resumed_policy(self, schedule: Schedule, now: datetime) -> RunPolicy:
        """Return the policy of a run that began before the server ended; it was admitted then."""
        limits = self.limits.current()
        today = self.schedules.runs_since(start_of_day(now))
        left = limits.micro_usd_per_day - self._spent(today)
        try:
            mode, toolset = self._reach(schedule)
        except Conflict:
            mode, toolset = "plan", "document"
        return RunPolicy(mode, narrower_toolset(toolset, limits.largest_toolset), max(left, 0))

    def _check_runs(
        self,
        limits: ScheduleLimits,
        schedule: Schedule,
        today: Sequence[ScheduleRun],
        own: Sequence[ScheduleRun],
    ) -> None:
        if sum(run.counts for run in today) >= limits.runs_per_day:
            raise limit_refusal(
                limits,
                "runs_per_day",
                f"All schedules together may run {limits.runs_per_day} times a day, and they have.",
            )
        most = schedule.options.runs_per_day
        if most is not None and sum(run.counts for run in own) >= most:
            raise _own_limit(schedule, "runs_per_day", f"It may run {most} times a day, and it has")

    def _money_left(
        self,
        limits: ScheduleLimits,
        schedule: Schedule,
        today: Sequence[ScheduleRun],
        own: Sequence[ScheduleRun],
    ) -> int:
        left = limits.micro_usd_per_day - self._spent(today)
        most = format_dollars(limits.micro_usd_per_day)
        plain = schedule.options.notebook is not None and not schedule.options.prompt
        if left <= 0 and not plain:
            raise limit_refusal(
                limits,
                "usd_per_day",
                f"All schedules together may spend {most} a day, and they have.",
            )
        cap = schedule.options.micro_usd_per_day
        if cap is None:
            return max(left, 0)
        own_left = cap - self._spent(own)
        if own_left <= 0 and not plain:
            text = f"It may spend {format_dollars(cap)} a day, and it has"
            raise _own_limit(schedule, "micro_usd_per_day", text)
        return max(min(left, own_left), 0)

    def _spent(self, runs: Sequence[ScheduleRun]) -> int:
        """Return what runs cost; of those that run, what their conversations cost so far."""
        return sum(self._cost(run) for run in runs)

    def _cost(self, run: ScheduleRun) -> int:
        if run.ended_at is not None or run.session_id is None:
            return run.cost_micro_usd or 0
        try:
            return self.sessions.get(run.session_id).cost_micro_usd or 0
        except ShouldersError:  # deleted or unreadable
            return 0

    def _reach(self, schedule: Schedule) -> tuple[Mode, Toolset]:
        """Return mode and toolset; those of the agent's schedules never exceed its conversation's.

        Raises ``Conflict`` when that conversation was deleted.
        """
        options = schedule.options
        mode, toolset = options.mode or self.default_mode, options.toolset or "full"
        if schedule.made_in is None:
            return mode, toolset
        try:
            parent = self.sessions.get(schedule.made_in)
        except NotFound as error:
            raise Conflict(
                "The conversation whose agent made this schedule was deleted.",
                hint="Delete the schedule, or restore the conversation.",
            ) from error
        return narrower_mode(mode, parent.mode), narrower_toolset(toolset, parent.toolset)


def _own_limit(schedule: Schedule, name: str, text: str) -> PolicyRefusal:
    return PolicyRefusal(
        f"{text}.",
        hint=f"You can change it in the schedule ({name}); the agent cannot.",
        limit=name,
        value=getattr(schedule.options, name),
    )
