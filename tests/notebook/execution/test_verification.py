"""Notebooks verified in real throw-away kernels, none of which remains."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.notebook.base import RunProgress
from jupyter_ai_shoulders.notebook.execution.verification import CheckedCell, KernelVerifier
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.notebook.outputs.comparison import OutputDifference, output_differences
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    memory_cell,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

PATH = "work/analysis.ipynb"


def stream(text: str, name: str = "stdout") -> JsonObject:
    return {"output_type": "stream", "name": name, "text": text}


def shown(text: str, count: int | None = None) -> JsonObject:
    data: JsonObject = {"text/plain": text}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": count}


def never(cell: NotebookCell) -> bool:
    tags = cell.metadata.get("tags")
    return isinstance(tags, list) and "never-run" in tags


class Verification:
    """A notebook in memory, kernels in a folder, and the verification's items."""

    def __init__(self, root: Path, cells: Sequence[NotebookCell]) -> None:
        (root / "work").mkdir(exist_ok=True)
        self.kernels = LocalKernels(root)
        self.notebook = MemoryNotebook(PATH, cells)
        self.verifier = KernelVerifier(
            notebooks=MemoryNotebooks(self.notebook), kernels=self.kernels, clock=SystemClock()
        )
        self.said: list[str] = []
        self.stirred = asyncio.Event()

    async def run(self) -> list[CheckedCell]:
        plan = await self.verifier.plan(PATH, never)
        checked: list[CheckedCell] = []
        async with aclosing(self.verifier.verify(plan)) as items:
            async for item in items:
                if isinstance(item, RunProgress):
                    self.said.append(item.text)
                    self.stirred.set()
                else:
                    checked.append(item)
        return checked

    async def until_said(self, part: str) -> None:
        async with asyncio.timeout(60):
            while part not in "".join(self.said):
                self.stirred.clear()
                await self.stirred.wait()


@asynccontextmanager
async def verification(root: Path, *cells: NotebookCell) -> AsyncGenerator[Verification]:
    at = Verification(root, cells)
    try:
        yield at
    finally:
        await at.kernels.aclose()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_notebook_that_runs_is_proved_in_its_own_folder(tmp_path: Path) -> None:
    async with verification(
        tmp_path,
        memory_cell("a", "import os\nvalue = 20"),
        memory_cell("text", "# T", "markdown"),
        memory_cell("b", "print(os.getcwd()); value + 1"),
        memory_cell("empty", "  "),
    ) as at:
        before = list(at.notebook.cells)
        checked = await at.run()
        assert [(cell.number, cell.cell_id, cell.is_ok) for cell in checked] == [
            (1, "a", True),
            (3, "b", True),
        ]
        assert checked[1].run.outputs[0]["text"] == f"{tmp_path / 'work'}\n"
        assert [cell.run.execution_count for cell in checked] == [1, 2]
        assert at.notebook.cells == before
        assert await at.kernels.find(PATH) is None


async def test_the_first_failing_cell_ends_it(tmp_path: Path) -> None:
    async with verification(
        tmp_path, memory_cell("a", "x = 1"), memory_cell("b", "y"), memory_cell("c", "1")
    ) as at:
        checked = await at.run()
        assert [cell.cell_id for cell in checked] == ["a", "b"]
        assert checked[1].run.failure == "NameError: name 'y' is not defined"
        assert not checked[1].is_ok


async def test_a_rename_that_broke_a_later_cell_is_found_and_its_fix_proved(tmp_path: Path) -> None:
    """The later cell still runs in the user's kernel, which holds the old name."""
    renamed = memory_cell("load", "prices = [1, 2, 3]", outputs=())
    later = memory_cell("use", "sum(price)", outputs=[shown("6", 2)])
    async with verification(tmp_path, renamed, later) as at:
        users = await at.kernels.start(PATH, None)
        broken = await at.run()
        assert [cell.cell_id for cell in broken if not cell.is_ok] == ["use"]
        at.notebook.type_into("use", "sum(prices)")
        fixed = await at.run()
        assert all(cell.is_ok for cell in fixed)
        assert fixed[1].changed == ()
        mine = await at.kernels.find(PATH)
        assert mine is not None
        assert mine.kernel_id == users.kernel_id


async def test_cells_marked_never_run_are_skipped_and_those_meant_to_fail_do_not_end_it(
    tmp_path: Path,
) -> None:
    async with verification(
        tmp_path,
        memory_cell("a", "raise SystemError", tags=["never-run"]),
        memory_cell("b", "1/0", tags=["raises-exception"]),
        memory_cell("c", "'end'"),
    ) as at:
        plan = await at.verifier.plan(PATH, never)
        assert [cell.id for _, cell in plan.skipped] == ["a"]
        checked = await at.run()
        assert [(cell.cell_id, cell.run.status, cell.is_ok) for cell in checked] == [
            ("b", "error", True),
            ("c", "ok", True),
        ]


async def test_outputs_that_came_out_differently_are_told(tmp_path: Path) -> None:
    async with verification(
        tmp_path,
        memory_cell("same", "object()", outputs=[shown("<object at 0x7f0000000000>", 7)]),
        memory_cell("other", "print('one'); 2", outputs=[stream("one\n"), shown("3", 4)]),
        memory_cell("new", "print('never ran before')"),
    ) as at:
        same, other, new = await at.run()
        assert same.changed == ()
        assert other.changed == (OutputDifference("text/plain", "3", "2"),)
        assert new.changed == ()


async def test_a_kernel_that_dies_ends_it(tmp_path: Path) -> None:
    async with verification(
        tmp_path, memory_cell("a", "import os\nos._exit(1)"), memory_cell("b", "1")
    ) as at:
        [dead] = await at.run()
        assert dead.run.status == "died"


async def test_a_cancel_ends_the_kernel(tmp_path: Path) -> None:
    async with verification(
        tmp_path, memory_cell("a", "import os, time\nprint(os.getpid(), '!')\ntime.sleep(600)")
    ) as at:
        task = asyncio.create_task(at.run())
        await at.until_said("!")
        pid = int("".join(at.said).partition(" !")[0].rpartition(")")[2].split()[-1])
        assert is_alive(pid)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not is_alive(pid)


async def test_a_cancel_during_the_start_leaves_no_kernel(tmp_path: Path) -> None:
    async with verification(tmp_path, memory_cell("a", "1")) as at:
        manager: Any = at.kernels._manager  # pyright: ignore[reportPrivateUsage]  # what is left
        task = asyncio.create_task(at.run())
        await at.until_said("Starting")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert manager.list_kernel_ids() == []


async def test_a_missing_kernelspec_is_named(tmp_path: Path) -> None:
    async with verification(tmp_path, memory_cell("a", "1")) as at:
        at.notebook.metadata["kernelspec"] = {"name": "cobol"}
        with pytest.raises(NotFound, match="'cobol'"):
            await at.run()


def picture(content: str) -> JsonObject:
    return {"output_type": "display_data", "data": {"image/png": content}, "metadata": {}}


def error(message: str) -> JsonObject:
    return {"output_type": "error", "ename": "E", "evalue": message, "traceback": [message]}


COMPARED: dict[str, tuple[list[JsonObject], list[JsonObject], int]] = {
    "execution counts": ([shown("1", 3)], [shown("1", 8)], 0),
    "addresses": ([shown("<A at 0x7ffe12345678>")], [shown("<A at 0x55d012345678>")], 0),
    "temporary files": (
        [stream("/tmp/ipykernel_12/345.py:1: Warning", "stderr")],
        [stream("/tmp/ipykernel_99/777.py:1: Warning", "stderr")],
        0,
    ),
    "how streams are cut": ([stream("a\nb\n")], [stream("a\n"), stream("b\n")], 0),
    "lists of lines": (
        [{"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]}],
        [stream("a\nb")],
        0,
    ),
    "colours": ([stream("\x1b[31mred\x1b[0m")], [stream("red")], 0),
    "another text": ([stream("1\n2\n")], [stream("1\n3\n")], 1),
    "a picture": ([picture("aGk=")], [picture("aGk=\n")], 0),
    "another picture": ([picture("aGk=")], [picture("aGkh")], 1),
    "nothing any more": ([shown("1")], [], 1),
    "something new": ([], [shown("1")], 1),
    "another error": ([error("one")], [error("two")], 1),
}


@pytest.mark.parametrize(("stored", "fresh", "count"), COMPARED.values(), ids=COMPARED)
def test_outputs_are_compared_by_what_they_say(
    stored: list[JsonObject], fresh: list[JsonObject], count: int
) -> None:
    assert len(output_differences(stored, fresh)) == count
