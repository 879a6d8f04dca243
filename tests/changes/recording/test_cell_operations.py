"""Changes of cells are rows of the operation log, and rows left by a crash are settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.cell_operations import (
    NOT_KNOWN,
    settle_interrupted_cells,
)
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import (
    RecordedNotebooks,
    RecordedRunner,
)
from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.core.operation_journal import ChangeOrigin, LoggedChange
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.testing.memory_file_changes import MemoryJournal
from jupyter_ai_shoulders.testing.memory_store import MemoryStore
from jupyter_ai_shoulders.wire.ids import CallId, CellId, OperationId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellEdit, CellInsert, CellMove
from jupyter_ai_shoulders.wire.operations import OperationKind
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.changes.notebook_harness import PATH, Kernel, OneNotebook, RuledNotebook, cell, write
from tests.engine.engine_harness import SESSION, make_session

ACTOR = Actor(SESSION, "t1", TurnId("t1"), CallId("call"))
ORIGIN = ChangeOrigin(SESSION, TurnId("t1"), CallId("call"))


class OperationLogHarness:
    """An agent that changes a notebook through a recorder with an operation log."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.notebook = RuledNotebook(cell("a", "1"), cell("b", "2"), cell("c", "3"))
        self.notebooks = OneNotebook(self.notebook)
        self.store = MemoryStore()
        self.store.add(make_session())
        self.kernel = Kernel(self.notebook)
        self.recorder = ChangeRecorder(
            self.store, self.store.blobs, self.kernel, journal=self.journal
        )

    async def agent(
        self, *edits: CellEdit, expected: Mapping[CellId, Version] | None = None
    ) -> Applied | Conflicted:
        self.recorder.set_actor(ACTOR)
        return (
            await RecordedNotebooks(self.notebooks, self.recorder)
            .open(PATH)
            .apply(edits, expected or {})
        )

    def rows(self) -> list[tuple[str, str | None, str]]:
        return [
            (row.kind, row.cell_id, row.state) for row in reversed(self.journal.recent(limit=99))
        ]


def insert(cell_id: str, source: str) -> CellInsert:
    return CellInsert(
        cell_id=CellId(cell_id), cell_type="code", source=source, metadata={}, after=None
    )


async def test_each_change_of_a_cell_is_a_row() -> None:
    harness = OperationLogHarness()
    await harness.agent(
        write("a", "one"),
        insert("new", "0"),
        CellDelete(cell_id=CellId("b")),
        CellMove(cell_id=CellId("c"), after=None),
    )
    assert harness.rows() == [
        ("edit", "a", "done"),
        ("create", "new", "done"),
        ("delete", "b", "done"),
        ("move", "c", "done"),
    ]
    edit, create, delete, _ = (row.change for row in harness.journal.rows.values())
    assert (edit.before_version, edit.after_version) == (cell_version("1"), cell_version("one"))
    assert (create.before_version, create.after_version) == (None, cell_version("0"))
    assert (delete.before_version, delete.after_version) == (cell_version("2"), None)
    assert edit.origin == ORIGIN
    assert [(row.can_undo, row.reason) for row in harness.journal.recent()] == [(True, None)] * 4


async def test_a_row_is_there_before_the_cell_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = OperationLogHarness()
    seen: list[list[tuple[str, str | None, str]]] = []
    apply = harness.notebook.apply

    async def looked(
        edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        seen.append(harness.rows())
        return await apply(edits, expected)

    monkeypatch.setattr(harness.notebook, "apply", looked)
    await harness.agent(write("a", "one"))
    assert seen == [[("edit", "a", "begun")]]
    assert harness.journal.synced == 0, "the checkpoint was synced; rows need no separate sync"


async def test_nothing_is_changed_when_the_row_cannot_be_written() -> None:
    harness = OperationLogHarness()

    def full(change: LoggedChange) -> OperationId:
        raise StateUnavailable("no space", code="disk_full")

    harness.journal.begin = full
    with pytest.raises(StateUnavailable):
        await harness.agent(write("a", "one"))
    assert harness.notebook.texts[0] == ("a", "1")


async def test_a_conflict_is_a_change_that_was_not_made() -> None:
    harness = OperationLogHarness()
    outcome = await harness.agent(
        write("a", "one"), expected={CellId("a"): cell_version("something else")}
    )
    assert isinstance(outcome, Conflicted)
    assert harness.rows() == [("edit", "a", "failed")]


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (Conflict("No answer.", code="page_not_responding"), "begun"),
        (Conflict("Changed again and again."), "failed"),
    ],
)
async def test_an_error_says_whether_it_may_have_been_made(
    monkeypatch: pytest.MonkeyPatch, error: ShouldersError, state: str
) -> None:
    harness = OperationLogHarness()

    async def failing(
        edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        raise error

    monkeypatch.setattr(harness.notebook, "apply", failing)
    with pytest.raises(Conflict):
        await harness.agent(write("a", "one"))
    assert harness.rows() == [("edit", "a", state)]


async def test_a_run_is_a_row_about_outputs() -> None:
    harness = OperationLogHarness()
    harness.recorder.set_actor(ACTOR)
    async for _ in RecordedRunner(harness.kernel, harness.notebooks, harness.recorder).run(
        PATH, CellId("a")
    ):
        pass
    assert harness.rows() == [("outputs", "a", "done")]


async def test_what_the_user_does_is_no_row() -> None:
    harness = OperationLogHarness()
    await (
        RecordedNotebooks(harness.notebooks, harness.recorder)
        .open(PATH)
        .apply([write("a", "one")], {})
    )
    assert harness.rows() == []


async def test_rows_a_crash_left_are_settled_by_the_notebook() -> None:
    harness = OperationLogHarness()
    made: list[tuple[OperationKind, str, Version | None]] = [
        ("edit", "a", cell_version("1")),
        ("edit", "b", cell_version("never written")),
        ("create", "c", cell_version("3")),
        ("create", "gone", cell_version("")),
        ("delete", "gone", None),
        ("delete", "a", None),
        ("move", "a", None),
    ]
    for kind, cell_id, after in made:
        harness.journal.begin(LoggedChange(kind, PATH, ORIGIN, cell_id, after_version=after))
    harness.journal.begin(LoggedChange("edit", "a.txt", ORIGIN))

    await settle_interrupted_cells(harness.journal, harness.notebooks)

    states = [state for _, cell_id, state in harness.rows() if cell_id is not None]
    assert states == ["done", "failed", "done", "failed", "done", "failed", "failed"]
    reasons = {row.reason for row in harness.journal.recent() if row.state == "failed"}
    assert reasons == {NOT_KNOWN}
    assert [row.document for row in harness.journal.unfinished()] == ["a.txt"]
