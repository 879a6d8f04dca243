"""The bounded tree of a workspace."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.file_tree import FileTree, file_tree, find_file_names


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


def test_folders_and_files_are_listed_without_hidden_ones(workspace: Workspace):
    make(workspace, "a.py", "data/b.csv", ".git/config", "node_modules/x.js", ".env")
    assert file_tree(workspace, limit=10, depth=3) == FileTree(
        ("a.py", "data/", "data/b.csv"), complete=True
    )


def test_what_git_ignores_is_left_out_where_it_is_said(workspace: Workspace):
    make(workspace, ".gitignore", text="*.log\n/build/\n!keep.log\n[\n")
    make(workspace, "sub/.gitignore", text="/x.csv\n")
    make(workspace, "a.log", "keep.log", "build/o.bin", "sub/build/o.bin", "sub/x.csv", "x.csv")
    assert file_tree(workspace, limit=20, depth=3).paths == (
        "keep.log",
        "sub/",
        "sub/build/",
        "sub/build/o.bin",
        "x.csv",
    )
    assert file_tree(workspace, "sub", limit=20, depth=3).paths == ("sub/build/", "sub/build/o.bin")


def test_nearest_entries_come_first_and_the_rest_is_said(workspace: Workspace):
    make(workspace, *(f"deep/{number}.txt" for number in range(10)), "z.py")
    assert file_tree(workspace, limit=3, depth=3) == FileTree(
        ("deep/", "deep/0.txt", "z.py"), complete=False
    )
    assert file_tree(workspace, limit=9, depth=1) == FileTree(("deep/", "z.py"), complete=False)


def test_links_are_not_followed(workspace: Workspace, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("x")
    (workspace.directory / "link").symlink_to(tmp_path / "outside")
    (workspace.directory / ".gitignore").symlink_to(tmp_path / "outside" / "secret.txt")
    assert file_tree(workspace, limit=9, depth=3).paths == ("link",)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_name_that_is_no_text_is_left_out(workspace: Workspace):
    make(workspace, "a.csv")
    (workspace.directory / os.fsdecode(b"\xff.csv")).write_text("")
    assert file_tree(workspace, limit=10, depth=3).paths == ("a.csv",)
    assert find_file_names(workspace, ".csv") == ["a.csv"]
