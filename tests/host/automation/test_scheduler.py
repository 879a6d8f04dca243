"""The scheduler with a clock that the test moves: late times, jumps, limits, restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal, StateUnavailable
from jupyter_ai_shoulders.host.automation.admission import Admission, RunPolicy
from jupyter_ai_shoulders.host.automation.limits import LimitSource
from jupyter_ai_shoulders.host.automation.ports import Notification
from jupyter_ai_shoulders.host.automation.run_driver import RunDriver
from jupyter_ai_shoulders.host.automation.scheduler import Scheduler
from jupyter_ai_shoulders.host.automation.service import ScheduleOrigin, ScheduleService
from jupyter_ai_shoulders.host.automation.timing import stored
from jupyter_ai_shoulders.host.settings.file_parser import restricts
from jupyter_ai_shoulders.host.settings.preferences import Preferences
from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    CronTrigger,
    FilesTrigger,
    IntervalTrigger,
    OnceTrigger,
    PatchSchedule,
    PostSchedule,
    Schedule,
    ScheduleRun,
)
from tests.storage.store import Store

START = datetime(2026, 6, 1, 8, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FREE = {"shortest_interval_s": 60, "runs_per_day": 10_000, "most_schedules": 100}


@dataclass
class SettableClock:
    """A wall clock that can be set apart from the monotonic one."""

    moment: datetime = START
    ticks: float = 0.0

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.ticks

    def pass_by(self, by: timedelta) -> None:
        """Let time pass."""
        self.moment += by
        self.ticks += by.total_seconds()

    def set_by(self, by: timedelta) -> None:
        """Set the wall clock."""
        self.moment += by


@dataclass
class QuickDriver:
    """Runs end at once, unless told to hold them."""

    schedules: SqliteSchedules
    clock: SettableClock
    holds: bool = False
    cost: int = 0
    started: list[tuple[ScheduleRun, RunPolicy]] = field(
        default_factory=list[tuple[ScheduleRun, RunPolicy]]
    )

    def start(self, run: ScheduleRun, schedule: Schedule, policy: RunPolicy) -> None:
        self.started.append((run, policy))
        if not self.holds:
            ended = {"state": "done", "ended_at": run.started_at, "cost_micro_usd": self.cost}
            self.schedules.update_run(run.model_copy(update=ended))

    async def aclose(self) -> None:
        """Do nothing."""


class Told:
    """What the person was told."""

    def __init__(self) -> None:
        self.all: list[Notification] = []

    def notify(self, notification: Notification) -> None:
        """Collect it."""
        self.all.append(notification)


class Place:
    """A scheduler on a state directory, as one process has it."""

    def __init__(self, folder: Path, clock: SettableClock, limits: dict[str, Any]) -> None:
        self.clock, self.told = clock, Told()
        self.store = Store(folder / "state", cast("Any", clock))
        self.schedules = SqliteSchedules(self.store.database, self.store.log)
        (folder / "user").mkdir(exist_ok=True)
        preferences = Preferences(
            StateFile(StateDirectory(folder / "workspace"), "settings.json"),
            StateFile(StateDirectory(folder / "user"), "settings.json"),
            {"schedules": limits},
        )
        source = LimitSource(preferences)
        ids = CountingIds()
        self.service = ScheduleService(self.schedules, source, self.store.sessions, clock, ids)
        self.scheduler = Scheduler(
            self.service,
            self.schedules,
            Admission(self.schedules, source, self.store.sessions, "ask"),
            notifier=self.told,
            clock=clock,
            ids=ids,
        )
        self.driver = QuickDriver(self.schedules, clock)

    def begin(self) -> None:
        """Start as a process does, without its own loop."""
        self.scheduler.take_up(lambda: cast("RunDriver", self.driver))

    async def make(self, trigger: Any, **options: Any) -> Schedule:
        origin = options.pop("origin", ScheduleOrigin(None))
        fields: dict[str, Any] = {"prompt": "Look."} | options
        command = PostSchedule(trigger=trigger, **fields)
        return await self.service.create(command, origin)

    async def let_pass(self, span: timedelta, step: timedelta = timedelta(minutes=5)) -> None:
        """Let time pass in steps, with a look after each."""
        for _ in range(span // step):
            self.clock.pass_by(step)
            await self.scheduler.tick()

    @property
    def due(self) -> list[str]:
        """When the started runs were due."""
        return [run.due_at[5:16] for run, _ in self.driver.started]


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def places(tmp_path: Path, clock: SettableClock) -> Iterator[Any]:
    """Makes places; the last one's files are released first."""
    made: list[Place] = []

    def make(**limits: Any) -> Place:
        for place in made:
            place.store.crash()
        made.append(Place(tmp_path, clock, FREE | limits))
        return made[-1]

    yield make
    for place in made:
        place.store.crash()


HOURLY = IntervalTrigger(seconds=3600)


async def test_each_kind_runs_at_its_times(places: Any) -> None:
    place = places()
    place.begin()
    await place.make(HOURLY)
    once = await place.make(OnceTrigger(at="2026-06-01T10:30", time_zone="Europe/Berlin"))
    await place.make(CronTrigger(expression="15 11 * * *", time_zone="Europe/Berlin"))

    await place.let_pass(2 * HOUR)

    assert place.due == ["06-01T08:30", "06-01T09:00", "06-01T09:15", "06-01T10:00"]
    assert {run.cause for run, _ in place.driver.started} == {"time"}
    assert place.schedules.get(once.id).state == "ended"


@pytest.mark.parametrize(("missed", "late"), [("run", ["06-01T09:00"]), ("skip", [])])
async def test_times_without_a_server_run_once_or_not_at_all(
    places: Any, clock: SettableClock, missed: str, late: list[str]
) -> None:
    first = places()
    await first.make(HOURLY, missed=missed)
    clock.pass_by(30 * HOUR)

    second = places()
    second.begin()
    await second.scheduler.tick()
    assert second.due == late
    await second.let_pass(HOUR)

    assert second.due == [*late, "06-02T15:00"]


@pytest.mark.parametrize(
    ("jumps", "expected"),
    [
        # one late run, no backlog of the 23 others
        ([DAY], ["06-01T09:00", "06-01T10:00", "06-02T10:00", "06-02T11:00"]),
        ([-DAY], ["06-01T09:00", "05-31T10:00", "05-31T11:00"]),
        ([DAY, -DAY], ["06-01T09:00", "06-01T10:00", "06-01T11:00"]),
        # the time that was due on the wrong day runs late, once
        ([-DAY, DAY], ["06-01T09:00", "05-31T10:00", "06-01T10:00", "06-01T11:00"]),
    ],
)
async def test_a_wall_clock_that_jumps_fires_no_backlog_and_nothing_twice(
    places: Any, clock: SettableClock, jumps: list[timedelta], expected: list[str]
) -> None:
    place = places()
    place.begin()
    cron = CronTrigger(expression="0 * * * *", time_zone="UTC")
    await place.make(cron)
    await place.let_pass(HOUR + timedelta(minutes=30))
    for jump in jumps:
        clock.set_by(jump)
        await place.scheduler.tick()
        await place.scheduler.tick()
    await place.let_pass(timedelta(minutes=100))

    ids = [run.id for run, _ in place.driver.started]
    assert len(set(ids)) == len(ids)
    assert place.due == expected


async def test_limits_of_a_day_stop_runs_and_say_so_once(places: Any) -> None:
    place = places(runs_per_day=3)
    place.begin()
    schedule = await place.make(HOURLY)

    await place.let_pass(6 * HOUR)

    assert len(place.driver.started) == 3
    refused = [run for run in place.schedules.runs(schedule.id, 9) if run.state == "refused"]
    assert len(refused) == 3
    assert "3 times a day" in (refused[0].message or "")
    assert "administrator" in (refused[0].message or "")
    assert len({said.key for said in place.told.all}) == 1
    await place.let_pass(DAY)
    assert len(place.driver.started) == 6, "the next day has its own"


async def test_money_of_a_day_stops_prompts_and_bounds_each_run(places: Any) -> None:
    place = places(usd_per_day=0.10)
    place.driver.cost = 40_000
    place.begin()
    await place.make(HOURLY)
    own = await place.make(HOURLY, micro_usd_per_day=50_000)
    plain = await place.make(HOURLY, prompt=None, notebook="a.ipynb")

    await place.let_pass(3 * HOUR)

    caps = [policy.micro_usd for _, policy in place.driver.started]
    assert caps == [100_000, 10_000 + 40_000, 20_000, 0, 0]
    assert all(run.state == "done" for run in place.schedules.runs(plain.id, 9)), "it costs nothing"
    states = [run.state for run in reversed(place.schedules.runs(own.id, 9))]
    assert states == ["done", "refused", "refused"]


async def test_a_run_at_work_keeps_others_back_and_its_own_schedule_too(places: Any) -> None:
    place = places(most_concurrent=1)
    place.driver.holds = True
    place.begin()
    await place.make(HOURLY, title="first")
    await place.make(HOURLY, title="second")

    await place.let_pass(HOUR)
    assert len(place.driver.started) == 1
    run = place.driver.started[0][0]
    place.schedules.update_run(run.model_copy(update={"state": "waiting"}))
    await place.scheduler.tick()
    assert len(place.driver.started) == 2, "one that waits does not count"
    second = place.driver.started[1][0]
    place.schedules.update_run(second.model_copy(update={"state": "waiting"}))
    await place.let_pass(HOUR)

    assert len(place.driver.started) == 2
    refused = place.schedules.runs(run.schedule_id, 1)[0]
    assert (refused.state, refused.cause) == ("refused", "time")
    assert "has not ended" in (refused.message or "")


async def test_quiet_hours_expiry_and_pause_stop_runs(places: Any) -> None:
    place = places(quiet_hours="09:30-11:30 UTC")
    place.begin()
    schedule = await place.make(HOURLY, expires_at="2026-06-01T13:30+00:00")
    paused = await place.make(HOURLY)
    await place.service.change(paused.id, PatchSchedule(revision=1, state="paused"), None)

    await place.let_pass(8 * HOUR)

    assert place.due == ["06-01T09:00", "06-01T12:00", "06-01T13:00"]
    ended = place.schedules.get(schedule.id)
    assert (ended.state, ended.state_reason) == ("ended", "It expired.")
    assert place.schedules.next_at() is None, "nothing to wait for"


async def test_a_watcher_runs_once_per_change_and_later_when_it_may_not_now(
    places: Any, clock: SettableClock
) -> None:
    place = places(quiet_hours="09:00-10:00 UTC")
    place.begin()
    made = await place.make(FilesTrigger(globs=("*.csv",)))

    first = await place.scheduler.files_changed(made.id, ["a.csv"], "change1")
    again = await place.scheduler.files_changed(made.id, ["a.csv"], "change1")
    clock.pass_by(HOUR)
    quiet = await place.scheduler.files_changed(made.id, ["b.csv"], "change2")
    assert await place.scheduler.files_changed(made.id, ["c.csv", "b.csv"], "change3") is None
    title = PatchSchedule(revision=1, options=made.options.model_copy(update={"title": "New"}))
    await place.service.change(made.id, title, None)
    await place.let_pass(2 * HOUR)
    # reported again after a crash between the run and the record of the watcher
    repeated = await place.scheduler.files_changed(made.id, ["c.csv", "b.csv"], "change3")

    assert first is not None
    assert (first.cause, first.files) == ("files", ("a.csv",))
    assert (again, quiet, repeated) == (None, None, None)
    assert place.due == ["06-01T08:00", "06-01T10:00"]
    later, _ = place.driver.started[1]
    assert (later.cause, later.files) == ("files", ("b.csv", "c.csv"))
    assert place.schedules.get(made.id).postponed is None


async def test_a_watcher_that_waited_for_a_slot_names_all_files(
    places: Any, clock: SettableClock
) -> None:
    place = places(most_concurrent=1)
    place.driver.holds = True
    place.begin()
    made = await place.make(FilesTrigger(globs=("*.csv",)))
    running = await place.scheduler.files_changed(made.id, ["a.csv"], "change1")

    await place.scheduler.files_changed(made.id, ["b.csv"], "change2")
    place.schedules.update_run(running.model_copy(update={"state": "done"}))
    begun = await place.scheduler.files_changed(made.id, ["c.csv"], "change3")
    await place.let_pass(HOUR)

    assert begun is not None
    assert begun.files == ("b.csv", "c.csv")
    assert [run.files for run, _ in place.driver.started] == [("a.csv",), ("b.csv", "c.csv")]


async def test_a_watcher_that_expired_runs_no_more(places: Any, clock: SettableClock) -> None:
    place = places()
    place.begin()
    made = await place.make(FilesTrigger(globs=("*.csv",)), expires_at="2026-06-01T08:30+00:00")
    clock.pass_by(HOUR)

    assert await place.scheduler.files_changed(made.id, ["a.csv"], "change1") is None

    ended = place.schedules.get(made.id)
    assert (ended.state, ended.state_reason) == ("ended", "It expired.")


def with_unknown_zone(place: Place, schedule: Schedule) -> None:
    zone = CronTrigger(expression="0 * * * *", time_zone="Mars/One")
    place.schedules.update(schedule.model_copy(update={"trigger": zone}))


def with_other_next_time(place: Place, schedule: Schedule) -> None:
    body = schedule.model_copy(update={"next_at": None}).model_dump_json()
    set_body(place, schedule, body)


def unreadable(place: Place, schedule: Schedule) -> None:
    set_body(place, schedule, "{}")


def set_body(place: Place, schedule: Schedule, body: str) -> None:
    with place.store.database.transaction("test") as connection:
        connection.execute("UPDATE schedules SET body = ? WHERE id = ?", (body, schedule.id))


@pytest.mark.parametrize("jump", [timedelta(), -DAY], ids=["at its time", "when planned again"])
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (with_unknown_zone, "no time zone 'Mars/One'"),
        (with_other_next_time, "it is due"),
        (unreadable, "damaged"),
    ],
)
async def test_a_schedule_that_fails_is_paused_and_the_others_go_on(
    places: Any,
    clock: SettableClock,
    damage: Callable[[Place, Schedule], None],
    words: str,
    jump: timedelta,
) -> None:
    place = places()
    place.begin()
    broken = await place.make(HOURLY, title="Broken")
    sound = await place.make(HOURLY)
    damage(place, broken)
    await place.scheduler.tick()
    clock.set_by(jump)

    await place.let_pass(DAY + HOUR)

    ran = [run for run, _ in place.driver.started]
    assert len(ran) == (1 if jump else 25)
    assert {run.schedule_id for run in ran} == {sound.id}
    (told,) = place.told.all
    assert words in told.message
    assert told.level == "error"
    if damage is not unreadable:
        paused = place.schedules.get(broken.id)
        assert (paused.state, paused.state_reason) == ("paused", told.message)
    assert place.schedules.next_at() > stored(clock.now()), "the loop can sleep"


async def test_the_loop_goes_on_after_an_error_that_nobody_expected(
    places: Any, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = places()
    sleeps = asyncio.Queue[float]()

    async def sleep(seconds: float) -> None:
        sleeps.put_nowait(seconds)
        clock.pass_by(timedelta(seconds=seconds))

    def broken(now: str) -> list[Schedule]:
        del now
        monkeypatch.undo()
        raise RuntimeError("A bug.")

    monkeypatch.setattr(place.schedules, "due", broken)
    place.scheduler._sleep = sleep
    await place.make(OnceTrigger(at="2026-06-01T08:01:30"))
    place.scheduler.start(lambda: cast("RunDriver", place.driver))
    async with asyncio.timeout(5):
        assert [await sleeps.get() for _ in range(2)] == [60.0, 30.0]
        while not place.driver.started:  # noqa: ASYNC110 it starts within the loop's next steps
            await asyncio.sleep(0)
    await place.scheduler.aclose()


async def test_a_run_begun_before_a_crash_goes_on_and_is_not_begun_again(
    places: Any, clock: SettableClock
) -> None:
    first = places()
    first.driver.holds = True
    first.begin()
    await first.make(HOURLY)
    await first.let_pass(HOUR)
    (begun, _) = first.driver.started[0]

    second = places()
    second.begin()
    await second.scheduler.tick()

    assert [run.id for run, _ in second.driver.started] == [begun.id]
    assert len(second.schedules.runs(begun.schedule_id, 9)) == 1


async def test_the_loop_sleeps_until_the_next_time_and_for_ever_without_one(
    places: Any, clock: SettableClock
) -> None:
    place = places()
    sleeps: list[float] = []

    async def sleep(seconds: float) -> None:
        sleeps.append(seconds)
        clock.pass_by(timedelta(seconds=seconds))
        await asyncio.sleep(0)

    place.scheduler._sleep = sleep
    place.scheduler.start(lambda: cast("RunDriver", place.driver))
    await asyncio.sleep(0.02)
    assert sleeps == [], "no polling"
    schedule = await place.make(OnceTrigger(at="2026-06-01T08:01:15"))
    for _ in range(1_000):
        await asyncio.sleep(0 if place.driver.started else 0.001)
    await place.scheduler.aclose()

    assert sleeps == [30.0, 30.0, 15.0]
    assert place.schedules.get(schedule.id).next_at is None


async def test_what_the_agent_made_never_exceeds_its_conversation(places: Any) -> None:
    place = places(agent=True)
    place.begin()
    parent = place.store.add("parent", mode="plan", toolset="notebook")
    origin = ScheduleOrigin(None, "agent", parent.id, "To look again")
    await place.make(HOURLY, mode="auto_edit", toolset="full", origin=origin)

    await place.let_pass(HOUR)

    ((_, policy),) = place.driver.started
    assert (policy.mode, policy.toolset) == ("plan", "notebook")
    place.store.sessions.delete(parent.id)
    await place.let_pass(HOUR)
    assert len(place.driver.started) == 1
    assert "was deleted" in place.told.all[-1].message


async def test_what_the_agent_made_stops_once_that_is_switched_off(places: Any) -> None:
    place = places()
    place.begin()
    parent = place.store.add("parent")
    await place.make(HOURLY, origin=ScheduleOrigin(None, "agent", parent.id, "Again"))

    await place.let_pass(HOUR)

    assert place.driver.started == []
    assert "switched off" in place.told.all[0].message


def test_a_folder_can_only_tighten_and_never_switch_the_agents_schedules_on() -> None:
    assert not restricts("schedules.agent", value=True, current=False)
    assert restricts("schedules.agent", value=False, current=True)
    for name, tighter, wider in (
        ("shortest_interval_s", 1800, 60),
        ("runs_per_day", 1, 999),
        ("usd_per_day", 0.1, 50.0),
        ("most_concurrent", 1, 9),
        ("largest_toolset", "document", "full"),
    ):
        current: Any = {"shortest_interval_s": 900, "largest_toolset": "notebook"}.get(name, 5)
        assert restricts(f"schedules.{name}", tighter, current), name
        assert not restricts(f"schedules.{name}", wider, current), name


async def test_a_run_starts_only_once_its_beginning_is_on_the_disk(
    places: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = places()
    place.begin()
    schedule = await place.make(HOURLY)

    async def full() -> None:
        raise StateUnavailable("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(place.schedules, "sync", full)
        with pytest.raises(StateUnavailable):
            await place.let_pass(HOUR)
    assert place.driver.started == []
    await place.scheduler.tick()

    assert [run.schedule_id for run, _ in place.driver.started] == [schedule.id]
    assert len(place.schedules.runs(schedule.id, 9)) == 1


async def test_deleting_a_schedule_gives_no_runs_or_money_back(
    clock: SettableClock, places: Any
) -> None:
    place: Place = places(runs_per_day=2, usd_per_day=1.0)
    place.begin()
    place.driver.cost = 400_000
    for _ in range(2):
        made = await place.make(HOURLY)
        await place.scheduler.run_now(made.id, None)
        await place.service.delete(made.id, None)
    made = await place.make(HOURLY)

    with pytest.raises(PolicyRefusal, match="may run 2 times a day"):
        await place.scheduler.run_now(made.id, None)

    clock.pass_by(DAY)
    await place.scheduler.run_now(made.id, None)
    await place.service.delete(made.id, None)
    assert len(place.schedules.runs_since("")) == 1


async def test_a_run_whose_schedule_was_deleted_holds_no_place_after_a_restart(
    clock: SettableClock, places: Any
) -> None:
    place: Place = places(most_concurrent=1)
    place.begin()
    place.driver.holds = True
    made = await place.make(HOURLY)
    await place.scheduler.run_now(made.id, None)
    await place.service.delete(made.id, None)
    assert len(place.schedules.open_runs()) == 1, "it still works"

    again: Place = places(most_concurrent=1)
    again.begin()

    assert again.driver.started == []
    assert again.schedules.open_runs() == []
