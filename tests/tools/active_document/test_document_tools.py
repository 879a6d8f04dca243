"""The tools on the document in front of the user: a text file, or a notebook by its cells."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, PolicyRefusal
from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.files.open_files.open_text_files import PageTimeouts
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    NotebookNameList,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.tools.base import CallContext, Result
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.tool_factories import document_tools
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.messages import Selection
from jupyter_ai_shoulders.wire.sessions import TextRange
from jupyter_ai_shoulders.wire.versions import cell_version, text_version
from tests.files.open_files.fake_text_page import TextWorkspace, text_workspace
from tests.tools.direct_calls import call, context, subject_of, text_of

NOTEBOOK = "work/analysis.ipynb"
POEM = "Roses are red\nViolets are blue\nroses again\n"


@dataclass
class DocumentHarness:
    """A user with documents, and the tools on the one in front of them."""

    workspace: TextWorkspace
    notebook: MemoryNotebook
    front: str | None
    seen: dict[tuple[str, CellId | None], Version] = field(
        default_factory=dict[tuple[str, CellId | None], Version]
    )
    selection: Selection | None = None
    active_cell: CellId | None = None

    def __post_init__(self) -> None:
        notebooks = NotebookAccess(
            MemoryNotebooks(self.notebook), NotebookNameList("work/analysis.ipynb")
        )
        here = self.workspace.here
        files = FileAccess(here.workspace, self.workspace.texts, here.changes)
        tools = document_tools(files, notebooks, CountingIds())
        self.tools: dict[str, Any] = {tool.name: tool for tool in tools}

    def context(self) -> CallContext:
        return replace(
            context(self.front),
            seen=dict(self.seen),
            selection=self.selection,
            active_cell_id=self.active_cell,
        )

    async def call(self, name: str, **arguments: object) -> Result:
        result = await call(self.tools[name], self.context(), **arguments)
        self.seen.update({(seen.path, seen.cell_id): seen.version for seen in result.seen})
        return result

    async def said(self, name: str, **arguments: object) -> str:
        return text_of(await self.call(name, **arguments))


@pytest.fixture
def room(tmp_path: Path) -> Generator[DocumentHarness]:
    cells = [
        memory_cell("a", "import pandas as pd\ndf = pd.read_csv('x.csv')"),
        memory_cell("b", "# About pandas", "markdown"),
    ]
    with text_workspace(tmp_path, PageTimeouts(answer=30, saved=30)) as workspace:
        workspace.here.write("poem.md", POEM)
        yield DocumentHarness(workspace, MemoryNotebook(NOTEBOOK, cells), "poem.md")


# read_document


async def test_a_document_is_read_with_a_heading_and_numbered_lines(room: DocumentHarness) -> None:
    result = await room.call("read_document")
    assert text_of(result) == (
        'Document: "poem.md" (3 lines, 8 words)\n'
        "1: Roses are red\n2: Violets are blue\n3: roses again"
    )
    assert room.seen == {("poem.md", None): text_version(POEM)}


async def test_some_lines_are_read_with_both_ends(room: DocumentHarness) -> None:
    said = await room.said("read_document", start_line=2, end_line=2)
    assert said.splitlines()[1:] == [
        "2: Violets are blue",
        "[lines 2-2 of 3; use start_line and end_line to read on]",
    ]
    assert room.seen != {("poem.md", None): text_version(POEM)}  # a part is not all of it


async def test_a_long_document_is_shown_up_to_eight_thousand_characters(
    room: DocumentHarness,
) -> None:
    room.workspace.here.write("poem.md", "word word word\n" * 2_000)
    said = await room.said("read_document")
    assert 7_000 < len(said) < 8_300
    assert "of 2000; use start_line and end_line to read on]" in said


async def test_lines_beyond_the_end_are_none(room: DocumentHarness) -> None:
    assert "no such lines; the last is line 3" in await room.said("read_document", start_line=9)


async def test_unsaved_text_of_the_page_is_what_is_read(room: DocumentHarness) -> None:
    page = room.workspace.page("poem.md")
    page.type(f"{POEM}typed\n")
    said = await room.said("read_document")
    assert said.startswith('Document: "poem.md" (4 lines, 9 words, with unsaved changes)')
    assert "4: typed" in said


async def test_a_notebook_is_read_as_its_cells(room: DocumentHarness) -> None:
    room.front = NOTEBOOK
    said = await room.said("read_document")
    assert said.startswith(f'Document: "{NOTEBOOK}" (')
    assert "df = pd.read_csv('x.csv')" in said
    assert {cell for _, cell in room.seen} == {"a", "b"}


async def test_of_a_notebook_only_cells_shown_whole_count_as_read(room: DocumentHarness) -> None:
    room.front = NOTEBOOK
    whole = (await room.said("read_document")).splitlines()
    last = next(at for at, line in enumerate(whole) if "import pandas" in line)
    room.seen.clear()
    await room.said("read_document", start_line=1, end_line=last)
    assert room.seen == {}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_document", {}),
        ("search_document", {"query": "x"}),
        ("edit_document", {"find": "x", "replace": "y"}),
        ("get_document_info", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_without_a_document_there_is_nothing(
    room: DocumentHarness, tool: str, arguments: dict[str, str]
) -> None:
    room.front = None
    await subject_of(room.tools[tool], room.context(), **arguments)
    with pytest.raises(NotFound, match="no document"):
        await room.call(tool, **arguments)


@pytest.mark.parametrize(
    ("path", "content", "error"),
    [
        ("gone.md", None, NotFound),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0", InvalidRequest),
        (".env", b"KEY=1", PolicyRefusal),
        ("../outside.md", None, InvalidRequest),
    ],
    ids=["gone", "binary", "secret", "outside"],
)
async def test_what_is_no_text_of_the_workspace_is_refused(
    room: DocumentHarness, path: str, content: bytes | None, error: type[Exception]
) -> None:
    if content is not None:
        room.workspace.here.write(path, content)
    room.front = path
    with pytest.raises(error):
        await room.call("read_document")


# search_document


async def test_text_is_searched_with_case_and_shown_with_a_line_either_side(
    room: DocumentHarness,
) -> None:
    result = await room.call("search_document", query="roses")
    assert text_of(result) == (
        '1 line of "poem.md" with "roses".\n  2: Violets are blue\n> 3: roses again'
    )
    assert result.envelope.data == {
        "path": "poem.md",
        "query": "roses",
        "matches": [{"line": 3, "text": "roses again"}],
    }


async def test_a_pattern_is_searched_without_case(room: DocumentHarness) -> None:
    said = await room.said("search_document", query="^roses", is_regex=True)
    assert said == (
        '2 lines of "poem.md" with "^roses".\n'
        "> 1: Roses are red\n  2: Violets are blue\n> 3: roses again"
    )


async def test_a_pattern_that_is_none_is_refused(room: DocumentHarness) -> None:
    with pytest.raises(InvalidRequest, match="regular expression"):
        await room.call("search_document", query="(", is_regex=True)


async def test_at_most_twenty_matches_are_shown(room: DocumentHarness) -> None:
    room.workspace.here.write("poem.md", "rose\n\n\n" * 30)
    result = await room.call("search_document", query="rose")
    assert text_of(result).count("> ") == 20
    assert (result.envelope.meta.total, result.envelope.meta.truncated) == (30, True)


async def test_nothing_found_is_said(room: DocumentHarness) -> None:
    assert await room.said("search_document", query="tulip") == 'No line of "poem.md" with "tulip".'


async def test_a_notebook_is_searched_by_its_cells(room: DocumentHarness) -> None:
    room.front = NOTEBOOK
    said = await room.said("search_document", query="pandas")
    assert "2 lines" in said
    assert "> 1: import pandas as pd" in said
    assert "id=b" in said


# edit_document


async def test_the_first_occurrence_is_replaced_and_said(room: DocumentHarness) -> None:
    room.workspace.here.write("poem.md", "red\nred red\n")
    assert await room.said("edit_document", find="red", replace="blue") == "Line 1: red → blue"
    assert room.workspace.here.read("poem.md") == b"blue\nred red\n"
    assert room.workspace.here.states() == [("edit", "poem.md", "done")]


async def test_what_was_replaced_is_said_up_to_sixty_characters(room: DocumentHarness) -> None:
    room.workspace.here.write("poem.md", "x" * 80)
    said = await room.said("edit_document", find="x" * 80, replace="y" * 61)
    assert said == f"Line 1: {'x' * 60}… → {'y' * 60}…"


async def test_case_counts_and_what_is_missing_is_pointed_to(room: DocumentHarness) -> None:
    result = await room.call("edit_document", find="roses ARE red", replace="x")
    assert result.envelope.kind == "not_found"
    assert "search_document" in text_of(result)
    assert "line 1: Roses are red" in text_of(result)
    assert room.workspace.here.read("poem.md") == POEM.encode()


async def test_unsaved_text_stays_and_stays_unsaved(room: DocumentHarness) -> None:
    page = room.workspace.page("poem.md")
    page.type(f"{POEM}typed\n")
    said = await room.said("edit_document", find="blue", replace="violet")
    assert said == "Line 2: blue → violet\nThe document has unsaved changes, as before."
    assert page.text == f"{POEM}typed\n".replace("blue", "violet")
    assert room.workspace.here.read("poem.md") == POEM.encode()


async def test_a_user_who_types_meanwhile_keeps_what_they_type(
    room: DocumentHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = room.workspace.page("poem.md")
    typed = iter([f"{POEM}typed\n"])

    async def sync() -> None:
        for text in typed:
            page.type(text)

    monkeypatch.setattr(room.workspace.here.journal, "sync", sync)
    await room.said("edit_document", find="blue", replace="violet")
    assert page.text == f"{POEM}typed\n".replace("blue", "violet")


async def test_a_hidden_secret_is_not_written(room: DocumentHarness) -> None:
    result = await room.call("edit_document", find="blue", replace=f"key={MASK}")
    assert not result.ok
    assert room.workspace.here.read("poem.md") == POEM.encode()


async def test_what_an_edit_knows_of_the_file_stays_known(room: DocumentHarness) -> None:
    await room.call("read_document")
    await room.call("edit_document", find="blue", replace="violet")
    after = POEM.replace("blue", "violet")
    assert room.seen == {("poem.md", None): text_version(after)}


async def test_a_call_shows_its_diff_and_where_it_goes(room: DocumentHarness) -> None:
    room.workspace.page("poem.md")
    subject = await subject_of(
        room.tools["edit_document"], room.context(), find="blue", replace="violet"
    )
    assert (subject.target.path, subject.in_page, subject.undoable) == ("poem.md", True, True)
    assert "+Violets are violet" in (subject.preview or "")


async def test_a_document_with_other_names_asks_each_time(room: DocumentHarness) -> None:
    root = room.workspace.here.root
    (root / "other.md").hardlink_to(root / "poem.md")
    subject = await subject_of(
        room.tools["edit_document"], room.context(), find="blue", replace="violet"
    )
    assert "2 names" in (subject.always_ask_reason or "")


async def test_line_ends_of_a_model_are_those_of_the_document(room: DocumentHarness) -> None:
    await room.call("edit_document", find="red\r\nViolets", replace="red,\r\nviolets")
    assert room.workspace.here.read("poem.md") == POEM.replace("red\nV", "red,\nv").encode()


async def test_a_cell_is_changed_only_once_it_was_read(room: DocumentHarness) -> None:
    room.front = NOTEBOOK
    refused = await room.call("edit_document", find="x.csv", replace="y.csv")
    assert refused.envelope.error is not None
    assert refused.envelope.error.code == "not_read"
    said = await room.said("edit_document", find="x.csv", replace="y.csv")
    assert said == "In cell 1 (id=a): Line 2: x.csv → y.csv"
    assert room.notebook.cells[0].source.endswith("read_csv('y.csv')")


async def test_the_active_cell_comes_before_the_first_that_has_the_text(
    room: DocumentHarness,
) -> None:
    room.front, room.active_cell = NOTEBOOK, CellId("b")
    room.seen[NOTEBOOK, CellId("b")] = cell_version("# About pandas")
    await room.call("edit_document", find="pandas", replace="polars")
    assert [cell.source for cell in room.notebook.cells] == [
        "import pandas as pd\ndf = pd.read_csv('x.csv')",
        "# About polars",
    ]


# get_document_info


async def test_facts_of_a_document(room: DocumentHarness) -> None:
    result = await room.call("get_document_info")
    assert result.envelope.data == {
        "filename": "poem.md",
        "path": "poem.md",
        "lines": 3,
        "words": 8,
        "characters": len(POEM),
        "has_selection": False,
        "selected_text": None,
    }


async def test_selected_text_is_shown_up_to_five_hundred_characters(room: DocumentHarness) -> None:
    text = "s" * 700
    room.selection = Selection(
        cell_id=None, range=TextRange.model_validate({"from": 0, "to": 700}), text=text
    )
    data: Any = (await room.call("get_document_info")).envelope.data
    assert data["has_selection"] is True
    assert data["selected_text"] == f"{'s' * 500} … (700 characters)"


# the toolset


def test_the_toolset_of_small_models_has_the_four_document_tools(room: DocumentHarness) -> None:
    registry = ToolRegistry(list(room.tools.values()))
    assert registry.names("document") == (
        "edit_document",
        "get_document_info",
        "read_document",
        "search_document",
    )
