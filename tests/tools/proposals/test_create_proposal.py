from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, PolicyRefusal
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    NotebookNameList,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.proposals.create_proposal import CreateProposal
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, SessionId, TurnId
from jupyter_ai_shoulders.wire.versions import cell_version, text_version
from tests.files.file_workspace import FileWorkspace, file_workspace
from tests.tools.direct_calls import call, subject_of

BOOK = "a.ipynb"


@pytest.fixture
def files(tmp_path: Path) -> Iterator[FileWorkspace]:
    with file_workspace(tmp_path) as made:
        yield made


@pytest.fixture
def tool(files: FileWorkspace) -> CreateProposal:
    notebook = MemoryNotebook(BOOK, [memory_cell("c", "x = 1\ny = x\nx = 2")])
    cells = NotebookAccess(MemoryNotebooks(notebook), NotebookNameList(BOOK))
    access = FileAccess(files.workspace, files.texts, files.changes)
    return CreateProposal(cells, access, CountingIds())


async def test_a_change_of_a_cell_is_proposed_and_nothing_is_changed(tool: CreateProposal):
    arguments = {"path": BOOK, "cell_id": "c", "old_string": "y = x", "new_string": "y = 2 * x"}

    result = await call(tool, **arguments, reason="It was meant twice.")

    text = "x = 1\ny = x\nx = 2"
    assert result.ok
    assert result.proposal == Proposal(
        id=ProposalId("proposal_1"),
        session_id=SessionId("session"),
        turn_id=TurnId("turn"),
        document=BOOK,
        cell_id=CellId("c"),
        old=text,
        new="x = 1\ny = 2 * x\nx = 2",
        current=text,
        current_version=cell_version(text),
        reason="It was meant twice.",
        state="proposed",
    )
    shown = await subject_of(tool, **arguments)
    assert (shown.title, shown.target.cell_id) == ("Propose a change to cell 1", "c")
    assert "+y = 2 * x" in (shown.preview or "")


async def test_a_change_of_a_file_is_proposed_and_nothing_is_changed(
    tool: CreateProposal, files: FileWorkspace
):
    files.write("lib/x.py", b"one\r\ntwo\r\n")

    result = await call(tool, path="./lib/x.py", old_string="one\r\ntwo", new_string="1\r\n2")

    shown = result.proposal
    assert shown is not None
    assert (shown.document, shown.cell_id, shown.new) == ("lib/x.py", None, "1\n2\n")
    assert (shown.current_version, shown.reason) == (text_version("one\ntwo\n"), "")
    assert files.read("lib/x.py") == b"one\r\ntwo\r\n"
    assert files.states() == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("z", "1", "not_found"), ("x = ", "x: int = ", "ambiguous"), ("y", "y", "invalid_arguments")],
    ids=["text that is not there", "text that is there twice", "nothing new"],
)
async def test_what_cannot_be_proposed_says_why(
    tool: CreateProposal, old: str, new: str, code: str
):
    result: Result = await call(tool, path=BOOK, cell_id="c", old_string=old, new_string=new)

    assert result.envelope.error is not None
    assert (result.envelope.error.code, result.proposal) == (code, None)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("nothing.py", NotFound),
        (".env", PolicyRefusal),
        ("../x.py", InvalidRequest),
        ("table.xlsx", InvalidRequest),
    ],
)
async def test_files_that_cannot_be_written_are_refused(
    tool: CreateProposal, files: FileWorkspace, path: str, error: type[Exception]
):
    files.write(".env", "KEY=1")

    with pytest.raises(error):
        await call(tool, path=path, old_string="a", new_string="b")


@pytest.mark.parametrize("arguments", [{"path": BOOK}, {"path": "x.py", "cell_id": "c"}])
def test_a_cell_is_named_for_notebooks_and_for_nothing_else(arguments: dict[str, Any]):
    with pytest.raises(ValidationError):
        CreateProposal.arguments(old_string="a", new_string="b", **arguments)
