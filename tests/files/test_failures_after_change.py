"""A disk that fails after a change: the change remains, and the review is notified."""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError, StateUnavailable
from jupyter_ai_shoulders.guard.filesystem.directory_handles import DescriptorFolder
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from tests.files.file_workspace import FileWorkspace, origin

Act = Callable[[FileWorkspace], Awaitable[object]]


async def edit(here: FileWorkspace) -> object:
    read = await here.texts.read("a.txt")
    return await here.texts.replace("a.txt", "new\n", read.version, origin())


ACTS: dict[str, tuple[Act, tuple[str, str | None, str | None]]] = {
    "edit": (edit, ("a.txt", "old\n", "new\n")),
    "create": (lambda at: at.changes.create("b.txt", "b\r\n", origin()), ("b.txt", None, "b\n")),
    "delete": (lambda at: at.changes.delete("a.txt", origin()), ("a.txt", "old\n", None)),
}


@pytest.fixture
def disk_that_fails_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail every sync of a folder, which comes after the names have changed."""

    def failing(folder: DescriptorFolder) -> None:
        raise OSError(errno.EIO, f"descriptor {folder.descriptor} failed")

    monkeypatch.setattr(DescriptorFolder, "sync", failing)


@pytest.mark.parametrize("what", ACTS)
@pytest.mark.usefixtures("disk_that_fails_late")
async def test_a_change_that_stands_though_it_raised_is_told(
    here: FileWorkspace, what: str
) -> None:
    here.write("a.txt", "old\n")
    act, expected = ACTS[what]

    with pytest.raises(ShouldersError, match="failed"):
        await act(here)

    assert here.states() == [(what, expected[0], "done")]
    (told,) = here.witness.told
    assert (told.document, told.before, told.after) == expected
    assert told.origin == origin()


@pytest.mark.parametrize("what", ACTS)
@pytest.mark.usefixtures("disk_that_fails_late")
async def test_a_review_that_fails_too_does_not_hide_the_first_failure(
    here: FileWorkspace, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    here.write("a.txt", "old\n")

    def full(*_: object) -> None:
        raise StateUnavailable("No space left.")

    monkeypatch.setattr(type(here.witness), "changed", full)
    with pytest.raises(ShouldersError, match="descriptor"):
        await ACTS[what][0](here)
    assert [state for *_, state in here.states()] == ["done"]


async def test_a_file_that_stands_in_a_new_folder_is_told_and_the_folder_stays(
    here: FileWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sync(folder: DescriptorFolder) -> None:
        raise OSError(errno.EIO, f"descriptor {folder.descriptor} failed")

    made = DescriptorFolder.rename_new

    def rename_new(folder: DescriptorFolder, name: str, new_name: str) -> None:
        made(folder, name, new_name)
        monkeypatch.setattr(DescriptorFolder, "sync", sync)

    monkeypatch.setattr(DescriptorFolder, "rename_new", rename_new)
    with pytest.raises(ShouldersError):
        await here.changes.create("folder/b.txt", "b\n", origin())

    assert here.read("folder/b.txt") == b"b\n"
    assert [(document, state) for _, document, state in here.states()] == [
        ("folder/", "done"),
        ("folder/b.txt", "done"),
    ]
    assert [told.document for told in here.witness.told] == ["folder/b.txt"]


async def test_a_change_that_does_not_stand_is_not_told(
    here: FileWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write("a.txt", "old\n")

    def full(*_: object) -> None:
        raise StateUnavailable("No space left.")

    for name in ("replace", "create", "move"):
        monkeypatch.setattr(Workspace, name, full)
    for act, _ in ACTS.values():
        with pytest.raises(StateUnavailable):
            await act(here)

    assert {state for *_, state in here.states()} == {"failed"}
    assert here.witness.told == []
