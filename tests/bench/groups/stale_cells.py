"""What telling the stale cells of a notebook costs: cold, when nothing was read before, and warm.

Cells of four lines, all run in order. Cold reads every source (the floor parses them and does no
more) and judges the notebook; warm judges it after one cell was edited, as each pause in typing
does; what was asked before is remembered. Sources are read in portions, between which the server
does other things.
"""

from __future__ import annotations

import ast
import asyncio

from jupyter_ai_shoulders.notebook.analysis.run_history import KernelRuns, RecordedRun, SourceCache
from jupyter_ai_shoulders.notebook.analysis.staleness import stale_cells
from jupyter_ai_shoulders.wire.frames import AnnouncedCell
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.bench.figures import Figure, Goal, timed
from tests.bench.timing import Sample, Stopwatch, interleaved

ROUNDS = 15
SIZES = (10, 200, 2_000)
COLD_MS = 50.0
WARM_MS = 10.0


def measure() -> list[Figure]:
    """Measure each size."""
    return [figure for size in SIZES for figure in asyncio.run(_measure(size))]


def _cells(size: int) -> list[AnnouncedCell]:
    return [_cell(number, f"part_{number}.x.plot()") for number in range(size)]


def _cell(number: int, last: str) -> AnnouncedCell:
    before = f"part_{number - 1}" if number else "load()"
    source = f"part_{number} = {before}.dropna()\nprint(len(part_{number}))\n{last}\n# {number}"
    return AnnouncedCell(
        id=CellId(f"c{number}"),
        cell_type="code",
        version=cell_version(source),
        source=source,
        execution_count=number + 1,
    )


async def _measure(size: int) -> list[Figure]:
    cells = _cells(size)
    life = KernelRuns()
    for number, cell in enumerate(cells, 1):
        life.add(RecordedRun(cell.id, cell.version, number))
    edited = [*cells[:-1], _cell(size - 1, "part_0.y.plot()")]
    warm_book = SourceCache()
    stale_cells(edited, life, warm_book.names, is_python=True)

    async def parse() -> Sample:
        watch = Stopwatch()
        for cell in cells:
            ast.parse(cell.source or "")
        return watch.sample()

    async def cold() -> Sample:
        book = SourceCache()
        watch = Stopwatch()
        stale_cells(cells, life, book.names, is_python=True)
        return watch.sample()

    async def warm() -> Sample:
        watch = Stopwatch()
        stale_cells(edited, life, warm_book.names, is_python=True)
        return watch.sample()

    taken = await interleaved(ROUNDS, {"parse": parse, "cold": cold, "warm": warm})
    return [
        timed(f"{size} cells, cold", taken["cold"], taken["parse"], Goal("at most", COLD_MS)),
        timed(f"{size} cells, warm", taken["warm"], taken["parse"], Goal("at most", WARM_MS)),
    ]
