"""Changes of files are undone exactly, by a merge, or not at all and with the reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.files.base import LoggedChange, TextEditApplied
from jupyter_ai_shoulders.files.undo.file_undo import CannotUndo, UndoReport
from jupyter_ai_shoulders.wire.ids import OperationId, TurnId
from tests.files.file_workspace import SESSION, FileWorkspace, origin

ODD = b"\xef\xbb\xbfone\r\ntwo\nthree\rfour\r\nfive"
LINES = "".join(f"line {number}\n" for number in range(20))

Act = Callable[[FileWorkspace], Awaitable[object]]


async def edit(
    at: FileWorkspace, path: str, old: str, new: str, turn: str = "turn_1"
) -> OperationId:
    read = await at.texts.read(path)
    assert old in read.text
    applied = await at.texts.replace(path, read.text.replace(old, new), read.version, origin(turn))
    assert isinstance(applied, TextEditApplied)
    return applied.operation_id


async def undo(at: FileWorkspace, operation_id: OperationId) -> UndoReport:
    return await at.undo.undo(operation_id, origin("turn_9"))


def tree(at: FileWorkspace) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and mode, and every folder."""
    found: dict[str, tuple[bytes, int]] = {}
    for name in at.names():
        path = at.root / name
        content = b"" if name.endswith("/") else path.read_bytes()
        found[name] = (content, path.stat().st_mode)
    return found


ACTS: dict[str, Act] = {
    "edit": lambda at: edit(at, "odd.txt", "three", "THREE\nand\nmore"),
    "create": lambda at: at.changes.create("new.txt", "new", origin()),
    "create with folders": lambda at: at.changes.create("x/y/new.txt", "new", origin()),
    "delete": lambda at: at.changes.delete("script.sh", origin()),
    "delete a binary": lambda at: at.changes.delete("data/b.bin", origin()),
    "move": lambda at: at.changes.move("script.sh", "data/run.sh", origin()),
    "move with folders": lambda at: at.changes.move("script.sh", "bin/x/run.sh", origin()),
    "move a folder": lambda at: at.changes.move("data", "old/data", origin()),
    "copy": lambda at: at.changes.copy("script.sh", "copy.sh", origin()),
    "copy with folders": lambda at: at.changes.copy("data/b.bin", "z/b.bin", origin()),
}


def fill(at: FileWorkspace) -> None:
    at.write("odd.txt", ODD).chmod(0o640)
    at.write("script.sh", "#!/bin/sh\n").chmod(0o755)
    at.write("data/b.bin", b"\x00\x01\x02")


@pytest.mark.parametrize("what", ACTS)
async def test_undo_and_redo_restore_every_byte(here: FileWorkspace, what: str) -> None:
    fill(here)
    before = tree(here)
    await ACTS[what](here)
    after = tree(here)
    assert after != before
    done = here.undo.latest(SESSION)
    assert done is not None

    report = await undo(here, done.id)

    assert tree(here) == before
    assert report.kept == ()
    assert here.journal.get(done.id).state == "undone"
    again = next(undone.by for undone in report.undone if undone.operation.id == done.id)
    assert again is not None
    await undo(here, again)
    assert tree(here) == after
    assert here.journal.get(done.id).state == "done"
    await undo(here, done.id)
    assert tree(here) == before


async def test_what_was_changed_since_elsewhere_stays(here: FileWorkspace) -> None:
    here.write("a.txt", LINES)
    done = await edit(here, "a.txt", "line 3\n", "agent\n")
    here.write("a.txt", here.read("a.txt").replace(b"line 15", b"user"))

    report = await undo(here, done)

    assert here.read("a.txt").decode() == LINES.replace("line 15", "user")
    assert report.undone[0].merged


async def test_a_clash_changes_nothing_and_says_what_to_propose(here: FileWorkspace) -> None:
    here.write("a.txt", LINES)
    done = await edit(here, "a.txt", "line 3\n", "agent\n")
    theirs = here.read("a.txt").replace(b"agent", b"user")
    here.write("a.txt", theirs)

    with pytest.raises(CannotUndo, match="since changed on the same lines") as caught:
        await undo(here, done)

    clash = caught.value.clash
    assert clash is not None
    assert (clash.before, clash.current.text) == (LINES, theirs.decode())
    assert clash.ours == LINES.replace("line 3\n", "agent\n")
    assert here.read("a.txt") == theirs
    assert here.journal.get(done).state == "done"


async def test_what_the_user_has_put_back_is_just_noted(here: FileWorkspace) -> None:
    here.write("a.txt", LINES)
    done = await edit(here, "a.txt", "line 3\n", "agent\n")
    here.write("a.txt", LINES)
    report = await undo(here, done)
    assert (report.undone[0].by, here.read("a.txt")) == (None, LINES.encode())
    assert here.journal.get(done).state == "undone"


async def test_a_made_file_that_was_changed_since_is_not_deleted(here: FileWorkspace) -> None:
    applied = await here.changes.create("x/new.txt", "new", origin())
    here.write("x/new.txt", "with work of the user's")
    with pytest.raises(Conflict, match="changed since it was made"):
        await undo(here, applied.operation_id)
    assert here.read("x/new.txt") == b"with work of the user's"
    assert here.journal.get(applied.operation_id).state == "done"


async def test_a_made_file_that_is_gone_is_just_noted(here: FileWorkspace) -> None:
    applied = await here.changes.create("new.txt", "new", origin())
    (here.root / "new.txt").unlink()
    assert (await undo(here, applied.operation_id)).undone[0].by is None


async def test_a_folder_others_use_stays_and_is_named(here: FileWorkspace) -> None:
    applied = await here.changes.create("x/new.txt", "new", origin())
    here.write("x/theirs.txt", "theirs")
    report = await undo(here, applied.operation_id)
    assert here.names() == ["x/", "x/theirs.txt"]
    assert [(kept.operation.document, "not empty" in kept.reason) for kept in report.kept] == [
        ("x/", True)
    ]


async def test_a_deleted_file_does_not_come_back_over_another(here: FileWorkspace) -> None:
    here.write("a.txt", "mine")
    applied = await here.changes.delete("a.txt", origin())
    here.write("a.txt", "theirs")
    with pytest.raises(Conflict, match="already"):
        await undo(here, applied.operation_id)
    assert here.read("a.txt") == b"theirs"
    assert here.trash.has(applied.operation_id)


async def test_an_emptied_trash_is_said(here: FileWorkspace) -> None:
    here.write("a.txt", "mine")
    applied = await here.changes.delete("a.txt", origin())
    (here.trash_folder / applied.operation_id).unlink()
    with pytest.raises(NotFound):
        await undo(here, applied.operation_id)


async def test_a_moved_file_goes_back_with_what_was_done_to_it_since(here: FileWorkspace) -> None:
    here.write("a.txt", "mine")
    applied = await here.changes.move("a.txt", "b.txt", origin())
    here.write("b.txt", "with work of the user's")
    await undo(here, applied.operation_id)
    assert here.names() == ["a.txt"]
    assert here.read("a.txt") == b"with work of the user's"


async def test_what_was_undone_or_failed_cannot_be_undone_again(here: FileWorkspace) -> None:
    here.write("a.txt", "mine")
    applied = await here.changes.delete("a.txt", origin())
    await undo(here, applied.operation_id)
    with pytest.raises(CannotUndo, match="taken back already"):
        await undo(here, applied.operation_id)
    with pytest.raises(NotFound):
        await undo(here, OperationId("operation_99"))


async def test_latest_passes_over_undos_and_other_conversations(here: FileWorkspace) -> None:
    here.write("a.txt", LINES)
    first = await edit(here, "a.txt", "line 1\n", "one\n")
    second = await edit(here, "a.txt", "line 2\n", "two\n")
    await undo(here, second)
    found = here.undo.latest(SESSION, "a.txt")
    assert found is not None
    assert found.id == first
    assert here.undo.latest(SESSION, "b.txt") is None


async def test_a_turn_is_undone_byte_for_byte(here: FileWorkspace) -> None:
    fill(here)
    here.write("lines.txt", LINES)
    before = tree(here)
    await edit(here, "odd.txt", "three", "THREE\nand\nmore")
    await edit(here, "odd.txt", "two", "2")
    await edit(here, "lines.txt", "line 7\n", "seven\n")
    await here.changes.move("script.sh", "bin/run.sh", origin())
    await edit(here, "bin/run.sh", "sh", "bash")
    await here.changes.copy("data/b.bin", "data/copy/b.bin", origin())
    await here.changes.create("notes/new.md", "# New\n", origin())
    await edit(here, "notes/new.md", "New", "Newer")
    await here.changes.delete("data/b.bin", origin())
    await here.changes.move("data", "moved", origin())

    report = await here.undo.undo_turn(SESSION, TurnId("turn_1"), origin("turn_9"))

    assert tree(here) == before
    assert report.kept == ()


async def test_a_turn_leaves_the_files_that_clash_as_a_whole(here: FileWorkspace) -> None:
    here.write("a.txt", LINES)
    here.write("b.txt", LINES)
    await edit(here, "a.txt", "line 3\n", "agent 1\n")
    await edit(here, "a.txt", "line 9\n", "agent 2\n")
    await edit(here, "b.txt", "line 9\n", "agent 3\n")
    theirs = here.read("a.txt").replace(b"agent 1", b"user")
    here.write("a.txt", theirs)

    report = await here.undo.undo_turn(SESSION, TurnId("turn_1"), origin("turn_9"))

    assert here.read("b.txt").decode() == LINES
    assert here.read("a.txt") == theirs
    assert [kept.operation.document for kept in report.kept] == ["a.txt", "a.txt"]
    clash = report.kept[0].clash
    assert clash is not None
    assert (clash.before, clash.current.text) == (LINES, theirs.decode())
    assert "agent 1" in clash.ours
    assert "agent 2" in clash.ours
    assert report.kept[1].clash is None
    assert [row.state for row in here.journal.of_turn(SESSION, TurnId("turn_1"))] == [
        "done",
        "done",
        "undone",
    ]


async def test_what_is_chosen_of_a_session_is_undone(here: FileWorkspace) -> None:
    here.write("a.txt", LINES)
    await edit(here, "a.txt", "line 1\n", "one\n", "turn_1")
    middle = here.read("a.txt")
    await edit(here, "a.txt", "line 2\n", "two\n", "turn_2")
    await edit(here, "a.txt", "line 3\n", "three\n", "turn_3")

    await here.undo.undo_those(SESSION, lambda rows: rows[1:], origin("turn_9"))

    assert here.read("a.txt") == middle


async def test_an_undo_in_the_turn_is_no_hindrance(here: FileWorkspace) -> None:
    here.write("a.txt", LINES)
    first = await edit(here, "a.txt", "line 1\n", "one\n")
    await here.undo.undo(first, origin("turn_1"))
    await edit(here, "a.txt", "line 2\n", "two\n")
    report = await here.undo.undo_turn(SESSION, TurnId("turn_1"), origin("turn_9"))
    assert here.read("a.txt").decode() == LINES
    assert report.kept == ()


async def test_a_command_in_the_turn_is_named_and_hinders_no_file(here: FileWorkspace) -> None:
    here.write("run.sh", "old\n")
    await edit(here, "run.sh", "old", "new")
    change = LoggedChange(
        "command", "run.sh", origin(), cannot_undo="Not covered by undo: a program."
    )
    here.journal.end(here.journal.begin(change), "done")

    report = await here.undo.undo_turn(SESSION, TurnId("turn_1"), origin("turn_9"))

    assert here.read("run.sh") == b"old\n"
    assert [(kept.operation.kind, kept.reason) for kept in report.kept] == [
        ("command", "run.sh: Not covered by undo: a program.")
    ]


async def test_undo_is_logged_and_told_as_a_change_of_its_own(here: FileWorkspace) -> None:
    here.write("a.txt", "old\n")
    done = await edit(here, "a.txt", "old", "new")
    report = await undo(here, done)
    by = report.undone[0].by
    assert by is not None
    change = here.journal.change(by)
    assert (change.kind, change.origin.undoes, change.origin.turn_id) == ("edit", done, "turn_9")
    told = here.witness.told[-1]
    assert (told.before, told.after, told.origin.undoes) == ("new\n", "old\n", done)


@pytest.mark.parametrize("turn", [False, True], ids=["batch", "turn"])
async def test_a_cancelled_caller_leaves_a_batch_taken_back_as_a_whole(
    here: FileWorkspace, *, turn: bool
) -> None:
    fill(here)
    before = tree(here)
    batch = replace(origin(), batch="batch_1")
    await here.changes.move("odd.txt", "data/odd.txt", batch)
    last = await here.changes.delete("data/odd.txt", batch)
    began = asyncio.Event()
    sync = here.journal.sync

    async def noticed() -> None:
        began.set()
        await sync()

    here.journal.sync = noticed
    if turn:
        work = here.undo.undo_turn(SESSION, TurnId("turn_1"), origin("turn_9"))
    else:
        work = undo(here, last.operation_id)
    task = asyncio.ensure_future(work)
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert tree(here) == before
    assert {state for _, _, state in here.states()[:2]} == {"undone"}
