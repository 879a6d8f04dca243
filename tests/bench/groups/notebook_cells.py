"""Reading and editing one cell of a notebook on disk, at three sizes.

The floor of reading is ``json.loads`` of the file, that of editing ``json`` read, change and write
beside with a rename, after the same pause as ours. Warm: the file was read before and has not
changed, as between two calls of a turn. Time in ``fsync`` is taken off (ours syncs, the floor does
not). A tool's row is a whole call: what the user is shown of it, the call itself, and the text for
the model. Consecutive edits follow each other without a pause, ours and the floor's; the figure is
that of one of them. A notebook that Jupyter had signed is signed again when the edits pause, in the
writer's thread: the last row of each size is that signature with the check before it, the sync of
the signatures’ database included.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import nbformat
from jupyter_core.paths import jupyter_data_dir
from nbformat.sign import NotebookNotary

from jupyter_ai_shoulders.host.documents.notebooks import NotebookServices
from jupyter_ai_shoulders.notebook.backends.disk.trust import NotebookTrust
from jupyter_ai_shoulders.notebook.base import Applied, Notebook
from jupyter_ai_shoulders.notebook.formats.notebook_file import parse_notebook
from jupyter_ai_shoulders.tools.base import CallContext, Result, Tool
from jupyter_ai_shoulders.tools.notebook.edit_cell import EditCellArguments
from jupyter_ai_shoulders.tools.notebook.read import ReadNotebookArguments
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellSource
from tests.bench.figures import Figure, Goal, timed
from tests.bench.notebook_files import (
    CALL,
    PASS,
    SIZES,
    edit_with_json,
    opened,
    private_home,
    tools_of,
    write_notebook,
)
from tests.bench.timing import Sample, Stopwatch, SyncClock, Way, interleaved, syncs_noted

ROUNDS = 15
SETTLED_SECONDS = 0.025
"""A file changed less than 20 ms ago is read again: two calls of a turn are further apart."""
CELL = CellId(PASS)
SIGNED = "signed"
BURST = 10
SIGNED_SECONDS = 0.12
"""A pause after which edits are signed."""


def measure() -> list[Figure]:
    """Measure all sizes."""
    with private_home(), syncs_noted() as syncs:
        return asyncio.run(_measure(syncs))


async def _measure(syncs: SyncClock) -> list[Figure]:
    figures: list[Figure] = []
    for cells in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            async with _case(Path(folder), cells, syncs) as case:
                taken = await interleaved(ROUNDS, case.ways())
        figures += _figures(cells, taken)
    return figures


def _figures(cells: int, taken: Mapping[str, list[Sample]]) -> list[Figure]:
    loads, rewrite = taken["loads"], taken["rewrite"]
    edit = Goal("times", 1.3 if cells < max(SIZES) else 1.0)
    consecutive = Goal("at most", 5)

    def row(name: str, ours: str, floor: list[Sample], goal: Goal | None = None) -> Figure:
        return timed(f"{name}, {cells} cells", taken[ours], floor, goal)

    return [
        row("read one cell, cold", "cold", loads, Goal("at most", 10)),
        row("read one cell, warm", "warm", loads, Goal("at most", 2)),
        row("tool `read_notebook`, one cell", "read tool", loads),
        row("edit one cell", "edit", rewrite, edit),
        row("tool `edit_cell`", "edit tool", rewrite),
        row("consecutive edits, untrusted", "burst", taken["rewrites"], consecutive),
        row("consecutive edits, trusted", "signed burst", taken["rewrites"], consecutive),
        row("check and sign", "sign", rewrite),
    ]


@dataclass
class _Case:
    """A notebook of one size in three copies: ours, ours signed, and the floor's."""

    documents: NotebookServices
    tools: dict[str, Tool[Any]]
    name: str
    beside: Path
    syncs: SyncClock
    numbers: count[int] = field(default_factory=count)

    def ways(self) -> dict[str, Way]:
        return {
            "loads": self.loads,
            "cold": self.cold_read,
            "warm": self.warm_read,
            "read tool": self.read_tool,
            "edit": self.edit,
            "edit tool": self.edit_tool,
            "burst": lambda: self.burst(self.name),
            "signed burst": lambda: self.burst(f"{SIGNED}/{self.name}"),
            "sign": self.sign,
            "rewrites": self.rewrites,
            "rewrite": self.rewrite,  # last: a sync of ours must not write what it leaves behind
        }

    async def loads(self) -> Sample:
        watch = Stopwatch()
        content = json.loads(self.beside.read_bytes())
        next(cell for cell in content["cells"] if cell["id"] == PASS)
        return watch.sample()

    async def rewrite(self) -> Sample:
        await asyncio.sleep(SETTLED_SECONDS)  # as before ours: after a pause all is slower
        watch = Stopwatch()
        edit_with_json(self.beside, self.source())
        return watch.sample()

    async def rewrites(self) -> Sample:
        watch = Stopwatch()
        for _ in range(BURST):
            edit_with_json(self.beside, self.source())
        return watch.sample().over(BURST)

    async def cold_read(self) -> Sample:
        async with opened(self.documents.workspace.directory) as fresh:
            return await _read(fresh.notebooks.open(self.name))

    async def warm_read(self) -> Sample:
        return await _read(await self.settled(self.name))

    async def read_tool(self) -> Sample:
        await self.settled(self.name)
        args = ReadNotebookArguments(path=self.name, cells=(CELL,))
        return (await self.call("read_notebook", args, CALL))[0]

    async def edit(self) -> Sample:
        return await self.edits(self.name, 1)

    async def burst(self, path: str) -> Sample:
        return (await self.edits(path, BURST)).over(BURST)

    async def sign(self) -> Sample:
        content = (self.documents.workspace.directory / self.name).read_bytes()
        notebook, trust = parse_notebook(content, self.name), NotebookTrust()
        trust.is_trusted(notebook)  # opens the database
        watch = Stopwatch()
        trust.is_trusted(notebook)
        trust.sign(notebook)
        taken = watch.sample()
        trust.close()
        return taken

    async def edit_tool(self) -> Sample:
        await self.settled(self.name)
        read = ReadNotebookArguments(path=self.name, cells=(CELL,))
        _, result = await self.call("read_notebook", read, CALL)
        seen = {(item.path, item.cell_id): item.version for item in result.seen}
        context = CallContext(CALL.session_id, CALL.turn_id, CALL.call_id, seen, None)
        args = EditCellArguments(path=self.name, cell_id=CELL, source=self.source())
        return (await self.call("edit_cell", args, context))[0]

    async def call(self, name: str, args: Any, context: CallContext) -> tuple[Sample, Result]:
        """Do what the engine does for a call; return what it took without syncs."""
        tool = self.tools[name]
        synced, watch = self.syncs.ms, Stopwatch()
        await tool.subject(args, context)
        results = [item async for item in tool.run(args, context) if isinstance(item, Result)]
        assert results[0].ok, results
        return watch.sample().less(self.syncs.ms - synced), results[0]

    async def edits(self, path: str, count: int) -> Sample:
        """Read the cell and edit it, so many times without a pause."""
        notebook = await self.settled(path)
        synced, watch = self.syncs.ms, Stopwatch()
        for _ in range(count):
            cell = (await notebook.read()).cell(CELL)
            assert cell is not None
            change = CellSource(cell_id=CELL, source=self.source())
            assert isinstance(await notebook.apply([change], {CELL: cell.version}), Applied)
        return watch.sample().less(self.syncs.ms - synced)

    async def settled(self, path: str) -> Notebook:
        """Return a notebook that nobody writes or signs any more and that was read since."""
        notebook = self.documents.notebooks.open(path)
        await asyncio.sleep(SIGNED_SECONDS)
        await notebook.apply([], {})  # the writer does one thing after the other
        await asyncio.sleep(SETTLED_SECONDS)
        await notebook.read()
        return notebook

    def source(self) -> str:
        return f"x = {next(self.numbers)}"


async def _read(notebook: Notebook) -> Sample:
    watch = Stopwatch()
    assert (await notebook.read()).cell(CELL) is not None
    return watch.sample()


def _sign(path: Path) -> None:
    """Trust a notebook as ``jupyter trust`` does."""
    notary: Any = NotebookNotary(data_dir=jupyter_data_dir())
    notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()


@asynccontextmanager
async def _case(folder: Path, cells: int, syncs: SyncClock) -> AsyncGenerator[_Case]:
    root, beside = folder / "root", folder / "beside"
    for directory in (root, root / SIGNED, beside):
        directory.mkdir(exist_ok=True)
        name = write_notebook(directory, cells)
    _sign(root / SIGNED / name)
    async with opened(root) as documents:
        yield _Case(documents, tools_of(documents), name, beside / name, syncs)
