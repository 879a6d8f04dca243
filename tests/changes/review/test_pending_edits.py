"""Pending edits in the log: restarts, renames, copies, crashes."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.changes.review.pending_edits import PendingEdits
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.sessions.forks import copy_event
from jupyter_ai_shoulders.wire.api.commands import DecideEdits, EditChoice
from jupyter_ai_shoulders.wire.events import EditPending, EditResolve, Event
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.versions import cell_version, text_version
from tests.changes.notebook_harness import add, delete, write
from tests.changes.review.harness import OTHER, ReviewWorld
from tests.engine.engine_harness import SESSION


def events(world: ReviewWorld) -> list[EditPending]:
    found = (logged.event for logged in world.store.find({"edit-pending"}))
    return [event for event in found if isinstance(event, EditPending)]


async def test_what_is_pending_survives_a_restart(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\nA3"), add("n", "new"), delete("b"))
    await world.agent_writes("x.txt", "made\n")
    shown = await world.pending()
    await world.decide(shown[1], "keep", 0)
    before = await world.pending()
    assert len(before) == 4

    await world.restart()

    assert await world.pending() == before


async def test_an_edit_is_said_once_for_each_change_without_a_sync(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    synced = world.store.synced[SESSION]
    (event,) = events(world)

    assert event.seq > synced  # a call's record is synced with its result
    assert (event.before_version, event.after_version) == (
        cell_version("a1\na2\na3"),
        cell_version("A1"),
    )
    assert event.before is not None
    assert world.store.blobs.get(event.before) == b"a1\na2\na3"
    assert len(event.hunks) == 1


async def test_an_edit_has_the_first_line_of_its_cell_also_of_one_that_is_gone(world: ReviewWorld):
    await world.agent(write("a", "\n  A1\na2"), delete("b"))
    await world.agent_writes("x.txt", "two\n")

    assert [event.title for event in events(world)] == ["A1", "b1", ""]


async def test_a_deleted_cell_whose_text_is_lost_still_has_its_place(world: ReviewWorld):
    await world.agent(delete("b"))
    (unit,) = world.book.units()
    assert unit.before is not None
    del world.store.blobs.contents[unit.before]

    edit = await world.only()
    assert (edit.baseline, edit.current, edit.position) == (None, None, 1)
    assert edit.error is not None


async def test_files_have_versions_of_files(world: ReviewWorld):
    world.user_writes("x.txt", "one\n")
    await world.agent_writes("x.txt", "two\n")

    (event,) = events(world)
    assert (event.cell_id, event.after_version) == (None, text_version("two\n"))


async def test_edits_follow_renamed_files_and_folders(world: ReviewWorld):
    await world.agent_writes("folder/x.txt", "made\n")
    await world.agent_writes("folder2.txt", "made\n")
    world.book.renamed("folder", "other")
    (world.root / "folder").rename(world.root / "other")

    assert [edit.document for edit in await world.pending()] == ["folder2.txt", "other/x.txt"]
    await world.restart()
    assert [edit.document for edit in await world.pending()] == ["folder2.txt", "other/x.txt"]


async def test_a_rename_that_cannot_be_noted_leaves_the_edit_pending(world: ReviewWorld):
    await world.agent_writes("x.txt", "made\n")

    def full(event: Event) -> None:
        raise StateUnavailable(f"No space left for {event.type}.")

    world.store.before_append = full
    with pytest.raises(StateUnavailable):
        world.book.renamed("x.txt", "y.txt")
    world.store.before_append = None

    assert (await world.only()).document == "x.txt"
    world.book.renamed("x.txt", "y.txt")
    (world.root / "x.txt").rename(world.root / "y.txt")
    assert (await world.only()).document == "y.txt"


async def test_an_edit_at_the_new_name_of_a_file_is_resolved(world: ReviewWorld):
    await world.agent_writes("x.txt", "x\n")
    await world.agent_writes("y.txt", "y\n")
    moved, replaced = world.book.units("x.txt")[0], world.book.units("y.txt")[0]

    world.book.renamed("x.txt", "y.txt")
    (world.root / "x.txt").replace(world.root / "y.txt")

    resolved = [logged.event for logged in world.store.find({"edit-resolve"})]
    assert [event.edit_id for event in resolved if isinstance(event, EditResolve)] == [replaced.id]
    assert [unit.id for unit in world.book.units()] == [moved.id]
    await world.restart()
    edit = await world.only()
    assert (edit.id, edit.document, edit.current) == (moved.id, "y.txt", "x\n")


async def test_a_copied_conversation_has_nothing_to_review(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    other = world.store.get(OTHER)
    for logged in world.store.find({"edit-pending"}, SESSION):
        world.store.append(OTHER, copy_event(logged.event, other))
    world.store.events[SESSION] = world.store.events[SESSION][:1]

    await world.restart()

    assert await world.pending() == []


async def test_of_two_edits_of_one_text_that_a_kill_left_the_later_one_counts(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    world.store.clock.advance(1)
    await world.agent(write("a", "A2"), turn="o1", by=OTHER)
    log: list[Event] = world.store.events[SESSION]
    assert isinstance(log.pop(), EditResolve)  # the handover was cut off

    await world.restart()

    edit = await world.only()
    assert (edit.session_id, edit.baseline, edit.current) == (OTHER, "a1\na2\na3", "A2")
    assert isinstance(log[-1], EditResolve)


async def test_a_session_that_is_brought_back_brings_its_edits(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    kept = world.store.events.pop(SESSION)  # deleted, and not seen by the next start
    await world.restart()
    assert await world.pending() == []
    world.store.events[SESSION] = kept

    world.book.reload_session(SESSION)

    assert (await world.only()).current == "A1"


async def test_a_lost_text_costs_its_review_and_not_the_next_edit(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    world.store.blobs.contents.clear()

    await world.agent(write("a", "A2"), turn="t2")

    assert (await world.only()).baseline == "A1"


async def test_a_lost_text_is_the_error_of_its_own_edit_only(world: ReviewWorld):
    await world.agent(write("a", "A1"), write("b", "B1"), delete("c"))
    await world.agent_writes("x.txt", "made\n")
    lost = {unit.cell_id: unit for unit in world.book.units()}[CellId("a")]
    assert lost.before is not None
    del world.store.blobs.contents[lost.before]

    shown = {edit.cell_id: edit for edit in await world.pending()}

    broken = shown.pop(CellId("a"))
    assert broken.error is not None
    assert broken.error.code == "state_unavailable"
    assert (broken.baseline, broken.current, broken.hunks) == (None, None, ())
    assert {edit.cell_id for edit in shown.values()} == {"b", "c", None}
    assert [edit.error for edit in shown.values()] == [None] * 3


async def test_a_lost_text_cannot_be_taken_back_and_can_be_kept(world: ReviewWorld):
    await world.agent(write("a", "A1"), write("b", "B1"))
    lost = {unit.cell_id: unit for unit in world.book.units()}[CellId("a")]
    assert lost.before is not None
    del world.store.blobs.contents[lost.before]
    choices = tuple(EditChoice(id=edit.id) for edit in await world.pending())

    done = await world.service.decide_all(DecideEdits(decision="undo", edits=choices))

    assert [conflict.edit.id for conflict in done.left if conflict.edit] == [lost.id]
    assert (world.notebook.cells[CellId("a")].source, len(done.resolved)) == ("A1", 1)
    assert world.notebook.cells[CellId("b")].source == "b1"
    await world.decide(await world.only(), "keep")
    assert await world.pending() == []


async def test_a_lost_text_follows_its_file(world: ReviewWorld):
    await world.agent_writes("x.txt", "made\n")
    world.store.blobs.contents.clear()

    world.book.renamed("x.txt", "y.txt")
    (world.root / "x.txt").rename(world.root / "y.txt")

    edit = await world.only()
    assert (edit.document, edit.error is None) == ("y.txt", False)


async def test_an_edit_that_cannot_be_noted_is_an_error_that_is_told(world: ReviewWorld):
    def full(event: Event) -> None:
        if isinstance(event, EditPending):
            raise StateUnavailable("No space left.")

    world.store.before_append = full
    with pytest.raises(StateUnavailable):
        await world.agent(write("a", "A1"))
    assert world.notebook.cells[CellId("a")].source == "A1"
    assert await world.pending() == []


async def test_a_folded_log_takes_the_pages_one_by_one(world: ReviewWorld):
    for number in range(300):
        await world.agent(write("a", f"A{number}"))

    book = PendingEdits(world.store, world.store.blobs, world.ids)
    await book.load()

    (unit,) = book.units()
    assert book.texts(unit) == ("a1\na2\na3", "A299")
