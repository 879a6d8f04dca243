"""Two servers on one workspace, and a state directory that came with a folder."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jupyter_ai_shoulders.host.automation import automation
from jupyter_ai_shoulders.host.automation.service import FOREIGN, ScheduleOrigin
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    IntervalTrigger,
    OnceTrigger,
    PostSchedule,
    ScheduleRun,
)
from tests.host.test_build import NoKernels, NoPages


@asynccontextmanager
async def server(root: Path, home: Path) -> AsyncGenerator[Host]:
    settings = HostSettings(
        workspace=root, state_dir=root / ".shoulders", home=home, runs_schedules=True
    )
    host = build_host(settings, HostPorts(kernels=NoKernels(), pages=NoPages(), environ={}))
    try:
        await host.ready()
        yield host
    finally:
        await host.aclose()


async def ended(host: Host, schedule: str) -> list[ScheduleRun]:
    async with asyncio.timeout(30):
        while True:
            await asyncio.sleep(0.02)
            if host.automation.scheduler.is_running:
                runs = list(host.automation.schedules.runs(schedule, None, 9).runs)
                if runs and all(run.ended_at for run in runs):
                    return runs


async def test_one_server_runs_what_is_due_and_the_other_takes_over_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automation, "TAKE_OVER_SECONDS", 0.05)
    at = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    command = PostSchedule(trigger=OnceTrigger(at=at), prompt="Hello.")

    async with AsyncExitStack() as others:
        async with server(tmp_path, tmp_path) as first:
            made = await first.automation.schedules.create(command, ScheduleOrigin(None))
            second = await others.enter_async_context(server(tmp_path, tmp_path))
            await asyncio.sleep(0.2)
            assert first.automation.scheduler.is_running
            assert not second.automation.scheduler.is_running
        (run,) = await ended(second, made.id)

        assert second.automation.scheduler.is_running
        assert run.state == "done"


async def test_what_came_with_a_folder_runs_only_after_the_person_resumed_it(
    tmp_path: Path,
) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    async with server(theirs, tmp_path / "their-home") as host:
        command = PostSchedule(trigger=IntervalTrigger(seconds=3600), prompt="Do evil.")
        made = await host.automation.schedules.create(command, ScheduleOrigin(None))
    shutil.copytree(theirs, ours)

    async with server(ours, tmp_path / "our-home") as host:
        schedule = host.automation.schedules.get(made.id, None)
        assert (schedule.state, schedule.state_reason) == ("paused", FOREIGN)
        assert schedule.next_at is None
    async with server(theirs, tmp_path / "their-home") as host:
        assert host.automation.schedules.get(made.id, None).state == "active"
