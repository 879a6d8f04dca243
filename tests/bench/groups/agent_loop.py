"""What the agent loop adds to a step beyond the model and the tool.

A scripted model calls one tool per step, its results are 2 KB of text; engine, log, sessions and
blobs are the real ones on disk. The floor plays the same script and runs the same tool without
engine or log. Reads record their start as they go; changes wait until it is on the disk, so their
figure holds one or two of the disk's syncs (`log`, "sync at a boundary").
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.engine.session.services import EngineServices
from jupyter_ai_shoulders.host.state.store import StateStore
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Say,
    ScriptedProvider,
    ScriptedTurn,
    turn,
)
from jupyter_ai_shoulders.tools.base import CallContext, Progress, Result, text_content
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.events import Risk, TurnEnd
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from tests.bench.figures import Figure, Goal, spread, timed
from tests.bench.notebook_files import CALL
from tests.bench.prepared_store import add_session, open_store
from tests.bench.timing import Sample, Stopwatch, Way, interleaved
from tests.engine.engine_harness import FakeModels, MemoryFile, model_spec
from tests.engine.fake_tools import FakeTool, PathArguments, ToolProbe

ROUNDS = 7
STEPS = (10, 50)
RESULT = "measurement,value\n" * 113
GOALS = {"look": 4, "edit": 20}
"""The goal in milliseconds per step, by tool."""
REQUEST = ModelRequest(model="scripted", system="", messages=())


class Look(FakeTool):
    """Reads."""

    name: ClassVar[str] = "look"
    risk: ClassVar[Risk] = "read"

    def result(self, args: PathArguments) -> Result:
        return Result(
            envelope=ToolEnvelope(ok=True, kind="text", data=None), content=text_content(RESULT)
        )

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        yield self.result(args)


class Edit(Look):
    """Changes something, in a document of the page: no approval is asked for."""

    name: ClassVar[str] = "edit"
    risk: ClassVar[Risk] = "write"


def measure() -> list[Figure]:
    """Measure both kinds of steps at both lengths."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(Path(folder, "state")) as store:
            case = _Case(store)
            ways: dict[str, Way] = {}
            for tool in GOALS:
                for steps in STEPS:
                    ways[f"{tool} {steps}"] = case.turn(tool, steps)
            ways["bare"] = case.bare(max(STEPS))
            taken = await interleaved(ROUNDS, ways)
    return [figure for tool in GOALS for figure in _figures(tool, taken)]


def _figures(tool: str, taken: dict[str, list[Sample]]) -> list[Figure]:
    kind = {"look": "read", "edit": "change"}[tool]
    goal = Goal("added", GOALS[tool])
    short, long = (taken[f"{tool} {steps}"] for steps in STEPS)
    return [
        timed(f"{kind}, step of a turn of {STEPS[0]}", short, taken["bare"], goal),
        timed(f"{kind}, step of a turn of {STEPS[1]}", long, taken["bare"], goal),
        Figure(
            f"{kind}, CPU of a step of {STEPS[1]} over {STEPS[0]}",
            "ms",
            spread([sample.cpu for sample in long]),
            spread([sample.cpu for sample in short]),
            Goal("times", 1.2),
        ),
    ]


@dataclass
class _Case:
    store: StateStore
    numbers: count[int] = field(default_factory=count)

    def turn(self, tool: str, steps: int) -> Way:
        """Return what runs a whole turn and gives what a step takes."""

        async def run() -> Sample:
            session_id = add_session(self.store, str(next(self.numbers)))
            engine = make_bench_engine(self.store, ScriptedProvider(*script(tool, steps)))
            message = SendMessage(id=MessageId("m"), text="Look at the file.", mode="auto_edit")
            watch = Stopwatch()
            await engine.send(session_id, message)
            await engine.settled(session_id)
            taken = watch.sample()
            await engine.stop()
            self._expect_completed(session_id)
            return taken.over(steps)

        return run

    def bare(self, steps: int) -> Way:
        """Return what plays the same script without an engine."""

        async def run() -> Sample:
            provider, tool = ScriptedProvider(*script("look", steps)), Look(ToolProbe())
            args = PathArguments(path="a.csv")
            watch = Stopwatch()
            for _ in range(steps):
                async for _event in provider.stream(REQUEST):
                    pass
                async for _item in tool.run(args, CALL):
                    pass
            return watch.sample().over(steps)

        return run

    def _expect_completed(self, session_id: SessionId) -> None:
        last = [e.event for e in self.store.log.read(session_id) if isinstance(e.event, TurnEnd)]
        assert [event.exit for event in last] == ["final_response"], last


def script(tool: str, steps: int) -> list[ScriptedTurn]:
    """Return replies that call the tool once each, then a last word."""
    calls = [
        turn(Say("Now the next file."), Call(tool, {"path": "a.csv", "word": str(step)}))
        for step in range(steps)
    ]
    return [*calls, turn(Say("Done."))]


def make_bench_engine(store: StateStore, provider: ScriptedProvider) -> Engine:
    """Return an engine on the store, with a tool that reads and one that changes."""
    tools: list[Any] = [Look(ToolProbe()), Edit(ToolProbe())]
    ids = RandomIds()
    return Engine(
        EngineServices(
            log=store.log,
            sessions=store.sessions,
            blobs=store.blobs,
            models=FakeModels(provider, model_spec(context_window=1_000_000)),
            tools=ToolRegistry(tools, lambda name: f"Bench tool {name}."),
            rules=PermissionStore(MemoryFile()),
            clock=SystemClock(),
            ids=ids,
            settings=EngineSettings(step_limit=max(STEPS) + 1),
            background_tasks=BackgroundTasks(ids),
        )
    )
