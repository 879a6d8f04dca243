"""Edits of shared documents: the same rule as elsewhere, and all concurrent typing survives."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_ydoc import YNotebook

from jupyter_ai_shoulders.notebook.backends.shared.notebooks import ORIGIN, edit_document
from jupyter_ai_shoulders.notebook.backends.shared.ydoc_cells import read_cell, ycells_of
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.notebook.edits import apply_edits
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
    NotebookCell,
)
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.notebook.backends.shared.fake_room import (
    code,
    document_of,
    prose,
    stream,
    sync,
    twin,
    ycell,
)

PICTURE = {"a.png": {"image/png": "AAAA"}}
CELLS = (
    code("a", "x = 1", stream("one"), execution_count=2),
    code("b", "y = 2"),
    prose("c", "# Title", attachments=PICTURE),
    code("d", "keep", metadata={"editable": False, "deletable": False, "tags": ["t"]}),
)
IDS = st.sampled_from([CellId(name) for name in ("a", "b", "c", "d", "e", "f")])
SOURCE = st.text("xy =é😀\n", max_size=12)
EDITS: st.SearchStrategy[CellEdit] = st.one_of(
    st.builds(CellSource, cell_id=IDS, source=SOURCE),
    st.builds(
        CellInsert,
        cell_id=IDS,
        cell_type=st.just("code"),
        source=SOURCE,
        metadata=st.just({}),
        after=st.none() | IDS,
        outputs=st.just((stream("new"),)),
        execution_count=st.none() | st.integers(1, 9),
    ),
    st.builds(CellDelete, cell_id=IDS),
    st.builds(CellMove, cell_id=IDS, after=st.none() | IDS),
    st.builds(
        CellOutputs,
        cell_id=IDS,
        outputs=st.sampled_from([(), (stream("one more"),), (stream("e", "stderr"),)]),
        execution_count=st.none() | st.integers(1, 9),
    ),
)


def cells(document: YNotebook) -> list[NotebookCell]:
    return [read_cell(cell, with_outputs=True) for cell in ycells_of(document)]


def sources(document: YNotebook) -> dict[str, str]:
    return {cell.id: cell.source for cell in cells(document)}


def change(cell_id: str, source: str) -> CellEdit:
    return CellSource(cell_id=CellId(cell_id), source=source)


@given(st.lists(EDITS, min_size=1, max_size=5))
def test_edits_do_what_the_rule_says_or_nothing_and_are_taken_back(edits: list[CellEdit]):
    document = document_of(*CELLS)
    before = cells(document)
    by_id = {cell.id: cell for cell in before}
    ruled = apply_edits(list(by_id), by_id.__getitem__, edits, {})
    outcome = edit_document(document, edits, {})
    if isinstance(ruled, Conflicted):
        assert outcome == ruled
        assert cells(document) == before
        return
    assert isinstance(outcome, Applied)
    assert outcome.versions == ruled.applied.versions
    assert cells(document) == [ruled.changed.get(i) or by_id[i] for i in ruled.order]
    undone = edit_document(document, outcome.inverse, {})
    if isinstance(undone, Applied):  # an undo that a restored cell blocks is not made
        assert cells(document) == before
        assert document.get()["cells"][2].get("attachments") == PICTURE


def test_a_changed_cell_is_left_alone_and_shown_with_its_text():
    document = document_of(*CELLS)
    expected = {CellId("a"): cell_version("x = 0"), CellId("b"): cell_version("y = 2")}
    outcome = edit_document(document, [change("a", "agent"), change("b", "agent")], expected)
    assert isinstance(outcome, Conflicted)
    (conflict,) = outcome.conflicts
    assert (conflict.cell_id, conflict.reason, conflict.current) == ("a", "changed", "x = 1")
    assert sources(document)["b"] == "y = 2"


def test_typing_that_is_on_its_way_is_kept_in_edited_moved_around_and_other_cells():
    room = document_of(*CELLS)
    page = twin(room)
    ycell(page, "a")["source"].insert(5, "  # typed")
    ycell(page, "b")["source"].insert(0, "# typed\n")
    edits: list[CellEdit] = [change("a", "x = 22"), CellDelete(cell_id=CellId("c"))]
    edits.append(CellMove(cell_id=CellId("d"), after=CellId("a")))
    outcome = edit_document(room, edits, {CellId("a"): cell_version("x = 1")})
    assert isinstance(outcome, Applied)
    sync(room, page)
    assert sources(room) == sources(page)
    assert list(sources(room)) == ["a", "d", "b"]
    assert sources(room)["b"] == "# typed\ny = 2"
    assert "  # typed" in sources(room)["a"]
    assert sources(room)["a"].replace("  # typed", "") == "x = 22"


def test_the_room_knows_whose_change_it_is_and_that_it_is_not_saved():
    document = document_of(*CELLS)
    document.dirty = False
    origins: list[Any] = []
    ycells_of(document).observe_deep(lambda events: origins.append(events[0].transaction.origin))
    edit_document(document, [change("a", "x = 2"), change("b", "y = 3")], {})
    assert origins == [ORIGIN]
    assert document.dirty is True


def test_a_refused_change_is_none():
    document = document_of(*CELLS)
    document.dirty = False
    changes: list[Any] = []
    document.ydoc.observe(changes.append)
    edit_document(document, [change("d", "x")], {})
    assert changes == []
    assert document.dirty is False


def test_a_failing_observer_of_someone_else_does_not_break_the_change(
    caplog: pytest.LogCaptureFixture,
):
    document = document_of(*CELLS)

    def fail(_: Any) -> None:
        raise ValueError("not ours")

    document.ydoc.observe(fail)
    outcome = edit_document(document, [change("a", "x = 2")], {})
    assert isinstance(outcome, Applied)
    assert sources(document)["a"] == "x = 2"
    assert "What watches a shared notebook failed" in caplog.text


def test_text_that_no_document_takes_is_made_well_formed():
    document = document_of(*CELLS)
    odd = "a\ud800b"
    edits: list[CellEdit] = [
        change("a", odd),
        CellOutputs(cell_id=CellId("b"), outputs=(stream(odd),), execution_count=1),
        CellInsert(
            cell_id=CellId("n"),
            cell_type="code",
            source=odd,
            metadata={"k": odd, "n": 2**70},
            after=None,
        ),
    ]
    outcome = edit_document(document, edits, {})
    assert isinstance(outcome, Applied)
    read = cells(document)
    assert [cell.source for cell in read[:2]] == ["a\ufffdb", "a\ufffdb"]
    assert outcome.versions[CellId("a")] == Version(read[1].version)
    assert read[0].metadata["k"] == "a\ufffdb"
