"""The work of a forked process of the sweep: prepare, play a turn until killed, or recover.

Called by ``tests.crash_sweep.zygote``. Recovery ends with the checker.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

from jupyter_ai_shoulders.core import crash_points
from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.crash_points import CrashPlan, CrashPoints
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import (
    DifferentFileSystem,
    Workspace,
    WorkspacePath,
)
from jupyter_ai_shoulders.notebook.execution import cell_run, output_autosave
from jupyter_ai_shoulders.storage import durability
from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import ResumeTurn
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.crash_sweep.host_run import CaseFolders, HostRun, RunSettings, Scenario
from tests.crash_sweep.scenarios import NAMES
from tests.crash_sweep.user_actions import GO_ON, PLEASE
from tests.simulator_process import KEY
from tests.support.invariants import Evidence, Seen, crowding, logs_of, notebook_texts, violations

RECOVERIES = ("new message", "resume", "discard", "same message")
"""The user's action after the restart."""
_ONCE = re.compile(r"# once: (\w+)")
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Order:
    """The parent's order to a child."""

    folder: str
    scenario: str
    phase: str
    kernel: str | None = None
    at: int | None = None
    name: str | None = None
    way: str = RECOVERIES[0]


class ShiftedClock:
    """The system's clock, some days ahead."""

    def __init__(self, days: int) -> None:
        self._clock = SystemClock()
        self._ahead = timedelta(days=days)

    def now(self) -> datetime:
        """Return the shifted time."""
        return self._clock.now() + self._ahead

    def monotonic(self) -> float:
        """Return the system's monotonic time."""
        return self._clock.monotonic()


def perform(order: Order) -> None:
    """Execute the order in this process."""
    place, scenario = CaseFolders(Path(order.folder)), NAMES[order.scenario]
    if order.phase != "warm":
        _isolate(place)
    if scenario.checkpoint_bytes is not None:
        durability.CHECKPOINT_BYTES = scenario.checkpoint_bytes
    output_autosave.STORE_SECONDS = cell_run.WATCH_SECONDS = (
        0.05  # so that short runs count as long
    )
    if scenario.split:
        _split_file_systems()
    points = cast("CrashPoints", crash_points.crash_point)
    if order.phase == "prepare":
        at = scenario.prepare_at if scenario.prepare_until else None
        points.plan(CrashPlan(at=at, name=scenario.prepare_until))
    elif order.phase == "act":
        trace = str(place.notes / "points")
        points.plan(CrashPlan(trace=trace, at=order.at, name=order.name))
    asyncio.run(_phase(order, place, scenario))


async def _phase(order: Order, place: CaseFolders, scenario: Scenario) -> None:
    match order.phase:
        case "prepare":
            assert scenario.prepare is not None
            await _play(HostRun(place, _setting(order, scenario, days=0)), scenario.prepare)
        case "act":
            days = scenario.ahead_days
            await _play(HostRun(place, _setting(order, scenario, days)), scenario.act)
        case "warm":  # in the zygote itself: every child has what is built on first use
            await _play(HostRun(place, _setting(order, scenario, days=0)), scenario.act)
            await _recover(order, place, scenario)
        case _:
            await _recover(order, place, scenario)


async def _play(stage: HostRun, act: Any) -> None:
    await stage.open()
    await act(stage)
    await stage.close()


async def _recover(order: Order, place: CaseFolders, scenario: Scenario) -> None:
    stage = HostRun(place, _setting(order, scenario, scenario.ahead_days))
    took: dict[str, float | str] = {}
    since = time.monotonic()
    await stage.open()
    problem = stage.host.state_error()
    if problem is not None:
        took["state"] = problem.message
    for session in stage.sessions():
        try:
            took[session.id] = await _take_up(stage, session.id, order.way, since)
        except ShouldersError as error:
            took[session.id] = str(error)
    if scenario.quarantines:  # others continue
        fresh = stage.session()
        took[fresh] = await _take_up(stage, fresh, order.way, since)
    took |= {each.id: f"left {each.status}" for each in await stage.open_sub_agents()}
    if not took:  # killed before the session was created
        fresh = stage.session()
        took[fresh] = await _take_up(stage, fresh, order.way, since)
    await stage.host.live.settle()
    await stage.close()
    found = violations(_evidence(place, scenario, took))
    if not scenario.quarantines:
        found += [f"I6: {name}: {said}" for name, said in took.items() if isinstance(said, str)]
    (place.notes / "result").write_text(json.dumps(found), encoding="utf-8")


async def _take_up(stage: HostRun, session: SessionId, way: str, since: float) -> float:
    """Act as a user after the restart; the conversation must work in the end."""
    engine = stage.host.engine
    status = stage.host.sessions.get(session).status
    accepted = {message for owner, message in stage.place.noted("accepted") if owner == session}
    if way == "same message" and (not accepted or "m1" in accepted):
        await stage.send(session, PLEASE, "m1")
        await stage.settle(session)
    if status == "interrupted" and way in {"resume", "discard"}:
        await engine.resume(session, ResumeTurn(decision=cast("Any", way)))
        await stage.settle(session)
    await _see_through(stage, session, way)
    await stage.send(session, GO_ON, f"again-{session}")
    seconds = time.monotonic() - since
    await stage.settle(session)
    await _see_through(stage, session, way)
    now = stage.host.sessions.get(session)
    if now.status != "idle":
        ends = [e.error for e in stage.client.events if isinstance(e, ev.TurnEnd | ev.ErrorEvent)]
        raise ShouldersError(f"the conversation is left {now.status} after {way!r}: {ends}")
    return seconds


async def _see_through(stage: HostRun, session: SessionId, way: str) -> None:
    """Answer what waits, and raise a limit that was reached."""
    if (
        way in {"discard", "new message"}
        and stage.host.sessions.get(session).status == "interrupted"
    ):
        return  # the next message closes what waits
    for _ in range(_ROUNDS):
        if stage.host.sessions.get(session).status == "waiting" and not stage.pending(session):
            more = ResumeTurn(decision="resume", limit_micro_usd=10_000_000)
            await stage.host.engine.resume(session, more)
            await stage.settle(session)
        elif not await stage.answer_all(session):
            return


def _evidence(place: CaseFolders, scenario: Scenario, took: Mapping[str, float | str]) -> Evidence:
    effects = place.effects.read_text().split() if place.effects.exists() else []
    sources = notebook_texts(place.workspace)
    labels = [label for source in sources for label in _ONCE.findall(source)]
    seen = [Seen(*line) for line in place.noted("seen")]
    accepted = [(owner, message) for owner, message in place.noted("accepted")]
    logs = logs_of(place.state / "state.db")
    if scenario.quarantines:  # an unreadable session cannot be judged
        seen, accepted, logs = [], [], dict[str, list[str]]()
    if scenario.spoil is not None or scenario.ahead_days:  # earlier data may be gone
        seen = [each for each in seen if _is_still_there(each, logs)]
        accepted = [pair for pair in accepted if pair[0] in logs]
    recovery = place.state / "recovery"
    copies = (
        [path.read_text() for path in sorted(recovery.glob("*.json"))] if recovery.exists() else []
    )
    return Evidence(
        logs=logs,
        seen=seen,
        accepted=list(dict.fromkeys(accepted)),
        effects=[*effects, *labels],
        originals=_originals(place, scenario),
        accept_seconds=took,
        slack=crowding(),
        blobs=FileBlobs(StateDirectory(place.state)),
        root=place.folder,
        secrets=(KEY,),
        ledger=place.home / ".shoulders" / "usage.db",
        requests=len(place.noted("requests")),
        typed=[text for (text,) in place.noted("typed")],
        kept=[*copies, *sources],
    )


def _split_file_systems() -> None:
    """Refuse renames between the roots, as between file systems."""
    move = Workspace.move

    def within(
        self: Workspace,
        path: WorkspacePath,
        new_path: WorkspacePath,
        target: Workspace | None = None,
    ) -> None:
        if target is not None and target is not self:
            raise DifferentFileSystem(f"{new_path} is on another file system than {path}.")
        move(self, path, new_path)

    Workspace.move = within


def _originals(place: CaseFolders, scenario: Scenario) -> dict[Path, Sequence[bytes]]:
    """Return the allowed contents of files; new notebooks are valid ones."""
    made: dict[Path, Sequence[bytes]] = dict.fromkeys(place.workspace.glob("*.ipynb"), ())
    found = made | {
        place.workspace / name: () if name in scenario.rewritten else (_content(place, name),)
        for name in scenario.files
    }
    for name, texts in scenario.outcomes.items():
        path = place.workspace / name
        found[path] = (*found.get(path, ()), *(text.encode() for text in texts))
    return found


def _is_still_there(seen: Seen, logs: Mapping[str, list[str]]) -> bool:
    log = logs.get(seen.session, [])
    return seen.seq <= len(log) and log[seen.seq - 1] == seen.text


def _content(place: CaseFolders, name: str) -> bytes:
    return (place.folder / "originals" / name).read_bytes()


def _setting(order: Order, scenario: Scenario, days: int) -> RunSettings:
    return RunSettings(
        kernel=order.kernel if scenario.shared_kernel else None,
        page_grace=scenario.page_grace,
        run_patience=scenario.run_patience,
        clock=ShiftedClock(days),
    )


def _isolate(place: CaseFolders) -> None:
    """Give the process its own home and log."""
    own = {"HOME": place.home, "JUPYTER_DATA_DIR": place.home, "JUPYTER_RUNTIME_DIR": place.home}
    os.environ.update({name: str(path) for name, path in own.items()})
    os.chdir(place.workspace)
    log = os.open(place.notes / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    with contextlib.suppress(OSError):
        os.close(log)
