"""Notebooks of format 3 (IPython before 2015): read as format 4, edited in their own format."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest

from jupyter_ai_shoulders.core.errors import InvalidNotebook
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import NotebookFiles
from jupyter_ai_shoulders.notebook.backends.disk.trust import NotebookTrust
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
    NotebookCell,
)

CODE: dict[str, Any] = {
    "cell_type": "code",
    "collapsed": True,
    "input": ["a = 1\n", "a"],
    "language": "python",
    "metadata": {"slideshow": {"slide_type": "skip"}},
    "outputs": [
        {"output_type": "stream", "stream": "stdout", "text": ["1\n", "2\n"]},
        {
            "output_type": "pyout",
            "prompt_number": 2,
            "metadata": {},
            "text": ["<Figure>"],
            "png": "AAAA",
            "json": ['{"x": 1}'],
        },
        {"output_type": "pyerr", "ename": "E", "evalue": "bad", "traceback": ["line"]},
    ],
    "prompt_number": 2,
}
HEADING: dict[str, Any] = {
    "cell_type": "heading",
    "level": 2,
    "metadata": {},
    "source": ["Title"],
}
OLDEST: dict[str, Any] = {"cell_type": "markdown", "metadata": {}, "source": ["one", "two"]}
OUTPUTS: tuple[JsonObject, ...] = (
    {"output_type": "stream", "name": "stderr", "text": "warned\n"},
    {
        "output_type": "execute_result",
        "execution_count": 3,
        "data": {"text/plain": "4", "image/png": "BBBB", "application/json": {"y": [1]}},
        "metadata": {"image/png": {"width": 4}},
    },
    {"output_type": "display_data", "data": {"text/html": "<b>\n</b>"}, "metadata": {}},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
)


def document(*sheets: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "metadata": {"name": "Untitled0"},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": cells, "metadata": {}} for cells in sheets],
    }


class Old:
    """A file of format 3 and its back end."""

    def __init__(self, root: Path, workspace: Workspace) -> None:
        self.file = root / "old.ipynb"
        self.path = workspace.path("old.ipynb")
        self.files = NotebookFiles(workspace, NotebookTrust())

    def write(self, *sheets: list[dict[str, Any]]) -> None:
        self.file.write_text(json.dumps(document(*sheets), indent=1, sort_keys=True))

    def cells(self) -> list[NotebookCell]:
        return list(self.files.snapshot(self.path, "all").cells)

    def edit(self, *edits: CellEdit) -> Applied:
        outcome = self.files.edit(self.path, edits, {})
        assert isinstance(outcome, Applied)
        return outcome

    def data(self) -> dict[str, Any]:
        return json.loads(self.file.read_text())

    def sheet(self) -> list[dict[str, Any]]:
        return self.data()["worksheets"][0]["cells"]


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Old]:
    workspace = Workspace(tmp_path)
    yield Old(tmp_path, workspace)
    workspace.close()


def _upgraded(file: Path) -> list[Any]:
    return cast("Any", nbformat).read(file, as_version=4).cells


def test_cells_are_read_as_nbformat_upgrades_them(old: Old) -> None:
    old.write([CODE, HEADING, OLDEST])
    nodes: list[Any] = _upgraded(old.file)
    cells = old.cells()
    assert [
        (cell.cell_type, cell.source, cell.execution_count, cell.outputs) for cell in cells
    ] == [
        (cell.cell_type, cell.source, cell.get("execution_count"), tuple(cell.get("outputs", ())))
        for cell in nodes
    ]
    assert [cell.id for cell in old.cells()] == [cell.id for cell in cells]


def test_source_of_code_changes_the_input_alone(old: Old) -> None:
    old.write([CODE, HEADING])
    before = old.file.read_text()
    old.edit(CellSource(cell_id=old.cells()[0].id, source="a = 1\na + 1"))
    assert old.file.read_text() == before.replace('"a"', '"a + 1"')


def test_heading_stays_one_while_its_text_is_a_heading(old: Old) -> None:
    old.write([CODE, HEADING])
    heading = old.cells()[1]
    assert heading.source == "## Title"
    old.edit(CellSource(cell_id=heading.id, source="### Other"))
    assert old.sheet()[1] == {**HEADING, "level": 3, "source": ["Other"]}
    old.edit(CellSource(cell_id=heading.id, source="### Other\n\nand text"))
    assert old.sheet()[1] == {
        "cell_type": "markdown",
        "metadata": {},
        "source": ["### Other\n", "\n", "and text"],
    }
    assert old.cells()[1].id == heading.id


def test_lines_without_ends_stay_so(old: Old) -> None:
    old.write([OLDEST])
    assert old.cells()[0].source == "one\ntwo"
    old.edit(CellSource(cell_id=old.cells()[0].id, source="one\n2\nthree"))
    assert old.sheet()[0]["source"] == ["one", "2", "three"]


def test_outputs_are_written_in_the_old_form(old: Old) -> None:
    old.write([CODE])
    cell_id = old.cells()[0].id
    old.edit(CellOutputs(cell_id=cell_id, outputs=OUTPUTS, execution_count=3))
    assert old.sheet()[0] == {
        **CODE,
        "prompt_number": 3,
        "outputs": [
            {"output_type": "stream", "stream": "stderr", "text": ["warned\n"]},
            {
                "output_type": "pyout",
                "prompt_number": 3,
                "text": ["4"],
                "png": "BBBB",
                "json": ['{"y": [1]}'],
                "metadata": {"png": {"width": 4}},
            },
            {"output_type": "display_data", "html": ["<b>\n", "</b>"]},
            {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["t"]},
        ],
    }
    assert old.cells()[0].outputs == OUTPUTS
    nbformat.validate(old.data(), version=3)


def test_cells_come_go_and_move_as_cells_of_format_3(old: Old) -> None:
    old.write([CODE, HEADING])
    code, heading = (cell.id for cell in old.cells())
    new = CellInsert(cell_id=CellId("new"), cell_type="code", source="b", metadata={}, after=code)
    applied = old.edit(new, CellMove(cell_id=heading, after=None))
    assert old.sheet() == [
        HEADING,
        CODE,
        {
            "cell_type": "code",
            "collapsed": False,
            "input": ["b"],
            "language": "python",
            "metadata": {},
            "outputs": [],
            "prompt_number": None,
        },
    ]
    assert [cell.id for cell in old.cells()] == [heading, code, "new"]
    old.edit(*applied.inverse)
    assert old.sheet() == [CODE, HEADING]
    old.edit(CellDelete(cell_id=code), CellDelete(cell_id=heading))
    assert old.sheet() == []
    old.edit(CellInsert(cell_id=CellId("x"), cell_type="raw", source="y", metadata={}, after=None))
    assert old.sheet() == [{"cell_type": "raw", "metadata": {}, "source": ["y"]}]
    assert old.data() == document(old.sheet())


def test_cells_of_several_worksheets_are_changed_but_not_moved(old: Old) -> None:
    old.write([CODE], [], [HEADING, OLDEST])
    before = old.file.read_text()
    cells = old.cells()
    assert [cell.source for cell in cells] == ["a = 1\na", "## Title", "one\ntwo"]
    old.edit(CellSource(cell_id=cells[1].id, source="## Renamed"))
    assert old.file.read_text() == before.replace("Title", "Renamed")
    with pytest.raises(InvalidNotebook, match="3 worksheets"):
        old.edit(CellDelete(cell_id=cells[0].id))


@pytest.mark.parametrize("major", [1, 2])
def test_still_older_formats_are_only_read(old: Old, major: int) -> None:
    module: Any = getattr(nbformat, f"v{major}")
    cell = module.new_code_cell("a") if major == 1 else module.new_code_cell(input="a")
    data = (
        module.new_notebook(cells=[cell])
        if major == 1
        else module.new_notebook(worksheets=[module.new_worksheet(cells=[cell])])
    )
    text = json.dumps({**data, "nbformat": major})
    old.file.write_text(text)
    assert [cell.source for cell in old.cells()] == ["a"]
    with pytest.raises(InvalidNotebook, match=f"format {major}"):
        old.edit(CellDelete(cell_id=old.cells()[0].id))
    assert old.file.read_text() == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"nbformat": 3, "metadata": {}}', "no list of worksheets"),
        ('{"nbformat": 3, "worksheets": []}', "no worksheet"),
        ('{"nbformat": 3, "worksheets": [1]}', "no list of cells"),
        ('{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "x"}]}]}', "no known type|known"),
        ('{"nbformat": 3, "worksheets": [{"cells": [], "cells": []}]}', "occurs twice"),
    ],
)
def test_broken_file_of_format_3_is_named(old: Old, text: str, problem: str) -> None:
    old.file.write_text(text)
    with pytest.raises(InvalidNotebook, match=problem):
        old.cells()
