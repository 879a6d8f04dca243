"""Running ``pass`` in a warm kernel, in notebooks of three sizes on disk.

The floor is jupyter_client alone: execute request to reply and idle, on the same kernel, with no
notebook. Ours is a whole call of the tool ``run_cell``: find the cell for the line shown to the
user, find it again, run it, put its outputs and count into the file, render the result for the
model. Syncs of the file are taken off.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.notebook.disk import DiskNotebooks
from jupyter_ai_shoulders.notebook.kernels import KernelRunner
from jupyter_ai_shoulders.notebook.local_kernels import LocalKernels
from jupyter_ai_shoulders.notebook.names import WorkspaceNotebookNames
from jupyter_ai_shoulders.testing.notebooks import RecordingPages
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook_run import RunCell, RunCellArguments
from jupyter_ai_shoulders.wire.ids import CellId
from tests.bench.figures import Figure, Goal, spread
from tests.bench.notebook_files import (
    CALL,
    PASS,
    SIZES,
    DiskOnly,
    private_trust,
    write_notebook,
)
from tests.bench.timing import Stopwatch, SyncClock, interleaved, syncs_noted

ROUNDS = 25
SETTLED_SECONDS = 0.025


def measure() -> list[Figure]:
    """Measure all sizes on one kernel each."""
    with tempfile.TemporaryDirectory() as home:
        profile = Path(home, "profile_default")
        profile.mkdir()
        (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n")
        with patch.dict(os.environ, IPYTHONDIR=home):
            return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    return [await _figure(cells) for cells in SIZES]


async def _figure(cells: int) -> Figure:
    with tempfile.TemporaryDirectory() as folder, syncs_noted() as syncs:
        async with _case(Path(folder), cells, syncs) as case:
            taken = await interleaved(ROUNDS, {"raw": case.raw, "run": case.run}, warm=3)
    ours, floor = spread(taken["run"]), spread(taken["raw"])
    return Figure(f"run `pass`, {cells} cells", "ms", ours, floor, Goal("times", 1.5))


@dataclass
class _Case:
    path: str
    notebooks: DiskOnly
    tool: RunCell
    client: Any
    syncs: SyncClock

    async def raw(self) -> float:
        watch = Stopwatch()
        message_id = self.client.execute("pass")
        await asyncio.gather(self._reply(message_id), self._idle(message_id))
        return watch.ms

    async def run(self) -> float:
        await asyncio.sleep(SETTLED_SECONDS)
        args = RunCellArguments(path=self.path, cell_id=CellId(PASS))
        synced, watch = self.syncs.ms, Stopwatch()
        await self.tool.subject(args, CALL)
        async for item in self.tool.run(args, CALL):
            assert not isinstance(item, Result) or item.ok, item
        taken = watch.ms - (self.syncs.ms - synced)
        await self.notebooks.open(self.path).apply([], {})  # the writer signs: not in the floor
        return taken

    async def _reply(self, message_id: str) -> None:
        while True:
            message = await self.client.get_shell_msg()
            if message["parent_header"].get("msg_id") == message_id:
                return

    async def _idle(self, message_id: str) -> None:
        while True:
            message = await self.client.get_iopub_msg()
            ours = message["parent_header"].get("msg_id") == message_id
            if ours and message["content"].get("execution_state") == "idle":
                return


@asynccontextmanager
async def _case(folder: Path, cells: int, syncs: SyncClock) -> AsyncGenerator[_Case]:
    name = write_notebook(folder, cells)
    workspace = Workspace(folder)
    disk = DiskNotebooks(workspace, private_trust(folder / "trust"))
    notebooks = DiskOnly(disk, workspace)
    kernels = LocalKernels(folder)
    runner = KernelRunner(
        notebooks=notebooks,
        kernels=kernels,
        pages=RecordingPages(),
        clock=SystemClock(),
        ids=RandomIds(),
    )
    client: Any = (await kernels.start(name, "python3")).client()
    client.start_channels(hb=False)
    try:
        await client.wait_for_ready()
        access = NotebookAccess(notebooks, WorkspaceNotebookNames(workspace))
        yield _Case(name, notebooks, RunCell(access, runner), client, syncs)
    finally:
        client.stop_channels()
        await runner.aclose()
        await kernels.aclose()
        await disk.close()
        workspace.close()
