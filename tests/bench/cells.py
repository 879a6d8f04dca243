"""Reading and editing one cell of a notebook on disk.

The floor of reading is ``json.loads`` of the file, that of editing ``json`` read, change and write
beside with a rename. Warm: the file was read before and has not changed, as between two calls of
a turn. Time in ``fsync`` is taken off (ours syncs, the floor does not). An edited notebook that
Jupyter had signed is signed again after the edit, in the writer's thread: the last row of each
size says when that is done too.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.notebook.disk import DiskNotebook, DiskNotebooks
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellSource
from tests.bench.figures import Figure, Goal, spread
from tests.bench.notebook_files import (
    PASS,
    SIZES,
    DiskOnly,
    edit_with_json,
    private_trust,
    write_notebook,
)
from tests.bench.timing import Stopwatch, SyncClock, interleaved, syncs_noted

ROUNDS = 15
SETTLED_SECONDS = 0.025
"""A file changed less than 20 ms ago is read again: two calls of a turn are further apart."""
CELL = CellId(PASS)


def measure() -> list[Figure]:
    """Measure all sizes."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    return [figure for cells in SIZES for figure in await _figures(cells)]


async def _figures(cells: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, syncs_noted() as syncs:
        async with _case(Path(folder), cells, syncs) as case:
            taken = await interleaved(
                ROUNDS,
                {
                    "json read": case.json_read,
                    "cold": case.cold_read,
                    "warm": case.warm_read,
                    "json edit": case.json_edit,
                    "edit": case.edit,
                    "signed": case.edit_signed,
                },
            )
    found = {name: spread(samples) for name, samples in taken.items()}
    at = f"{cells} cells"
    edit = Goal("times", 1.3 if cells < max(SIZES) else 1.0)
    read = found["json read"]
    return [
        Figure(f"read one cell, cold, {at}", "ms", found["cold"], read, Goal("at most", 10)),
        Figure(f"read one cell, warm, {at}", "ms", found["warm"], read, Goal("at most", 2)),
        Figure(f"edit one cell, {at}", "ms", found["edit"], found["json edit"], edit),
        Figure(f"edit one cell and sign, {at}", "ms", found["signed"], found["json edit"]),
    ]


@dataclass
class _Case:
    """A notebook of one size in two copies, ours and the floor's."""

    workspace: Workspace
    disk: DiskNotebooks
    path: str
    signed: str
    beside: Path
    syncs: SyncClock
    numbers: count[int]

    async def json_read(self) -> float:
        watch = Stopwatch()
        content = json.loads(self.beside.read_bytes())
        next(cell for cell in content["cells"] if cell["id"] == PASS)
        return watch.ms

    async def cold_read(self) -> float:
        fresh = DiskNotebooks(self.workspace)
        notebook = DiskOnly(fresh, self.workspace).open(self.path)
        taken = await _read(notebook)
        await fresh.close()
        return taken

    async def warm_read(self) -> float:
        await asyncio.sleep(SETTLED_SECONDS)
        notebook = DiskOnly(self.disk, self.workspace).open(self.path)
        await notebook.read()
        return await _read(notebook)

    async def json_edit(self) -> float:
        watch = Stopwatch()
        edit_with_json(self.beside, f"x = {next(self.numbers)}")
        return watch.ms

    async def edit(self) -> float:
        return (await self._edit(self.path))[0]

    async def edit_signed(self) -> float:
        return (await self._edit(self.signed))[1]

    async def _edit(self, path: str) -> tuple[float, float]:
        """Return when the edit is done, and when the writer is free for the next one."""
        await asyncio.sleep(SETTLED_SECONDS)
        notebook = DiskOnly(self.disk, self.workspace).open(path)
        await notebook.read()
        synced, watch = self.syncs.ms, Stopwatch()
        cell = (await notebook.read()).cell(CELL)
        assert cell is not None
        change = CellSource(cell_id=CELL, source=f"x = {next(self.numbers)}")
        assert isinstance(await notebook.apply([change], {CELL: cell.version}), Applied)
        edited = watch.ms
        await notebook.apply([], {})
        synced = self.syncs.ms - synced
        return edited - synced, watch.ms - synced


async def _read(notebook: DiskNotebook) -> float:
    watch = Stopwatch()
    assert (await notebook.read()).cell(CELL) is not None
    return watch.ms


@asynccontextmanager
async def _case(folder: Path, cells: int, syncs: SyncClock) -> AsyncGenerator[_Case]:
    root, signed, beside = (folder / name for name in ("root", "root/signed", "beside"))
    for directory in (root, signed, beside):
        directory.mkdir()
    name = write_notebook(root, cells)
    write_notebook(signed, cells)
    write_notebook(beside, cells)
    trust = private_trust(folder / "trust")
    trust.sign((signed / name).read_text())
    trust.close()
    workspace = Workspace(root)
    disk = DiskNotebooks(workspace, private_trust(folder / "trust"))
    try:
        yield _Case(workspace, disk, name, f"signed/{name}", beside / name, syncs, count())
    finally:
        await disk.close()
        workspace.close()
