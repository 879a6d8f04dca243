"""Live documents over a real file, with pages."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.current_page import CurrentPage
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted, NotebookSnapshot
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId, RunId
from jupyter_ai_shoulders.wire.notebooks import (
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.notebook.fake_page import (
    FakePage,
    FakeSockets,
    MemoryRecovery,
    StillClock,
)

A, B, C = CellId("aaaa"), CellId("bbbb"), CellId("cccc")
RUN = RunId("run")
OUTPUT: JsonObject = {"output_type": "stream", "name": "stdout", "text": "42\n"}


@dataclass
class LiveHarness:
    """A server's live documents over a real file, and the pages that have it open."""

    file: Path
    workspace: Workspace
    disk: DiskNotebooks
    sockets: FakeSockets
    recovery: MemoryRecovery
    clock: StillClock
    live: OpenNotebooks
    router: NotebookRouter
    acting: CurrentPage

    async def page(self, name: str = "page") -> FakePage:
        page = FakePage(name, self.file, self.sockets, self.live, self.clock)
        await page.open()
        return page

    async def read(self, path: str = "n.ipynb", **arguments: Any) -> NotebookSnapshot:
        return await self.router.open(path).read(**arguments)

    async def sources(self) -> dict[str, str]:
        return {cell.id: cell.source for cell in (await self.read()).cells}

    async def edit(self, cell_id: CellId, source: str, before: str) -> Applied | Conflicted:
        edit = CellSource(cell_id=cell_id, source=source)
        return await self.router.open("n.ipynb").apply([edit], {cell_id: cell_version(before)})

    async def expire(self) -> None:
        """Let the grace period of all absent pages end, and settle."""
        await self.clock.advance(3_600)
        await self.live.settle()

    def on_disk(self) -> dict[str, str]:
        cells = json.loads(self.file.read_text())["cells"]
        return {cell["id"]: "".join(cell["source"]) for cell in cells}

    async def recovered(self) -> str:
        """The content of all recovery copies."""
        await self.live.settle()
        return "\n".join(self.recovery.texts.values())

    def copies(self) -> list[dict[str, Any]]:
        return self.recovery.copies


ORIGINAL = {"aaaa": "a = 1", "bbbb": "# Title", "cccc": "c = 3"}


MakeLiveHarness = Callable[..., LiveHarness]
