"""The index of paths: the same files as a walk finds, whatever changes."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search import path_index
from jupyter_ai_shoulders.guard.search.directory_listing import list_entries, list_indexed
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.path_index import PathIndex

GLOBS = ("*", "*.py", "a/**", "a/*/*.py", "{a,b}/*", "**/b/**/*.py", "[ab]*")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    found = Workspace(tmp_path)
    yield found
    found.close()


def put(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def assert_same(workspace: Workspace, index: PathIndex, folder: str = "") -> None:
    """Assert that each listing from the index is that of a walk."""
    for glob in map(Glob, GLOBS):
        for depth in (1, 2, 40):
            walked = list_entries(workspace, folder, depth=depth, limit=3, glob=glob)
            found = list_indexed(workspace, index.tree(), folder, depth=depth, limit=3, glob=glob)
            assert found in {None, walked} if folder else found == walked


Step = tuple[str, str, str]
"""What is done, where, and with which text or other place."""
PLACES = st.lists(
    st.sampled_from(["a", "b", "build", "x.py", "y.log", ".gitignore", "pyproject.toml"]),
    min_size=1,
    max_size=3,
).map("/".join)
RULES = st.sampled_from(["*.log", "!y.log", "/a", "a/", "b/*", "*.py\n!x.py", "", "**/b"])
STEPS = st.one_of(
    st.tuples(st.just("write"), PLACES, RULES),
    st.tuples(st.just("remove"), PLACES, st.just("")),
    st.tuples(st.just("move"), PLACES, PLACES),
    st.tuples(st.just("link"), PLACES, PLACES),
)


def do(root: Path, step: Step) -> None:
    """Take a step, unless the file system refuses it."""
    action, place, other = step
    path = root / place
    try:
        if action == "write":
            put(path, other)
        elif action == "remove" and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif action == "remove":
            path.unlink()
        elif action == "move":
            path.rename(root / other)
        else:
            path.symlink_to(root / other)
    except OSError:
        pass


class ExactTimes:
    """Gives what changed another time, as if the clock of the file system was exact."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._times = count(1)
        self._known: dict[Path, object] = {}

    def set(self) -> None:
        before, self._known = self._known, dict(self._contents())
        for path, content in self._known.items():
            if before.get(path) != content:
                os.utime(path, ns=(0, next(self._times)))

    def _contents(self) -> Iterator[tuple[Path, object]]:
        for folder in (self._root, *self._root.rglob("*")):
            if folder.is_dir() and not folder.is_symlink():
                yield folder, sorted((each.name, each.lstat().st_ino) for each in folder.iterdir())
            elif folder.is_file() and folder.name == ".gitignore":
                yield folder, folder.read_text()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=1, max_size=12))
@example(
    steps=[
        ("write", "a/b/y.log", ""),
        ("write", "a/.gitignore", "*.log"),
        ("write", "a/.gitignore", "!y.log"),
        ("move", "a/b", "b"),
    ]
)
def test_listing_is_that_of_a_walk_after_each_change(
    monkeypatch: pytest.MonkeyPatch, steps: list[Step]
) -> None:
    monkeypatch.setattr(path_index, "SETTLED_NS", -(10**18))  # trusts each time
    with TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        index, times = PathIndex(workspace), ExactTimes(workspace.directory)
        try:
            for step in steps:
                do(workspace.directory, step)
                times.set()
                assert_same(workspace, index)
                assert_same(workspace, index, "a")
        finally:
            workspace.close()


def test_change_within_the_resolution_of_the_clock_is_found(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time_ns()

    def coarse(path: str) -> tuple[int, ...]:
        del path
        return (1, 1, 1, now, now)

    monkeypatch.setattr(path_index, "_signature", coarse)
    index = PathIndex(workspace)
    assert index.tree().folders[""].files == ()
    put(workspace.directory / "a.py")
    assert index.tree().folders[""].files == ("a.py",)


def test_unchanged_tree_is_not_read_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path_index, "SETTLED_NS", -(10**18))
    put(workspace.directory / "a/b/c.py")
    put(workspace.directory / "d/e.py")
    index = PathIndex(workspace)
    before = index.tree()
    assert index.tree() is before
    put(workspace.directory / "d/f.py")
    os.utime(workspace.directory / "d", ns=(0, 1))
    after = index.tree()
    assert after.folders["a"] is before.folders["a"]
    assert after.folders["d"].files == ("e.py", "f.py")


def test_answer_may_be_as_old_as_the_caller_allows(workspace: Workspace) -> None:
    now = [0.0]
    clock: Callable[[], float] = lambda: now[0]  # noqa: E731
    index = PathIndex(workspace, clock)
    assert index.tree(1.0).folders[""].files == ()
    put(workspace.directory / "a.py")
    now[0] = 0.9
    assert index.tree(1.0).folders[""].files == ()
    now[0] = 1.0
    assert index.tree(1.0).folders[""].files == ("a.py",)


def test_too_many_entries_leave_out_the_deepest(workspace: Workspace) -> None:
    put(workspace.directory / "a/b/c.py")
    put(workspace.directory / "d.py")
    tree = PathIndex(workspace, limit=3).tree()
    assert (list(tree.folders), tree.complete) == (["", "a"], False)
    assert list_indexed(workspace, tree, "", depth=9, limit=9, glob=Glob("*")) is None


def test_folder_swapped_for_a_link_shows_nothing(workspace: Workspace) -> None:
    root = workspace.directory
    index = PathIndex(workspace)
    with TemporaryDirectory() as outside:
        put(Path(outside, "secret.txt"))
        put(root / "a/b.py")
        assert list(index.tree().folders) == ["", "a"]
        shutil.rmtree(root / "a")
        (root / "a").symlink_to(outside)
        assert list(index.tree().folders) == [""]
        assert index.tree().folders[""].kinds == {"a": "link"}
