"""Runs in a real kernel with the real back ends: a file, and pages that connect and disconnect."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.live.open_notebooks import OpenNotebooks
from jupyter_ai_shoulders.notebook.base import CellRun, RunProgress
from jupyter_ai_shoulders.notebook.execution.cell_runner import KernelRunner
from jupyter_ai_shoulders.notebook.kernels.queue import KernelQueues
from jupyter_ai_shoulders.notebook.router import NotebookRouter
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import CellRunStart, CellRunTaken
from jupyter_ai_shoulders.wire.ids import CellId
from tests.notebook.fake_page import FakePage, FakeSockets, MemoryRecovery, StillClock
from tests.notebook.kernels.real_kernel import OneKernel, kernel_process

SLOW = "import time\nprint('early', flush=True)\ntime.sleep(0.6)\nprint('late')"
PRINTED: JsonObject = {"output_type": "stream", "name": "stdout", "text": "early\nlate\n"}


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AsyncKernelManager]:
    with kernel_process(tmp_path_factory.mktemp("kernel")) as process:
        yield process


@dataclass
class Lab:
    """A server with one notebook: cell ``aaaa`` of text, cell ``bbbb`` that prints twice."""

    file: Path
    live: OpenNotebooks
    runner: KernelRunner
    sockets: FakeSockets
    clock: StillClock
    printed: asyncio.Event

    async def page(self, name: str = "page") -> FakePage:
        page = FakePage(name, self.file, self.sockets, self.live, self.clock)
        await page.open()
        return page

    async def run(self, cell_id: str = "bbbb") -> CellRun:
        run: CellRun | None = None
        async for item in self.runner.run(self.file.name, CellId(cell_id)):
            if isinstance(item, CellRun):
                run = item
            elif isinstance(item, RunProgress) and item.channel == "stdout":
                self.printed.set()
        assert run is not None
        return run

    def stored(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.file.read_text())
        return {cell["id"]: cell for cell in content["cells"]}

    def stored_text(self) -> str:
        return "".join("".join(output["text"]) for output in self.stored()["bbbb"]["outputs"])


@asynccontextmanager
async def lab(root: Path, manager: AsyncKernelManager) -> AsyncGenerator[Lab]:
    book = nbformat.v4.new_notebook()
    book.cells = [
        nbformat.v4.new_code_cell("mine = 1", id="aaaa"),
        nbformat.v4.new_code_cell(SLOW, id="bbbb"),
    ]
    file = root / "n.ipynb"
    file.write_text(nbformat.writes(book))
    workspace, sockets, clock = Workspace(root), FakeSockets(), StillClock()
    disk = DiskNotebooks(workspace)
    live = OpenNotebooks(
        workspace=workspace,
        disk=disk,
        transport=sockets,
        recovery=MemoryRecovery(),
        clock=clock,
        ids=RandomIds(),
        sleep=clock.sleep,
    )
    kernels = OneKernel(manager)
    queues = KernelQueues(kernels)
    runner = KernelRunner(
        notebooks=NotebookRouter(workspace, live, disk),
        kernels=kernels,
        queues=queues,
        pages=live,
        clock=SystemClock(),
        ids=RandomIds(),
    )
    try:
        yield Lab(file, live, runner, sockets, clock, asyncio.Event())
    finally:
        await runner.aclose()
        await queues.aclose()
        await live.aclose()
        await disk.close()
        workspace.close()


async def test_a_run_without_a_page_changes_the_bytes_of_its_cell_only(
    tmp_path: Path, manager: AsyncKernelManager
):
    async with lab(tmp_path, manager) as at:
        before = at.file.read_text()
        run = await at.run()
        assert run.outputs == (PRINTED,)
        cell = at.stored()["bbbb"]
        assert (at.stored_text(), cell["execution_count"]) == ("early\nlate\n", run.execution_count)
        head, tail = before.partition('"bbbb"')[0], before.rpartition(' ],\n "metadata"')[2]
        after = at.file.read_text()
        assert "mine = 1" in head
        assert (after.endswith(tail), head.rpartition("{")[0] in after) == (True, True)


async def test_a_page_runs_its_unsaved_text_and_stays_unsaved(
    tmp_path: Path, manager: AsyncKernelManager
):
    async with lab(tmp_path, manager) as at:
        page = await at.page()
        await page.type("aaaa", "typed and not saved")
        await page.type("bbbb", "print('early'); print('late')")
        before = at.file.read_bytes()
        run = await at.run()
        assert page.cell("bbbb").outputs == run.outputs == (PRINTED,)
        assert page.cell("bbbb").execution_count == run.execution_count
        assert page.sources["aaaa"] == "typed and not saved"
        assert page.dirty
        assert at.file.read_bytes() == before


async def test_a_page_that_is_closed_during_the_run_finds_the_outputs_in_the_file(
    tmp_path: Path, manager: AsyncKernelManager
):
    async with lab(tmp_path, manager) as at:
        page = await at.page()
        running = asyncio.create_task(at.run())
        await at.printed.wait()
        await page.close(discarded=False)
        page.vanish()
        run = await running
        await at.live.settle()
        assert (run.status, run.warning) == ("ok", None)
        assert at.stored_text() == "early\nlate\n"
        assert (await at.page("again")).cell("bbbb").execution_count == run.execution_count


async def test_a_page_that_is_reloaded_during_the_run_shows_all_of_it(
    tmp_path: Path, manager: AsyncKernelManager
):
    async with lab(tmp_path, manager) as at:
        page = await at.page()
        running = asyncio.create_task(at.run())
        await at.printed.wait()
        page.vanish()
        reloaded = await at.page("reloaded")
        run = await running
        await at.live.settle()
        assert reloaded.cell("bbbb").outputs == run.outputs == (PRINTED,)
        assert reloaded.cell("bbbb").execution_count == run.execution_count


async def test_a_page_that_vanished_with_unsaved_text_leaves_the_outputs_in_the_file(
    tmp_path: Path, manager: AsyncKernelManager
):
    async with lab(tmp_path, manager) as at:
        page = await at.page()
        await page.type("aaaa", "typed and not saved")
        running = asyncio.create_task(at.run())
        await at.printed.wait()
        page.vanish()
        run = await running
        assert run.warning is None
        await at.clock.advance(3_600)
        await at.live.settle()
        assert at.stored_text() == "early\nlate\n"
        assert "".join(at.stored()["aaaa"]["source"]) == "mine = 1"


async def test_outputs_of_a_cell_the_user_runs_again_are_not_stored_over_theirs(
    tmp_path: Path, manager: AsyncKernelManager
):
    async with lab(tmp_path, manager) as at:
        page = await at.page()
        work = asyncio.create_task(at.run())
        await at.printed.wait()
        started = next(frame for frame in page.frames if isinstance(frame, CellRunStart))
        await page.say(CellRunTaken(run_id=started.run_id, path=page.path, cell_id=started.cell_id))
        page.vanish()  # now the runner would store the outputs in the file
        run = await work
        await at.clock.advance(60)
        await at.live.settle()
        assert run.warning == "The user runs this cell again: it shows their run."
        assert run.outputs == (PRINTED,)
        assert at.stored_text() == ""


DISPLAYS = {
    "aaaa": "from IPython.display import display\nh = display('one', display_id=True)",
    "bbbb": "h.update('two')",
}


async def test_a_display_of_an_earlier_cell_is_updated_in_its_page(
    tmp_path: Path, manager: AsyncKernelManager
):
    async with lab(tmp_path, manager) as at:
        page = await at.page()
        for cell, source in DISPLAYS.items():
            await page.type(cell, source)
            await at.run(cell)
        shown = page.cell("aaaa").outputs or ()
        assert [output["data"] for output in shown] == [{"text/plain": "'two'"}]


async def test_a_display_of_an_earlier_cell_is_updated_on_disk(
    tmp_path: Path, manager: AsyncKernelManager
):
    async with lab(tmp_path, manager) as at:
        content = json.loads(at.file.read_text())
        for cell in content["cells"]:
            cell["source"] = DISPLAYS[cell["id"]]
        at.file.write_text(json.dumps(content, indent=1))
        for cell in DISPLAYS:
            await at.run(cell)
        (shown,) = at.stored()["aaaa"]["outputs"]
        assert "".join(shown["data"]["text/plain"]) == "'two'"
