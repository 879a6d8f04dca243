"""Small tools for the loop; they only change lists that tests inspect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Category,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.conversation.complete import Complete
from jupyter_ai_shoulders.tools.registry import ToolRegistry, shipped_description
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.results import SeenVersion, ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Toolset

SHIPPED = frozenset(
    {"complete", "todo", "clarify", "share_artifact"}
    | {"read_output", "load_tools", "call_tool", "run_plan"}
)
ALL: frozenset[Toolset] = frozenset({"document", "notebook", "workspace", "full"})


@dataclass
class ToolProbe:
    """Records what the tools did, in order, and lets tests block them."""

    started: list[str] = field(default_factory=list[str])
    finished: list[str] = field(default_factory=list[str])
    cancelled: list[str] = field(default_factory=list[str])
    open_in_page: set[str] = field(default_factory=set[str])
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    reached: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    contents: dict[str, str] = field(default_factory=dict[str, str])
    prints_contents: bool = False
    """Whether runs return the code they ran."""
    on_start: Callable[[str], Awaitable[None]] | None = None
    contexts: list[CallContext] = field(default_factory=list[CallContext])

    def hold(self, label: str) -> asyncio.Event:
        """Block calls with this label; return an event that is set when one arrives."""
        self.gates[label] = asyncio.Event()
        self.reached[label] = asyncio.Event()
        return self.reached[label]

    async def work(self, label: str) -> None:
        """Perform the effect of a call."""
        self.started.append(label)
        if self.on_start is not None:
            await self.on_start(label)
        try:
            if label in self.gates:
                self.reached[label].set()
                await self.gates[label].wait()
        except asyncio.CancelledError:
            self.cancelled.append(label)
            raise
        self.finished.append(label)


class PathArguments(ToolArguments):
    """A path, and a word that tells two calls apart."""

    path: str
    word: str = ""


class FakeTool:
    """A tool on a path; subclasses define its kind."""

    name: ClassVar[str]
    category: ClassVar[Category] = "notebook"
    risk: ClassVar[Risk]
    external: ClassVar[bool] = False
    idempotent: ClassVar[bool] = True
    toolsets: ClassVar[frozenset[Toolset]] = ALL
    arguments = PathArguments

    def __init__(self, probe: ToolProbe) -> None:
        self.probe = probe

    async def subject(self, args: PathArguments, context: CallContext) -> CallSubject:
        if args.path == "missing.ipynb":
            raise NotFound("There is no missing.ipynb.")
        return CallSubject(
            title=f"{self.name} {args.path}",
            target_label=args.path,
            target=Target(path=args.path),
            preview=self.probe.contents.get(args.path),
            language="python",
            undoable=self.risk == "write",
            in_page=args.path in self.probe.open_in_page,
        )

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        self.probe.contexts.append(context)
        await self.probe.work(f"{self.name}:{args.path}{args.word}")
        yield self.result(args)

    def result(self, args: PathArguments) -> Result:
        seen = SeenVersion(path=args.path, cell_id=CellId("c1"), version=Version(self.name))
        return Result(
            envelope=ToolEnvelope(ok=True, kind="text", data=None),
            content=text_content(f"{self.name} of {args.path}{self.said(args)}"),
            seen=(seen,),
        )

    def said(self, args: PathArguments) -> str:
        """Return additional text for the result."""
        del args
        return ""


class Look(FakeTool):
    """Reads."""

    name = "look"
    risk = "read"


class Edit(FakeTool):
    """Makes changes that can be undone."""

    name = "edit"
    risk = "write"

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        self.probe.contexts.append(context)
        await self.probe.work(f"{self.name}:{args.path}{args.word}")
        self.probe.contents[args.path] = args.word
        yield self.result(args)


class RunIt(FakeTool):
    """Executes, with output while it runs."""

    name = "run_it"
    risk = "execute"

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        self.probe.contexts.append(context)
        yield Progress("stdout", "one ")
        yield Progress("stdout", "two ")
        yield Progress("stdout", "three")
        await self.probe.work(f"{self.name}:{args.path}{args.word}")
        yield self.result(args)

    def said(self, args: PathArguments) -> str:
        return f": {self.probe.contents.get(args.path)}" if self.probe.prints_contents else ""


class Buggy(FakeTool):
    """Has a bug."""

    name = "buggy"
    risk = "read"

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        self.probe.started.append("buggy")
        raise ZeroDivisionError
        yield self.result(args)


class Failing(FakeTool):
    """Fails as tools may: with an error and a hint."""

    name = "failing"
    risk = "read"

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        raise NotFound(f"There is no {args.path}.", hint="List the files.")
        yield self.result(args)


class Stubborn(FakeTool):
    """Ignores cancellation until its gate opens."""

    name = "stubborn"
    risk = "execute"

    async def run(
        self, args: PathArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        self.probe.started.append("stubborn")
        self.probe.reached["stubborn"].set()
        while not self.probe.gates["stubborn"].is_set():
            try:
                await self.probe.gates["stubborn"].wait()
            except asyncio.CancelledError:
                self.probe.cancelled.append("stubborn")
        yield Progress("stdout", "late")
        yield self.result(args)


def describe(name: str) -> str:
    """Return the description of a test tool, or the shipped one."""
    return shipped_description(name) if name in SHIPPED else f"Test tool {name}."


def registry(probe: ToolProbe, *loop: Any) -> ToolRegistry:
    """Return all test tools, ``complete`` and further loop tools."""
    fakes = (Look, Edit, RunIt, Buggy, Failing, Stubborn)
    tools: list[Any] = [Complete(), *loop, *(fake(probe) for fake in fakes)]
    return ToolRegistry(tools, describe)
