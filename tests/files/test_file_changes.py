"""Files are created, moved, copied and deleted, each change logged; nothing is overwritten."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import FileStat, Workspace, WorkspacePath
from jupyter_ai_shoulders.wire.versions import file_version
from tests.files.file_workspace import FileWorkspace, file_workspace, origin

Act = Callable[[FileWorkspace], Awaitable[object]]


async def test_a_new_file_comes_with_its_folders_in_one_batch(here: FileWorkspace) -> None:
    applied = await here.changes.create("a/b/c.txt", "grüß\n", origin())

    assert here.read("a/b/c.txt") == "grüß\n".encode()
    assert applied.before is None
    assert applied.after == file_version("grüß\n".encode())
    assert here.states() == [
        ("mkdir", "a/", "done"),
        ("mkdir", "a/b/", "done"),
        ("create", "a/b/c.txt", "done"),
    ]
    batches = {row.change.origin.batch for row in here.journal.rows.values()}
    assert len(batches) == 1
    assert None not in batches
    assert here.journal.synced == 3
    assert [(told.document, told.before, told.after) for told in here.witness.told] == [
        ("a/b/c.txt", None, "grüß\n")
    ]


async def test_a_new_file_in_a_folder_that_is_there_is_no_batch(here: FileWorkspace) -> None:
    await here.changes.create("c.txt", "", origin())
    assert [row.change.origin.batch for row in here.journal.rows.values()] == [None]
    assert here.read("c.txt") == b""


async def test_a_deleted_file_lies_in_the_trash_with_all_it_had(here: FileWorkspace) -> None:
    file = here.write("a.bin", b"\x00\x01\xff")
    file.chmod(0o750)
    os.utime(file, ns=(1_000_000_000, 2_000_000_000))
    inode = file.stat().st_ino

    applied = await here.changes.delete("a.bin", origin())

    assert here.names() == []
    kept = here.trash_folder / applied.operation_id
    facts = kept.stat()
    assert kept.read_bytes() == b"\x00\x01\xff"
    assert (facts.st_ino, facts.st_mode & 0o777, facts.st_mtime_ns) == (
        inode,
        0o750,
        2_000_000_000,
    )
    assert applied.before == file_version(b"\x00\x01\xff")
    assert here.witness.told == []
    assert here.pages.gone == ["a.bin"]


async def test_a_cancelled_caller_leaves_when_pages_and_the_review_know(
    here: FileWorkspace,
) -> None:
    here.write("old", "of old")
    here.write("gone", "of gone")
    acts: tuple[Act, ...] = (
        lambda here: here.changes.create("new", "of new", origin()),
        lambda here: here.changes.move("old", "other", origin()),
        lambda here: here.changes.delete("gone", origin()),
    )
    sync = here.journal.sync
    for act in acts:
        began = asyncio.Event()

        async def noticed(began: asyncio.Event = began) -> None:
            began.set()
            await sync()

        here.journal.sync = noticed
        task = asyncio.ensure_future(act(here))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert [(told.document, told.before, told.after) for told in here.witness.told] == [
        ("new", None, "of new"),
        ("gone", "of gone", None),
    ]
    assert (here.pages.moves, here.pages.gone) == ([("old", "other")], ["gone"])


@pytest.fixture
def far_trash(tmp_path: Path) -> Generator[Path]:
    """Return a folder on another file system than the workspace."""
    elsewhere = Path("/dev/shm")  # the only other file system a test can rely on
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is one file system only")
    with tempfile.TemporaryDirectory(dir=elsewhere) as folder:
        yield Path(folder)


async def test_a_trash_on_another_file_system_gets_a_copy(tmp_path: Path, far_trash: Path) -> None:
    with file_workspace(tmp_path, far_trash) as here:
        file = here.write("a.txt", "text\n")
        file.chmod(0o640)
        applied = await here.changes.delete("a.txt", origin())
        assert here.names() == []
        assert (far_trash / applied.operation_id).read_text() == "text\n"

        await here.changes.restore_deleted(applied.operation_id, "a.txt", origin())

        assert here.read("a.txt") == b"text\n"
        assert file.stat().st_mode & 0o777 == 0o640
        assert not here.trash.has(applied.operation_id)


async def test_a_copy_in_the_trash_stays_when_it_is_all_there_is(
    tmp_path: Path, far_trash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails after the file was removed from its folder."""

    def removed(workspace: Workspace, path: WorkspacePath, expected: FileStat) -> None:
        (workspace.directory / path).unlink()
        raise StateUnavailable("The folder could not be synced.")

    with file_workspace(tmp_path, far_trash) as here:
        here.write("a.txt", "text\n")
        monkeypatch.setattr(Workspace, "remove", removed)

        with pytest.raises(StateUnavailable):
            await here.changes.delete("a.txt", origin())

        kept = far_trash / here.journal.recent()[0].id
        assert kept.read_text() == "text\n"
        assert here.states() == [("delete", "a.txt", "done")]


async def test_files_and_folders_move_and_pages_follow(here: FileWorkspace) -> None:
    here.write("data/a.txt", "a")
    await here.changes.move("data/a.txt", "data/b.txt", origin())
    await here.changes.move("data", "deep/er/data", origin())

    assert here.names() == ["deep/", "deep/er/", "deep/er/data/", "deep/er/data/b.txt"]
    assert here.pages.moves == [("data/a.txt", "data/b.txt"), ("data", "deep/er/data")]


async def test_copies_keep_bytes_and_mode(here: FileWorkspace) -> None:
    here.write("a.sh", b"#!/bin/sh\r\n").chmod(0o755)
    applied = await here.changes.copy("a.sh", "b/a.sh", origin())
    assert here.read("b/a.sh") == b"#!/bin/sh\r\n"
    assert (here.root / "b/a.sh").stat().st_mode & 0o777 == 0o755
    assert applied.after == (await here.texts.read("a.sh")).version
    assert here.journal.change(applied.operation_id).after == file_version(b"#!/bin/sh\r\n")


TAKEN: dict[str, Act] = {
    "create over a file": lambda at: at.changes.create("taken.txt", "mine", origin()),
    "create over a folder": lambda at: at.changes.create("folder", "mine", origin()),
    "create below a file": lambda at: at.changes.create("taken.txt/x", "mine", origin()),
    "move over a file": lambda at: at.changes.move("a.txt", "taken.txt", origin()),
    "move over itself": lambda at: at.changes.move("a.txt", "a.txt", origin()),
    "move a folder over a folder": lambda at: at.changes.move("other", "folder", origin()),
    "move over a broken link": lambda at: at.changes.move("a.txt", "broken", origin()),
    "copy over a file": lambda at: at.changes.copy("a.txt", "taken.txt", origin()),
}


@pytest.mark.parametrize("what", TAKEN)
async def test_nothing_is_replaced(here: FileWorkspace, what: str) -> None:
    for name in ("a.txt", "taken.txt", "folder/x.txt", "other/y.txt"):
        here.write(name, name)
    (here.root / "broken").symlink_to("nowhere")
    before = {name: here.read(name) for name in here.names() if name.endswith(".txt")}
    with pytest.raises(Conflict):
        await TAKEN[what](here)
    assert {name: here.read(name) for name in here.names() if name.endswith(".txt")} == before
    assert (here.root / "broken").is_symlink()
    assert here.states() == []


REFUSED: dict[str, tuple[Act, type[ShouldersError]]] = {
    "a file that is not there": (lambda at: at.changes.delete("no.txt", origin()), NotFound),
    "a folder": (lambda at: at.changes.delete("folder", origin()), InvalidRequest),
    "a copy of a folder": (lambda at: at.changes.copy("folder", "b", origin()), InvalidRequest),
    "a folder into itself": (
        lambda at: at.changes.move("folder", "folder/in/it", origin()),
        InvalidRequest,
    ),
    "a file outside": (lambda at: at.changes.create("../x.txt", "", origin()), InvalidRequest),
    "a move outside": (lambda at: at.changes.move("a.txt", "/tmp/x", origin()), InvalidRequest),
    "a new secret": (lambda at: at.changes.create(".env", "", origin()), PolicyRefusal),
    "a name that makes a secret": (
        lambda at: at.changes.move("a.txt", "id_rsa", origin()),
        PolicyRefusal,
    ),
    "a secret with a harmless name": (
        lambda at: at.changes.move(".env", "env.txt", origin()),
        PolicyRefusal,
    ),
    "the folder of secrets": (
        lambda at: at.changes.move(".ssh", "ssh", origin()),
        PolicyRefusal,
    ),
    "a copy of a secret": (
        lambda at: at.changes.copy(".env", "env.txt", origin()),
        PolicyRefusal,
    ),
    "the workspace": (lambda at: at.changes.move("", "x", origin()), InvalidRequest),
    "a pipe": (lambda at: at.changes.delete("pipe", origin()), InvalidRequest),
    "a name that is too long": (
        lambda at: at.changes.create("x" * 300, "", origin()),
        InvalidRequest,
    ),
    "a name that is no text": (
        lambda at: at.changes.create("a\udcff", "", origin()),
        InvalidRequest,
    ),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_what_may_not_be_is_refused_and_leaves_no_trace(
    here: FileWorkspace, what: str
) -> None:
    for name in ("a.txt", ".env", ".ssh/config", "folder/x.txt"):
        here.write(name, name)
    os.mkfifo(here.root / "pipe")
    before = here.names()
    act, error = REFUSED[what]
    with pytest.raises(error):
        await act(here)
    assert here.names() == before
    assert {state for _, _, state in here.states()} <= {"failed"}


@pytest.mark.parametrize("what", ["move", "copy", "delete"])
async def test_unsaved_text_is_never_left_behind(here: FileWorkspace, what: str) -> None:
    here.write("data/a.txt", "a")
    here.pages.dirty.add("data/a.txt")
    acts: dict[str, Act] = {
        "move": lambda at: at.changes.move("data", "b", origin()),
        "copy": lambda at: at.changes.copy("data/a.txt", "b", origin()),
        "delete": lambda at: at.changes.delete("data/a.txt", origin()),
    }
    with pytest.raises(Conflict, match=r"data/a\.txt has unsaved changes"):
        await acts[what](here)
    assert here.names() == ["data/", "data/a.txt"]


async def test_nothing_happens_when_the_log_is_full(here: FileWorkspace) -> None:
    async def full() -> None:
        raise StateUnavailable("no space", code="disk_full")

    here.journal.sync = full
    with pytest.raises(StateUnavailable):
        await here.changes.create("a/b.txt", "text", origin())
    assert here.names() == []
    assert {state for _, _, state in here.states()} == {"failed"}


async def test_a_failure_half_way_takes_the_folders_back(
    here: FileWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Workspace, path: WorkspacePath, content: bytes) -> None:
        raise StateUnavailable("no space", code="disk_full")

    monkeypatch.setattr(Workspace, "create", full)
    with pytest.raises(StateUnavailable):
        await here.changes.create("a/b/c.txt", "text", origin())
    assert here.names() == []
    assert [state for _, _, state in here.states()] == ["failed"] * 3
    reasons = {row.reason for row in here.journal.recent()}
    assert reasons == {"It failed: no space"}


async def test_a_file_put_there_in_the_last_moment_is_not_replaced(here: FileWorkspace) -> None:
    here.write("a.txt", "mine")
    sync = here.journal.sync

    async def sync_while_somebody_writes() -> None:
        await sync()
        here.write("new/b.txt", "theirs")

    here.journal.sync = sync_while_somebody_writes
    with pytest.raises(Conflict):
        await here.changes.move("a.txt", "new/b.txt", origin())
    assert (here.read("a.txt"), here.read("new/b.txt")) == (b"mine", b"theirs")
    assert {state for _, _, state in here.states()} == {"failed"}


async def test_calls_of_one_step_make_one_folder_together(here: FileWorkspace) -> None:
    names = [f"out/deep/{number}.txt" for number in range(5)]
    await asyncio.gather(*(here.changes.create(name, name, origin()) for name in names))
    assert here.names() == ["out/", "out/deep/", *names]
    assert {state for _, _, state in here.states()} == {"done"}
    removable = [
        row.document for row in here.journal.recent() if row.kind == "mkdir" and row.can_undo
    ]
    assert sorted(removable) == ["out/", "out/deep/"]


async def test_a_file_changed_in_the_last_moment_is_not_deleted(here: FileWorkspace) -> None:
    here.write("a.txt", "old")
    sync = here.journal.sync

    async def sync_while_somebody_writes() -> None:
        await sync()
        here.write("a.txt", "theirs, and longer")

    here.journal.sync = sync_while_somebody_writes
    with pytest.raises(Conflict):
        await here.changes.delete("a.txt", origin())
    assert here.read("a.txt") == b"theirs, and longer"
    assert list(here.trash_folder.iterdir()) == []
    assert here.states() == [("delete", "a.txt", "failed")]
