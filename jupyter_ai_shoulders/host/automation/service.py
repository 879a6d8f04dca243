"""Schedules and watchers: made, changed, listed and deleted, within the limits.

Made by ``host.automation.automation``; called by the handlers and by the agent's tools. Runs are
started by ``scheduler``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.host.automation.limits import (
    LimitSource,
    check_count,
    check_schedule,
)
from jupyter_ai_shoulders.host.automation.timing import (
    next_run,
    parse_moment,
    stored,
)
from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules, stale_schedule
from jupyter_ai_shoulders.storage.base import Sessions
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    Creator,
    FilesTrigger,
    OnceTrigger,
    PatchSchedule,
    PostSchedule,
    QuietHours,
    Schedule,
    ScheduleLimits,
    ScheduleList,
    ScheduleOptions,
    ScheduleRunList,
    ScheduleStatus,
    Trigger,
)
from jupyter_ai_shoulders.wire.ids import SessionId

TITLE_CHARACTERS = 60
FOREIGN = "It came with this folder. Look at what it does before you resume it."


@dataclass(frozen=True, slots=True)
class ScheduleOrigin:
    """Who makes a schedule."""

    owner: str | None
    created_by: Creator = "person"
    made_in: SessionId | None = None
    reason: str | None = None


class ScheduleService:
    """The schedules of one workspace."""

    def __init__(
        self,
        stored_schedules: SqliteSchedules,
        limits: LimitSource,
        sessions: Sessions,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._stored = stored_schedules
        self.limits = limits
        self._sessions = sessions
        self._clock = clock
        self._ids = ids
        self._listeners: tuple[Callable[[], None], ...] = ()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after schedules or their runs changed; it must not block or raise."""
        self._listeners = (*self._listeners, listener)

    def changed(self) -> None:
        """Tell the listeners that schedules or runs changed."""
        for listener in self._listeners:
            listener()

    async def create(self, command: PostSchedule, origin: ScheduleOrigin) -> Schedule:
        """Store a new schedule.

        Raises ``InvalidRequest``, ``PolicyRefusal`` (a limit), ``StateUnavailable``.
        """
        now, limits = self._clock.now(), self.limits.current()
        check_count(limits, sum(known.state == "active" for known in self._stored.all()))
        options = _options(command)
        trigger = _settled_trigger(command.trigger)
        self._check(limits, trigger, options, now, origin.owner)
        moment = stored(now)
        schedule = Schedule(
            id=self._ids.new("sched"),
            revision=1,
            trigger=trigger,
            options=_titled(options),
            state="active",
            created_by=origin.created_by,
            made_in=origin.made_in,
            reason=origin.reason,
            owner=origin.owner,
            created_at=moment,
            updated_at=moment,
            next_at=None,
        )
        schedule = schedule.model_copy(
            update={"next_at": next_time(schedule, now, limits.quiet_hours)}
        )
        self._stored.add(schedule)
        await self._stored.sync()
        self.changed()
        return schedule

    async def change(
        self, schedule_id: str, command: PatchSchedule, owner: str | None
    ) -> ScheduleStatus:
        """Change a schedule of a user.

        Raises ``NotFound``, ``Conflict`` (``stale``), and as ``create``.
        """
        schedule = self.get(schedule_id, owner)
        if schedule.revision != command.revision:
            raise stale_schedule()
        now, limits = self._clock.now(), self.limits.current()
        update = self._update(schedule, command)
        changed = schedule.model_copy(update={**update, "updated_at": stored(now)})
        if changed.state == "active":
            if schedule.state != "active":
                check_count(limits, sum(known.state == "active" for known in self._stored.all()))
            self._check(limits, changed.trigger, changed.options, now, owner)
        changed = changed.model_copy(
            update={"next_at": next_time(changed, now, limits.quiet_hours)}
        )
        changed = self._stored.update(changed)
        await self._stored.sync()
        self.changed()
        return self.status(changed)

    async def delete(self, schedule_id: str, owner: str | None) -> None:
        """Delete a schedule and its history; its conversations stay. Raises ``NotFound``.

        What it ran and spent today still counts for the limits of all schedules.
        """
        self.get(schedule_id, owner)
        self._stored.delete(schedule_id, start_of_day(self._clock.now()))
        await self._stored.sync()
        self.changed()

    async def withdraw_foreign(self) -> None:
        """Pause what came with the folder and start none of its runs: the person decides first."""
        for schedule in self._stored.all():
            if schedule.state == "active":
                update = {"state": "paused", "state_reason": FOREIGN, "next_at": None}
                self._stored.update(schedule.model_copy(update=update))
        for run in self._stored.open_runs():
            ended = {"state": "interrupted", "message": FOREIGN, "ended_at": run.started_at}
            self._stored.update_run(run.model_copy(update=ended))
        await self._stored.sync()

    def get(self, schedule_id: str, owner: str | None) -> Schedule:
        """Return a schedule that a user may see. Raises ``NotFound``."""
        schedule = self._stored.get(schedule_id)
        if not _visible(schedule, owner):
            raise NotFound(f"There is no schedule {schedule_id}.")
        return schedule

    def list(self, owner: str | None) -> ScheduleList:
        """Return the schedules that a user may see, and the limits."""
        return ScheduleList(
            schedules=tuple(
                self.status(schedule)
                for schedule in self._stored.all()
                if _visible(schedule, owner)
            ),
            limits=self.limits.current(),
            agent_may_schedule=self.limits.agent_may_schedule(),
        )

    def runs(self, schedule_id: str, owner: str | None, limit: int) -> ScheduleRunList:
        """Return the runs of a schedule, the latest first. Raises ``NotFound``."""
        self.get(schedule_id, owner)
        return ScheduleRunList(runs=tuple(self._stored.runs(schedule_id, limit)))

    def status(self, schedule: Schedule) -> ScheduleStatus:
        """Return a schedule with its last run and what it used today."""
        last = self._stored.runs(schedule.id, 1)
        today = [
            run
            for run in self._stored.runs_since(start_of_day(self._clock.now()))
            if run.schedule_id == schedule.id
        ]
        return ScheduleStatus(
            schedule=schedule,
            last_run=last[0] if last else None,
            runs_today=sum(run.counts for run in today),
            cost_today_micro_usd=sum(run.cost_micro_usd or 0 for run in today),
        )

    def _update(self, schedule: Schedule, command: PatchSchedule) -> dict[str, Any]:
        update: dict[str, Any] = {}
        if command.state is not None:
            update |= {"state": command.state, "state_reason": None}
        if command.options is not None:
            _check_work(command.options)
            update["options"] = _titled(_kept_by_agent(schedule, command.options))
        if command.trigger is not None:
            update["trigger"] = _settled_trigger(command.trigger)
            if not isinstance(command.trigger, FilesTrigger):
                update["postponed"] = None
            if schedule.state == "ended":
                update |= {"state": "active", "state_reason": None}
        return update

    def _check(
        self,
        limits: ScheduleLimits,
        trigger: Trigger,
        options: ScheduleOptions,
        now: datetime,
        owner: str | None,
    ) -> None:
        check_schedule(limits, trigger, options, now)
        if options.session_id is not None:
            session = self._sessions.get(options.session_id)
            if owner is not None and session.owner not in {None, owner}:
                raise NotFound(f"There is no conversation {options.session_id}.")


def next_time(schedule: Schedule, after: datetime, general: QuietHours | None) -> str | None:
    """Return when an active schedule is due next, as it is stored; None otherwise."""
    if schedule.state != "active":
        return None
    if schedule.postponed is not None:
        return schedule.next_at or stored(after)
    created = parse_moment(schedule.created_at)
    found = next_run(schedule.trigger, after, created, quiet_of(schedule, general))
    if found is None:
        return None
    expires = schedule.options.expires_at
    if expires is not None and found > parse_moment(expires):
        return None
    return stored(found)


def quiet_of(schedule: Schedule, general: QuietHours | None) -> tuple[QuietHours, ...]:
    """Return the quiet hours of a schedule: its own, and those of all."""
    return tuple(hours for hours in (schedule.options.quiet_hours, general) if hours is not None)


def start_of_day(now: datetime) -> str:
    """Return the start of the server's day, for the limits of a day."""
    local = now.astimezone()
    return stored(local.replace(hour=0, minute=0, second=0, microsecond=0))


def ended_reason(schedule: Schedule) -> str:
    """Return why a schedule without a next time is over."""
    if isinstance(schedule.trigger, OnceTrigger):
        return "It ran."
    return "It expired." if schedule.options.expires_at else "It is never due again."


def _visible(schedule: Schedule, owner: str | None) -> bool:
    return owner is None or schedule.owner in {None, owner}


def _options(command: PostSchedule) -> ScheduleOptions:
    return ScheduleOptions(
        **{name: getattr(command, name) for name in ScheduleOptions.model_fields}
    )


def _check_work(options: ScheduleOptions) -> None:
    if not (options.prompt or "").strip() and options.notebook is None:
        raise InvalidRequest("options: a schedule needs a prompt or a notebook.")


def _titled(options: ScheduleOptions) -> ScheduleOptions:
    """Return the options with a title, and times in UTC."""
    update: dict[str, Any] = {}
    if not options.title.strip():
        text = options.prompt if options.notebook is None else options.notebook
        update["title"] = " ".join((text or "").split())[:TITLE_CHARACTERS]
    if options.expires_at is not None:
        update["expires_at"] = stored(parse_moment(options.expires_at, field="expires_at"))
    return options.model_copy(update=update) if update else options


def _settled_trigger(trigger: Trigger) -> Trigger:
    """Return the trigger with a time in UTC, so that rules of time zones do not move it."""
    if not isinstance(trigger, OnceTrigger):
        return trigger
    at = stored(parse_moment(trigger.at, trigger.time_zone))
    return trigger.model_copy(update={"at": at})


def _kept_by_agent(schedule: Schedule, options: ScheduleOptions) -> ScheduleOptions:
    """Return the options of a schedule the agent made, which the person may change freely."""
    if schedule.created_by == "agent" and options.expires_at is None:
        return options.model_copy(update={"expires_at": schedule.options.expires_at})
    return options
