"""Simple commands, run by a real shell, are undone from the operation log."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_ai_shoulders.files.undo.shell_commands import UnsupportedCommand
from jupyter_ai_shoulders.files.undo.shell_undo import ShellUndo, UndoableLine
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from tests.files.file_workspace import FileWorkspace, origin

LINES = (
    *("mv a b", "mv a d", "mv a d/", "mv a d/new", "mv a taken", "mv -f a taken", "rm c"),
    *(
        "cp a b",
        "cp a d",
        "cp a taken",
        "cp -p run.sh d/x",
        "mkdir e",
        "mkdir -p e/f/g",
        "mkdir -p d",
    ),
    *("mv a b && rm c", "mv a b && rm b", "mv a b && mv b a", "mkdir e && mv a c e", "rm a c"),
    *("cp a b && rm a && mv b a", "mkdir -p e/f && cp a e/f/x && rm e/f/x", "rm -f missing c"),
    *(
        "mv a taken && mv taken b",
        "rm a && cp c a",
        "mv 'odd name' \"it's\"",
        "rm run.sh",
        "ls && rm a",
    ),
    *("mv a c && rm taken", "cp taken a && rm taken", "rm empty", "mv bin.dat d && cp d/bin.dat x"),
)
NOT_COVERED = {
    "rm d": "directory",
    "mv d e": "directory",
    "cp d e": "directory",
    "rm missing": "there is no missing",
    "mv missing b": "there is no missing",
    "rm ../outside": "outside",
    "rm way/../a": "leads upwards",
    "rm {root}/link": "a link",
    "mv {root}/link b": "a link",
    "cp a shared": "has other names",
    "rm /etc/hostname": "outside",
    "mv a ../outside": "outside",
    "rm .env": "kept from tools",
    "cp .env x": "kept from tools",
    "rm link": "a link",
    "mv a link": "a link",
    "rm way/x": "a link",
    "mv a c b": "not a directory",
    "mv a b/": "not a directory",
    "mv a no/b": "is missing",
    "mkdir d": "there already",
    "mkdir x/y": "is missing",
    "mv a a": "stay where it is",
    "rm fifo": "no plain file",
    "rm a | cat": "a pipe",
    "rm *": "a glob",
    "python x.py": "may change anything",
}


@pytest.fixture
def shell(here: FileWorkspace) -> ShellUndo:
    for name, content in {
        "a": "of a\n",
        "c": "of c\r\n",
        "taken": "of taken",
        "d/x": "of x",
        "odd name": "odd",
        "empty": "",
        "bin.dat": bytes(range(256)),
        ".env": "KEY=1",
        "run.sh": "#!/bin/sh\n",
    }.items():
        here.write(name, content)
    (here.root / "run.sh").chmod(0o755)
    (here.root / "link").symlink_to("a")
    (here.root / "way").symlink_to("d")
    here.write("shared", "of two names")
    (here.root / "other name").hardlink_to(here.root / "shared")
    subprocess.run(["mkfifo", "fifo"], cwd=here.root, check=True)
    return ShellUndo(
        workspace=here.workspace,
        trash=here.trash,
        journal=here.journal,
        recovery=here.settling,
        ids=CountingIds(),
    )


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.relative_to(root).as_posix(): (
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in root.rglob("*")
    }


async def run(here: FileWorkspace, shell: ShellUndo, line: str) -> str | None:
    """Run a line as the tool does; return why it cannot be undone."""
    begun = await shell.begin(line, origin())
    words = ["bash", "-c", line]
    done = await asyncio.to_thread(subprocess.run, words, cwd=here.root, capture_output=True)
    return await shell.end(begun, succeeded=done.returncode == 0)


@pytest.mark.parametrize("line", LINES)
async def test_a_simple_line_is_taken_back_to_the_last_byte(
    here: FileWorkspace, shell: ShellUndo, line: str
) -> None:
    before = tree(here.root)
    assert await run(here, shell, line) is None
    rows = [row for row in here.journal.recent() if row.can_undo]
    assert bool(rows) == bool(here.journal.rows) == (line != "mkdir -p d")
    if not rows:
        return

    await here.undo.undo(rows[0].id, replace(origin("turn_2"), call_id=None))

    assert tree(here.root) == before


@pytest.mark.parametrize(("line", "why"), NOT_COVERED.items(), ids=list(NOT_COVERED))
async def test_what_cannot_be_taken_back_is_told_before_and_is_a_row(
    here: FileWorkspace, shell: ShellUndo, line: str, why: str
) -> None:
    line = line.replace("{root}", str(here.root))
    found = await shell.inspect(line)
    assert isinstance(found, UnsupportedCommand)
    assert why in found.reason

    begun = await shell.begin(line, origin())
    told = await shell.end(begun, succeeded=True)

    (row,) = here.journal.recent()
    assert told == found.reason
    assert (row.kind, row.document, row.state, row.can_undo) == ("command", line, "done", False)
    assert row.reason is not None
    assert why in row.reason


async def test_a_line_that_only_looks_leaves_no_row(here: FileWorkspace, shell: ShellUndo) -> None:
    assert await shell.inspect("ls && cat a") == UndoableLine()
    assert await run(here, shell, "ls && cat a") is None
    assert here.journal.rows == {}


async def test_a_line_that_fails_half_way_is_not_taken_back_in_part(
    here: FileWorkspace, shell: ShellUndo
) -> None:
    begun = await shell.begin("mv a b && rm c", origin())
    (here.root / "a").rename(here.root / "b")  # and rm failed

    told = await shell.end(begun, succeeded=False)

    assert told == "it failed half way"
    assert [(row.kind, row.can_undo) for row in here.journal.recent()] == [
        *(("command", False), ("delete", False), ("move", False)),
    ]


async def test_a_line_that_failed_before_it_changed_anything_leaves_failed_rows(
    here: FileWorkspace, shell: ShellUndo
) -> None:
    begun = await shell.begin("rm a", origin())

    assert await shell.end(begun, succeeded=False) is None
    assert here.states() == [("delete", "a", "failed")]
    assert here.read("a") == b"of a\n"


async def test_a_line_that_did_something_else_than_understood_is_not_covered(
    here: FileWorkspace, shell: ShellUndo
) -> None:
    begun = await shell.begin("rm a && rm c", origin())
    (here.root / "a").unlink()

    assert await shell.end(begun, succeeded=True) == "it failed half way"


async def test_a_line_that_succeeds_and_does_nothing_of_it_is_not_covered(
    here: FileWorkspace, shell: ShellUndo
) -> None:
    begun = await shell.begin("rm a", origin())

    told = await shell.end(begun, succeeded=True)

    assert told == "it did something else than it says"
    assert [row.kind for row in here.journal.recent()] == ["command", "delete"]


async def test_what_would_be_lost_is_kept_before_the_line_runs(
    here: FileWorkspace, shell: ShellUndo
) -> None:
    await shell.begin("rm a", origin())

    (kept,) = here.trash_folder.iterdir()
    assert kept.read_bytes() == b"of a\n"
    assert here.states() == [("delete", "a", "begun")]
