"""A step of the agent that edits a cell of a notebook on disk, through a real server.

A scripted model reads the cell and then edits it again and again, one call per request. The figure
is the time from the result of one edit to that of the next, as a client on the event stream sees
them: the request to the model, its answer, permission, the record of the start on the disk, the
checkpointed edit, and the log. The floor is the model's part, asked directly. The disk's syncs are
in the figure (about five a step); the CPU is the server's.
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
PAUSE_SECONDS = 0.5
"""Between two turns, for what follows one: signatures, the log's sync."""


def measure() -> list[Figure]:
    """Measure all sizes, in one server."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    script = [reply for cells in SIZES for reply in replies(cells)]
    taken: dict[int, list[Sample]] = {}
    async with serving({**in_order(*script), "default": edit_call(min(SIZES), 0)}) as (
        server,
        model,
    ):
        for cells in SIZES:
            write_notebook(server.lab.root, cells)
            await turn(server, cells)  # imports, and the first write of the folder
            turns = [await turn(server, cells) for _ in range(ROUNDS)]
            taken[cells] = [sample for turn in turns for sample in turn]
        floor = [await ask_directly(model) for _ in range(STEPS * ROUNDS)]
    goal = Goal("at most", 8)
    return [
        timed(f"edit step, {cells} cells", samples, floor, goal if cells == min(SIZES) else None)
        for cells, samples in taken.items()
    ]


def replies(cells: int) -> list[dict[str, Any]]:
    """Return the model's side of all turns of a size."""
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


async def turn(server: Server, cells: int) -> list[Sample]:
    """Play a turn; return what each edit took from the previous one."""
    await asyncio.sleep(PAUSE_SECONDS)
    session, after = await server.session(mode="bypass")
    seen: list[Sample] = []
    watch = Stopwatch(server.lab.pid)
    async with server.events(session, after) as events:
        # A notebook that the user shows is theirs: its text does not make the edits ask.
        await server.send(session, f"Edit {_name(cells)}.", [_name(cells)])
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
