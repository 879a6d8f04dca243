import json
from collections.abc import Sequence
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.notebook.base import Conflicted
from jupyter_ai_shoulders.notebook.cells import clean, with_outputs
from jupyter_ai_shoulders.notebook.edits import EditedNotebook, apply_edits
from jupyter_ai_shoulders.notebook.formats.notebook_file import ParsedNotebook, parse_notebook
from jupyter_ai_shoulders.notebook.formats.splice import splice
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
from tests.notebook.formats.strategies import SOURCES, Written, notebook_file

OUTPUTS: tuple[JsonObject, ...] = (
    {"output_type": "stream", "name": "stdout", "text": "größer\n  10 %\n"},
    {
        "output_type": "execute_result",
        "execution_count": 3,
        "data": {"text/html": "<b>\n</b>", "image/png": "AAAA\n"},
        "metadata": {},
    },
)


def parsed(text: str) -> ParsedNotebook:
    return parse_notebook(text.encode(), "n.ipynb")


def plain(notebook: ParsedNotebook) -> list[str]:
    """The cells as a reader parses them, comparable although NaN is not."""
    values: list[list[Any]] = [[*cell[3:7], *cell.outputs()] for cell in notebook.cells]
    return [json.dumps(clean(value), sort_keys=True) for value in values]


def applied(notebook: ParsedNotebook, edits: Sequence[CellEdit]) -> EditedNotebook | Conflicted:
    raw = {cell.id: cell for cell in notebook.cells}

    def find(cell_id: CellId) -> NotebookCell:
        return with_outputs(raw[cell_id].view(), raw[cell_id].outputs())

    return apply_edits(list(raw), find, edits, {})


@given(notebook_file())
def test_parse_then_text_is_the_file(written: Written) -> None:
    notebook = parsed(written.text)
    assert notebook.text == written.text
    assert [cell.source for cell in notebook.cells] == [
        cell["source"] for cell in written.notebook["cells"]
    ]


@given(notebook_file(), st.data())
def test_source_edit_changes_no_byte_outside_the_source(
    written: Written, data: st.DataObject
) -> None:
    notebook = parsed(written.text)
    cell = data.draw(st.sampled_from(notebook.cells))
    source = data.draw(SOURCES.filter(lambda text: text != cell.source))
    after = splice(notebook, [CellSource(cell_id=cell.id, source=source)])

    start = written.text.index(cell.text, sum(map(len, _before(notebook, cell.id))))
    prefix, suffix = written.text[:start], written.text[start + len(cell.text) :]
    assert after.text.startswith(prefix)
    assert after.text.endswith(suffix)
    new = json.loads(after.text[start : len(after.text) - len(suffix)])
    old = json.loads(cell.text)
    assert list(new) == list(old)
    assert isinstance(new["source"], type(old["source"]))
    assert "".join(new.pop("source")) == source
    del old["source"]
    assert json.dumps(new) == json.dumps(old)
    read, expected = nbformat.reader.reads(after.text), nbformat.reader.reads(written.text)
    expected.cells[[item.id for item in notebook.cells].index(cell.id)].source = source
    assert json.dumps(read) == json.dumps(expected)
    assert parsed(after.text).cells == after.cells or not after.own_ids
    assert after.text.isascii() or not written.text.isascii() or not source.isascii()


def _before(notebook: ParsedNotebook, cell_id: CellId) -> list[str]:
    pieces = [notebook.head]
    for cell in notebook.cells:
        pieces.append(cell.gap)
        if cell.id == cell_id:
            break
        pieces.append(cell.text)
    return pieces


def _edit(draw: st.DrawFn, ids: list[CellId], new_id: CellId) -> CellEdit:
    cell_id = draw(st.sampled_from(ids))
    after = draw(st.sampled_from([None, *ids]))
    source = draw(SOURCES)
    return draw(
        st.sampled_from(
            [
                CellSource(cell_id=cell_id, source=source),
                CellInsert(
                    cell_id=new_id,
                    cell_type="code",
                    source=source,
                    metadata={"tags": ["ü"]},
                    after=after,
                    outputs=OUTPUTS,
                    execution_count=4,
                ),
                CellInsert(
                    cell_id=new_id,
                    cell_type="markdown",
                    source=source,
                    metadata={},
                    after=after,
                    attachments={"a.png": {"image/png": "AA"}},
                ),
                CellDelete(cell_id=cell_id),
                CellMove(cell_id=cell_id, after=after),
                CellOutputs(cell_id=cell_id, outputs=OUTPUTS, execution_count=7),
            ]
        )
    )


@st.composite
def edits_for(draw: st.DrawFn, ids: list[CellId]) -> list[CellEdit]:
    count = draw(st.integers(1, 4))
    return [_edit(draw, ids, CellId(f"new-{position}")) for position in range(count)]


@given(notebook_file(), st.data())
def test_any_edits_agree_with_the_rule_and_keep_other_cells(
    written: Written, data: st.DataObject
) -> None:
    notebook = parsed(written.text)
    edits = data.draw(edits_for([cell.id for cell in notebook.cells]))
    outcome = applied(notebook, edits)
    if isinstance(outcome, Conflicted):
        return
    after = splice(notebook, edits)

    assert [cell.id for cell in after.cells] == list(outcome.order)
    assert after.head == notebook.head
    assert after.tail.strip() == notebook.tail.strip()
    assert after.text.endswith(written.text[len(written.text.rstrip()) :])
    before = {cell.id: cell.text for cell in notebook.cells}
    touched = {edit.cell_id for edit in edits if not isinstance(edit, CellMove)}
    assert all(cell.text == before[cell.id] for cell in after.cells if cell.id not in touched)
    again = parsed(after.text)
    assert plain(again) == plain(after)
    for cell in after.cells:
        if cell.id in outcome.changed:
            assert cell.source == outcome.changed[cell.id].source
            assert cell.outputs() == (outcome.changed[cell.id].outputs or ())

    undone = splice(after, outcome.applied.inverse)
    assert plain(undone) == plain(notebook)
    assert [cell.id for cell in undone.cells] == [cell.id for cell in notebook.cells]


def test_edits_of_a_file_by_nbformat_are_what_nbformat_would_write() -> None:
    before = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("a = 1\nb = 2", id="aaaa"),
            nbformat.v4.new_markdown_cell("# Größe", id="bbbb"),
        ]
    )
    after = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(
                "first", id="cccc", outputs=nbformat.from_dict(list(OUTPUTS)), execution_count=4
            ),
            nbformat.v4.new_markdown_cell("# Größe\n\nneu", id="bbbb"),
            nbformat.v4.new_code_cell(
                "a = 1\nb = 2",
                id="aaaa",
                outputs=nbformat.from_dict(list(OUTPUTS)),
                execution_count=3,
            ),
        ]
    )
    edits: list[CellEdit] = [
        CellSource(cell_id=CellId("bbbb"), source="# Größe\n\nneu"),
        CellOutputs(cell_id=CellId("aaaa"), outputs=OUTPUTS, execution_count=3),
        CellMove(cell_id=CellId("aaaa"), after=CellId("bbbb")),
        CellInsert(
            cell_id=CellId("cccc"),
            cell_type="code",
            source="first",
            metadata={},
            after=None,
            outputs=OUTPUTS,
            execution_count=4,
        ),
    ]
    assert splice(parsed(nbformat.writes(before)), edits).text == nbformat.writes(after)


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        pytest.param(
            '{"cells": [], "nbformat": 4, "nbformat_minor": 5}',
            "insert",
            '{"cells": [{"cell_type": "raw", "id": "n", "metadata": {}, "source": ["x"]}],'
            ' "nbformat": 4, "nbformat_minor": 5}',
            id="into an empty list on one line",
        ),
        pytest.param(
            '{\r\n\t"cells": [],\r\n\t"nbformat": 4,\r\n\t"nbformat_minor": 4\r\n}',
            "insert",
            '{\r\n\t"cells": [\r\n\t\t{\r\n\t\t\t"cell_type": "raw",\r\n\t\t\t"metadata": {},'
            '\r\n\t\t\t"source": [\r\n\t\t\t\t"x"\r\n\t\t\t]\r\n\t\t}\r\n\t],'
            '\r\n\t"nbformat": 4,\r\n\t"nbformat_minor": 4\r\n}',
            id="into an empty list with tabs, CRLF and no ids",
        ),
        pytest.param(
            '{"nbformat":4,"nbformat_minor":5,"cells":[ {"id":"n",'
            '"cell_type":"raw","metadata":{},"source":""} ]}',
            "delete",
            '{"nbformat":4,"nbformat_minor":5,"cells":[]}',
            id="the only cell",
        ),
    ],
)
def test_edits_follow_the_files_own_style(before: str, edit: str, after: str) -> None:
    edits: dict[str, CellEdit] = {
        "insert": CellInsert(
            cell_id=CellId("n"), cell_type="raw", source="x", metadata={}, after=None
        ),
        "delete": CellDelete(cell_id=CellId("n")),
    }
    assert splice(parsed(before), [edits[edit]]).text == after


def test_source_in_a_file_with_escapes_is_written_with_escapes() -> None:
    text = (
        r'{"cells": [{"cell_type": "raw", "id": "n", "metadata": {}, "source": "\u00fc"}],'
        r' "nbformat": 4, "nbformat_minor": 5}'
    )
    edit = CellSource(cell_id=CellId("n"), source="ß")
    assert splice(parsed(text), [edit]).text == text.replace("00fc", "00df")


def test_outputs_of_a_cell_without_count_add_the_member() -> None:
    text = (
        '{"cells": [{"cell_type": "code", "id": "n", "metadata": {}, "outputs": [], "source": ""}],'
        ' "nbformat": 4, "nbformat_minor": 5}'
    )
    after = splice(parsed(text), [CellOutputs(cell_id=CellId("n"), outputs=(), execution_count=2)])
    assert after.text == text.replace('{"cell_type', '{"execution_count": 2, "cell_type')
