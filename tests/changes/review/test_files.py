"""The review of files on the disk."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.changes.review.service import EditOutdated
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.wire.api.commands import DecideEdits, EditChoice
from jupyter_ai_shoulders.wire.edits import PendingEdit
from jupyter_ai_shoulders.wire.ids import TurnId
from tests.changes.notebook_harness import add, delete, write
from tests.changes.review.harness import OTHER, ReviewWorld
from tests.engine.engine_harness import SESSION

AGENT = ChangeOrigin(SESSION, TurnId("t1"))


async def test_undo_gives_a_file_its_bytes_back(world: ReviewWorld):
    odd = "größe\r\none\ntwo".encode("latin-1")
    (world.root / "odd.txt").write_bytes(odd)
    await world.agent_writes("odd.txt", "größe\nONE\ntwo")

    edit = await world.only()
    await world.decide(edit, "undo")

    assert (edit.cell_type, edit.position, edit.baseline) == (None, None, "größe\none\ntwo")
    assert (world.root / "odd.txt").read_bytes() == odd
    assert await world.pending() == []


async def test_a_made_file_goes_and_a_deleted_one_comes_back(world: ReviewWorld):
    await world.agent_writes("made.txt", "made")
    (world.root / "old.bin").write_bytes("größe\r\n".encode("latin-1"))
    await world.changes.delete("old.bin", AGENT)

    made, gone = await world.pending()
    assert (made.baseline, gone.current) == (None, None)
    for edit in (made, gone):
        await world.decide(edit, "undo")

    assert not (world.root / "made.txt").exists()
    assert (world.root / "old.bin").read_bytes() == "größe\r\n".encode("latin-1")
    assert await world.pending() == []


async def test_a_deleted_file_whose_trash_is_empty_is_made_anew(world: ReviewWorld):
    world.user_writes("old.txt", "text\n")
    await world.changes.delete("old.txt", AGENT)
    for file in (world.root.parent / "trash").iterdir():
        file.unlink()

    await world.decide(await world.only(), "undo")

    assert world.text("old.txt") == "text\n"


async def test_a_name_that_is_taken_meanwhile_is_not_overwritten(world: ReviewWorld):
    world.user_writes("old.txt", "old\n")
    await world.changes.delete("old.txt", AGENT)
    gone = await world.only()
    world.user_writes("old.txt", "new\n")

    with pytest.raises((EditOutdated, Conflict)):
        await world.decide(gone, "undo")

    assert (world.text("old.txt"), await world.pending()) == ("new\n", [])


async def test_what_the_user_wrote_since_stays(world: ReviewWorld):
    world.user_writes("a.txt", "1\n2\n3\n")
    await world.agent_writes("a.txt", "one\n2\n3\n")
    world.user_writes("a.txt", "one\n2\n3\nmine\n")

    await world.decide(await world.only(), "undo")

    assert world.text("a.txt") == "1\n2\n3\nmine\n"


async def test_a_file_that_is_gone_is_not_shown_until_it_is_back(world: ReviewWorld):
    world.user_writes("a.txt", "one\n")
    await world.agent_writes("a.txt", "two\n")
    (world.root / "a.txt").unlink()
    assert await world.pending() == []
    world.user_writes("a.txt", "two\n")

    assert (await world.only()).baseline == "one\n"


async def test_a_file_that_cannot_be_read_is_shown_with_the_reason(world: ReviewWorld):
    world.user_writes("a.txt", "one\n")
    await world.agent_writes("a.txt", "two\n")
    (world.root / "a.txt").write_bytes(b"\0\1\2")

    edit = await world.only()

    assert edit.error is not None
    assert edit.current == "two\n"
    with pytest.raises(Conflict):
        await world.decide(edit, "undo")
    await world.decide(edit, "keep")
    assert await world.pending() == []


async def test_whole_notebooks_are_reviewed_by_their_cells_only(world: ReviewWorld):
    await world.agent_writes("b.ipynb", "{}")

    assert await world.pending() == []


async def test_edits_of_a_notebook_are_undone_in_one_step(world: ReviewWorld):
    before = world.notebook.texts
    await world.agent(write("a", "A1"), delete("b"), add("n", "new", after="c"))
    await world.agent_writes("x.txt", "made")
    edits = await world.pending()
    writes = world.notebook.writes

    decided = await world.service.decide_all(choosing("undo", *edits))

    assert (world.notebook.texts, world.notebook.writes) == (before, writes + 1)
    assert (len(decided.resolved), decided.left, await world.pending()) == (4, (), [])


async def test_what_cannot_be_decided_is_said_and_the_rest_is_done(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    await world.agent_writes("x.txt", "made\n")
    edits = await world.pending()
    world.user_writes("x.txt", "made\nmine\n")

    decided = await world.service.decide_all(choosing("undo", *edits))

    assert decided.resolved == (edits[0].id,)
    (left,) = decided.left
    assert (left.error.code, left.edit) == ("stale", await world.only())


async def test_edits_of_others_sessions_cannot_be_decided(world: ReviewWorld):
    await world.agent(write("a", "A1"), by=OTHER)
    edits = await world.pending()

    decided = await world.service.decide_all(
        choosing("undo", *edits), lambda owner: owner == SESSION
    )

    assert (decided.resolved, decided.left[0].error.code) == ((), "not_found")


def choosing(decision: str, *edits: PendingEdit) -> DecideEdits:
    choices = [EditChoice(id=edit.id, current_version=edit.current_version) for edit in edits]
    return DecideEdits.model_validate({"decision": decision, "edits": choices})
