"""``list_files`` tells what is there, with paths that can be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search import directory_listing
from jupyter_ai_shoulders.tools.files import list_files
from jupyter_ai_shoulders.tools.files.list_files import ListFiles
from tests.tools.direct_calls import call, put, rows_of, subject_of, text_of


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "root"
    root.mkdir()
    found = Workspace(root)
    yield found
    found.close()


async def test_entries_are_listed_with_paths_kinds_and_sizes(workspace: Workspace):
    put(workspace, "data/raw/deep.csv", "x")
    put(workspace, "data/a.csv", "1" * 2_345)
    put(workspace, "kaggle.json", "{}")
    put(workspace, ".env", "KEY=1")
    result = await call(ListFiles(workspace))
    assert text_of(result) == (
        "4 entries in the workspace, 2 levels deep.\n"
        "data/\n"
        "data/a.csv  (2.3 kB)\n"
        "data/raw/\n"
        "kaggle.json  (2 B, secret, not readable)"
    )
    assert result.envelope.data == {
        "path": "",
        "entries": [
            {"path": "data", "kind": "folder", "size": None},
            {"path": "data/a.csv", "kind": "file", "size": 2_345},
            {"path": "data/raw", "kind": "folder", "size": None},
            {"path": "kaggle.json", "kind": "file", "size": 2},
        ],
    }
    assert result.envelope.meta.total == 4


async def test_glob_looks_at_all_levels(workspace: Workspace):
    put(workspace, "a/b/c/d/e.csv")
    put(workspace, "a/f.py")
    result = await call(ListFiles(workspace), glob="*.csv")
    assert text_of(result) == "1 file like *.csv in the workspace.\na/b/c/d/e.csv  (0 B)"
    nothing = await call(ListFiles(workspace), path="a", glob="*.R")
    assert text_of(nothing) == "0 files like *.R in a."
    assert nothing.envelope.meta.total == 0


@pytest.mark.parametrize("path", ["", "a"])
async def test_glob_looks_at_trees_of_any_size(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, path: str
):
    monkeypatch.setattr(directory_listing, "ENTRY_LIMIT", 5)
    for number in range(9):
        put(workspace, f"a/{number}/x.csv")
    result = await call(ListFiles(workspace), path=path, glob="*.csv")
    assert (result.envelope.meta.total, result.envelope.warning) == (9, None)


async def test_paths_can_be_used_as_they_are(workspace: Workspace):
    names = ["~draft.txt", "$HOME", "%x%.txt", "a b.txt", "größe.csv", "-n"]
    for name in names:
        put(workspace, name, name)
    told = [row["path"] for row in rows_of(await call(ListFiles(workspace)), "entries")]
    read = [workspace.read(workspace.path(path)).content.decode() for path in told]
    assert sorted(read) == sorted(names)


async def test_many_entries_are_counted_and_the_first_shown(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(list_files, "SHOWN_ENTRIES", 5)
    for number in range(12):
        put(workspace, f"{number:02}.txt")
    result = await call(ListFiles(workspace))
    assert text_of(result).startswith("12 entries in the workspace, 2 levels deep, the first 5 ")
    assert (result.envelope.meta.total, result.envelope.meta.truncated) == (12, True)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../x", "outside_workspace"),
        ("nowhere", "not_found"),
        ("a.txt", "invalid_request"),
        (".shoulders", "forbidden"),
        (".SSH", "forbidden"),
        ("~/", "invalid_request"),
        ("a\0", "invalid_request"),
    ],
)
async def test_what_cannot_be_listed_says_why(workspace: Workspace, path: str, code: str):
    put(workspace, "a.txt")
    put(workspace, ".shoulders/state.db")
    put(workspace, ".SSH/id")
    with pytest.raises(ShouldersError) as raised:
        await call(ListFiles(workspace), path=path)
    assert raised.value.info.code == code


async def test_call_is_shown_with_its_place(workspace: Workspace):
    put(workspace, "data/a.csv")
    subject = await subject_of(ListFiles(workspace), path="./data/", glob="*.csv")
    assert (subject.title, subject.target.path) == ("List *.csv in data", "data")
    assert (await subject_of(ListFiles(workspace))).title == "List files"
