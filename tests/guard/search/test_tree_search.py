"""Tree searches return the same results as ripgrep itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search import tree_search
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.ripgrep import find_ripgrep
from jupyter_ai_shoulders.guard.search.tree_search import (
    MatchingLine,
    SearchResult,
    TreeQuery,
    search_file,
    search_tree,
    searchable_notebooks,
)

FILES = 5_200


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "root"
    root.mkdir()
    found = Workspace(root)
    yield found
    found.close()


@pytest.fixture
def no_ripgrep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    def empty(name: str) -> str:
        return str(tmp_path / name)

    monkeypatch.setattr("sysconfig.get_path", empty)


def put(workspace: Workspace, name: str, content: str | bytes) -> None:
    path = workspace.directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def places(found: SearchResult) -> list[tuple[str, int]]:
    return [(line.path, line.line) for line in found.lines]


def large_tree(workspace: Workspace) -> None:
    """Make folders, hidden, ignored and binary files, other encodings and odd names."""
    root = workspace.directory
    put(workspace, ".gitignore", "*.log\n/ignored/\n!keep.log\n")
    for number in range(FILES):
        folder = root / f"f{number % 40}" / f"g{number % 7}"
        if number < 280:
            folder.mkdir(parents=True, exist_ok=True)
        name = f"n{number}.{('py', 'txt', 'log', 'md')[number % 4]}"
        needle = "Needle" if number % 10 == 0 else "hay"
        (folder / name).write_text(f"line {number}\n{needle} here\n" + "straw\n" * (number % 5))
    put(workspace, "ignored/a.txt", "needle")
    put(workspace, "sub/.gitignore", "local.txt\n")
    put(workspace, "sub/local.txt", "needle")
    put(workspace, "sub/keep.log", "needle")
    put(workspace, ".hidden/a.txt", "needle")
    put(workspace, "binary.dat", b"needle\n" + b"x" * 100 + b"\0\n")
    put(workspace, "utf16.txt", "\ufeffneedle\r\nneedle".encode("utf-16-le"))
    put(workspace, "latin.txt", b"caf\xe9 needle\r\n")
    put(workspace, "odd: name\n2:.txt", "a\nneedle")
    (root / "link.txt").symlink_to("latin.txt")


def ripgrep_finds(workspace: Workspace, *options: str) -> list[tuple[str, int]]:
    """Return what ripgrep finds with its own defaults, restricted to the workspace."""
    command = [find_ripgrep(), "--no-config", "--no-require-git", "--no-ignore-parent", "--null"]
    command += ["--line-number", "--no-heading", "--with-filename", *options, "./"]
    done = subprocess.run(command, cwd=workspace.directory, capture_output=True, check=True)
    found: list[tuple[str, int]] = []
    rest = done.stdout
    while rest:
        name, _, rest = rest.partition(b"\0")
        line, _, rest = rest.partition(b"\n")
        found.append((name.decode().removeprefix("./"), int(line.partition(b":")[0])))
    return sorted(found)


def test_search_finds_what_ripgrep_finds_on_a_large_tree(workspace: Workspace):
    large_tree(workspace)
    without_binary = ["--glob=!binary.dat"]  # ripgrep prints a warning between its lines
    expected = ripgrep_finds(workspace, "-i", *without_binary, "-e", r"n[e]+dle\b")
    assert len(expected) > 250
    assert places(search_tree(workspace, TreeQuery(r"n[e]+dle\b", is_regex=True))) == expected
    expected = ripgrep_finds(workspace, "-F", *without_binary, "-e", "Needle")
    assert places(search_tree(workspace, TreeQuery("Needle", is_regex=False))) == expected
    query = TreeQuery("NEEDLE", is_regex=True, glob=Glob("*.py"))
    expected = ripgrep_finds(workspace, "-i", "-tpy", "-e", "needle")
    assert places(search_tree(workspace, query)) == expected


@pytest.mark.usefixtures("no_ripgrep")
def test_text_is_found_in_the_same_files_without_ripgrep(workspace: Workspace):
    put(workspace, ".gitignore", "*.log\n")
    for name in ("a.txt", "b/c.py", "b/d.log", ".env", "b/secrets.json", "n.ipynb"):
        put(workspace, name, "one\r\nneedle two\r\n")
    put(workspace, "z.bin", b"needle\0")
    found = search_tree(workspace, TreeQuery("needle", is_regex=False))
    assert found.lines == [
        MatchingLine("a.txt", 2, "needle two"),
        MatchingLine("b/c.py", 2, "needle two"),
    ]
    assert searchable_notebooks(workspace, WorkspacePath(""), None) == ["n.ipynb"]


@pytest.mark.parametrize("folder", [".config", ".local/share/jupyter", "runtime"])
@pytest.mark.parametrize("tools", ["ripgrep", "no_ripgrep"])
def test_named_folders_do_not_show_logins_or_closed_folders(
    workspace: Workspace, request: pytest.FixtureRequest, folder: str, tools: str
):
    for name in (
        *(".config/gh/hosts.yml", ".config/plain.txt", ".local/share/jupyter/runtime/log.txt"),
        *("runtime/kernel.txt", ".local/share/jupyter/notes.txt"),
    ):
        put(workspace, name, "needle\n")
    if tools == "no_ripgrep":
        request.getfixturevalue("no_ripgrep")
    with closing(Workspace(workspace.directory, closed=[workspace.directory / "runtime"])) as own:
        query = TreeQuery("needle", is_regex=False, folder=WorkspacePath(folder))
        shown = {line.path for line in search_tree(own, query).lines}
    assert shown <= {".config/plain.txt", ".local/share/jupyter/notes.txt"}


@pytest.mark.parametrize("tools", ["ripgrep", "no_ripgrep"])
def test_files_with_several_names_are_left_out(
    workspace: Workspace, request: pytest.FixtureRequest, tmp_path: Path, tools: str
):
    put(workspace, "a.txt", "needle\n")
    (tmp_path / "outside").write_text("needle\n")
    (workspace.directory / "linked.txt").hardlink_to(tmp_path / "outside")
    if tools == "no_ripgrep":
        request.getfixturevalue("no_ripgrep")
    query = TreeQuery("needle", is_regex=False)
    found = search_tree(workspace, query)
    assert (places(found), found.linked) == ([("a.txt", 1)], 1)
    with pytest.raises(InvalidRequest, match="several names"):
        search_file(workspace, WorkspacePath("linked.txt"), query)


def test_secrets_and_notebooks_are_left_out(workspace: Workspace):
    for name in ("a.txt", "secrets.yaml", "deploy.pem", "kaggle.json", ".env", ".aws/credentials"):
        put(workspace, name, "needle")
    put(workspace, ".shoulders/state.txt", "needle")
    put(workspace, "n.ipynb", '{"cells": ["needle"]}')
    for glob in (None, Glob("*"), Glob(".*"), Glob("**/credentials")):
        found = search_tree(workspace, TreeQuery("needle", is_regex=False, glob=glob))
        assert {line.path for line in found.lines} <= {"a.txt"}


@pytest.mark.parametrize(
    ("folder", "glob", "expected"),
    [
        ("", "src/**/*.py", ["src/a.py", "src/deep/b.py"]),
        ("src", None, ["src/a.py", "src/deep/b.py"]),
        ("src", "deep/*", ["src/deep/b.py"]),
        ("", "*.{py,md}", ["src/a.py", "src/deep/b.py"]),
        ("", "src/*", ["src/a.py"]),
        ("build", None, ["build/c.py"]),
    ],
)
def test_folder_and_glob_choose(
    workspace: Workspace, folder: str, glob: str | None, expected: list[str]
):
    put(workspace, ".gitignore", "*.log\n/build/\n")
    for name in ("src/a.py", "src/deep/b.py", "src/x.log", "build/c.py", "other.txt"):
        put(workspace, name, "needle")
    query = TreeQuery(
        "needle",
        is_regex=False,
        folder=WorkspacePath(folder),
        glob=None if glob is None else Glob(glob),
    )
    found = [line.path for line in search_tree(workspace, query).lines]
    assert [path for path in found if path != "other.txt"] == expected


def test_what_projects_make_is_left_out(workspace: Workspace):
    for name in ("a/Cargo.toml", "a/target/x.rs", "target/y.rs", "node_modules/z.js"):
        put(workspace, name, "needle")
    found = search_tree(workspace, TreeQuery("needle", is_regex=False))
    assert [line.path for line in found.lines] == ["a/Cargo.toml", "target/y.rs"]


def test_search_that_finds_too_much_is_stopped(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tree_search, "MATCH_LIMIT", 50)
    put(workspace, "a.txt", "needle\n" * 1_000)
    found = search_tree(workspace, TreeQuery("needle", is_regex=False))
    assert len(found.lines) == 50
    assert found.stopped


def test_lines_are_cut(workspace: Workspace):
    put(workspace, "a.js", "needle" * 1_000)
    [line] = search_tree(workspace, TreeQuery("needle", is_regex=False)).lines
    assert len(line.text) == tree_search.LINE_LENGTH_LIMIT + 2


@pytest.mark.parametrize("pattern", ["(", "(?<=a)b", r"(a)\1", "(a{1000}){1000}"])
def test_what_is_no_pattern_is_refused(workspace: Workspace, pattern: str):
    put(workspace, "a.txt", "a")
    with pytest.raises(InvalidRequest, match="not a regular expression"):
        search_tree(workspace, TreeQuery(pattern, is_regex=True))


@pytest.mark.parametrize("is_regex", [True, False])
def test_text_with_a_nul_is_refused(workspace: Workspace, *, is_regex: bool):
    with pytest.raises(InvalidRequest, match="cannot be searched for"):
        search_tree(workspace, TreeQuery("a\0b", is_regex=is_regex))


@pytest.mark.parametrize("text", ["--files", "-e", "--pre=sh", "$(touch x)"])
def test_text_is_never_an_option(workspace: Workspace, text: str):
    put(workspace, "a.txt", f"has {text} in it")
    assert places(search_tree(workspace, TreeQuery(text, is_regex=False))) == [("a.txt", 1)]


def test_pattern_that_stalls_other_engines_returns(workspace: Workspace):
    put(workspace, "a.txt", "a" * 1_000_000 + "b")
    assert search_tree(workspace, TreeQuery("(a|a)*(a+)+$", is_regex=True)).lines == []


def test_search_that_takes_too_long_is_stopped(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    put(workspace, "a.txt", "needle\n")
    slow = workspace.directory.parent / "rg"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(tree_search, "find_ripgrep", lambda: str(slow))
    monkeypatch.setattr(tree_search, "TIMEOUT_S", 0.05)
    found = search_tree(workspace, TreeQuery("needle", is_regex=False))
    assert found.stopped
    assert found.lines == []


def test_folder_swapped_for_a_link_leads_nowhere(workspace: Workspace, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("needle")
    put(workspace, "sub/a.txt", "needle")
    folder = workspace.path("sub")
    (workspace.directory / "sub" / "a.txt").unlink()
    (workspace.directory / "sub").rmdir()
    (workspace.directory / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises((InvalidRequest, NotFound)):
        search_tree(workspace, TreeQuery("needle", is_regex=False, folder=folder))


def test_one_file_is_searched_even_where_a_tree_leaves_it_out(workspace: Workspace):
    put(workspace, ".gitignore", "*.log\n")
    put(workspace, "a.log", "One\r\ntwo\nONE more")
    path = workspace.path("a.log")
    found = search_file(workspace, path, TreeQuery("one", is_regex=True))
    assert found.lines == [MatchingLine("a.log", 1, "One"), MatchingLine("a.log", 3, "ONE more")]
    assert search_file(workspace, path, TreeQuery("One", is_regex=False)).lines == found.lines[:1]
    put(workspace, "b.bin", b"one\0")
    with pytest.raises(InvalidRequest, match="binary"):
        search_file(workspace, workspace.path("b.bin"), TreeQuery("one", is_regex=False))


def test_notebooks_are_listed_like_other_files(workspace: Workspace):
    put(workspace, ".gitignore", "/old/\n")
    for name in ("a.ipynb", "b/c.ipynb", "old/d.ipynb", ".x/e.ipynb", "b/f.py"):
        put(workspace, name, "{}")
    assert searchable_notebooks(workspace, WorkspacePath(""), None) == ["a.ipynb", "b/c.ipynb"]
    assert searchable_notebooks(workspace, WorkspacePath("b"), None) == ["b/c.ipynb"]
    assert searchable_notebooks(workspace, WorkspacePath(""), Glob("*.py")) == []
    assert searchable_notebooks(workspace, WorkspacePath(""), Glob("b/*")) == ["b/c.ipynb"]


def test_listing_that_takes_too_long_has_no_truncated_name(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = workspace.directory.parent / "rg"
    slow.write_text("#!/bin/sh\nprintf 'a.ipynb\\0b/cut'\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(tree_search, "find_ripgrep", lambda: str(slow))
    monkeypatch.setattr(tree_search, "TIMEOUT_S", 0.5)

    found = searchable_notebooks(workspace, WorkspacePath(""), None)

    assert set(found) <= {"a.ipynb"}  # none on a slow machine
