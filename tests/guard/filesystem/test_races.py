"""Links swapped in while files are used: no attempt of many thousands succeeds."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.safe_open import (
    DescriptorRoot,
    Root,
    choose_opener,
    open_without_links,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from tests.guard.filesystem import name_swapper

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are exchanged by renameat2")

SECRET = b"a secret of somebody else"
MINE = b"mine"
TRIES = 6_000
"""Minimum for each way to open files; 12 000 in all."""
ENOUGH = 300
"""Attempts that must meet links, and that must not; more attempts are made while the swapper waits.
"""
TIMEOUT_S = 60.0


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip disk syncs, because no power failure is tested."""

    def at_once(descriptor: int) -> None:
        del descriptor

    monkeypatch.setattr(os, "fsync", at_once)


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """Return a workspace whose folder and file are swapped for links that lead out."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    (root / "d").mkdir(parents=True)
    for name in ("a.txt", "b.txt"):
        (outside / name).write_bytes(SECRET)
        (root / "d" / name).write_bytes(MINE)
    (root / "e").symlink_to("../outside")
    (root / "f").write_bytes(MINE)
    (root / "g").symlink_to("../outside/a.txt")
    return tmp_path


@contextlib.contextmanager
def swapped(root: Path) -> Generator[None]:
    """Let another process exchange the folder and the file with their links."""
    names = [str(root / name) for name in ("d", "e", "f", "g")]
    with subprocess.Popen(
        [sys.executable, name_swapper.__file__, *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"swapping\n"
        try:
            yield
        finally:
            process.stdin.close()


def with_openat2(root: Path) -> Root:
    return DescriptorRoot(root, choose_opener())


def with_walk(root: Path) -> Root:
    return DescriptorRoot(root, open_without_links)


def operations(workspace: Workspace) -> Iterator[Callable[[], object]]:
    """Yield every operation, repeatedly, with names that are being swapped."""

    def at(text: str) -> WorkspacePath:
        return workspace.path(text)

    def raw(text: str) -> WorkspacePath:
        return WorkspacePath(text)

    for number in itertools.count():
        new = f"n{number}"
        yield lambda: workspace.read(at("d/a.txt")).content
        yield lambda: workspace.read(raw("d/a.txt")).content
        yield lambda: workspace.read(raw("f")).content
        yield lambda: workspace.head(raw("f"), 99).content
        yield lambda: workspace.digest(raw("d/b.txt"))
        yield lambda: workspace.names(raw("d"))
        yield lambda new=new: workspace.create(raw(f"d/{new}"), b"new")
        yield lambda: workspace.replace(raw("d/a.txt"), MINE, workspace.stat(raw("d/a.txt")))
        yield lambda: workspace.replace(raw("f"), MINE, workspace.stat(raw("f")))
        yield lambda new=new: workspace.copy(raw("d/b.txt"), raw(f"c{new}"))
        yield lambda new=new: workspace.copy(raw("f"), raw(f"d/c{new}"))
        yield lambda new=new: workspace.move(raw(f"d/{new}"), raw(f"d/m{new}"))
        yield lambda new=new: workspace.move(raw(f"d/m{new}"), raw(f"m{new}"))
        yield lambda new=new: workspace.remove(raw(f"m{new}"), workspace.stat(raw(f"m{new}")))
        yield lambda new=new: workspace.make_folder(raw(f"d/k{new}"))
        yield lambda new=new: workspace.remove_folder(raw(f"d/k{new}"))


def outcome(operation: Callable[[], object]) -> object:
    try:
        return operation()
    except ShouldersError as error:
        return error


@pytest.mark.parametrize("make", [with_openat2, with_walk], ids=["openat2", "walk"])
def test_links_swapped_in_lead_nowhere(places: Path, make: Callable[[Path], Root]):
    root, outside = places / "root", places / "outside"
    workspace = Workspace(root, make(root))
    done = refused = 0
    deadline = time.monotonic() + TIMEOUT_S
    with swapped(root):
        for operation in operations(workspace):
            told = outcome(operation)
            done += 1
            refused += isinstance(told, ShouldersError)
            assert told != SECRET
            assert not (isinstance(told, bytes) and SECRET in told)
            both = min(refused, done - refused) >= ENOUGH
            if done >= TRIES and (both or time.monotonic() > deadline):
                break
    workspace.close()
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {
        "a.txt": SECRET,
        "b.txt": SECRET,
    }
    copies = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert SECRET not in {path.read_bytes() for path in copies}
    assert min(refused, done - refused) >= ENOUGH, "the links were hit, and missed"


def test_race_is_won_against_a_check_before_the_use(places: Path):
    """The attack works against a check before the use: the file outside is read."""
    root = places / "root"
    path = root / "f"
    deadline = time.monotonic() + TIMEOUT_S
    with swapped(root):
        while time.monotonic() < deadline:
            if not path.is_symlink() and path.read_bytes() == SECRET:
                return
    pytest.fail("the attacker never won against code without a guard")
