"""The entries of a folder, with kinds, sizes and totals."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search import directory_listing as entries_module
from jupyter_ai_shoulders.guard.search.directory_listing import (
    DirectoryEntry,
    DirectoryListing,
    list_entries,
)
from jupyter_ai_shoulders.guard.search.globs import Glob


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "root"
    root.mkdir()
    found = Workspace(root)
    yield found
    found.close()


def make(workspace: Workspace, *names: str, text: str = "") -> None:
    for name in names:
        path = workspace.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def paths(found: DirectoryListing) -> list[str]:
    return [entry.path for entry in found.entries]


def test_entries_have_kinds_and_sizes(workspace: Workspace):
    make(workspace, "data/a.csv", text="1,2")
    (workspace.directory / "link").symlink_to("data")
    os.mkfifo(workspace.directory / "pipe")
    assert list_entries(workspace, "", depth=5, limit=9) == DirectoryListing(
        (
            DirectoryEntry("data", "folder"),
            DirectoryEntry("data/a.csv", "file", 3),
            DirectoryEntry("link", "link"),
            DirectoryEntry("pipe", "other"),
        ),
        total=4,
        complete=True,
    )


def test_depth_and_glob_choose(workspace: Workspace):
    make(workspace, "a.py", "b/c.py", "b/d/e.py", "b/d/f.txt")
    assert paths(list_entries(workspace, "", depth=1, limit=9)) == ["a.py", "b"]
    assert paths(list_entries(workspace, "b", depth=1, limit=9)) == ["b/c.py", "b/d"]
    found = list_entries(workspace, "", depth=9, limit=9, glob=Glob("b/**/*.py"))
    assert paths(found) == ["b/c.py", "b/d/e.py"]
    below = list_entries(workspace, "b", depth=9, limit=9, glob=Glob("d/*"))
    assert paths(below) == ["b/d/e.py", "b/d/f.txt"]


def test_what_projects_make_is_left_out_beside_their_manifest_only(workspace: Workspace):
    make(workspace, "Cargo.toml", "target/x", "data/target/y", "node_modules/z", "build/kept")
    assert paths(list_entries(workspace, "", depth=9, limit=99)) == [
        "Cargo.toml",
        "build",
        "build/kept",
        "data",
        "data/target",
        "data/target/y",
    ]


def test_folder_that_is_left_out_is_shown_when_it_is_named(workspace: Workspace):
    make(workspace, ".gitignore", text="/out/\n*.log\n")
    make(workspace, "out/a.txt", "sub/a.log", ".github/ci.yml", "node_modules/m/index.js")
    assert paths(list_entries(workspace, "out", depth=1, limit=9)) == ["out/a.txt"]
    assert paths(list_entries(workspace, "sub", depth=1, limit=9)) == []
    assert paths(list_entries(workspace, ".github", depth=1, limit=9)) == [".github/ci.yml"]
    assert paths(list_entries(workspace, "node_modules", depth=1, limit=9)) == ["node_modules/m"]


def test_rules_of_the_nearest_folder_decide(workspace: Workspace):
    make(workspace, ".gitignore", text="*.log\n/data/*\n!/data/kept/\n")
    make(workspace, "sub/.gitignore", text="!wanted.log\n")
    make(workspace, "sub/wanted.log", "sub/a.log", "data/a", "data/kept/b", "sub/b.txt")
    found = paths(list_entries(workspace, "", depth=9, limit=99, glob=Glob("*")))
    assert found == ["data/kept/b", "sub/b.txt", "sub/wanted.log"]


def test_total_counts_what_is_not_shown(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    make(workspace, *(f"{number}.txt" for number in range(20)))
    found = list_entries(workspace, "", depth=1, limit=3)
    assert (len(found.entries), found.total, found.complete) == (3, 20, True)
    monkeypatch.setattr(entries_module, "ENTRY_LIMIT", 10)
    found = list_entries(workspace, "", depth=1, limit=3)
    assert (len(found.entries), found.total, found.complete) == (3, 10, False)


def test_folder_swapped_for_a_link_shows_nothing(workspace: Workspace, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("x")
    (workspace.directory / "sub").symlink_to(tmp_path / "outside")
    assert list_entries(workspace, "sub", depth=1, limit=9) == DirectoryListing(
        (), 0, complete=True
    )
