"""Displays of earlier cells that later code updates, on a real kernel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs
from tests.notebook.kernels.real_kernel import KernelHarness, OneKernel, bench, kernel_process

SHOW = "from IPython.display import display\nprint('before')\nh = display('one', display_id=True)"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AsyncKernelManager]:
    with kernel_process(tmp_path_factory.mktemp("kernel")) as process:
        yield process


@pytest.fixture
def kernels(manager: AsyncKernelManager) -> OneKernel:
    return OneKernel(manager)


def shown(at: KernelHarness, cell: str) -> list[object]:
    """Return a cell's outputs: texts of streams, and data of displays."""
    outputs = at.notebook.cell(cell).outputs or ()
    return [output.get("text", output.get("data")) for output in outputs]


@pytest.mark.parametrize("code", ["h.update('two')", "h.update('x'); h.update('two')\n'end'"])
async def test_later_cell_updates_what_an_earlier_one_shows(kernels: OneKernel, code: str):
    async with bench(kernels, SHOW, code) as at:
        first = await at.run("a")
        assert shown(at, "a") == ["before\n", {"text/plain": "'one'"}]
        await at.run("b")
        assert shown(at, "a") == ["before\n", {"text/plain": "'two'"}]
        assert at.notebook.cell("a").execution_count == first.execution_count


async def test_what_a_cell_shows_by_now_is_not_overwritten(kernels: OneKernel):
    async with bench(kernels, SHOW, "h.update('two')") as at:
        await at.run("a")
        other: JsonObject = {"output_type": "stream", "name": "stdout", "text": "the user's\n"}
        edit = CellOutputs(cell_id=CellId("a"), outputs=(other, other), execution_count=9)
        await at.notebook.apply([edit], {})
        await at.run("b")
        assert shown(at, "a") == ["the user's\n", "the user's\n"]


async def test_a_cell_that_runs_again_has_new_displays_only(kernels: OneKernel):
    async with bench(kernels, SHOW, "old = h", "old.update('late')", "h.update('new')") as at:
        for cell in ("a", "b", "a", "c"):
            await at.run(cell)
        assert shown(at, "a") == ["before\n", {"text/plain": "'one'"}]
        await at.run("d")
        assert shown(at, "a") == ["before\n", {"text/plain": "'new'"}]


async def test_a_deleted_cell_does_not_disturb_the_run(kernels: OneKernel):
    async with bench(kernels, SHOW, "h.update('two')") as at:
        await at.run("a")
        del at.notebook.cells[0]
        assert (await at.run("b")).status == "ok"
