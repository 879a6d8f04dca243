"""Reading and editing one cell of a notebook in a collaboration room, at three sizes.

The floor of an edit is a transaction of ``pycrdt`` that replaces the same piece of the cell's text,
once the cell is found; that of reading is to find it and make its text a string. Pages, and the
room's own saving, are not in it. Needs jupyter-collaboration beside the environment.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.shared.notebooks import SharedNotebooks
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellSource
from tests.bench.figures import Figure, timed
from tests.bench.notebook_files import PASS, SIZES, write_notebook
from tests.bench.timing import Sample, Stopwatch, interleaved
from tests.support.collaboration_environment import COLLAB

ROUNDS = 15
CELL = CellId(PASS)


def measure() -> list[Figure]:
    """Measure all sizes; nothing where jupyter-collaboration is not there."""
    if not COLLAB.is_dir():
        return []
    if str(COLLAB) not in sys.path:
        sys.path.append(str(COLLAB))
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    figures: list[Figure] = []
    for cells in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            taken = await _taken(Path(folder), cells)
        figures += [
            timed(f"read one cell, {cells} cells", taken["read"], taken["text"]),
            timed(f"edit one cell, {cells} cells", taken["edit"], taken["splice"]),
        ]
    return figures


async def _taken(root: Path, cells: int) -> dict[str, list[Sample]]:
    from tests.notebook.backends.shared.fake_room import FakeRoom, FakeRooms, document_of

    name = write_notebook(root, cells)
    content = json.loads((root / name).read_text())["cells"]
    joined = [{**cell, "source": "".join(cell["source"])} for cell in content]
    room = FakeRoom("room", name, document_of(*joined), root / name)
    workspace = Workspace(root)
    disk = DiskNotebooks(workspace)
    shared = SharedNotebooks(workspace, FakeRooms([room]), disk)
    try:
        case = _Case(shared, workspace.path(name), room.document)
        ways = {"text": case.text, "read": case.read, "splice": case.splice, "edit": case.edit}
        return await interleaved(ROUNDS, ways, warm=2)
    finally:
        await disk.close()
        workspace.close()


@dataclass
class _Case:
    shared: SharedNotebooks
    path: WorkspacePath
    document: Any
    numbers: count[int] = field(default_factory=count)

    async def text(self) -> Sample:
        watch = Stopwatch()
        str(self.cell()["source"])
        return watch.sample()

    async def read(self) -> Sample:
        watch = Stopwatch()
        assert (await self.shared.read(self.path)).cell(CELL) is not None
        return watch.sample()

    async def splice(self) -> Sample:
        watch = Stopwatch()
        text = self.cell()["source"]
        with self.document.ydoc.transaction():
            del text[0 : len(str(text))]
            text.insert(0, self.source())
        return watch.sample()

    async def edit(self) -> Sample:
        watch = Stopwatch()
        edit = CellSource(cell_id=CELL, source=self.source())
        assert isinstance(await self.shared.apply(self.path, [edit], {}), Applied)
        return watch.sample()

    def cell(self) -> Any:
        from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import ycells_of

        return next(cell for cell in ycells_of(self.document) if cell["id"] == CELL)

    def source(self) -> str:
        return f"x = {next(self.numbers)}"
