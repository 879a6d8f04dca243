"""The memory file on the disk: two servers, an editor, a full disk, and files that are none."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError, StateUnavailable
from jupyter_ai_shoulders.core.memory.memory_text import MemoryText, Statement
from jupyter_ai_shoulders.storage.memory.memory_file import LARGEST, MemoryFile
from jupyter_ai_shoulders.storage.state_directory import StateDirectory

WRITER = """
import sys
from pathlib import Path
from jupyter_ai_shoulders.core.memory.memory_text import Statement
from jupyter_ai_shoulders.storage.memory.memory_file import MemoryFile
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
file = MemoryFile(StateDirectory(Path(sys.argv[1])))
for number in range(25):
    name = f"{sys.argv[2]}{number:07x}"
    file.change(lambda text: text.added(Statement(name, f"Statement {name}.")))
"""


def _file(path: Path) -> MemoryFile:
    return MemoryFile(StateDirectory(path))


def _added(text: MemoryText) -> MemoryText:
    return text.added(Statement("deadbeef", "New."))


def test_two_processes_and_an_editor_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.md"
    path.write_text("By hand.\n")
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, letter]) for letter in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]

    text = _file(tmp_path).read()

    assert text is not None
    assert len(text.statements) == 50
    assert text.content.startswith(b"By hand.\n")


def test_an_editor_that_saves_between_reading_and_writing_keeps_its_text(tmp_path: Path) -> None:
    path = tmp_path / "memory.md"
    path.write_text("- one\n")
    calls: list[bytes] = []

    def change(text: MemoryText) -> MemoryText:
        calls.append(text.content)
        if len(calls) == 1:
            path.write_text("- one\n- by the editor\n")
        return _added(text)

    _file(tmp_path).change(change)

    assert len(calls) == 2
    assert "by the editor" in path.read_text()
    assert "New." in path.read_text()


def test_an_editor_that_creates_the_file_meanwhile_keeps_its_text(tmp_path: Path) -> None:
    path = tmp_path / "memory.md"

    def change(text: MemoryText) -> MemoryText:
        if not path.exists():
            path.write_text("- by the editor\n")
        return _added(text)

    _file(tmp_path).change(change)

    assert "by the editor" in path.read_text()


def test_a_full_disk_leaves_the_old_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.md"
    path.write_text("- one\n")

    def full(descriptor: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("jupyter_ai_shoulders.guard.filesystem.atomic_write.os.write", full)
    with pytest.raises(StateUnavailable, match="No space"):
        _file(tmp_path).change(_added)

    assert path.read_text() == "- one\n"
    assert {each.name for each in tmp_path.iterdir()} <= {"memory.md", "memory.lock", ".gitignore"}


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _outside(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def _binary(path: Path) -> None:
    path.write_bytes("- one\n".encode("utf-16"))


def _large(path: Path) -> None:
    path.write_bytes(b"- one\n" * (LARGEST // 6 + 1))


@pytest.mark.parametrize("make", [_folder, _pipe, _outside, _binary, _large])
def test_what_is_no_memory_file_is_reported_and_left_alone(tmp_path: Path, make: object) -> None:
    assert callable(make)
    path = tmp_path / "memory.md"
    make(path)
    before = path.lstat()

    for use in (lambda: _file(tmp_path).read(), lambda: _file(tmp_path).change(_added)):
        with pytest.raises(ShouldersError) as caught:
            use()
        assert caught.value.info.message

    assert path.lstat() == before


def test_there_is_no_file_until_something_is_remembered(tmp_path: Path) -> None:
    file = _file(tmp_path / "state")

    assert file.read() is None
    assert file.signature is None
    assert not (tmp_path / "state").exists()
