"""Running ``pass`` in a warm kernel, in notebooks of three sizes on disk.

The floor is jupyter_client alone: execute request to reply and idle, on the same kernel, with no
notebook, after the same pause as ours and once all that came of our run is read. Ours is a whole
call of the tool ``run_cell``: find the cell for the line shown to the user, find it again, run it,
put its outputs and count into the file, render the result for the model. Syncs of the file are
taken off.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.host.documents.notebooks import NotebookServices
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.tools.base import Result, Tool
from jupyter_ai_shoulders.tools.notebook.run import RunCellArguments
from jupyter_ai_shoulders.wire.ids import CellId
from tests.bench.figures import Figure, Goal, timed
from tests.bench.notebook_files import (
    CALL,
    PASS,
    SIZES,
    opened,
    private_home,
    tools_of,
    write_notebook,
)
from tests.bench.timing import Sample, Stopwatch, SyncClock, interleaved, syncs_noted

ROUNDS = 25
SETTLED_SECONDS = 0.025
SIGNED_SECONDS = 0.12
"""A pause after which edits are signed."""


def measure() -> list[Figure]:
    """Measure all sizes, each on a separate kernel."""
    with private_home(), syncs_noted() as syncs:
        return asyncio.run(_measure(syncs))


async def _measure(syncs: SyncClock) -> list[Figure]:
    figures: list[Figure] = []
    for cells in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            async with _case(Path(folder), cells, syncs) as case:
                taken = await interleaved(ROUNDS, {"raw": case.raw, "run": case.run}, warm=3)
        name, goal = f"run `pass`, {cells} cells", Goal("times", 1.5)
        figures.append(timed(name, taken["run"], taken["raw"], goal))
    return figures


@dataclass
class _Case:
    path: str
    documents: NotebookServices
    tool: Tool[Any]
    client: Any
    syncs: SyncClock

    async def raw(self) -> Sample:
        await asyncio.sleep(SETTLED_SECONDS)  # as before ours: after a pause all is slower
        while await self.client.iopub_channel.msg_ready():  # of our run: not the floor's work
            await self.client.get_iopub_msg()
        watch = Stopwatch()
        message_id = self.client.execute("pass")
        await asyncio.gather(self._reply(message_id), self._idle(message_id))
        return watch.sample()

    async def run(self) -> Sample:
        await asyncio.sleep(SETTLED_SECONDS)
        args = RunCellArguments(path=self.path, cell_id=CellId(PASS))
        synced, watch = self.syncs.ms, Stopwatch()
        await self.tool.subject(args, CALL)
        async for item in self.tool.run(args, CALL):
            assert not isinstance(item, Result) or item.ok, item
        taken = watch.sample().less(self.syncs.ms - synced)
        # The writer looks whether the notebook is signed: that must not be in the floor.
        await asyncio.sleep(SIGNED_SECONDS)
        await self.documents.notebooks.open(self.path).apply([], {})
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
async def _case(root: Path, cells: int, syncs: SyncClock) -> AsyncGenerator[_Case]:
    name = write_notebook(root, cells)
    kernels = LocalKernels(root)
    client: Any = (await kernels.start(name, "python3")).client()
    client.start_channels(hb=False)
    try:
        await client.wait_for_ready()
        async with opened(root, kernels) as documents:
            yield _Case(name, documents, tools_of(documents)["run_cell"], client, syncs)
    finally:
        client.stop_channels()
        await kernels.aclose()
