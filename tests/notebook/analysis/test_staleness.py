"""Stale cells and their reasons: tables of notebooks and runs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from jupyter_ai_shoulders.notebook.analysis.name_analysis import CellNames
from jupyter_ai_shoulders.notebook.analysis.run_history import (
    KernelRuns,
    RecordedRun,
    RunHistories,
    SourceCache,
)
from jupyter_ai_shoulders.notebook.analysis.staleness import StaleReport, stale_cells
from jupyter_ai_shoulders.wire.frames import AnnouncedCell
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import CellType
from jupyter_ai_shoulders.wire.versions import cell_version

GONE = "uses `df`, which no cell defines any more: the kernel still has it from cell 1 as it was"


class Kernel:
    """A notebook with a kernel: cells are written and run by 1-based number."""

    def __init__(self, *sources: str) -> None:
        self.sources = list(sources)
        self.types: dict[int, CellType] = {}
        self.counts: dict[int, int] = {}
        self.life: KernelRuns | None = KernelRuns()
        self.book = SourceCache()
        self.next = 1

    def run(self, *numbers: int) -> Kernel:
        """Run cells with their current text."""
        assert self.life is not None
        for number in numbers:
            version = cell_version(self.sources[number - 1])
            self.book.keep(version, self.sources[number - 1])
            self.life.add(RecordedRun(CellId(f"c{number}"), version, self.next))
            self.counts[number] = self.next
            self.next += 1
        return self

    def write(self, number: int, source: str) -> Kernel:
        """Change a cell."""
        self.sources[number - 1] = source
        return self

    def restart(self) -> Kernel:
        """Start a new generation; the cells keep their counts."""
        self.life = KernelRuns(whole=True)
        self.next = 1
        return self

    def forget(self) -> Kernel:
        """Keep only the information that a file has."""
        self.life = None
        return self

    def report(self, *, is_python: bool = True) -> StaleReport:
        """Return the stale cells."""
        return stale_cells(self.cells, self.life, self.book.names, is_python=is_python)

    @property
    def cells(self) -> list[AnnouncedCell]:
        """The cells as a page announces them."""
        return [
            AnnouncedCell(
                id=CellId(f"c{number}"),
                cell_type=self.types.get(number, "code"),
                version=cell_version(source),
                source=source,
                execution_count=self.counts.get(number),
            )
            for number, source in enumerate(self.sources, 1)
        ]

    def marks(self, *, is_python: bool = True) -> Mapping[str, tuple[str, str]]:
        """Return state and reason by cell."""
        marks = self.report(is_python=is_python).marks
        return {cell_id: (mark.state, mark.reason) for cell_id, mark in marks.items()}


def frames() -> Kernel:
    """Load, change and show a frame, all run from the top."""
    return Kernel("df = {}", "df['a'] = 1", "df.plot()").run(1, 2, 3)


def load() -> Kernel:
    """The same with the loader above."""
    return Kernel("def load(): return table", "table = 1", "df = load()", "df").run(1, 2, 3, 4)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        pytest.param(frames(), {}, id="from-the-top"),
        pytest.param(Kernel("df = 1", "df").run(1), {}, id="not-run-yet"),
        pytest.param(
            frames().write(3, "df.hist()"), {"c3": ("edited", "edited since it ran")}, id="edited"
        ),
        pytest.param(
            frames().run(1),
            {
                "c2": ("upstream", "uses `df`, which cell 1 redefined since"),
                "c3": ("upstream", "uses `df` of cell 2, which is stale"),
            },
            id="redefined",
        ),
        pytest.param(
            frames().run(1, 3),
            {
                "c2": ("upstream", "uses `df`, which cell 1 redefined since"),
                "c3": ("order", "uses `df` as cell 1 left it, not cell 2"),
            },
            id="a-step-left-out",
        ),
        pytest.param(
            frames().run(2),
            {"c3": ("upstream", "uses `df`, which cell 2 changed since")},
            id="changed",
        ),
        pytest.param(
            frames().write(1, "df = {1}"),
            {
                "c1": ("edited", "edited since it ran"),
                "c2": ("upstream", "uses `df` of cell 1, edited since it ran"),
                "c3": ("upstream", "uses `df` of cell 2, which is stale"),
            },
            id="edited-upstream",
        ),
        pytest.param(
            frames().write(1, "data = {}").run(1),
            {
                "c2": (
                    "upstream",
                    GONE,
                ),
                "c3": ("upstream", "uses `df` of cell 2, which is stale"),
            },
            id="renamed",
        ),
        pytest.param(
            Kernel("df = 1", "df").run(1, 2).write(1, "data = 1").run(1, 2),
            {
                "c2": (
                    "upstream",
                    GONE,
                )
            },
            id="renamed-and-run-again",
        ),
        pytest.param(
            Kernel("x", "x = 1").run(2, 1),
            {"c1": ("order", "uses `x`, which only cell 2 below defines")},
            id="defined-below",
        ),
        pytest.param(
            Kernel("x = 1", "x", "x = 2").run(1, 3, 2),
            {"c2": ("order", "uses `x` as cell 3 left it, not cell 1")},
            id="taken-from-below",
        ),
        pytest.param(
            Kernel("x = 1", "x = 2", "x").run(1, 3, 2),
            {"c3": ("order", "ran before cell 2 above it, which defines `x`")},
            id="ran-too-early",
        ),
        pytest.param(
            Kernel("x = 1", "x = 2", "x").run(1, 3),
            {"c3": ("upstream", "uses `x`, which cell 2 defines but has not run")},
            id="a-definition-left-out",
        ),
        pytest.param(
            frames().restart().run(1),
            {
                "c2": ("kernel", "ran in a kernel that is gone"),
                "c3": ("kernel", "ran in a kernel that is gone"),
            },
            id="restarted",
        ),
        pytest.param(
            Kernel("import numpy as np", "np.zeros(3)").run(1, 2, 1), {}, id="imported-again"
        ),
        pytest.param(
            Kernel("import numpy as np", "np").run(1, 2).write(1, "import numpy as np\nimport a"),
            {"c1": ("edited", "edited since it ran")},
            id="another-import-beside",
        ),
        pytest.param(load().run(1), {}, id="same-function"),
        pytest.param(
            load().run(2),
            {
                "c3": ("upstream", "uses `table`, which cell 2 redefined since"),
                "c4": ("upstream", "uses `df` of cell 3, which is stale"),
            },
            id="what-a-function-needs",
        ),
        pytest.param(
            load().write(1, "def load(): return 2"),
            {
                "c1": ("edited", "edited since it ran"),
                "c3": ("upstream", "uses `load` of cell 1, edited since it ran"),
                "c4": ("upstream", "uses `df` of cell 3, which is stale"),
            },
            id="another-function",
        ),
        pytest.param(Kernel("from m import *", "thing").run(1, 2), {}, id="star-import"),
        pytest.param(Kernel("pip install x", "thing").run(1, 2), {}, id="does-not-parse"),
        pytest.param(Kernel("print(len(_), _1, In, display)").run(1), {}, id="always-there"),
        pytest.param(Kernel("n = 1", "n += 1").run(1, 2, 2, 2), {}, id="its-own-result"),
        pytest.param(Kernel("x = 1", "x").run(1, 2).forget(), {}, id="counts-in-order"),
        pytest.param(
            Kernel("x = 1", "x").run(1, 2, 1).forget(),
            {"c2": ("order", "ran before cell 1 above it, which defines `x`")},
            id="counts-out-of-order",
        ),
        pytest.param(
            Kernel("x = 1", "y").run(1, 2).forget(),
            {"c2": ("upstream", "uses `y`, which no cell defines")},
            id="counts-and-no-definition",
        ),
    ],
)
def test_stale_cells_and_reasons(kernel: Kernel, expected: Mapping[str, tuple[str, str]]) -> None:
    assert kernel.marks() == expected


def test_other_languages_are_judged_without_names() -> None:
    kernel = Kernel("x <- 1", "x", "y <- 2", "y").run(1, 2, 3, 4, 1).write(4, "y + 1")
    assert kernel.marks(is_python=False) == {
        "c2": ("order", "ran before cell 1 above it"),
        "c4": ("edited", "edited since it ran"),
    }


def test_what_cannot_be_told_is_said() -> None:
    assert Kernel("x").report() == StaleReport({})
    by_counts = Kernel("x = 1").run(1).forget().report()
    assert by_counts.note is not None
    assert "execution counts only" in by_counts.note
    twice = Kernel("x = 1", "y = 2").run(1, 2).forget()
    twice.counts[2] = 1
    assert twice.report() == StaleReport({}, "cells ran in several kernels")
    late = Kernel("x = 1", "y = x")
    late.next = 7
    late.run(2)
    late.counts[1] = 3
    assert late.report() == StaleReport({}, "not known of 1 cells when they ran")
    assert frames().restart().report() == StaleReport({}, "nothing ran in this kernel yet")


def test_markdown_is_never_stale() -> None:
    kernel = Kernel("# x", "x = 1").run(2)
    kernel.types[1] = "markdown"
    assert kernel.marks() == {}


def announced(cell_id: str, version: str, count: int | None) -> AnnouncedCell:
    """Return a cell as announced by a page that saw it run."""
    return AnnouncedCell(
        id=CellId(cell_id),
        cell_type="code",
        version=Version("v"),
        source=None,
        execution_count=count,
        executed_version=Version(version) if count is not None else None,
    )


def runs(histories: RunHistories) -> dict[int, str]:
    """Return which cell ran at which count."""
    life = histories.current("k")
    return {} if life is None else {count: run.cell_id for count, run in life.runs.items()}


def test_runs_of_pages_and_agent_are_one_history() -> None:
    histories = RunHistories()
    histories.announced("k", [announced("a", "1", 1), announced("b", "2", None)])
    histories.ran("k", RecordedRun(CellId("b"), Version("2"), 3))
    histories.announced("k", [announced("c", "3", 2)])  # another page, later
    assert runs(histories) == {1: "a", 2: "c", 3: "b"}
    life = histories.current("k")
    assert life is not None
    assert life.whole
    assert {cell: run.count for cell, run in life.last().items()} == {"a": 1, "c": 2, "b": 3}


def test_life_begins_when_counts_begin_again() -> None:
    histories = RunHistories()
    histories.announced("k", [announced("a", "1", 1), announced("b", "2", 2)])
    histories.ran("k", RecordedRun(CellId("b"), Version("2"), 1))
    assert runs(histories) == {1: "b"}
    histories.announced("k", [announced("a", "1", 1)])
    assert runs(histories) == {1: "a"}
    histories.restarted("k")
    assert runs(histories) == {}


def test_history_is_bounded() -> None:
    life = KernelRuns()
    for count in range(1, 12_001):
        life.add(RecordedRun(CellId("a" if count > 1 else "first"), Version("v"), count))
    assert len(life.runs) <= 5_000
    assert life.last()[CellId("first")].count == 1
    histories = RunHistories()
    for number in range(300):
        histories.ran(f"k{number}", RecordedRun(CellId("a"), Version("v"), 1))
    assert histories.current("k0") is None
    assert histories.current("k299") is not None


def test_each_source_is_read_once() -> None:
    read: list[str] = []

    def note(source: str) -> CellNames:
        read.append(source)
        return SourceCache().names(Version("x"), source)

    book = SourceCache(note)
    book.keep(Version("1"), "a = 1")
    assert not book.knows(Version("1"))
    assert book.names(Version("1")).defines == {"a"}
    assert book.names(Version("1"), "a = 1").defines == {"a"}
    assert read == ["a = 1"]
    assert not book.names(Version("2")).known
