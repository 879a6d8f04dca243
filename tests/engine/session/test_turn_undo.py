"""Undoing the changes of a turn in notebooks and files, and redoing them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.changes.recording.actor import Actor
from jupyter_ai_shoulders.changes.recording.recording_wrappers import RecordedNotebooks
from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextEditApplied
from jupyter_ai_shoulders.files.undo.file_undo import FileUndo
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.testing.scripted_provider import Gate, Say, ScriptEntry, turn
from jupyter_ai_shoulders.wire.api.commands import RestoreSession, UndoTurn
from jupyter_ai_shoulders.wire.events import Checkpoint, ProposalAdd, Restore, TurnStart
from jupyter_ai_shoulders.wire.ids import RestoreId, TurnId
from jupyter_ai_shoulders.wire.versions import text_version
from tests.changes.notebook_harness import write
from tests.engine.engine_harness import SESSION
from tests.engine.session.test_restore_service import RestoreHarness, adds
from tests.files.file_workspace import FileWorkspace as Files
from tests.files.file_workspace import file_workspace


class TurnPlace(RestoreHarness):
    """A ``RestoreHarness`` with files that turns change and undo restores."""

    def __init__(self, files: Files, *script: ScriptEntry) -> None:
        super().__init__(*script, files=file_undo(files))
        self.files = files

    def turns(self) -> list[TurnId]:
        return [event.turn_id for event in self.world.of(TurnStart) if event.turn_id]

    async def undo(self, turn_id: TurnId, restore_id: str | None = None) -> Restore:
        command = UndoTurn(
            turn_id=turn_id, id=None if restore_id is None else RestoreId(restore_id)
        )
        return await self.world.engine.restores.undo(SESSION, command)

    async def take_back(self, event: Restore) -> Restore:
        command = RestoreSession(seq=event.seq, what=("files", "notebook"))
        return await self.world.engine.restores.restore(SESSION, command)

    async def agent_writes(self, path: str, text: str, turn_id: TurnId) -> None:
        """Change or create a file in a turn."""
        origin = ChangeOrigin(SESSION, turn_id)
        if not (self.files.root / path).exists():
            await self.files.changes.create(path, text, origin)
            return
        version = (await self.files.texts.read(path)).version
        outcome = await self.files.texts.replace(path, text, version, origin)
        assert isinstance(outcome, TextEditApplied)

    async def user_types(self, cell_id: str, text: str) -> None:
        await self.notebook.apply([write(cell_id, text)], {})


def file_undo(files: Files) -> FileUndo:
    return FileUndo(
        journal=files.journal,
        texts=files.texts,
        disk=files.texts,
        changes=files.changes,
        store=files.blobs,
        ids=CountingIds(),
    )


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    with file_workspace(tmp_path) as made:
        yield made


async def two_turns(files: Files) -> TurnPlace:
    made = TurnPlace(
        files, adds("one", "k1"), turn(Say("Done.")), adds("two", "k2"), turn(Say("Done."))
    )
    await made.world.say("first", message="m1")
    await made.world.say("second", message="m2")
    return made


async def test_a_turn_is_undone_in_notebooks_and_files_and_the_next_one_stays(files: Files):
    made = await two_turns(files)
    files.write("a.txt", b"one\r\ntwo\n\xff\xfe"[:9])
    first, second = made.turns()
    await made.agent_writes("a.txt", "ONE\ntwo\n", first)
    await made.agent_writes("made/new.txt", "new", first)
    await made.agent_writes("later.txt", "later", second)

    event = await made.undo(first)

    assert made.texts == ["x = 1", "two"]
    assert files.read("a.txt") == b"one\r\ntwo\n"
    assert files.names() == ["a.txt", "later.txt"]
    assert (event.undone_turn, event.what) == (first, ("files", "notebook"))
    assert {d.document: d.file for d in event.documents} == {
        "a.ipynb": None,
        "a.txt": "rewritten",
        "made/new.txt": "removed",
    }


async def test_the_undo_of_a_turn_is_undone(files: Files):
    made = await two_turns(files)
    files.write("a.txt", "one\n")
    first, second = made.turns()
    await made.agent_writes("a.txt", "ONE\n", first)
    await made.agent_writes("later.txt", "later", second)
    undo = await made.undo(first)
    assert (made.texts, files.read("a.txt")) == (["x = 1", "two"], b"one\n")

    redo = await made.take_back(undo)

    assert (made.texts, files.read("a.txt")) == (["x = 1", "one", "two"], b"ONE\n")
    assert (redo.undone, redo.undone_turn) == (undo.restore_id, None)
    assert files.names() == ["a.txt", "later.txt"]
    await made.take_back(redo)
    assert (made.texts, files.read("a.txt")) == (["x = 1", "two"], b"one\n")


async def test_the_same_undo_again_does_nothing(files: Files):
    made = await two_turns(files)
    first, _ = made.turns()

    assert await made.undo(first) == await made.undo(first)
    named = await made.undo(made.turns()[1], "r9")
    assert await made.undo(made.turns()[1], "r9") == named
    assert len(made.world.of(Restore)) == 2


async def test_what_the_user_did_beside_the_turns_change_stays(files: Files):
    made = await two_turns(files)
    first, _ = made.turns()
    lines = "1\n2\n3\n4\n"
    files.write("a.txt", lines)
    await made.agent_writes("a.txt", lines.replace("1", "one"), first)
    files.write("a.txt", lines.replace("1", "one") + "mine\n")

    event = await made.undo(first)

    assert files.read("a.txt").decode() == lines + "mine\n"
    assert event.documents[-1].file == "merged"


async def test_what_clashes_stays_and_is_proposed(files: Files):
    made = await two_turns(files)
    first, _ = made.turns()
    files.write("a.txt", "one\n")
    await made.agent_writes("a.txt", "ONE\n", first)
    files.write("a.txt", "mine\n")

    event = await made.undo(first)

    assert files.read("a.txt") == b"mine\n"
    (added,) = made.world.of(ProposalAdd)
    shown = added.proposal
    assert (shown.document, shown.cell_id, shown.new) == ("a.txt", None, "one\n")
    assert (shown.current, shown.current_version) == ("mine\n", text_version("mine\n"))
    assert (event.documents[-1].file, event.documents[-1].proposal_id) == ("kept", shown.id)


async def test_a_cell_the_user_changed_elsewhere_is_merged(files: Files):
    made = TurnPlace(files, adds("1\n2\n3", "k1"), turn(Say("Done.")), turn(Say("Hm.")))
    await made.world.say("first", message="m1")
    cell_id = made.notebook.texts[1][0]
    await made.world.say("second", message="m2")
    _, second = made.turns()
    await agent_edits(made, cell_id, "1\n2\nthree", second)
    await made.user_types(cell_id, "one\n2\nthree")

    event = await made.undo(second)

    assert made.texts == ["x = 1", "one\n2\n3"]
    assert [cell.cell_id for cell in event.documents[0].rewritten] == [cell_id]


async def agent_edits(made: TurnPlace, cell_id: str, text: str, turn_id: TurnId) -> None:
    made.recorder.set_actor(Actor(SESSION, turn_id, turn_id))
    try:
        notebook = RecordedNotebooks(made.notebooks, made.recorder).open("a.ipynb")
        await notebook.apply([write(cell_id, text)], {})
    finally:
        made.recorder.set_actor(None)


async def test_a_restore_of_files_puts_them_back(files: Files):
    made = await two_turns(files)
    files.write("a.txt", "one\n")
    _, second = made.turns()
    await made.agent_writes("a.txt", "ONE\n", second)
    # The operation log uses its own clock here: all of it is after the messages.

    event = await made.restore("m2", "files")

    assert (files.read("a.txt"), made.texts) == (b"one\n", ["x = 1", "one", "two"])
    assert [(d.document, d.file) for d in event.documents] == [("a.txt", "rewritten")]


async def test_taking_back_a_restore_of_the_notebook_leaves_files_alone(files: Files):
    made = await two_turns(files)
    event = await made.restore("m2", "notebook")
    files.write("a.txt", "one\n")
    await made.agent_writes("a.txt", "ONE\n", made.turns()[1])

    await made.take_back(event)

    assert (files.read("a.txt"), made.texts) == (b"ONE\n", ["x = 1", "one", "two"])


async def test_an_unknown_turn_is_not_found_and_a_running_one_is_refused(files: Files):
    gate = Gate()
    made = TurnPlace(files, turn(gate, Say("Done.")))
    with pytest.raises(NotFound):
        await made.undo(TurnId("nothing"))

    await made.world.send("first")
    await gate.reached.wait()
    with pytest.raises(Conflict) as caught:
        await made.undo(made.turns()[0])
    assert caught.value.info.code == "turn_running"
    gate.open.set()
    await made.world.settle()


async def test_an_undo_that_a_kill_cut_off_is_finished_at_the_next_start(files: Files):
    made = await two_turns(files)
    files.write("a.txt", "one\n")
    first, _ = made.turns()
    await made.agent_writes("a.txt", "ONE\n", first)
    await made.undo(first, "r1")
    begun = next(e for e in made.world.of(Checkpoint) if e.order is not None)
    store = made.world.store
    store.events[SESSION] = store.events[SESSION][: begun.seq]
    await made.agent_writes("a.txt", "ONE\n", first)

    await made.world.engine.restores.resume_unfinished()

    assert files.read("a.txt") == b"one\n"
    (event,) = made.world.of(Restore)
    assert (event.restore_id, event.undone_turn) == ("r1", first)


@pytest.mark.parametrize("year", ["2020", "2040"])
async def test_files_go_back_to_before_a_message_whatever_the_clock_says(files: Files, year: str):
    made = await two_turns(files)
    files.write("a.txt", "one\n")
    first, second = made.turns()
    await made.agent_writes("a.txt", "ONE\n", first)
    await made.agent_writes("later.txt", "later", second)
    for row in files.journal.rows.values():
        row.at = f"{year}{row.at[4:]}"

    event = await made.restore("m2", "files")
    assert (files.read("a.txt"), files.names()) == (b"ONE\n", ["a.txt"])
    await made.take_back(event)
    assert files.names() == ["a.txt", "later.txt"]
    await made.restore("m1", "files")
    assert (files.read("a.txt"), files.names()) == (b"one\n", ["a.txt"])
