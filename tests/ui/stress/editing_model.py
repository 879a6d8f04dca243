"""A model that edits the cells it read while a user types, and the simulator that serves it.

It writes capitals and digits, the user small letters, so the author of each letter is known. Used
by ``typing_during_edits``.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.simulator import Simulator
from tests.simulator.script import (
    Delivery,
    Reply,
    SimRequest,
    ToolUse,
    reply,
)
from tests.simulator_process import KEY

TYPED = ("five", "seven")
RUN = "six"
CELLS = ("five", "six", "seven")
MARK = re.compile(r"Q\d+Q")
MOST_MARKS = 6
SLOWEST_THOUGHT = 0.8
"""In seconds: leaves time for typing between the model's reads and edits."""
RUN_EVERY = 3
"""Every n-th round runs the cell between."""
STRUCTURE_EVERY = 4
"""Every n-th round adds a cell, or deletes the added one."""
_SECTION = re.compile(r"^--- cell \d+ · id=(\S+) .*$", re.MULTILINE)
_FENCE = re.compile(r'\n?</?data id="\w+">\n?')
"""What marks a tool's text as data for the model."""
_ADDED = re.compile(r"\(id=([\w-]+)\)")


@dataclass
class EditingModel:
    """Answers each request with edits, until it has made enough of them."""

    path: str
    rng: Random
    edits: int
    known: dict[str, str] = field(default_factory=dict[str, str])
    asked: int = 0
    """Number of edits so far."""
    rounds: int = 0
    extra: str | None = None
    """The added cell, until it is deleted."""
    inserted: int = 0

    def __call__(self, request: SimRequest) -> Reply:
        """Return the next round, the first of which only reads."""
        for result in request.tool_results:
            self._learn(_FENCE.sub("", result))
        if self.asked >= self.edits:
            return reply("All edits are made.")
        made: list[ToolUse] = []
        if self.known:
            self.rounds += 1
            made = [self._edit(cell) for cell in self.rng.sample(CELLS, len(CELLS))]
            made += self._run() + self._restructure()
            self.asked += len(CELLS)
        thought = Delivery(first_byte_delay=self.rng.uniform(0, SLOWEST_THOUGHT))
        return reply(*made, self._call("read_notebook", cells=list(CELLS)), delivery=thought)

    def _learn(self, result: str) -> None:
        sections = list(_SECTION.finditer(result))
        ends = [section.start() - 1 for section in sections[1:]] + [len(result)]
        for section, end in zip(sections, ends, strict=False):
            text = result[section.end() + 1 : end].partition("\n--- output")[0]
            self.known[section[1]] = text
        if not sections and result.startswith("Added cell") and (added := _ADDED.search(result)):
            self.extra = added[1]

    def _edit(self, cell: str) -> ToolUse:
        before = self.known[cell]
        after = self._changed(cell, before)
        self.known[cell] = after
        marks = MARK.findall(after)
        new = [mark for mark in marks if mark not in before]
        if cell in TYPED and new and self.rng.random() < 0.5 and before:
            # One replacement instead of the whole text, if the replaced text is unique.
            at = after.index(new[0])
            around = before[max(0, at - 8) : at + 8]
            if before.count(around) == 1:
                start = max(0, at - 8)
                replaced = f"{around[: at - start]}{new[0]}{around[at - start :]}"
                return self._call("edit_cell", cell_id=cell, old_string=around, new_string=replaced)
        return self._call("edit_cell", cell_id=cell, source=after)

    def _changed(self, cell: str, text: str) -> str:
        """Insert a mark somewhere; remove one if there are many."""
        self.inserted += 1
        if cell == RUN:
            return f"n = {self.inserted}\nprint('RUN', n)"
        marks = MARK.findall(text)
        if len(marks) >= MOST_MARKS:
            return text.replace(self.rng.choice(marks), "", 1)
        at = self.rng.randint(0, len(text))
        inside = next((m for m in MARK.finditer(text) if m.start() < at < m.end()), None)
        at = inside.end() if inside else at
        return f"{text[:at]}Q{self.inserted}Q{text[at:]}"

    def _run(self) -> list[ToolUse]:
        due = self.rounds % RUN_EVERY == 0
        return [self._call("run_cell", cell_id=RUN)] if due else []

    def _restructure(self) -> list[ToolUse]:
        if self.rounds % STRUCTURE_EVERY:
            return []
        if self.extra is None:
            return [self._call("add_cell", source="ADDED = 1", after=RUN)]
        extra, self.extra = self.extra, None
        return [self._call("delete_cell", cell_id=extra)]

    def _call(self, tool: str, **arguments: Any) -> ToolUse:
        return ToolUse(name=tool, arguments={"path": self.path, **arguments})


@dataclass
class EditingModelServer:
    """A simulator in a thread; a function of this process makes its replies."""

    simulator: Simulator
    loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        """Its address."""
        return self.simulator.url

    def think(self, model: EditingModel) -> None:
        """Answer with this model from now on."""

        def change() -> None:
            self.simulator.playing.replies.clear()
            self.simulator.playing.default = model

        self.loop.call_soon_threadsafe(change)


@contextmanager
def thinker() -> Generator[EditingModelServer]:
    """Run a simulator beside Playwright, which keeps this thread's loop."""
    started = threading.Event()
    made: list[EditingModelServer] = []

    async def serve() -> None:
        async with Simulator(key=KEY) as simulator:
            stop = asyncio.Event()
            made.append(EditingModelServer(simulator, asyncio.get_running_loop()))
            stops.append(stop)
            started.set()
            await stop.wait()

    stops: list[asyncio.Event] = []
    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(30), "the simulator does not start"
    yield made[0]
    made[0].loop.call_soon_threadsafe(stops[0].set)
    thread.join(10)
