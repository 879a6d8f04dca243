"""A step of the agent that reads lines of a file or edits a cell on disk, through a real server.

A scripted model makes the same call again and again with other arguments, one per request: it reads
the next lines of a text file, or it reads a cell once and then edits it. The figure is the time
from the result of one call to that of the next, as a client on the event stream sees them: the
request to the model, its answer, permission, the call, and the log; for an edit, also the record of
its start and a checkpoint. The floor is the model's part, asked directly with the system prompt and
the tools of a turn. The disk's syncs are in the figure (about five for an edit); the CPU is the
server's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import aiohttp

from tests.bench.figures import Figure, Goal, timed
from tests.bench.notebook_files import PASS, SIZES, write_notebook
from tests.bench.server_and_provider import Provider, Server, serving
from tests.bench.timing import Sample, Stopwatch
from tests.simulator_process import calls, in_order, says

STEPS = 20
ROUNDS = 5
TEXT = "notes.txt"
LINES = 20 * (STEPS + 1) + 1
PAUSE_SECONDS = 0.5
"""Between two turns, for what follows one: signatures, the log's sync."""


def measure() -> list[Figure]:
    """Measure all sizes, in one server."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    cases = {"read step": (TEXT, _reads())}
    cases |= {f"edit step, {cells} cells": (_name(cells), replies(cells)) for cells in SIZES}
    script = [says("Hello."), *(reply for _, told in cases.values() for reply in told)]
    taken: dict[str, list[Sample]] = {}
    answers = {**in_order(*script), "default": edit_call(min(SIZES), 0)}
    async with serving(answers, as_in_a_turn=True) as (server, model):
        lines = (f"Line {number} of the file." for number in range(LINES))
        (server.lab.root / TEXT).write_text("\n".join(lines))
        for cells in SIZES:
            write_notebook(server.lab.root, cells)
        for name, (path, _) in cases.items():
            await turn(server, path)  # imports, and the first write of the folder
            turns = [await turn(server, path) for _ in range(ROUNDS)]
            taken[name] = [sample for turn in turns for sample in turn]
        floor = [await ask_directly(model) for _ in range(STEPS * ROUNDS)]
    goals = {"read step": 5, f"edit step, {min(SIZES)} cells": 8}
    return [
        timed(name, samples, floor, Goal("at most", goals[name]) if name in goals else None)
        for name, samples in taken.items()
    ]


def _reads() -> list[dict[str, Any]]:
    """Return the model's side of all turns that read the text file."""
    listed: list[dict[str, Any]] = []
    for _ in range(ROUNDS + 1):
        for first in range(1, LINES, LINES // (STEPS + 1)):
            lines = {"start_line": first, "end_line": first + 9}
            listed.append(calls("read_file", {"path": TEXT, **lines}))
        listed.append(says("Done."))
    return listed


def replies(cells: int) -> list[dict[str, Any]]:
    """Return the model's side of all turns that edit a notebook of a size."""
    read = calls("read_notebook", {"path": _name(cells), "cells": [PASS]})
    listed: list[dict[str, Any]] = []
    for number in range(ROUNDS + 1):
        edits = [edit_call(cells, number * STEPS + step) for step in range(STEPS)]
        listed += [read, *edits, says("Done.")]
    return listed


def edit_call(cells: int, number: int) -> dict[str, Any]:
    """Return the model's reply that edits the cell."""
    arguments = {"path": _name(cells), "cell_id": PASS, "source": f"x = {number}"}
    return calls("edit_cell", arguments)


def _name(cells: int) -> str:
    return f"cells-{cells}.ipynb"


async def turn(server: Server, path: str) -> list[Sample]:
    """Play a turn; return what each call took from the previous one, without the first."""
    await asyncio.sleep(PAUSE_SECONDS)
    session, after = await server.session(mode="bypass")
    seen: list[Sample] = []
    watch = Stopwatch(server.lab.pid)
    async with server.events(session, after) as events:
        # A notebook that the user shows is theirs: its text does not make the edits ask.
        await server.send(session, f"Work on {path}.", [path])
        while (event := await _next(events))["type"] != "turn-end":
            if event["type"] == "tool-result":
                seen.append(watch.sample())
    assert len(seen) == STEPS + 1, f"{event}: {len(seen)} results"
    return [Sample(b.ms - a.ms, b.cpu - a.cpu) for a, b in pairwise(seen[1:])]


async def _next(events: aiohttp.StreamReader) -> Mapping[str, Any]:
    async for line in events:
        if line.startswith(b"data:"):
            event = json.loads(line.removeprefix(b"data:"))
            assert event.get("type") != "approval-request", event
            return event
    raise AssertionError("the stream ended")


async def ask_directly(model: Provider) -> Sample:
    """Measure the model's part of a step alone."""
    watch = Stopwatch()
    async for _ in model.stream("Edit it."):
        pass
    return watch.sample()
