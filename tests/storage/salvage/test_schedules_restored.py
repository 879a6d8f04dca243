"""Schedules and their runs survive a damaged database."""

from __future__ import annotations

from pathlib import Path

from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    IntervalTrigger,
    Schedule,
    ScheduleOptions,
    ScheduleRun,
)
from tests.storage.store import OpenStore

AT = "2026-11-29T08:00:00.000Z"
SCHEDULE = Schedule(
    id="sched_a",
    revision=1,
    trigger=IntervalTrigger(seconds=3600),
    options=ScheduleOptions(title="Look", prompt="Look."),
    state="active",
    created_by="person",
    owner=None,
    created_at=AT,
    updated_at=AT,
    next_at="2026-11-29T09:00:00.000Z",
)
RUN = ScheduleRun(
    id="srun_a", schedule_id="sched_a", cause="time", due_at=AT, started_at=AT, state="running"
)


def test_schedules_and_open_runs_are_restored(open_store: OpenStore, state_dir: Path) -> None:
    store = open_store()
    store.add("one")
    stored = SqliteSchedules(store.database, store.log)
    stored.add(SCHEDULE)
    assert stored.begin_run(RUN)
    store.database.checkpoint()
    store.crash()
    with (state_dir / "state.db").open("r+b") as file:
        file.write(b"\0" * 16)

    again = open_store()
    restored = SqliteSchedules(again.database, again.log)

    assert restored.all() == [SCHEDULE]
    assert restored.open_runs() == [RUN]
    assert restored.next_at() == SCHEDULE.next_at
    assert not restored.begin_run(RUN), "it has begun"
    assert again.directory.damage_report() is not None
