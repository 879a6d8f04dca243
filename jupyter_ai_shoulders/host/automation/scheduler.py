"""Starts what is due, and sleeps until the next time.

One process runs it: the one that holds the workspace's state (``storage.process_lock``). It costs
nothing without schedules: it then waits for a change. Sleeps are bounded and monotonic, and the
wall clock is read again after each, so a clock that jumps fires no backlog and nothing twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jupyter_ai_shoulders.core.clock import Clock, IdSource, Sleep
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.host.automation.admission import Admission, RunPolicy
from jupyter_ai_shoulders.host.automation.failing_schedules import FailingSchedules
from jupyter_ai_shoulders.host.automation.ports import Notifier
from jupyter_ai_shoulders.host.automation.postponed import postponed, started, with_postponed
from jupyter_ai_shoulders.host.automation.run_notices import run_notification
from jupyter_ai_shoulders.host.automation.service import (
    ScheduleService,
    ended_reason,
    next_time,
    quiet_of,
)
from jupyter_ai_shoulders.host.automation.starts import Start, due_start
from jupyter_ai_shoulders.host.automation.timing import (
    dated_copy,
    decide_due,
    end_of_quiet,
    parse_moment,
    run_id,
    stored,
)
from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    CronTrigger,
    FilesTrigger,
    OnceTrigger,
    Schedule,
    ScheduleRun,
)
from jupyter_ai_shoulders.wire.ids import SessionId

if TYPE_CHECKING:
    from jupyter_ai_shoulders.host.automation.run_driver import RunDriver

_log = logging.getLogger(__name__)

SLICE_SECONDS = 30.0
"""The longest sleep while something is scheduled; the wall clock is read again after it."""
STEP_SECONDS = 60.0
"""A wall clock that is back by more than this was set."""
RETRY_SECONDS = 60.0
"""After a failure, for instance a full disk."""


class Scheduler:
    """Starts the runs of all schedules. ``start`` and ``aclose`` it."""

    def __init__(
        self,
        service: ScheduleService,
        schedules: SqliteSchedules,
        admission: Admission,
        *,
        notifier: Notifier,
        clock: Clock,
        ids: IdSource,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._service = service
        self._schedules = schedules
        self._admission = admission
        self._notifier = notifier
        self._clock = clock
        self._ids = ids
        self._sleep = sleep
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._make_driver: Callable[[], RunDriver] | None = None
        self._driver: RunDriver | None = None
        self._failing = FailingSchedules(service, schedules, notifier, clock)
        self._seen: tuple[datetime, float] | None = None
        self._begun: list[tuple[ScheduleRun, Schedule, RunPolicy]] = []
        """Runs that are stored, and not yet known to be on the disk."""
        service.on_change(self._wake.set)

    def start(self, make_driver: Callable[[], RunDriver]) -> None:
        """Take up the runs of the last process, then start what is due from now on.

        The driver is made for the first run, as its modules are imported then.
        """
        self.take_up(make_driver)
        self._loop = asyncio.create_task(self._run(), name="schedules")

    @property
    def is_running(self) -> bool:
        """Whether this process starts what is due."""
        return self._loop is not None

    async def aclose(self) -> None:
        """Start nothing more and stop following runs."""
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
        if self._driver is not None:
            await self._driver.aclose()

    async def run_now(self, schedule_id: str, owner: str | None) -> ScheduleRun:
        """Start a run because the person wants it.

        Raises ``NotFound``, ``Conflict`` (it runs already, too many run), ``PolicyRefusal``.
        """
        schedule = self._service.get(schedule_id, owner)
        if self._make_driver is None:
            raise Conflict("Schedules run on a server; there is none here.", code="disabled")
        if self._admission.is_full():
            raise Conflict("As many scheduled runs are at work as allowed.", retryable=True)
        now = self._clock.now()
        policy = self._admission.policy(schedule, now)
        begin = Start(schedule, self._ids.new("person"), "person", now)
        run = await self._begin(begin, policy)
        assert run is not None, "a new key begins a run"
        return run

    async def files_changed(
        self, schedule_id: str, files: Sequence[str], key: str
    ) -> ScheduleRun | None:
        """Start a run of a watcher; None if it is postponed, paused, or began with this key before.

        A run that may not start is stored as refused. Raises ``NotFound``, ``InvalidRequest``.
        """
        schedule = self._schedules.get(schedule_id)
        if not isinstance(schedule.trigger, FilesTrigger):
            raise InvalidRequest(f"{schedule_id} is not a watcher.")
        if schedule.state != "active" or self._make_driver is None:
            return None
        now = self._clock.now()
        if _has_expired(schedule, now):
            self._schedules.advance(_ended(schedule, "It expired."))
            self._service.changed()
            return None
        later = self._later(schedule, now)
        if later is not None:
            self._schedules.advance(postponed(schedule, files, key, later))
            self._service.changed()
            return None
        begin = Start(schedule, key, "files", now, with_postponed(schedule, files))
        return await self._admit(begin, started(schedule))

    async def tick(self) -> None:
        """Start everything that is due now."""
        now = self._clock.now()
        self._notice_clock_step(now)
        await self._start_begun()
        self._failing.set_aside_unreadable(stored(now))
        for schedule in self._schedules.due(stored(now)):
            if self._admission.is_full():
                return  # the end of a run wakes us
            try:
                with self._failing.isolated(schedule):
                    await self._handle_due(schedule, now)
            except (Conflict, NotFound):  # changed or deleted since: the next look decides
                self._wake.set()

    # the loop

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self.tick()
                delay = self._delay()
            except Exception:  # noqa: BLE001 the disk, or a bug: it must not end all scheduling
                _log.exception("Schedules cannot be looked after; trying again in a minute.")
                delay = RETRY_SECONDS
            await self._pause(delay)

    def _delay(self) -> float | None:
        """Return how long to sleep; None until something changes."""
        next_at = self._schedules.next_at()
        if next_at is None or self._admission.is_full():
            return None
        left = (parse_moment(next_at) - self._clock.now()).total_seconds()
        return min(max(left, 0.0), SLICE_SECONDS)

    async def _pause(self, delay: float | None) -> None:
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._wake.wait())]
        if delay is not None:
            waits.append(asyncio.ensure_future(_slept(self._sleep, delay)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _notice_clock_step(self, now: datetime) -> None:
        """Plan again when the wall clock was set back; a run of the same time is never repeated."""
        monotonic = self._clock.monotonic()
        if self._seen is not None:
            passed = timedelta(seconds=monotonic - self._seen[1])
            if now < self._seen[0] + passed - timedelta(seconds=STEP_SECONDS):
                self._plan_again(now)
        self._seen = (now, monotonic)

    def _plan_again(self, now: datetime) -> None:
        general = self._service.limits.current().quiet_hours
        for schedule in self._schedules.all():
            if schedule.next_at is not None and not isinstance(schedule.trigger, OnceTrigger):
                with self._failing.isolated(schedule):
                    planned = next_time(schedule, now, general)
                    self._schedules.advance(schedule.model_copy(update={"next_at": planned}))

    # starts

    async def _handle_due(self, schedule: Schedule, now: datetime) -> None:
        assert schedule.next_at is not None, "it is due"
        due = parse_moment(schedule.next_at)
        general = self._service.limits.current().quiet_hours
        decision = decide_due(due, now, schedule.options.missed, quiet_of(schedule, general))
        later = decision.postponed or self._later(schedule, now)
        if later is not None and isinstance(schedule.trigger, FilesTrigger | OnceTrigger):
            self._schedules.advance(schedule.model_copy(update={"next_at": stored(later)}))
            return
        after = self._after(schedule, now)
        if _has_expired(schedule, now):
            self._schedules.advance(_ended(schedule, "It expired."))
        elif decision.starts:
            await self._admit(due_start(schedule, schedule.next_at, decision.cause, due), after)
            return
        elif decision.postponed is not None:
            self._schedules.advance(
                schedule.model_copy(update={"next_at": stored(decision.postponed)})
            )
        else:
            self._schedules.advance(after)
        self._service.changed()

    def _later(self, schedule: Schedule, now: datetime) -> datetime | None:
        """Return when to look again at a watcher that may not run now, None if it may."""
        if not isinstance(schedule.trigger, FilesTrigger):
            return None
        general = self._service.limits.current().quiet_hours
        allowed = end_of_quiet(now, quiet_of(schedule, general))
        if allowed != now:
            return allowed
        busy = self._admission.is_full() or self._admission.is_busy(schedule)
        return now + timedelta(seconds=SLICE_SECONDS) if busy else None

    def _after(self, schedule: Schedule, now: datetime) -> Schedule:
        """Return the schedule with its next time, or at its end."""
        if isinstance(schedule.trigger, FilesTrigger):
            return started(schedule)
        general = self._service.limits.current().quiet_hours
        planned = next_time(schedule, now, general)
        if planned is None:
            return _ended(schedule, ended_reason(schedule))
        return schedule.model_copy(update={"next_at": planned})

    async def _admit(self, begin: Start, after: Schedule | None) -> ScheduleRun | None:
        """Begin a run, or store that it was refused; ``after`` is the schedule with its next time.

        Return None if it began before.
        """
        try:
            policy = self._admission.policy(begin.schedule, self._clock.now())
        except ShouldersError as error:
            return self._refuse(begin, error, after)
        return await self._begin(begin, policy, after)

    async def _begin(
        self, begin: Start, policy: RunPolicy, after: Schedule | None = None
    ) -> ScheduleRun | None:
        run = self._new_run(begin, {"state": "starting"})
        if not self._schedules.begin_run(run, after):
            return None
        self._begun.append((run, begin.schedule, policy))
        await self._start_begun()
        return run

    async def _start_begun(self) -> None:
        """Drive the runs that have begun, once that is on the disk.

        Raises ``StateUnavailable``; the next look tries again.
        """
        if not self._begun:
            return
        await self._schedules.sync()
        crash_point("schedules.run.synced")
        begun, self._begun = self._begun, []
        for run, schedule, policy in begun:
            self._drive(run, schedule, policy)
        self._service.changed()

    def _refuse(
        self, begin: Start, error: ShouldersError, after: Schedule | None
    ) -> ScheduleRun | None:
        hint = f" {error.info.hint}" if error.info.hint else ""
        update = {
            "state": "refused",
            "message": f"{error.info.message}{hint}",
            "ended_at": stored(self._clock.now()),
            "session_id": None,
        }
        run = self._new_run(begin, update)
        if not self._schedules.begin_run(run, after):
            return None
        limit = (error.info.details or {}).get("limit", error.info.code)
        day = self._clock.now().astimezone().date().isoformat()
        self._notifier.notify(
            run_notification(run, begin.schedule, key=f"{begin.schedule.id}:{limit}:{day}")
        )
        self._service.changed()
        return run

    def _new_run(self, begin: Start, update: dict[str, Any]) -> ScheduleRun:
        schedule, options = begin.schedule, begin.schedule.options
        made = run_id(schedule.id, begin.key)
        notebook, copied_from = options.notebook, None
        if notebook is not None and options.output == "copy":
            copied_from = notebook
            notebook = dated_copy(notebook, begin.due, _time_zone(schedule))
        own = SessionId(made.replace("srun_", "ses_"))
        run = ScheduleRun(
            id=made,
            schedule_id=schedule.id,
            cause=begin.cause,
            due_at=stored(begin.due),
            started_at=stored(self._clock.now()),
            state="starting",
            session_id=options.session_id or own,
            notebook=notebook,
            copied_from=copied_from,
            files=begin.files,
        )
        return run.model_copy(update=update)

    def take_up(self, make_driver: Callable[[], RunDriver]) -> None:
        """Drive on the runs that the last process had begun; none of their effects repeats."""
        self._make_driver = make_driver
        now = self._clock.now()
        for run in self._schedules.open_runs():
            try:
                schedule = self._schedules.get(run.schedule_id)
            except NotFound:  # deleted while it ran
                update = {"state": "interrupted", "ended_at": stored(now)}
                self._schedules.update_run(run.model_copy(update=update))
                continue
            self._drive(run, schedule, self._admission.resumed_policy(schedule, now))

    def _drive(self, run: ScheduleRun, schedule: Schedule, policy: RunPolicy) -> None:
        if self._driver is None:
            assert self._make_driver is not None, "runs begin once it is started"
            self._driver = self._make_driver()
        self._driver.start(run, schedule, policy)

    # what happens to runs (``RunEvents``)

    def ended(self, run: ScheduleRun, schedule: Schedule) -> None:
        """Tell the person how a run ended, and look what is due."""
        self._notifier.notify(run_notification(run, schedule, key=f"{run.id}:ended"))
        self._service.changed()

    def changed(self) -> None:
        """Tell the listeners that a run changed."""
        self._service.changed()


async def _slept(sleep: Sleep, seconds: float) -> None:
    await sleep(seconds)


def _ended(schedule: Schedule, reason: str) -> Schedule:
    return schedule.model_copy(update={"next_at": None, "state": "ended", "state_reason": reason})


def _has_expired(schedule: Schedule, now: datetime) -> bool:
    expires = schedule.options.expires_at
    return expires is not None and parse_moment(expires) < now


def _time_zone(schedule: Schedule) -> str:
    trigger = schedule.trigger
    return trigger.time_zone if isinstance(trigger, CronTrigger | OnceTrigger) else "UTC"
