"""Runs recorded from pages and the agent: marks for pages, reports for the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.notebook.analysis.staleness_tracker import StalenessTracker
from jupyter_ai_shoulders.notebook.base import KernelDirectory, KernelHandle, NotebookSnapshot
from jupyter_ai_shoulders.wire.frames import (
    AnnouncedCell,
    DocumentChange,
    DocumentMarks,
    DocumentOpen,
    DocumentRename,
    ServerFrame,
)
from jupyter_ai_shoulders.wire.ids import CellId, ClientId
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.versions import cell_version

PAGE = ClientId("page")
OTHER = ClientId("other")


class OneKernel:
    """A directory with one kernel for all notebooks, or one that fails."""

    def __init__(self, language: str = "python") -> None:
        self.handle: KernelHandle | None = KernelHandle("k", "python3", language, None, _no_client)
        self.fails = False

    async def find(self, path: str) -> KernelHandle | None:
        """See ``KernelDirectory.find``."""
        if self.fails:
            raise NotFound(path)
        return self.handle


def _no_client() -> Any:
    raise AssertionError("kernels are asked nothing")


class Sent:
    """A transport that records frames."""

    def __init__(self) -> None:
        self.frames: list[tuple[ClientId, ServerFrame]] = []

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """See ``PageTransport.send``."""
        self.frames.append((client_id, frame))

    def marks(self, client: ClientId = PAGE) -> list[dict[str, str]]:
        """Return the reasons a page was sent, one dict per frame."""
        return [
            {cell_id: mark.reason for cell_id, mark in frame.marks.items()}
            for to, frame in self.frames
            if to == client and isinstance(frame, DocumentMarks)
        ]


async def at_once(seconds: float) -> None:
    """Do not wait."""
    del seconds


class World:
    """A tracker with pages and a kernel."""

    def __init__(self, language: str = "python") -> None:
        self.sent = Sent()
        self.kernels = OneKernel(language)
        self.book = StalenessTracker(cast("KernelDirectory", self.kernels), self.sent, at_once)

    async def says(
        self,
        *cells: tuple[str, int | None, str | None],
        restarts: int = 0,
        opens: bool = False,
        client: ClientId = PAGE,
    ) -> None:
        """Let a page announce cells: source, count, and the text that ran."""
        kind = DocumentOpen if opens else DocumentChange
        announced = tuple(
            AnnouncedCell(
                id=CellId(f"c{number}"),
                cell_type="code",
                version=cell_version(source),
                source=source,
                execution_count=count,
                executed_version=None if ran is None else cell_version(ran),
            )
            for number, (source, count, ran) in enumerate(cells, 1)
        )
        frame = kind(
            path="a.ipynb",
            claim_epoch=1,
            cells=announced,
            dirty=True,
            saved_at=None,
            kernel_id="k",
            kernel_restarts=restarts,
        )
        self.book.handle_frame(client, frame)
        await self.book.settle()

    async def reasons(self, *cells: tuple[str, int | None]) -> dict[str, str]:
        """Return the reasons in the model's report on a notebook snapshot."""
        report = await self.book.report(snapshot(cells))
        return {cell_id: mark.reason for cell_id, mark in report.marks.items()}


def notebook_cell(number: int, source: str, count: int | None) -> NotebookCell:
    """Return a cell of a file."""
    return NotebookCell(
        id=CellId(f"c{number}"),
        cell_type="code",
        source=source,
        version=cell_version(source),
        metadata={},
        execution_count=count,
        output_summary=(),
        outputs=None,
    )


def snapshot(cells: Sequence[tuple[str, int | None]]) -> NotebookSnapshot:
    """Return a notebook snapshot."""
    made = [notebook_cell(n, source, count) for n, (source, count) in enumerate(cells, 1)]
    return NotebookSnapshot("a.ipynb", "disk", made, {}, dirty=False)


async def test_page_is_told_what_is_stale_and_that_it_is_not_any_more() -> None:
    world = World()
    await world.says(("x = 1", 1, "x = 1"), ("x", 2, "x"), opens=True)
    assert world.sent.marks() == []
    await world.says(("x = 2", 1, "x = 1"), ("x", 2, "x"))
    edited = {"c1": "edited since it ran", "c2": "uses `x` of cell 1, edited since it ran"}
    assert world.sent.marks() == [edited]
    assert [number for number, _, _ in world.book.last_marks("a.ipynb")] == [1, 2]
    assert await world.reasons(("x = 2", 1), ("x", 2)) == edited
    await world.says(("x = 2", 3, "x = 2"), ("x", 4, "x"))
    assert world.sent.marks() == [edited, {}]
    assert not world.book.last_marks("a.ipynb")


async def test_each_page_is_told_of_its_own_text() -> None:
    world = World()
    await world.says(("x = 1", 1, "x = 1"), opens=True)
    await world.says(("x = 5", 1, None), opens=True, client=OTHER)
    assert world.sent.marks() == []
    assert world.sent.marks(OTHER) == [{"c1": "edited since it ran"}]


async def test_page_that_is_loaded_again_is_told_again() -> None:
    world = World()
    await world.says(("x = 2", 1, "x = 1"), opens=True)
    world.book.page_disconnected(PAGE)
    await world.says(("x = 2", 1, None), opens=True)
    assert world.sent.marks() == [{"c1": "edited since it ran"}] * 2
    world.book.handle_frame(PAGE, DocumentRename(path="a.ipynb", new_path="b.ipynb"))
    await world.book.settle()
    assert len(world.sent.marks()) == 2


async def test_run_of_the_agent_counts_without_a_page() -> None:
    world = World()
    world.book.ran("k", notebook_cell(1, "x = 1", None), 1)
    world.book.ran("k", notebook_cell(2, "x", None), 2)
    world.book.ran("k", notebook_cell(3, "x", None), None)
    assert await world.reasons(("y = 1", 1), ("x", 2)) == {
        "c1": "edited since it ran",
        "c2": "uses `x`, which no cell defines any more: "
        "the kernel still has it from cell 1 as it was",
    }


async def test_restart_that_a_page_saw_makes_all_older_runs_void() -> None:
    world = World()
    await world.says(("x = 1", 1, "x = 1"), ("x", 2, "x"), opens=True)
    await world.says(("x = 1", 1, None), ("x", 2, None), restarts=1)
    assert world.sent.marks() == []
    await world.says(("x = 1", 1, "x = 1"), ("x", 2, None), restarts=1)
    assert world.sent.marks() == [{"c2": "ran in a kernel that is gone"}]


async def test_other_languages_are_not_read_as_python() -> None:
    world = World("R")
    await world.says(("x <- 1", 1, "x <- 1"), ("y", 2, "y"), opens=True)
    assert world.sent.marks() == []
    assert await world.reasons(("x <- 1", 1), ("y", 2)) == {}


async def test_without_a_kernel_only_the_counts_are_known() -> None:
    world = World()
    world.kernels.fails = True
    report = await world.book.report(snapshot([("x = 1", 2), ("x", 1)]))
    assert report.note is not None
    assert {cell_id: mark.state for cell_id, mark in report.marks.items()} == {"c2": "order"}


async def test_large_notebooks_are_judged_as_small_ones_are() -> None:
    world = World()
    cells = [("x = 1", 1, "x = 1"), *((f"x + {n}", n + 2, f"x + {n}") for n in range(600))]
    await world.says(*cells, opens=True)
    assert world.sent.marks() == []
    await world.says(("x = 2", 1, "x = 1"), *cells[1:])
    assert len(world.sent.marks()[0]) == 601
    await world.book.aclose()
