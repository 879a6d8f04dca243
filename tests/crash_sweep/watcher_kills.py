"""Kills servers between the stored change of a watcher and its run: none lost, none twice.

``python -m tests.crash_sweep.watcher_kills --kills 20``. Each life is a forked process with the
real host on the folder of the last one. A file changes before each life, which is killed with
SIGKILL at one of the points. The last life ends by itself; then each changed file is named by
exactly one run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.crash_points import ENABLED, CrashPlan
from jupyter_ai_shoulders.host.automation.service import ScheduleOrigin
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.host.preload import import_for_turns
from jupyter_ai_shoulders.wire.api.automation.schedules import FilesTrigger, PostSchedule
from tests.crash_sweep.schedule_kills import PATIENCE, built, forked, waited

POINTS = (
    "watchers.change.recorded",
    "schedules.run.begun",
    "schedules.run.synced",
    "schedules.session.found",
    "engine.message.synced",
    "watchers.run.started",
    "watchers.change.forgotten",
)
WATCHER = FilesTrigger(globs=("*.csv",), settle_s=1.0)


async def make_watcher(folder: Path) -> None:
    """Store the watcher, and what it sees before anything changes."""
    host = built(folder)
    await host.ready()
    await host.automation.schedules.create(
        PostSchedule(trigger=WATCHER, prompt="Look."), ScheduleOrigin(None)
    )
    async with asyncio.timeout(PATIENCE):
        while not any(state.files is not None for state in host.automation.watchers.states()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await host.aclose()


async def live(folder: Path) -> None:
    """Watch until every changed file is named by a run that has ended."""
    host = built(folder)
    await host.ready()
    wanted = {path.name for path in (folder / "workspace").glob("*.csv")}
    async with asyncio.timeout(PATIENCE):
        while not (wanted <= set(named(host)) and not open_runs(host)):  # noqa: ASYNC110 states
            await asyncio.sleep(0.01)
    await host.aclose()


def open_runs(host: Host) -> bool:
    """Return whether a run has not ended."""
    (status,) = host.automation.schedules.list(None).schedules
    return status.last_run is not None and status.last_run.ended_at is None


def named(host: Host) -> Counter[str]:
    """Return how many runs name each file."""
    (status,) = host.automation.schedules.list(None).schedules
    runs = host.automation.schedules.runs(status.schedule.id, None, 99).runs
    return Counter(line.removeprefix("created: ") for run in runs for line in run.files)


async def check(folder: Path) -> dict[str, Any]:
    """Return how often each file was named."""
    host = built(folder)
    await host.ready()
    found = dict(named(host))
    await host.aclose()
    return found


def play(folder: Path, points: Sequence[str]) -> tuple[int, list[str]]:
    """Kill a server at each of the points; return the kills and what is wrong at the end."""
    (folder / "workspace" / ".shoulders").mkdir(parents=True, mode=0o700)
    (folder / "home").mkdir()
    codes, kills = [waited(forked(make_watcher, folder))], 0
    for number, point in enumerate(points):
        (folder / "workspace" / f"{number}.csv").write_text("x")
        code = waited(forked(live, folder, CrashPlan(at=1, name=point)))
        kills += code == -signal.SIGKILL
        codes += [] if code == -signal.SIGKILL else [code]
    codes += [waited(forked(live, folder)), waited(forked(check, folder))]
    if any(codes):
        return kills, [f"a server failed: {(folder / 'log').read_text()[-3000:]}"]
    found = json.loads((folder / "result").read_text(encoding="utf-8"))
    expected = {f"{number}.csv": 1 for number in range(len(points))}
    return kills, [] if found == expected else [f"{points}: runs name {found}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill as often as asked, print the counts, and return 1 for a violation."""
    parser = argparse.ArgumentParser("python -m tests.crash_sweep.watcher_kills")
    parser.add_argument("--kills", type=int, default=len(POINTS))
    options = parser.parse_args(arguments)
    if ENABLED not in os.environ:  # the points are compiled in at the import
        module = [sys.executable, "-m", "tests.crash_sweep.watcher_kills"]
        module += ["--kills", str(options.kills)]
        os.execve(sys.executable, module, {**os.environ, ENABLED: "armed"})
    import_for_turns()
    kills, violations = 0, list[str]()
    while kills < options.kills and not violations:
        with tempfile.TemporaryDirectory() as folder:
            more, violations = play(Path(folder), POINTS[: options.kills - kills])
            kills += more
    sys.stdout.write(json.dumps({"kills": kills, "violations": violations}) + "\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
