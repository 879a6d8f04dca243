"""The review of cells of a notebook."""

import pytest

from jupyter_ai_shoulders.changes.review.service import EditOutdated
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.wire.api.commands import DecideEdit
from jupyter_ai_shoulders.wire.edits import Hunk
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs
from tests.changes.notebook_harness import add, delete, move, printed, write
from tests.changes.review.harness import OTHER, ReviewWorld
from tests.engine.engine_harness import SESSION

CELL = CellId("a")


async def test_an_edit_awaits_review_with_its_hunks(world: ReviewWorld):
    await world.agent(write("a", "a1\nA2\na3"))

    edit = await world.only()

    assert (edit.session_id, edit.turn_id, edit.document) == (SESSION, "t1", "a.ipynb")
    assert (edit.cell_id, edit.cell_type, edit.position) == ("a", "code", 0)
    assert (edit.baseline, edit.current) == ("a1\na2\na3", "a1\nA2\na3")
    assert edit.hunks == (Hunk(before_from=1, before_to=2, after_from=1, after_to=2),)
    assert (edit.conflict, edit.error) == (False, None)


async def test_edits_of_several_turns_are_one_edit(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\na3"))
    first = await world.only()
    await world.agent(write("a", "A1\na2\nA3"), turn="t2")

    edit = await world.only()

    assert (edit.id, edit.turn_id) == (first.id, "t2")
    assert (edit.baseline, len(edit.hunks)) == ("a1\na2\na3", 2)


async def test_keeping_leaves_the_text_and_nothing_to_review(world: ReviewWorld):
    await world.agent(write("a", "A1"))

    decided = await world.decide(await world.only(), "keep")

    assert (decided.edit, await world.pending()) == (None, [])
    assert world.notebook.cells[CELL].source == "A1"
    assert world.store.synced[SESSION] == world.store.last_seq(SESSION)


async def test_undoing_gives_the_text_back_and_nothing_new_to_review(world: ReviewWorld):
    await world.agent(write("a", "A1"))

    await world.decide(await world.only(), "undo")

    assert (await world.pending(), world.notebook.cells[CELL].source) == ([], "a1\na2\na3")


async def test_hunks_are_kept_and_undone_each_by_itself(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\nA3"))

    left = (await world.decide(await world.only(), "undo", 1)).edit
    assert left is not None
    assert (world.notebook.cells[CELL].source, len(left.hunks)) == ("A1\na2\na3", 1)

    decided = await world.decide(left, "keep", 0)

    assert (decided.edit, await world.pending()) == (None, [])
    assert world.notebook.cells[CELL].source == "A1\na2\na3"


async def test_a_kept_hunk_is_not_shown_again(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\nA3"))

    left = (await world.decide(await world.only(), "keep", 0)).edit

    assert left is not None
    assert (left.baseline, left.current) == ("A1\na2\na3", "A1\na2\nA3")
    await world.decide(left, "undo")
    assert world.notebook.cells[CELL].source == "A1\na2\na3"


async def test_what_the_page_decided_is_said_by_the_baseline_that_is_left(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\nA3"))
    edit = await world.only()
    page = DecideEdit(decision="keep", baseline="A1\na2\na3", current_version=edit.current_version)

    left = (await world.service.decide(edit.id, page)).edit

    assert left is not None
    assert (left.baseline, left.current) == ("A1\na2\na3", "A1\na2\nA3")
    await world.user(write("a", "A1\na2\na3"))  # rejected in the editor
    done = DecideEdit(decision="undo", baseline="A1\na2\na3")
    with pytest.raises(EditOutdated):  # already settled: nothing is left
        await world.service.decide(edit.id, done)
    assert await world.pending() == []


async def test_a_made_cell_goes_when_it_is_undone_and_stays_when_it_is_kept(world: ReviewWorld):
    await world.agent(add("n", "new", after="a"), add("m", "more", after="n"))
    new, more = await world.pending()
    assert (new.baseline, new.current, new.hunks, new.position) == (None, "new", (), 1)

    await world.decide(new, "undo")
    await world.decide(more, "keep")

    assert [cell_id for cell_id, _ in world.notebook.texts] == ["a", "m", "b", "c"]
    assert await world.pending() == []


async def test_a_deleted_cell_comes_back_with_its_outputs_where_it_stood(world: ReviewWorld):
    outputs = CellOutputs(cell_id=CellId("b"), outputs=(printed("hi"),), execution_count=3)
    await world.user(outputs)
    before = world.notebook.cells[CellId("b")]
    await world.agent(delete("b"))
    edit = await world.only()
    assert (edit.baseline, edit.current, edit.position, edit.cell_type) == ("b1", None, 1, "code")

    await world.restart()
    await world.decide(await world.only(), "undo")

    assert world.notebook.texts[1] == ("b", "b1")
    assert world.notebook.cells[CellId("b")] == before
    assert await world.pending() == []


async def test_cells_deleted_side_by_side_come_back_in_their_order(world: ReviewWorld):
    await world.agent(delete("b"))
    await world.agent(delete("a"))

    for edit in await world.pending():
        await world.decide(edit, "undo")

    assert [cell_id for cell_id, _ in world.notebook.texts] == ["a", "b", "c"]


async def test_a_cell_edited_then_deleted_comes_back_as_the_user_had_it(world: ReviewWorld):
    await world.agent(write("b", "B1"))
    await world.agent(delete("b"), turn="t2")

    await world.decide(await world.only(), "undo")

    assert world.notebook.texts[1] == ("b", "b1")


async def test_a_cell_made_and_deleted_again_leaves_nothing_to_review(world: ReviewWorld):
    await world.agent(add("n", "new"))
    await world.agent(delete("n"), turn="t2")

    assert await world.pending() == []


async def test_moves_and_outputs_are_not_for_review(world: ReviewWorld):
    await world.agent(move("c", None))
    await world.agent(CellOutputs(cell_id=CELL, outputs=(), execution_count=None))

    assert await world.pending() == []


async def test_the_agent_taking_its_edit_back_settles_it(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    await world.agent(write("a", "a1\na2\na3"), turn="t2")

    assert await world.pending() == []
    assert world.said("edit-pending", "edit-resolve") == ["edit-pending", "edit-resolve"]


async def test_what_the_user_undid_is_not_shown_and_looking_writes_nothing(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    seq = world.store.last_seq(SESSION)

    await world.user(write("a", "a1\na2\na3"))
    assert await world.pending() == []
    await world.user(write("a", "A1"))  # and redid
    assert (await world.only()).current == "A1"
    await world.user(write("a", "a1\na2\na3"))
    assert (await world.pending(), world.store.last_seq(SESSION)) == ([], seq)

    await world.agent(write("a", "A1\na2\na3"), turn="t2")
    edit = await world.only()
    assert (edit.baseline, edit.current) == ("a1\na2\na3", "A1\na2\na3")


async def test_a_restore_settles_what_it_takes_back(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\na3"))
    seq = world.store.last_seq(SESSION)
    await world.agent(write("a", "A1\na2\nA3"), add("n", "new"), turn="t2")

    await world.restore(seq)

    edit = await world.only()
    assert (edit.baseline, edit.current) == ("a1\na2\na3", "A1\na2\na3")
    await world.restore()
    assert await world.pending() == []


async def test_the_users_later_lines_are_no_part_of_the_edit(world: ReviewWorld):
    await world.agent(write("a", "a1\nA2\na3"))
    await world.user(write("a", "a1\nA2\na3\nmine"))

    edit = await world.only()
    assert (edit.baseline, len(edit.hunks)) == ("a1\na2\na3\nmine", 1)

    await world.decide(edit, "undo")
    assert world.notebook.cells[CELL].source == "a1\na2\na3\nmine"


async def test_lines_the_user_wrote_between_two_edits_stay(world: ReviewWorld):
    await world.agent(write("a", "a1\nA2\na3"))
    await world.user(write("a", "a1\nA2\na3\nmine"))
    await world.agent(write("a", "A1\nA2\na3\nmine"), turn="t2")

    await world.decide(await world.only(), "undo")

    assert world.notebook.cells[CELL].source == "a1\na2\na3\nmine"
    assert await world.pending() == []


async def test_lines_that_both_changed_can_only_be_kept(world: ReviewWorld):
    await world.agent(write("b", "B1"))
    await world.user(write("b", "BB1"))

    edit = await world.only()
    assert (edit.conflict, edit.baseline, edit.hunks) == (True, "BB1", ())

    await world.decide(edit, "undo")
    assert (world.notebook.cells[CellId("b")].source, await world.pending()) == ("BB1", [])


async def test_an_edit_the_user_typed_into_is_whole_again_when_the_typing_is_undone(
    world: ReviewWorld,
):
    await world.agent(write("b", "B1"))
    await world.user(write("b", "BB1"))
    assert (await world.only()).hunks == ()
    await world.user(write("b", "B1"))

    assert (await world.only()).baseline == "b1"


async def test_a_cell_the_user_added_to_keeps_his_lines(world: ReviewWorld):
    await world.agent(add("n", "new"))
    await world.user(write("n", "new\nmine"))

    edit = await world.only()
    await world.decide(edit, "undo")

    assert edit.baseline == "mine"
    assert world.notebook.cells[CellId("n")].source == "mine"


async def test_a_cell_the_user_deleted_is_not_shown_until_it_is_back(world: ReviewWorld):
    await world.agent(write("b", "B1"))
    await world.user(delete("b"))
    assert await world.pending() == []
    await world.user(add("b", "B1"))

    assert (await world.only()).baseline == "b1"


async def test_a_cell_the_user_brought_back_is_not_deleted_any_more(world: ReviewWorld):
    await world.agent(delete("b"))
    await world.user(add("b", "b1"))

    assert await world.pending() == []


async def test_nothing_is_decided_when_the_text_is_not_what_was_seen(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\na3"))
    seen = await world.only()
    await world.user(write("a", "A1\na2\na3\nmine"))

    with pytest.raises(EditOutdated) as caught:
        await world.decide(seen, "undo")

    assert caught.value.edit == await world.only()
    assert world.notebook.cells[CELL].source == "A1\na2\na3\nmine"


async def test_nothing_is_decided_when_a_part_was_decided_elsewhere(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\nA3"))
    seen = await world.only()
    await world.decide(seen, "keep", 0)

    with pytest.raises(EditOutdated):
        await world.decide(seen, "keep", 1)


async def test_a_decided_edit_is_not_found(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    edit = await world.only()
    await world.decide(edit, "keep")

    with pytest.raises(NotFound):
        await world.decide(edit, "keep")


async def test_hunks_that_are_not_there_are_refused(world: ReviewWorld):
    await world.agent(write("a", "A1"))

    with pytest.raises(InvalidRequest):
        await world.decide(await world.only(), "keep", 1)


async def test_a_protected_cell_is_left_alone_and_stays_pending(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    protected = world.notebook.cells[CELL].model_copy(update={"metadata": {"editable": False}})
    world.notebook.cells[CELL] = protected

    with pytest.raises(Conflict) as caught:
        await world.decide(await world.only(), "undo")

    assert caught.value.info.code == "cell_protected"
    assert (await world.only()).current == "A1"


async def test_undoing_a_cell_that_ran_says_what_the_kernel_holds(world: ReviewWorld):
    await world.agent(write("b", "x = 1"))
    await world.agent_runs("b")

    drift = (await world.decide(await world.only(), "undo")).drift

    assert drift is not None
    assert (drift.kernel, [cell.names for cell in drift.cells]) == ("same", [("x",)])


async def test_another_session_takes_an_edit_over_with_its_baseline(world: ReviewWorld):
    await world.agent(write("a", "A1\na2\na3"))
    await world.agent(write("a", "A1\na2\nA3"), turn="o1", by=OTHER)
    await world.restart()

    edit = await world.only()

    assert (edit.session_id, edit.turn_id, edit.baseline) == (OTHER, "o1", "a1\na2\na3")
    assert world.said("edit-pending", "edit-resolve") == ["edit-pending", "edit-resolve"]


async def test_edits_of_a_deleted_session_are_not_shown(world: ReviewWorld):
    await world.agent(write("a", "A1"))
    world.deleted.add(SESSION)
    assert await world.pending() == []
    world.deleted.clear()

    assert (await world.only()).cell_id == "a"


async def test_what_was_typed_between_two_edits_stays_when_the_turn_is_taken_back(
    world: ReviewWorld,
):
    await world.agent(write("a", "A1\na2\na3"))
    await world.user(write("a", "A1\na2\nmine\na3"))
    await world.agent(write("a", "A1\na2\nmine\nA3"))

    await world.restore()

    assert world.notebook.cells[CELL].source == "a1\na2\nmine\na3"


async def test_a_made_cell_that_was_typed_in_between_two_edits_stays(world: ReviewWorld):
    await world.agent(add("new", "n1"))
    await world.user(write("new", "n1\nmine"))
    await world.agent(write("new", "N1\nmine"))

    await world.restore()

    assert world.notebook.cells[CellId("new")].source == "N1\nmine"


async def test_the_users_line_is_not_marked_after_a_turn_was_taken_back_around_it(
    world: ReviewWorld,
):
    await world.agent(write("a", "A1\na2\na3"), turn="t1")
    await world.agent(write("a", "A1\nA2\na3"), turn="t2")
    await world.user(write("a", "A1\nA2\na3\nmine"))

    await world.restore(turn="t2")

    edit = await world.only()
    assert (edit.baseline, edit.current) == ("a1\na2\na3\nmine", "A1\na2\na3\nmine")


async def test_lines_of_the_agent_that_the_user_took_out_can_be_undone_as_before(
    world: ReviewWorld,
):
    await world.agent(write("a", "a1\nA2\na3"))
    await world.user(write("a", "a1\na3"))

    await world.service.decide((await world.only()).id, DecideEdit(decision="undo"))

    assert world.notebook.cells[CELL].source == "a1\na2\na3"
