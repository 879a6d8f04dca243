"""Real kernels for tests: one shared by a module, a runner over it, and the user's own client."""

import asyncio
import os
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.notebook.base import (
    CellRun,
    InputRecipient,
    KernelDirectory,
    KernelHandle,
    KernelSpec,
    RunItem,
    RunningKernel,
    RunProgress,
)
from jupyter_ai_shoulders.notebook.execution.cell_runner import KernelRunner
from jupyter_ai_shoulders.notebook.kernels.connection import own_client
from jupyter_ai_shoulders.notebook.kernels.local_kernels import kernel_handle
from jupyter_ai_shoulders.notebook.kernels.queue import KernelQueues
from jupyter_ai_shoulders.notebook.outputs.collector import OutputLimits
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    RecordingPages,
    memory_cell,
)
from jupyter_ai_shoulders.wire.ids import CellId, ClientId

PATH = "analysis.ipynb"
PAGE = ClientId("page")


class OneKernel:
    """A ``KernelDirectory`` with one kernel for all notebooks."""

    def __init__(self, manager: AsyncKernelManager) -> None:
        self.manager = manager
        self.interrupts = 0

    async def find(self, path: str) -> KernelHandle | None:
        return kernel_handle("the-kernel", self.manager)

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        raise NotFound("These tests start no other kernel.")

    async def spec(self, name: str | None) -> KernelSpec:
        return KernelSpec(name or "python3", "Python 3", "python")

    async def interrupt(self, kernel_id: str) -> None:
        self.interrupts += 1
        await self.manager.interrupt_kernel()

    async def restart(self, kernel_id: str) -> None:
        await self.manager.restart_kernel(now=True)

    async def running(self) -> Sequence[RunningKernel]:
        return ()

    async def installed(self) -> Sequence[KernelSpec]:
        return ()

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        raise NotFound("These tests start no other kernel.")


@contextmanager
def kernel_process(folder: Path) -> Generator[AsyncKernelManager]:
    """Start an ipykernel that outlives the event loops of single tests."""
    manager: Any = AsyncKernelManager(connection_file=str(folder / "kernel.json"))
    environment = {**os.environ, "HOME": str(folder), "IPYTHONDIR": str(folder)}
    environment.pop(
        "PYTEST_CURRENT_TEST", None
    )  # otherwise ipykernel captures subprocesses' output
    loop = asyncio.new_event_loop()
    loop.run_until_complete(manager.start_kernel(env=environment, cwd=str(folder)))
    yield manager
    loop.run_until_complete(manager.shutdown_kernel(now=True))
    loop.close()


@dataclass(frozen=True)
class Gate:
    """Blocks code in a kernel until the test opens it."""

    file: Path

    @property
    def waits(self) -> str:
        """Code that waits."""
        return f"import os, time\nwhile not os.path.exists({str(self.file)!r}): time.sleep(0.02)\n"

    def open(self) -> None:
        """Let the code continue."""
        self.file.touch()


@dataclass
class KernelHarness:
    """A notebook, the pages that show it, and a runner."""

    runner: KernelRunner
    notebook: MemoryNotebook
    pages: RecordingPages
    queues: KernelQueues
    asker: InputRecipient | None = None
    progress: list[RunProgress] = field(default_factory=list[RunProgress])
    items: list[RunItem] = field(default_factory=list[RunItem])
    stirred: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, cell_id: str) -> CellRun:
        """Run a cell to its end, keeping its progress."""
        run: CellRun | None = None
        self.progress = []
        async for item in self.runner.run(PATH, CellId(cell_id), self.asker):
            self.items.append(item)
            if isinstance(item, CellRun):
                run = item
            elif isinstance(item, RunProgress):
                self.progress.append(item)
            self.stirred.set()
        assert run is not None
        return run

    async def run_source(self, source: str) -> CellRun:
        """Run a new cell."""
        cell_id = f"cell-{len(self.notebook.cells)}"
        self.notebook.cells.append(memory_cell(cell_id, source))
        return await self.run(cell_id)

    async def reported(self, channel: str, part: str = "") -> None:
        """Wait until the running cell has reported a text that contains ``part`` on a channel."""
        async with asyncio.timeout(20):
            while not (texts := self.texts(channel)) or part not in texts:
                self.stirred.clear()
                await self.stirred.wait()

    def texts(self, channel: str) -> str:
        """Return what the last run reported on a channel."""
        return "".join(item.text for item in self.progress if item.channel == channel)


@asynccontextmanager
async def bench(
    kernels: KernelDirectory,
    *sources: str,
    page: bool = False,
    limits: OutputLimits | None = None,
    refuses_busy: bool = False,
) -> AsyncGenerator[KernelHarness]:
    """A notebook with these code cells (ids ``a``, ``b``, …), on disk or open in a page."""
    cells = [memory_cell(chr(ord("a") + i), source) for i, source in enumerate(sources)]
    notebook = MemoryNotebook(PATH, cells)
    pages = RecordingPages()
    if page:
        pages.owners[PATH] = PAGE
    queues = KernelQueues(kernels)
    runner = KernelRunner(
        notebooks=MemoryNotebooks(notebook),
        kernels=kernels,
        queues=queues,
        pages=pages,
        clock=SystemClock(),
        ids=RandomIds(),
        limits=limits,
        refuses_busy=refuses_busy,
    )
    try:
        yield KernelHarness(runner, notebook, pages, queues)
    finally:
        await runner.aclose()
        await queues.aclose()


@asynccontextmanager
async def user_of(manager: Any) -> AsyncGenerator[AsyncKernelClient]:
    """The user's own client on the kernel, ready."""
    client = own_client(manager)
    client.start_channels(hb=False)
    await client.wait_for_ready()
    try:
        yield client
    finally:
        client.stop_channels()


async def user_runs(client: Any, code: str) -> str:
    """Run code as the user does; return the reply's status."""
    reply = await client.execute(code, reply=True, timeout=20)
    return reply["content"]["status"]


async def iopub_until(
    client: AsyncKernelClient, kind: str, request: str | None = None, **content: str
) -> dict[str, Any]:
    """Read the user's output channel up to a message of this request with this content."""
    async with asyncio.timeout(20):
        while True:
            message = await client.get_iopub_msg()
            if request not in (None, message["parent_header"].get("msg_id")):
                continue
            if message["msg_type"] == kind and content.items() <= message["content"].items():
                return message
