"""Kills servers around the starts of scheduled runs: no run twice, none lost.

``python -m tests.crash_sweep.schedule_kills --kills 100``. Each life is a forked process with the
real host, killed with SIGKILL at a random moment or at a point of the scheduler. The last life of a
folder ends by itself; then each schedule must have begun exactly one run, in one conversation with
its message once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, cast

from jupyter_ai_shoulders.core import crash_points
from jupyter_ai_shoulders.core.crash_points import ENABLED, CrashPlan, CrashPoints
from jupyter_ai_shoulders.host.automation.service import ScheduleOrigin
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.host.preload import import_for_turns
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter
from jupyter_ai_shoulders.wire.api.automation.schedules import OnceTrigger, PostSchedule
from jupyter_ai_shoulders.wire.events import MessageAdd, TurnStart
from tests.host.test_build import NoKernels, NoPages

SCHEDULES = 6
APART = 0.05
"""Seconds between the times of two schedules."""
LIFE_SECONDS = 0.5
"""Maximum seconds before a random kill."""
KILLS_PER_FOLDER = 5
POINTS = (
    "schedules.run.begun",
    "schedules.run.synced",
    "schedules.session.found",
    "engine.message.committed",
    "engine.message.synced",
    "schedules.message.accepted",
    "schedules.run.ended",
)
LIMITS = {"schedules": {"runs_per_day": 1_000, "most_concurrent": 3, "most_schedules": 100}}
PATIENCE = 40.0


@dataclass
class Tally:
    """The counts of all folders."""

    kills: int = 0
    runs: int = 0
    states: Counter[str] = field(default_factory=Counter[str])
    points: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list[str])

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "kills": self.kills,
            "runs": self.runs,
            "states": dict(self.states),
            "points": dict(self.points),
            "violations": self.violations,
        }


def built(folder: Path) -> Host:
    """Return the host of a server on the folder."""
    settings = HostSettings(
        workspace=folder / "workspace",
        state_dir=folder / "workspace" / ".shoulders",
        home=folder / "home",
        preferences=LIMITS,
        runs_schedules=True,
    )
    return build_host(settings, HostPorts(kernels=NoKernels(), pages=NoPages(), environ={}))


async def make_schedules(folder: Path) -> None:
    """Store the schedules, due one shortly after the other."""
    host = built(folder)
    await host.ready()
    await host.automation.scheduler.aclose()
    first = datetime.now(UTC) + timedelta(seconds=1)
    for number in range(SCHEDULES):
        at = (first + timedelta(seconds=APART * number)).isoformat()
        command = PostSchedule(trigger=OnceTrigger(at=at), prompt=f"Run {number}.")
        await host.automation.schedules.create(command, ScheduleOrigin(None))
    await host.aclose()


async def live(folder: Path) -> None:
    """Run what is due until every schedule has ended its run."""
    host = built(folder)
    await host.ready()
    service = host.automation.schedules
    async with asyncio.timeout(PATIENCE):
        while True:
            found = service.list(None).schedules
            if all(each.last_run and each.last_run.ended_at for each in found):
                break
            await asyncio.sleep(0.01)
    await host.aclose()


async def check(folder: Path) -> dict[str, Any]:
    """Return what the folder holds, and what is wrong about it."""
    host = built(folder)
    await host.ready()
    service, problems, states = host.automation.schedules, list[str](), list[str]()
    sessions = host.sessions.page(SessionFilter(), None, 500).sessions
    for status in service.list(None).schedules:
        name = status.schedule.options.title
        runs = service.runs(status.schedule.id, None, 99).runs
        states += [run.state for run in runs]
        if len(runs) != 1 or runs[0].state not in {"done", "interrupted"}:
            problems.append(f"{name} has the runs {[run.state for run in runs]}")
        for run in runs:
            assert run.session_id is not None
            events = [logged.event for logged in host.log.read(run.session_id)]
            messages = sum(isinstance(event, MessageAdd) for event in events)
            turns = sum(isinstance(event, TurnStart) for event in events)
            if (messages, turns) != (1, 1):
                problems.append(f"{name} has {messages} messages and {turns} turns")
    if len(sessions) != SCHEDULES:
        problems.append(f"there are {len(sessions)} conversations for {SCHEDULES} runs")
    await host.aclose()
    return {"states": states, "problems": problems}


def forked(work: Any, folder: Path, plan: CrashPlan | None = None) -> int:
    """Do the work in a child process and return its process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        if plan is not None:
            cast("CrashPoints", crash_points.crash_point).plan(plan)
        result = asyncio.run(work(folder))
        if result is not None:
            (folder / "result").write_text(json.dumps(result), encoding="utf-8")
        code = 0
    except BaseException:  # noqa: BLE001 the process ends here, and its log says why
        traceback.print_exc()
    finally:
        os._exit(code)


def waited(pid: int) -> int:
    """Wait for a child and return its exit code; negative for a signal."""
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def play(folder: Path, kills: int, random: Random, tally: Tally) -> None:
    """Kill the servers of a new folder that many times, then let one end, and check."""
    (folder / "workspace" / ".shoulders").mkdir(parents=True, mode=0o700)
    (folder / "home").mkdir()
    done = [waited(forked(make_schedules, folder))]
    for _ in range(kills):
        at_point = random.random() < 0.6
        point = random.choice(POINTS)
        plan = CrashPlan(at=random.randint(1, 3), name=point) if at_point else None
        pid = forked(live, folder, plan)
        if not at_point:
            time.sleep(0.3 + random.random() * LIFE_SECONDS)
            os.kill(pid, signal.SIGKILL)
        code = waited(pid)
        if code == -signal.SIGKILL:
            tally.kills += 1
            tally.points[point if at_point else "a random moment"] += 1
        else:
            done.append(code)
    done += [waited(forked(live, folder)), waited(forked(check, folder))]
    if any(done):
        tally.violations.append(f"a server failed: {(folder / 'log').read_text()[-3000:]}")
        return
    result = json.loads((folder / "result").read_text(encoding="utf-8"))
    tally.runs += len(result["states"])
    tally.states.update(result["states"])
    tally.violations += result["problems"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill as often as asked, print the counts, and return 1 for a violation."""
    parser = argparse.ArgumentParser("python -m tests.crash_sweep.schedule_kills")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if ENABLED not in os.environ:  # the points are compiled in at the import
        environ = {**os.environ, ENABLED: "armed"}
        words = ["--kills", str(options.kills), "--seed", str(options.seed)]
        module = [sys.executable, "-m", "tests.crash_sweep.schedule_kills", *words]
        os.execve(sys.executable, module, environ)
    import_for_turns()
    random, tally = Random(options.seed), Tally()
    while tally.kills < options.kills and not tally.violations:
        with tempfile.TemporaryDirectory() as folder:
            play(Path(folder), min(KILLS_PER_FOLDER, options.kills), random, tally)
    sys.stdout.write(json.dumps(tally.to_dict()) + "\n")
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
