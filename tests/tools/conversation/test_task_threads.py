"""propose_edit, add_task and read_tasks on a real notebook and real files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from jupyter_ai_shoulders.core.anchors.text import utf16_range
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    NotebookNameList,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.tools.conversation.task_threads import (
    AddTask,
    ReadTasks,
    ThreadRequest,
    ThreadSummary,
)
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.proposals.propose_edit import ProposeEdit
from jupyter_ai_shoulders.wire.ids import CellId, SessionId
from jupyter_ai_shoulders.wire.sessions import Anchor, Session
from jupyter_ai_shoulders.wire.versions import cell_version, text_version
from tests.engine.engine_harness import make_session
from tests.files.file_workspace import FileWorkspace, file_workspace
from tests.tools.direct_calls import call, subject_of, text_of

BOOK = "a.ipynb"
SOURCE = "x = 1\ny = 2\nx = 1\n"
TEXT = "one two\none two\n"


class FakeThreads:
    """Remembers what was opened, and knows one place."""

    def __init__(self, anchor: Anchor | None = None) -> None:
        self.place = anchor
        self.opened: list[ThreadRequest] = []

    def anchor(self, session_id: SessionId) -> Anchor | None:
        del session_id
        return self.place

    async def open(self, request: ThreadRequest) -> Session:
        self.opened.append(request)
        return make_session("task", id=SessionId("ses_new"), anchor=request.anchor)

    async def list_threads(self, by: SessionId, document: str | None) -> Sequence[ThreadSummary]:
        del by
        return [
            ThreadSummary(
                make_session("task", id=SessionId(f"ses_{number}"), anchor=opening.anchor), "Ok."
            )
            for number, opening in enumerate(self.opened)
            if document in {None, opening.anchor.document}
        ]


def in_cell(start: int, end: int, cell: str = "c") -> Anchor:
    return Anchor(
        document=BOOK,
        cell_id=CellId(cell),
        target="source",
        range=utf16_range(start, end),
        quote=SOURCE[start:end],
        prefix=SOURCE[:start],
        suffix=SOURCE[end:],
        version=cell_version(SOURCE),
    )


def in_file(start: int, end: int) -> Anchor:
    return in_cell(start, end).model_copy(
        update={
            "document": "a.py",
            "cell_id": None,
            "quote": TEXT[start:end],
            "prefix": TEXT[:start],
            "suffix": TEXT[end:],
            "version": text_version(TEXT),
        }
    )


@pytest.fixture
def files(tmp_path: Path) -> Iterator[FileWorkspace]:
    with file_workspace(tmp_path) as made:
        made.write("a.py", TEXT.encode())
        yield made


@pytest.fixture
def cells() -> NotebookAccess:
    notebook = MemoryNotebook(BOOK, [memory_cell("c", SOURCE), memory_cell("d", "z = 3")])
    return NotebookAccess(MemoryNotebooks(notebook), NotebookNameList(BOOK))


def reached(files: FileWorkspace) -> FileAccess:
    return FileAccess(files.workspace, files.texts, files.changes)


def proposing(cells: NotebookAccess, files: FileWorkspace, anchor: Anchor | None) -> ProposeEdit:
    return ProposeEdit(cells, reached(files), CountingIds(), FakeThreads(anchor))


@pytest.mark.parametrize(
    ("place_of", "new"),
    [(in_cell(0, 5), "x = 9\ny = 2\nx = 1\n"), (in_cell(12, 17), "x = 1\ny = 2\nx = 9\n")],
    ids=["first", "second"],
)
async def test_of_several_occurrences_the_one_at_the_threads_place_is_meant(
    cells: NotebookAccess, files: FileWorkspace, place_of: Anchor, new: str
) -> None:
    result = await call(proposing(cells, files, place_of), old_string="x = 1", new_string="x = 9")

    assert result.proposal is not None
    assert (result.proposal.document, result.proposal.cell_id) == (BOOK, "c")
    assert (result.proposal.old, result.proposal.new) == (SOURCE, new)


@pytest.mark.parametrize("place_of", [in_cell(6, 11), in_cell(0, 17)], ids=["elsewhere", "both"])
async def test_which_occurrence_is_meant_is_asked_when_the_place_does_not_tell(
    cells: NotebookAccess, files: FileWorkspace, place_of: Anchor
) -> None:
    result = await call(proposing(cells, files, place_of), old_string="x = 1", new_string="x = 9")

    assert result.proposal is None
    assert result.envelope.error is not None
    assert result.envelope.error.code == "ambiguous"


async def test_an_uncertain_place_decides_nothing(
    cells: NotebookAccess, files: FileWorkspace
) -> None:
    doubtful = in_cell(0, 5).model_copy(update={"version": None, "suffix": "other", "prefix": "q"})

    result = await call(proposing(cells, files, doubtful), old_string="x = 1", new_string="x = 9")

    assert not result.ok


async def test_a_change_of_a_file_and_of_another_cell_is_proposed(
    cells: NotebookAccess, files: FileWorkspace
) -> None:
    second = proposing(cells, files, in_file(8, 11))
    result = await call(second, old_string="one", new_string="1")
    assert result.proposal is not None
    assert result.proposal.new == "one two\n1 two\n"
    assert files.read("a.py") == TEXT.encode()

    other = proposing(cells, files, in_cell(0, 5))
    result = await call(other, old_string="z = 3", new_string="z = 4", cell_id="d")
    assert result.proposal is not None
    assert (result.proposal.cell_id, result.proposal.new) == ("d", "z = 4")
    shown = await subject_of(other, old_string="z = 3", new_string="z = 4", cell_id="d")
    assert "+z = 4" in (shown.preview or "")


async def test_nothing_is_proposed_without_a_place_or_a_fitting_cell(
    cells: NotebookAccess, files: FileWorkspace
) -> None:
    change = {"old_string": "a", "new_string": "b"}
    with pytest.raises(InvalidRequest, match="not pinned"):
        await call(proposing(cells, files, None), **change)
    with pytest.raises(InvalidRequest, match="no cells"):
        await call(proposing(cells, files, in_file(0, 3)), **change, cell_id="c")
    with pytest.raises(NotFound):
        await call(proposing(cells, files, in_cell(0, 5)), **change, cell_id="gone")
    missing = await call(proposing(cells, files, in_cell(0, 5)), **change)
    assert missing.envelope.error is not None
    assert missing.envelope.error.code == "not_found"


# tasks


async def test_a_task_is_opened_at_a_quote_and_listed(
    cells: NotebookAccess, files: FileWorkspace
) -> None:
    threads = FakeThreads()
    tool = AddTask(cells, reached(files), threads)
    arguments = {"path": BOOK, "cell_id": "c", "quote": "y = 2", "prompt": "Double it."}

    shown = await subject_of(tool, **arguments)
    result = await call(tool, **arguments)

    (opening,) = threads.opened
    assert opening.anchor == in_cell(6, 11)
    assert (opening.prompt, opening.mode, opening.opened_by) == ("Double it.", "ask", "session")
    assert (shown.preview, shown.preview_is_complete, shown.target.path) == (
        "Double it.",
        True,
        BOOK,
    )
    assert "ses_new" in text_of(result)

    await call(tool, path="a.py", quote="two\none", prompt="Join them.")
    await call(tool, path=BOOK, cell_id="d", prompt="Explain it.")
    assert [opening.anchor.target for opening in threads.opened] == ["source", "source", "cell"]
    assert threads.opened[2].anchor.range is None

    listed = text_of(await call(ReadTasks(threads)))
    assert listed.startswith("3 tasks:")
    assert "- ses_0 · idle · a.ipynb · cell id=c" in listed
    assert "Ok." in listed
    assert text_of(await call(ReadTasks(threads), path="a.py")).startswith("1 task of a.py:")
    assert text_of(await call(ReadTasks(threads), path="b.py")) == "No tasks of b.py."


@pytest.mark.parametrize(
    ("quote", "code"), [("x = 1", "ambiguous"), ("nowhere", "not_found")], ids=["twice", "missing"]
)
async def test_a_quote_that_names_no_one_place_opens_nothing(
    cells: NotebookAccess, files: FileWorkspace, quote: str, code: str
) -> None:
    threads = FakeThreads()
    tool = AddTask(cells, reached(files), threads)

    result = await call(tool, path=BOOK, cell_id="c", quote=quote, prompt="Do it.")

    assert result.envelope.error is not None
    assert (result.envelope.error.code, threads.opened) == (code, [])
    assert result.envelope.error.message.startswith("The quote ")


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": BOOK, "quote": "x"},
        {"path": "a.py", "cell_id": "c", "quote": "x"},
        {"path": "a.py"},
    ],
    ids=["no cell", "cell of a file", "whole file"],
)
def test_a_task_needs_a_place(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AddTask.arguments(**arguments, prompt="Do it.")


def test_a_task_needs_something_to_do() -> None:
    with pytest.raises(ValidationError, match="say in prompt"):
        AddTask.arguments(path="a.py", quote="x", prompt=" \n")
