"""``search_content`` finds lines of files, and cells of notebooks by their source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError
from jupyter_ai_shoulders.files.base import TextSnapshot
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.workspace_index import WorkspaceNotebookIndex
from jupyter_ai_shoulders.tools.files import search_content
from jupyter_ai_shoulders.tools.files.search_content import SearchContent
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import Version
from tests.tools.direct_calls import OpenNotebooks, call, put, rows_of, subject_of, text_of


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "root"
    root.mkdir()
    found = Workspace(root)
    yield found
    found.close()


@pytest.fixture
def search(workspace: Workspace) -> SearchContent:
    names = WorkspaceNotebookIndex(workspace)
    return SearchContent(workspace, NotebookAccess(OpenNotebooks(workspace), names))


def notebook(*sources: str) -> str:
    cells: list[JsonObject] = [
        {
            "id": f"cell{number}",
            "cell_type": "code",
            "metadata": {},
            "source": [*source.splitlines(keepends=True)],
            "execution_count": None,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["needle output"]}],
        }
        for number, source in enumerate(sources)
    ]
    whole: JsonObject = {
        "cells": [*cells],
        "metadata": {"needle": 1},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1)


async def test_files_and_cells_are_found(workspace: Workspace, search: SearchContent):
    put(workspace, "src/a.py", "one\nneedle = 2\n")
    put(workspace, "n.ipynb", notebook("x = 1", 'a = "q"\nneedle(a)\nb'))
    result = await call(search, query="needle")
    assert text_of(result) == (
        '2 lines of 2 files with "needle".\n'
        "--- n.ipynb · cell 2 · id=cell1 · code\n"
        '  1: a = "q"\n'
        "> 2: needle(a)\n"
        "  3: b\n"
        "--- src/a.py\n"
        "> 2: needle = 2"
    )
    assert result.envelope.data == {
        "query": "needle",
        "matches": [
            {"path": "n.ipynb", "cell_id": "cell1", "index": 1, "line": 2, "text": "needle(a)"},
            {"path": "src/a.py", "cell_id": None, "index": None, "line": 2, "text": "needle = 2"},
        ],
    }
    assert result.envelope.meta.total == 2


async def test_cells_are_found_by_what_json_escapes(workspace: Workspace, search: SearchContent):
    put(workspace, "n.ipynb", notebook('print("a\\tb", "größe")'))
    for query in ('("a\\tb', '"größe"'):
        result = await call(search, query=query)
        assert result.envelope.meta.total == 1, query
    assert (await call(search, query="execution_count")).envelope.meta.total == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ["a.py", "n.ipynb", "sub/b.txt"]),
        ({"path": "sub"}, ["sub/b.txt"]),
        ({"path": "a.py"}, ["a.py"]),
        ({"path": "n.ipynb"}, ["n.ipynb"]),
        ({"glob": "*.ipynb"}, ["n.ipynb"]),
        ({"glob": "*.{py,txt}"}, ["a.py", "sub/b.txt"]),
        ({"path": "ignored.log"}, ["ignored.log"]),
    ],
    ids=str,
)
async def test_path_and_glob_choose(
    workspace: Workspace, search: SearchContent, arguments: dict[str, str], expected: Sequence[str]
):
    put(workspace, ".gitignore", "*.log\n")
    for name in ("a.py", "sub/b.txt", "ignored.log"):
        put(workspace, name, "NEEDLE\n")
    put(workspace, "n.ipynb", notebook("NEEDLE"))
    result = await call(search, query="ne{2}dle", is_regex=True, **arguments)
    assert sorted(row["path"] for row in rows_of(result, "matches")) == expected


async def test_many_matches_are_counted_and_the_first_shown(
    workspace: Workspace, search: SearchContent
):
    put(workspace, "a.txt", "x\n" * 500)
    result = await call(search, query="x")
    shown = search_content.SHOWN_MATCHES
    assert text_of(result).startswith(f'500 lines of 1 file with "x", the first {shown} shown.')
    assert text_of(result).count("> ") == shown
    assert (result.envelope.meta.total, result.envelope.meta.truncated) == (500, True)


async def test_search_that_finds_nothing_says_so(workspace: Workspace, search: SearchContent):
    put(workspace, "a.txt", "Needle")
    assert text_of(await call(search, query="needle")) == 'No line with "needle".'


async def test_secrets_are_never_found(workspace: Workspace, search: SearchContent):
    for name in (".env", "secrets.yaml", "sub/id_rsa", ".shoulders/models.json", "k.pem"):
        put(workspace, name, "needle")
    for arguments in ({}, {"glob": "*"}, {"glob": ".env"}, {"path": "sub"}, {"glob": "**/.env*"}):
        result = await call(search, query="needle", **arguments)
        assert result.envelope.meta.total == 0, arguments


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"query": "x", "path": "../y"}, "outside_workspace"),
        ({"query": "x", "path": "nowhere"}, "not_found"),
        ({"query": "x", "path": ".env"}, "forbidden"),
        ({"query": "x", "path": ".shoulders"}, "forbidden"),
        ({"query": "(", "is_regex": True}, "invalid_request"),
        ({"query": "(", "is_regex": True, "path": "a.txt"}, "invalid_request"),
        ({"query": "a\nb"}, "invalid_request"),
        ({"query": "a\0b"}, "invalid_request"),
        ({"query": "x", "path": "b.bin"}, "invalid_request"),
        ({"query": "x", "glob": "{a,b}" * 9}, "invalid_request"),
    ],
    ids=str,
)
async def test_what_cannot_be_searched_says_why(
    workspace: Workspace, search: SearchContent, arguments: dict[str, object], code: str
):
    put(workspace, ".env", "x")
    put(workspace, "a.txt", "x")
    put(workspace, "b.bin", b"x\0")
    put(workspace, ".shoulders/a", "x")
    with pytest.raises(ShouldersError) as raised:
        await call(search, **arguments)
    assert raised.value.info.code == code


async def test_pattern_that_stalls_other_engines_returns(
    workspace: Workspace, search: SearchContent
):
    put(workspace, "a.txt", "a" * 200_000 + "!")
    put(workspace, "n.ipynb", notebook("a" * 200_000 + "!"))
    for path in (None, "a.txt", "n.ipynb"):
        result = await call(search, query="^(a+)+$", is_regex=True, path=path)
        assert result.envelope.meta.total == 0


async def test_notebook_that_is_none_is_named(workspace: Workspace, search: SearchContent):
    put(workspace, "broken.ipynb", "{")
    put(workspace, "a.txt", "needle")
    result = await call(search, query="needle")
    assert result.envelope.meta.total == 1
    assert result.envelope.warning == "Not readable: broken.ipynb."


async def test_call_is_shown_with_what_it_looks_for(search: SearchContent):
    subject = await subject_of(search, query="a b", glob="*.py")
    assert subject.title == 'Search files in *.py for "a b"'


class Page:
    """``UnsavedTexts`` of one page."""

    def __init__(self, **texts: str) -> None:
        self.texts = {name.replace("_", "."): text for name, text in texts.items()}

    def unsaved(self, path: str) -> Sequence[str]:
        """See ``UnsavedTexts.unsaved``."""
        return [name for name in self.texts if not path or name.startswith(path)]

    async def read(self, path: str) -> TextSnapshot:
        """See ``UnsavedTexts.read``."""
        if self.texts[path] == "silent":
            raise Conflict("The page does not answer.")
        return TextSnapshot(path, self.texts[path], Version("v"), "live", True, "utf-8", "\n")


async def test_text_that_is_not_saved_is_searched_as_the_page_has_it(workspace: Workspace):
    put(workspace, "a.txt", "needle on the disk\n")
    put(workspace, "b.txt", "needle kept\n")
    put(workspace, "c.md", "needle as saved\n")
    page = Page(a_txt="one\nNeedle in the page", c_md="silent", k_pem="needle", d_txt="needle new")
    names = WorkspaceNotebookIndex(workspace)
    access = NotebookAccess(OpenNotebooks(workspace), names)
    search = SearchContent(workspace, access, page)
    result = await call(search, query="needle", is_regex=True)
    assert [(row["path"], row["text"]) for row in rows_of(result, "matches")] == [
        ("a.txt", "Needle in the page"),
        ("b.txt", "needle kept"),
        ("c.md", "needle as saved"),
        ("d.txt", "needle new"),
    ]
    assert "c.md was searched as it was saved" in (result.envelope.warning or "")
    one = await call(search, query="Needle", path="a.txt")
    assert [row["line"] for row in rows_of(one, "matches")] == [2]
    some = await call(search, query="needle", glob="*.md")
    assert [row["path"] for row in rows_of(some, "matches")] == ["c.md"]
