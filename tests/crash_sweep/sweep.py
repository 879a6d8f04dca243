"""Plays every scenario with a kill at its first crash point, its second, … until it ends unhit.

Used by ``__main__`` and by the sample in the tests. A zygote per worker forks the processes that
are killed; provider and kernel live on, as in reality.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.core.crash_points import ENABLED
from tests.crash_sweep.child_process import RECOVERIES, Order
from tests.crash_sweep.host_run import CaseFolders, Scenario
from tests.crash_sweep.model_catalog import models_file
from tests.crash_sweep.scenarios import NAMES, SCENARIOS
from tests.simulator import Simulator
from tests.simulator.script import Script, ScriptFile
from tests.simulator_process import KEY

KILLED = -9
WARMING = "edits on disk"
"""The turn a zygote plays before it forks; it needs no kernel, whose threads cannot be forked."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A scenario and the point at which its process dies; None never."""

    scenario: Scenario
    at: int | None
    name: str | None = None
    """The counted point; None counts all."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case."""

    case: Case
    met: tuple[str, ...]
    """The points hit; the last is that of the kill."""
    killed: bool
    violations: tuple[str, ...]


@dataclass
class Report:
    """The counts of a sweep."""

    kills: int = 0
    cases: int = 0
    met: Counter[str] = field(default_factory=Counter[str])
    killed_at: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list[str])
    points_of: dict[str, int] = field(default_factory=dict[str, int])
    seconds: float = 0.0

    def add(self, outcome: Outcome) -> None:
        """Count a case."""
        self.cases += 1
        self.met.update(set(outcome.met))
        if outcome.killed:
            self.kills += 1
            self.killed_at[outcome.met[-1]] += 1
        where = f"{outcome.case.scenario.name} at {outcome.case.at}"
        point = outcome.met[-1] if outcome.met else "the start"
        self.violations += [f"{where} ({point}): {problem}" for problem in outcome.violations]


class Worker:
    """A zygote, a provider and a kernel; a resource: ``start`` and ``stop`` it."""

    def __init__(self, folder: Path, keep: Path | None) -> None:
        self._folder = folder
        self._keep = keep
        self._case = folder / "case"
        self._simulator = Simulator(key=KEY)
        self._stack = AsyncExitStack()
        self._zygote: asyncio.subprocess.Process | None = None
        self._kernel = ""
        self._listener: Any = None
        self._turns = 0

    async def start(self) -> None:
        """Start all three."""
        self._folder.mkdir(parents=True)
        await self._simulator.start()
        self._stack.push_async_callback(self._simulator.stop)
        connection = str(self._folder / "kernel.json")
        kernel = AsyncKernelManager(kernel_name="python3", connection_file=connection)
        await kernel.start_kernel(cwd=str(self._folder))
        self._stack.push_async_callback(_shut_down, kernel)
        (self._folder / "kernel.pid").write_text(str(getattr(kernel.provisioner, "pid", "")))
        self._listener = kernel.client()
        self._listener.start_channels(iopub=False, stdin=False, hb=False, control=False)
        self._stack.callback(self._listener.stop_channels)
        self._kernel = connection
        self._zygote = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.crash_sweep.zygote"),
            env={**os.environ, ENABLED: "armed"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self._stack.push_async_callback(self._end_zygote)
        await self._warm_up()

    async def stop(self) -> None:
        """End all three."""
        await self._stack.aclose()

    async def play(self, case: Case) -> Outcome:
        """Play a case: prepare, kill, restart, check."""
        scenario, place = case.scenario, CaseFolders(self._case)
        await self._idle()
        await self._set_up(scenario, place)
        self._play_script(scenario, place)
        order = self._order(scenario, "act", at=case.at, name=case.name)
        code = await self._fork(order)
        if scenario.turn_limit is not None:
            for _ in self._simulator.requests:
                place.note("requests", 1)
        problems = [] if code in {0, KILLED} else [f"the turn failed:\n{_log(place)}"]
        self._turns += 1
        way = (
            RECOVERIES[self._turns % len(RECOVERIES)]
            if case.at is None
            else RECOVERIES[case.at % len(RECOVERIES)]
        )
        recovered = await self._fork(self._order(scenario, "recover", way=way))
        result = place.notes / "result"
        if recovered == 0 and result.exists():
            problems += json.loads(result.read_text())
        else:
            problems.append(f"I6: the recovery by {way!r} ended with {recovered}:\n{_log(place)}")
        problems += [
            f"I7: a provider refused a request: {request.refusal}"
            for request in self._simulator.requests
            if request.refusal is not None
        ]
        points = place.notes / "points"
        met = tuple(points.read_text().split()) if points.exists() else ()
        if problems and self._keep is not None:
            name = f"{scenario.name} {case.at}".replace(" ", "-")
            shutil.copytree(self._case, self._keep / name, dirs_exist_ok=True)
        return Outcome(case, met, code == KILLED, tuple(problems))

    async def _warm_up(self) -> None:
        scenario, place = NAMES[WARMING], CaseFolders(self._case)
        await self._set_up(scenario, place)
        self._play_script(scenario, place)
        await self._fork(self._order(scenario, "warm"))

    async def _idle(self) -> None:
        """Wait until the kernel has done what killed servers asked of it: cells count runs."""
        asked = self._listener.kernel_info()
        while (await self._listener.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != asked:
            pass

    async def _set_up(self, scenario: Scenario, place: CaseFolders) -> None:
        shutil.rmtree(self._case, ignore_errors=True)
        template = self._folder / f"template-{scenario.name.replace(' ', '-')}"
        if template.exists():
            shutil.copytree(template, self._case)
            return
        self._write_files(scenario, place)
        if scenario.prepare is None:
            return
        self._play_script(scenario, place, scenario.prepare_script)
        code = await self._fork(self._order(scenario, "prepare"))
        expected = KILLED if scenario.prepare_until else 0
        if code != expected:
            raise RuntimeError(f"{scenario.name} could not be prepared:\n{_log(place)}")
        if scenario.spoil is not None:
            scenario.spoil(place)
        shutil.copytree(self._case, template)

    def _write_files(self, scenario: Scenario, place: CaseFolders) -> None:
        originals = place.folder / "originals"
        for folder in (place.state, place.home / ".shoulders", place.notes, originals):
            folder.mkdir(mode=0o700, parents=True)
        for name, text in scenario.files.items():
            content = text.replace("{effects}", str(place.effects))
            (place.workspace / name).write_text(content)
            (originals / name).write_text(content)
        models = json.dumps(models_file(self._simulator.url))
        (place.home / ".shoulders" / "models.json").write_text(models, encoding="utf-8")
        if scenario.turn_limit is not None:
            limits = {"version": 1, "turn_micro_usd": scenario.turn_limit}
            (place.home / ".shoulders" / "budget.json").write_text(json.dumps(limits))

    def _play_script(
        self, scenario: Scenario, place: CaseFolders, other: Mapping[str, Any] | None = None
    ) -> None:
        text = json.dumps(other or scenario.script).replace("{effects}", str(place.effects))
        self._simulator.playing = Script.from_file(ScriptFile.model_validate_json(text))
        self._simulator.records.items.clear()

    def _order(self, scenario: Scenario, phase: str, **more: Any) -> Order:
        return Order(str(self._case), scenario.name, phase, kernel=self._kernel, **more)

    async def _fork(self, order: Order) -> int:
        """Run an order in a child; return its exit code, negative after a signal."""
        assert self._zygote is not None
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        self._zygote.stdin.write((json.dumps(asdict(order)) + "\n").encode())
        line = await self._zygote.stdout.readline()
        if not line:
            raise RuntimeError("the zygote is gone")
        return json.loads(line)["code"]

    async def _end_zygote(self) -> None:
        assert self._zygote is not None
        assert self._zygote.stdin is not None
        self._zygote.stdin.close()
        await self._zygote.wait()


class _Sweep:
    """A running sweep."""

    def __init__(self, crew: Sequence[Worker], every: int, say: Callable[[str], None]) -> None:
        self.report = Report()
        self._hands: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in crew:
            self._hands.put_nowait(worker)
        self._every = every
        self._say = say
        self._waiting: set[Case] = set()
        self._where: dict[str, Scenario] = {}

    async def run(self, scenarios: Sequence[Scenario], offset: int) -> None:
        """Play all scenarios."""
        async with asyncio.TaskGroup() as group:
            for scenario in scenarios:
                group.create_task(self._whole(scenario, offset))
        if self._every > 1:
            return
        for name in sorted(self._where.keys() - self.report.killed_at.keys()):
            # Threads hit it in a varying order, so it is selected by name.
            await self._play(Case(self._where[name], 1, name))

    async def _whole(self, scenario: Scenario, offset: int) -> None:
        unhit = await self._play(Case(scenario, None))
        points = len(unhit.met)
        self.report.points_of[scenario.name] = points
        for name in unhit.met:
            self._where.setdefault(name, scenario)
        async with asyncio.TaskGroup() as group:
            for at in range(1 + offset % self._every, points + 1, self._every):
                group.create_task(self._play(Case(scenario, at)))
        at = points + 1
        while self._every == 1 and (await self._play(Case(scenario, at))).killed:
            at += 1
        self._say(f"{scenario.name}: {points} points met, {self.report.kills} kills so far")

    async def _play(self, case: Case) -> Outcome:
        self._waiting.add(case)
        worker = await self._hands.get()
        try:
            outcome = await worker.play(case)
        finally:
            self._hands.put_nowait(worker)
            self._waiting.discard(case)
        self.report.add(outcome)
        if self.report.cases % 100 == 0:
            to_go = len(self._waiting)
            self._say(f"{self.report.cases} runs, {self.report.kills} kills, {to_go} to go")
        for problem in outcome.violations:
            self._say(f"VIOLATION {case.scenario.name} at {case.at}: {problem}")
        return outcome


async def sweep(
    folder: Path,
    *,
    scenarios: Sequence[Scenario] = SCENARIOS,
    every: int = 1,
    offset: int = 0,
    workers: int = 2,
    keep: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Play the scenarios; with ``every``, kill only at each n-th point."""
    since = time.monotonic()
    async with AsyncExitStack() as stack:
        crew = [Worker(folder / f"worker{number}", keep) for number in range(workers)]
        for worker in crew:
            stack.push_async_callback(worker.stop)
        await asyncio.gather(*(worker.start() for worker in crew))
        under_way = _Sweep(crew, every, say)
        await under_way.run(scenarios, offset)
    report = under_way.report
    report.seconds = time.monotonic() - since
    return report


async def _shut_down(kernel: AsyncKernelManager) -> None:
    await kernel.shutdown_kernel(now=True)


def _log(place: CaseFolders) -> str:
    path = place.notes / "log"
    return path.read_text(errors="replace")[-3000:] if path.exists() else ""
