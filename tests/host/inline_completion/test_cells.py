"""Cells that suggestions may use."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.host.inline_completion.cells import VisibleCells, VisibleCellsCache
from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellType, NotebookCell
from jupyter_ai_shoulders.wire.versions import cell_version

PRIVATE: JsonObject = {"tags": ["other", "private"]}


def cell(
    name: str, source: str = "x", kind: CellType = "code", metadata: JsonObject | None = None
) -> NotebookCell:
    return NotebookCell(
        id=CellId(name),
        cell_type=kind,
        source=source,
        version=cell_version(source),
        metadata=metadata or {},
        execution_count=None,
        output_summary=(),
        outputs=None,
    )


def snapshot(cells: Sequence[NotebookCell]) -> NotebookSnapshot:
    return NotebookSnapshot("a.ipynb", "disk", cells, {}, dirty=False)


def opened(*cells: NotebookCell) -> VisibleCells:
    return VisibleCellsCache().of(snapshot(cells), "python")


def names(found: VisibleCells, name: str) -> tuple[list[str], list[str]]:
    near = found.near(CellId(name))
    return [one.name for one in near.before], [one.name for one in near.after]


def test_the_own_cell_the_private_and_the_raw_are_left_out() -> None:
    found = opened(
        cell("a"), cell("p", metadata=PRIVATE), cell("own"), cell("r", kind="raw"), cell("z")
    )

    assert names(found, "own") == (["cell 1"], ["cell 5"])
    assert names(found, "a") == ([], ["cell 3", "cell 5"])
    assert names(found, "r") == (["cell 1", "cell 3"], ["cell 5"])
    assert names(found, "p") == (["cell 1"], ["cell 3", "cell 5"])
    assert names(found, "z") == (["cell 1", "cell 3"], [])
    assert found.private == {CellId("p")}


def test_names_of_private_cells_are_hidden_wherever_they_are_bound() -> None:
    source = "if True:\n    patients = load()\nfor row in patients:\n    total = row"

    assert opened(cell("p", source, metadata=PRIVATE)).hidden >= {"patients", "row", "total"}


def test_of_a_private_cell_that_is_not_understood_every_word_is_hidden() -> None:
    assert opened(cell("p", "patients <- 1 !!", metadata=PRIVATE)).hidden == {"patients"}


def test_cells_are_gone_through_again_only_when_they_are_others() -> None:
    book = VisibleCellsCache()
    cells = [cell("a"), cell("b")]
    first = book.of(snapshot(cells), "python")

    assert book.of(snapshot(cells), "python") is first
    assert book.of(snapshot([*cells]), "python") is not first
    assert book.of(snapshot(cells), "r") is not first


def test_another_state_of_the_cells_has_another_name() -> None:
    before = opened(cell("a", "x = 1"), cell("own")).near(CellId("own")).world
    after = opened(cell("a", "x = 2"), cell("own")).near(CellId("own")).world
    typed = opened(cell("a", "x = 1"), cell("own", "typed")).near(CellId("own")).world

    assert before != after
    assert before == typed, "what is typed in the cell itself is not of its world"
