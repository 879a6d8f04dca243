"""Tools for tests of plans and categories, and helpers for requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.scripted_provider import Call, ScriptEntry
from jupyter_ai_shoulders.tools.base import CallContext, Category, Progress, Result, text_content
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.parts import AssistantMessage, TextPart, ToolCallPart
from jupyter_ai_shoulders.wire.results import ResultMeta, SeenVersion, ToolEnvelope
from tests.engine.engine_harness import EngineHarness, make_engine
from tests.engine.fake_tools import FakeTool, PathArguments, ToolProbe


class GitLook(FakeTool):
    """Reads, in a category loaded on demand."""

    name: ClassVar[str] = "git_look"
    category: ClassVar[Category] = "git"
    risk: ClassVar[Risk] = "read"


class GitEdit(FakeTool):
    """Changes, in a category loaded on demand."""

    name: ClassVar[str] = "git_edit"
    category: ClassVar[Category] = "git"
    risk: ClassVar[Risk] = "write"


class Fetch(FakeTool):
    """An external tool."""

    name: ClassVar[str] = "fetch"
    risk: ClassVar[Risk] = "read"
    external: ClassVar[bool] = True


class Flaky(FakeTool):
    """Fails once with a temporary error, or hangs when asked for ``hang``."""

    name: ClassVar[str] = "flaky"
    risk: ClassVar[Risk] = "read"

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        self.probe.started.append(f"flaky:{args.path}")
        if args.path == "hang":
            await asyncio.Event().wait()
        if len(self.probe.started) == 1:
            raise ShouldersError("Busy.", code="kernel_busy", retryable=True)
        yield self.result(args)


class Find(FakeTool):
    """Finds rows in the text stored for a path."""

    name: ClassVar[str] = "find"
    risk: ClassVar[Risk] = "read"

    def __init__(self, probe: ToolProbe, rows: dict[str, list[Json]]) -> None:
        super().__init__(probe)
        self.rows = rows

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        await self.probe.work(f"find:{args.path}{args.word}")
        rows = self.rows.get(args.path)
        if rows is None:
            raise NotFound(f"There is no {args.path}.", hint="List the files.")
        seen = SeenVersion(path=args.path, cell_id=CellId("c1"), version=Version("found"))
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="matches",
                data={"matches": rows},
                meta=ResultMeta(total=len(rows)),
            ),
            content=text_content(f"{len(rows)} matches in {args.path}{' and more' * 20}"),
            seen=(seen,),
        )


@dataclass
class PlanScenario:
    """An engine with these tools; ``probe`` records what they did."""

    w: EngineHarness
    probe: ToolProbe
    rows: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])


def make_plan_scenario(*script: ScriptEntry, **more: Any) -> PlanScenario:
    """Return an engine with the planning tools that plays this script."""
    probe, rows = ToolProbe(), dict[str, list[Json]]()
    fakes = [GitLook(probe), GitEdit(probe), Fetch(probe), Flaky(probe), Find(probe, rows)]
    return PlanScenario(make_engine(*script, loop=fakes, planning=True, **more), probe, rows)


def plan(*steps: JsonObject, call_id: str = "p1", **more: Json) -> Call:
    """Return a call of ``run_plan``."""
    return Call("run_plan", {"steps": list(steps), **more}, call_id)


def step(tool: str, path: Json = "a", **more: Json) -> JsonObject:
    """Return a step with a path."""
    return {"tool": tool, "args": {"path": path}, **more}


def inner(name: str, arguments: Json, call_id: str = "c1") -> Call:
    """Return a call through ``call_tool``."""
    return Call("call_tool", {"name": name, "arguments": arguments}, call_id)


def offered(request: ModelRequest) -> list[str]:
    """Return the names in a request's tool block."""
    return [tool.name for tool in request.tools]


def calls_said(request: ModelRequest) -> list[ToolCallPart]:
    """Return the calls in a request's history."""
    return [
        part
        for message in request.messages
        if isinstance(message, AssistantMessage)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]


def said(result: ev.ToolResult) -> str:
    """Return what the model reads of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextPart))
