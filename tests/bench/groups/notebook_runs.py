"""Running all cells of a notebook on disk, beside nbclient alone.

The cells are trivial (`pass`), so the figure is what a cell costs besides its code. The floor is
nbclient on a notebook in memory, in a warm kernel of its own; it writes no file. Ours is a whole
call of the tool `run_all_cells` in a warm kernel: what the user is shown, the run, each cell's
count and outputs in the file, the report for the model. Time and CPU are those of a cell; syncs of
the file are taken off.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import nbformat
from nbclient import NotebookClient

from jupyter_ai_shoulders.tools.base import Result, Tool
from jupyter_ai_shoulders.tools.notebook.run import RunAllCellsArguments
from tests.bench.figures import Figure, Goal, timed
from tests.bench.notebook_files import CALL, opened, private_home, tools_of, write_cells
from tests.bench.timing import Sample, Stopwatch, SyncClock, interleaved, syncs_noted

ROUNDS = {10: 7, 200: 5, 2000: 1}
"""Rounds by number of cells; the longest notebook takes ten seconds each."""


def measure() -> list[Figure]:
    """Measure all sizes, each on separate kernels."""
    with private_home(), syncs_noted() as syncs:
        return asyncio.run(_measure(syncs))


async def _measure(syncs: SyncClock) -> list[Figure]:
    figures: list[Figure] = []
    for cells, rounds in ROUNDS.items():
        with tempfile.TemporaryDirectory() as folder:
            async with _case(Path(folder), cells, syncs) as case:
                ways = {"nbclient": case.nbclient, "run": case.run}
                taken = await interleaved(rounds, ways)
        goal = Goal("times", 2) if cells == 200 else None
        name = f"a cell of `run_all_cells`, {cells} cells"
        figures.append(timed(name, taken["run"], taken["nbclient"], goal))
    return figures


@dataclass
class _Case:
    name: str
    cells: int
    tool: Tool[Any]
    client: NotebookClient
    syncs: SyncClock

    async def nbclient(self) -> Sample:
        watch = Stopwatch()
        for position, cell in enumerate(self.client.nb.cells):
            await self.client.async_execute_cell(cell, position)
        return watch.sample().over(self.cells)

    async def run(self) -> Sample:
        args = RunAllCellsArguments(path=self.name)
        synced, watch = self.syncs.ms, Stopwatch()
        await self.tool.subject(args, CALL)
        results = [item async for item in self.tool.run(args, CALL) if isinstance(item, Result)]
        assert results[-1].ok, results
        return watch.sample().less(self.syncs.ms - synced).over(self.cells)


@asynccontextmanager
async def _case(root: Path, cells: int, syncs: SyncClock) -> AsyncGenerator[_Case]:
    name = write_cells(root, ["pass"] * cells)
    content = cast("Any", nbformat.read(root / name, as_version=4))
    client = NotebookClient(content, kernel_name="python3")
    async with client.async_setup_kernel(), opened(root) as documents:
        yield _Case(name, cells, tools_of(documents)["run_all_cells"], client, syncs)
