"""Temporary files of killed processes are removed; files of living writers are not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.crash_points import ENABLED
from jupyter_ai_shoulders.guard.filesystem.safe_open import Root
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from tests.guard.filesystem.test_workspace import ROOTS

WRITE = """
import sys
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
workspace = Workspace(sys.argv[1])
path = workspace.path(sys.argv[2])
workspace.replace(path, b"written by a process", workspace.read(path).stat)
"""

WRITE_SLOWLY = f"""
import sys
def wait(name):
    if name == "disk.replace.before_rename":
        print(name, flush=True)
        sys.stdin.readline()
from jupyter_ai_shoulders.guard.filesystem import workspace as writer
writer.crash_point = wait
{WRITE}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.ipynb").write_text("a")
    (tmp_path / "b.ipynb").write_text("b")
    return tmp_path


def leave_behind(folder: Path) -> Path:
    """Kill a process between its write and its rename; return the remaining file."""
    killed = subprocess.run(
        [sys.executable, "-c", WRITE, str(folder), "a.ipynb"],
        env={**os.environ, ENABLED: "at=1,name=disk.replace.before_rename"},
        check=False,
    )
    assert killed.returncode == -9
    assert (folder / "a.ipynb").read_text() == "a"
    (left,) = folder.glob(".~a.ipynb.*")
    assert left.read_text() == "written by a process"
    return left


def age(path: Path, seconds: int = 120) -> None:
    """Set the modification time of a file to the past."""
    written = path.stat().st_mtime - seconds
    os.utime(path, (written, written))


def write(workspace: Workspace, name: str, text: str) -> None:
    path = workspace.path(name)
    workspace.replace(path, text.encode(), workspace.read(path).stat)


@pytest.mark.parametrize("make", ROOTS)
def test_the_next_write_to_a_folder_removes_what_a_kill_left_there(
    folder: Path, make: Callable[[Path], Root]
) -> None:
    left = leave_behind(folder)
    age(left)
    workspace = Workspace(folder, make(folder))

    write(workspace, "b.ipynb", "new")

    assert sorted(entry.name for entry in folder.iterdir()) == ["a.ipynb", "b.ipynb"]
    assert (folder / "a.ipynb").read_text() == "a"
    assert (folder / "b.ipynb").read_text() == "new"
    workspace.close()


def test_what_was_left_just_now_is_removed_by_a_later_write(folder: Path) -> None:
    left = leave_behind(folder)
    workspace = Workspace(folder)

    write(workspace, "b.ipynb", "one")
    assert left.exists()
    age(left)
    write(workspace, "b.ipynb", "two")

    assert not left.exists()
    workspace.close()


def test_the_file_of_a_living_writer_stays_however_old_it_is(folder: Path) -> None:
    workspace = Workspace(folder)
    with subprocess.Popen(
        [sys.executable, "-c", WRITE_SLOWLY, str(folder), "a.ipynb"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "disk.replace.before_rename\n"
        (being_written,) = folder.glob(".~a.ipynb.*")
        age(being_written, 86_400)

        write(workspace, "b.ipynb", "new")

        assert being_written.exists()
        writer.stdin.write("\n")
        writer.stdin.close()
        assert writer.wait() == 0
    assert (folder / "a.ipynb").read_text() == "written by a process"
    assert not being_written.exists()
    workspace.close()


def test_files_of_other_programs_stay(folder: Path) -> None:
    names = [".~lock.a.odt#", ".~a.ipynb", ".~a.ipynb.12345", "a.ipynb.0123456789ab"]
    for name in names:
        (folder / name).write_text("theirs")
        age(folder / name)
    (folder / ".~folder.0123456789ab").mkdir()
    workspace = Workspace(folder)

    write(workspace, "b.ipynb", "new")

    assert all((folder / name).read_text() == "theirs" for name in names)
    assert (folder / ".~folder.0123456789ab").is_dir()
    workspace.close()
