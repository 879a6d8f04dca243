"""``jupyter shoulders schedule``, with a server and without one."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.storage.automation.schedules import SqliteSchedules
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    CronTrigger,
    Schedule,
    ScheduleOptions,
)
from tests.cli.conftest import Terminal
from tests.simulator_process import says
from tests.storage.store import MovableClock, Store


def test_a_schedule_is_made_shown_paused_run_and_deleted(attached: Terminal) -> None:
    attached.plays(says("Good morning."))
    made = attached.says(
        *("schedule", "add", "--cron", "0 9 * * MON-FRI", "--time-zone", "Europe/Berlin"),
        *("--prompt", "Say hello.", "--title", "Greeting", "--json"),
    )
    schedule = made.json["schedule"]["id"]

    listed = attached.says("schedule")
    assert "0 9 * * MON-FRI (Europe/Berlin)" in listed.out
    assert "Greeting" in attached.says("schedule", "show", schedule).out
    assert "paused" in attached.says("schedule", "pause", schedule).out
    assert "active" in attached.says("schedule", "resume", schedule).out
    assert "has begun in the conversation ses_" in attached.says("schedule", "run", schedule).out
    runs = attached.says("schedule", "runs", schedule, "--json").json["runs"]
    assert [(run["cause"], run["schedule_id"]) for run in runs] == [("person", schedule)]
    assert attached.says("schedule", "delete", schedule).code == 0
    assert attached.says("schedule", "show", schedule).code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "--prompt", "x"], "Say when"),
        (["add", "--every", "2h"], "needs a prompt or a notebook"),
        (["add", "--every", "soon", "--prompt", "x"], "write 30min"),
        (["add", "--cron", "0 9 * * *", "--prompt", "x"], "--time-zone"),
        (["add", "--at", "never", "--prompt", "x"], "is no time"),
        (["add", "--every", "1min", "--prompt", "x"], "15 min apart"),
        (["add", "--every", "2h", "--notebook", "none.ipynb"], "no file none.ipynb"),
        (["pause"], "name a schedule"),
        (["show", "sched_none"], "no schedule sched_none"),
    ],
)
def test_what_cannot_be_is_said(attached: Terminal, arguments: list[str], words: str) -> None:
    said = attached.says("schedule", *arguments)

    assert said.code != 0
    assert words in said.err


def test_without_a_server_they_are_listed_and_nothing_else(alone: Terminal) -> None:
    none = alone.says("schedule")
    assert (none.code, none.err) == (0, "No schedules.\n")
    store = Store(alone.root / ".shoulders", MovableClock())
    SqliteSchedules(store.database, store.log).add(
        Schedule(
            id="sched_a",
            revision=1,
            trigger=CronTrigger(expression="0 9 * * *", time_zone="UTC"),
            options=ScheduleOptions(title="Report", prompt="Look."),
            state="active",
            created_by="person",
            owner=None,
            created_at="2026-11-29T08:00:00.000Z",
            updated_at="2026-11-29T08:00:00.000Z",
            next_at="2026-11-30T09:00:00.000Z",
        )
    )
    store.crash()

    listed = alone.says("schedule", "list")
    refused = alone.says("schedule", "run", "sched_a")

    assert "Report" in listed.out
    assert "None of them runs now" in listed.err
    assert alone.says("schedule", "list", "--json").json[0]["id"] == "sched_a"
    assert refused.code == 1
    assert "jupyter lab" in refused.err
