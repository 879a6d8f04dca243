"""Moving, copying and removing below the root: nothing is replaced, nothing leads out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.guard.filesystem import directory_handles
from jupyter_ai_shoulders.guard.filesystem import workspace as paths
from jupyter_ai_shoulders.guard.filesystem.safe_open import (
    DescriptorRoot,
    PathRoot,
    Root,
    choose_opener,
    open_without_links,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import (
    DifferentFileSystem,
    FileChanged,
    Workspace,
    WorkspacePath,
)

Make = Callable[[Path], Workspace]


def openat2_root(root: Path) -> Root:
    return DescriptorRoot(root, choose_opener())


def walked_root(root: Path) -> Root:
    return DescriptorRoot(root, open_without_links)


def no_such_call(source: int, name: str, target: int, new_name: str) -> bool:
    """Simulate a system without a rename that replaces nothing."""
    del source, name, target, new_name
    return False


KINDS: dict[str, tuple[Callable[[Path], Root], bool]] = {
    "openat2": (openat2_root, True),
    "openat2 without renameat2": (openat2_root, False),
    "walk": (walked_root, True),
    "walk without renameat2": (walked_root, False),
    "path": (PathRoot, True),
}


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    opener, has_call = KINDS[request.param]
    if not has_call:
        monkeypatch.setattr(directory_handles, "rename_without_replacing", no_such_call)
    made: list[Workspace] = []

    def workspace(root: Path) -> Workspace:
        root.mkdir(exist_ok=True)
        made.append(Workspace(root, opener(root)))
        return made[-1]

    yield workspace
    for each in made:
        each.close()


@pytest.fixture
def here(make: Make, tmp_path: Path) -> Workspace:
    root = tmp_path / "root"
    (root / "data").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "data" / "b.txt").write_text("b")
    return make(root)


def moved(here: Workspace, path: str, new_path: str) -> None:
    here.move(here.path(path), here.path(new_path))


def names(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


def test_files_and_folders_move(here: Workspace) -> None:
    moved(here, "a.txt", "data/c.txt")
    moved(here, "data", "other")
    assert names(here.directory) == ["other", "other/b.txt", "other/c.txt"]


@pytest.mark.parametrize(
    ("path", "new_path"),
    [("a.txt", "data/b.txt"), ("a.txt", "data"), ("data", "full"), ("data", "a.txt")],
)
def test_nothing_is_replaced(here: Workspace, path: str, new_path: str) -> None:
    (here.directory / "full").mkdir()
    (here.directory / "full" / "c.txt").write_text("c")
    before = names(here.directory)
    with pytest.raises(Conflict):
        moved(here, path, new_path)
    assert names(here.directory) == before
    assert (here.directory / "data" / "b.txt").read_text() == "b"
    assert (here.directory / "a.txt").read_text() == "a"


def test_an_empty_folder_is_no_place_either(here: Workspace) -> None:
    (here.directory / "empty").mkdir()
    with pytest.raises(Conflict):
        moved(here, "data", "empty")
    assert names(here.directory) == ["a.txt", "data", "data/b.txt", "empty"]


def test_a_folder_does_not_move_into_itself(here: Workspace) -> None:
    with pytest.raises(InvalidRequest):
        moved(here, "data", "data/inside")
    assert names(here.directory) == ["a.txt", "data", "data/b.txt"]


def test_what_is_not_there_is_not_found(here: Workspace) -> None:
    for path, new_path in (("no.txt", "b.txt"), ("a.txt", "no/b.txt")):
        with pytest.raises(NotFound):
            moved(here, path, new_path)
    assert names(here.directory) == ["a.txt", "data", "data/b.txt"]


def test_the_root_itself_stays(here: Workspace) -> None:
    for act in (here.make_folder, here.remove_folder):
        with pytest.raises(ShouldersError):
            act(WorkspacePath(""))
    with pytest.raises(InvalidRequest):
        here.move(WorkspacePath(""), here.path("b"))


def test_a_link_out_is_no_way_in(here: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (here.directory / "link").symlink_to(outside)
    ways = (
        lambda: here.move(WorkspacePath("link/secret.txt"), WorkspacePath("mine.txt")),
        lambda: here.move(WorkspacePath("a.txt"), WorkspacePath("link/a.txt")),
        lambda: here.copy(WorkspacePath("link/secret.txt"), WorkspacePath("mine.txt")),
        lambda: here.copy(WorkspacePath("a.txt"), WorkspacePath("link/a.txt")),
        lambda: here.make_folder(WorkspacePath("link/new")),
        lambda: here.remove_folder(WorkspacePath("link")),
        lambda: here.digest(WorkspacePath("link/secret.txt")),
    )
    for way in ways:
        with pytest.raises(ShouldersError):
            way()
    assert names(outside) == ["secret.txt"]
    assert (here.directory / "link").is_symlink()
    assert not (here.directory / "mine.txt").exists()


def test_a_copy_has_bytes_mode_and_time(here: Workspace) -> None:
    source = here.directory / "a.txt"
    source.write_bytes(b"x" * 3_000_000)
    source.chmod(0o751)
    os.utime(source, ns=(1_000, 2_000_000_000))
    digest = here.copy(here.path("a.txt"), here.path("data/copy"))
    facts = (here.directory / "data" / "copy").stat()
    assert (facts.st_mode & 0o777, facts.st_mtime_ns) == (0o751, 2_000_000_000)
    assert digest.sha256 == here.digest(here.path("a.txt")).sha256
    with pytest.raises(Conflict):
        here.copy(here.path("a.txt"), here.path("data/b.txt"))
    assert names(here.directory) == ["a.txt", "data", "data/b.txt", "data/copy"]


def test_only_the_file_that_was_read_is_removed(here: Workspace) -> None:
    path = here.path("a.txt")
    read = here.stat(path)
    (here.directory / "a.txt").write_text("another")
    with pytest.raises(FileChanged):
        here.remove(path, read)
    assert (here.directory / "a.txt").read_text() == "another"
    here.remove(path, here.stat(path))
    assert names(here.directory) == ["data", "data/b.txt"]


def test_a_file_swapped_in_while_its_name_is_taken_again_is_kept_for_good(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = here.path("a.txt")
    read = here.stat(path)
    (here.directory / "a.txt").write_text("swapped in")
    os.utime(here.directory / "a.txt", (0, 0))

    def taken_again(point: str) -> None:
        if point == "disk.remove.aside":
            (here.directory / "a.txt").write_text("taken again")

    monkeypatch.setattr(paths, "crash_point", taken_again)
    with pytest.raises(FileChanged, match="kept-"):
        here.remove(path, read)
    here.replace(path, b"a later write, which sweeps", here.stat(path))

    (kept,) = here.directory.glob("a.txt.kept-*")
    assert kept.read_text() == "swapped in"
    assert names(here.directory) == ["a.txt", kept.name, "data", "data/b.txt"]


def test_folders_are_made_and_removed_when_empty(here: Workspace) -> None:
    here.make_folder(here.path("data/new"))
    with pytest.raises(Conflict):
        here.make_folder(here.path("data/new"))
    with pytest.raises(Conflict, match="not empty"):
        here.remove_folder(here.path("data"))
    here.remove_folder(here.path("data/new"))
    assert names(here.directory) == ["a.txt", "data", "data/b.txt"]


def test_files_go_to_another_root_and_back(here: Workspace, make: Make, tmp_path: Path) -> None:
    other = make(tmp_path / "other")
    here.move(here.path("a.txt"), other.path("kept"), other)
    assert (names(here.directory), names(other.directory)) == (["data", "data/b.txt"], ["kept"])
    other.move(other.path("kept"), here.path("a.txt"), here)
    assert names(other.directory) == []
    assert (here.directory / "a.txt").read_text() == "a"


def test_another_file_system_is_said(here: Workspace, make: Make, tmp_path: Path) -> None:
    elsewhere = Path("/dev/shm")
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is one file system only")
    folder = elsewhere / f"shoulders-{os.getpid()}-moves"
    other = make(folder)
    try:
        with pytest.raises(DifferentFileSystem):
            here.move(here.path("a.txt"), other.path("kept"), other)
        assert names(folder) == []
        assert (here.directory / "a.txt").read_text() == "a"
    finally:
        folder.rmdir()


def test_kinds_are_told_and_hard_links_counted(here: Workspace) -> None:
    os.link(here.directory / "a.txt", here.directory / "again.txt")
    os.mkfifo(here.directory / "pipe")
    assert here.stat(here.path("a.txt")).links == 2
    kinds = [here.kind(WorkspacePath(name)) for name in ("", "a.txt", "data", "pipe")]
    assert kinds == ["folder", "file", "folder", "other"]
    with pytest.raises(NotFound):
        here.kind(WorkspacePath("no"))
