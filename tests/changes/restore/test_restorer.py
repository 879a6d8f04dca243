"""The agent's changes to a notebook are undone; the user's stay."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import Conflict, NotFound, StateUnavailable
from jupyter_ai_shoulders.core.restore.description import describe_restore
from jupyter_ai_shoulders.wire.event_types.restore import CellName
from jupyter_ai_shoulders.wire.events import CellsChange, Checkpoint, Event, Restore
from jupyter_ai_shoulders.wire.ids import CellId, RestoreId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs
from tests.changes.notebook_harness import NotebookHarness, add, cell, delete, move, printed, write
from tests.engine.engine_harness import SESSION

THREE = (("a", "x = 1"), ("b", "y = 2"), ("c", "z = 3"))


def make_harness() -> NotebookHarness:
    return NotebookHarness(*(cell(*given) for given in THREE))


def name(cell_id: str, title: str) -> CellName:
    return CellName(cell_id=CellId(cell_id), title=title)


def of(made: NotebookHarness, kind: type[Event]) -> list[Event]:
    return [event for event in made.store.events[SESSION] if isinstance(event, kind)]


async def test_agents_changes_are_taken_back_as_one_change():
    made = make_harness()
    await made.agent(write("a", "x = 9"))
    await made.agent(add("n", "new", after="a"))
    await made.agent(delete("b"))
    await made.agent(move("c", None))
    writes = made.notebook.writes

    back = await made.restore()

    assert made.notebook.texts == list(THREE)
    assert made.notebook.writes == writes + 1
    (document,) = back.documents
    assert document.rewritten == (name("a", "x = 1"),)
    assert document.removed == (name("n", "new"),)
    assert document.returned == (name("b", "y = 2"),)
    assert document.moved == (name("c", "z = 3"),)
    assert document.kept == ()


async def test_cell_the_user_changed_after_the_agent_is_proposed_and_not_overwritten():
    made = make_harness()
    await made.agent(write("a", "x = 9"))
    await made.user(write("a", "x = 9  # mine"))

    back = await made.restore()

    assert made.notebook.texts[0] == ("a", "x = 9  # mine")
    (proposal,) = back.proposals
    assert (proposal.old, proposal.new, proposal.current) == ("x = 9", "x = 1", "x = 9  # mine")
    (kept,) = back.documents[0].kept
    assert (kept.reason, kept.proposal_id) == ("changed", proposal.id)


async def test_cell_the_agent_made_and_the_user_changed_stays():
    made = make_harness()
    await made.agent(add("n", "new", after="c"))
    await made.user(write("n", "new, and mine"))

    back = await made.restore()

    assert made.notebook.texts[-1] == ("n", "new, and mine")
    assert [(item.cell_id, item.reason) for item in back.documents[0].kept] == [("n", "changed")]


async def test_users_own_cells_and_texts_are_not_touched():
    made = make_harness()
    await made.agent(write("a", "x = 9"))
    await made.user(add("mine", "user's", after="a"), write("b", "y = 22"), delete("c"))

    await made.restore()

    assert made.notebook.texts == [("a", "x = 1"), ("mine", "user's"), ("b", "y = 22")]


async def test_deleted_cell_comes_back_with_outputs_and_what_the_user_had_made_of_it():
    made = make_harness()
    outputs = CellOutputs(cell_id=CellId("b"), outputs=(printed("2"),), execution_count=4)
    await made.user(outputs)
    await made.agent(write("a", "x = 9"))
    await made.user(write("b", "y = 22"))
    await made.agent(delete("b"))

    await made.restore()

    assert made.notebook.texts == [("a", "x = 1"), ("b", "y = 22"), ("c", "z = 3")]
    back = made.notebook.cells[CellId("b")]
    assert (back.outputs, back.execution_count) == ((printed("2"),), 4)


async def test_outputs_of_before_come_back_unless_the_user_ran_the_cell():
    made = make_harness()
    await made.user_runs("a")
    before = made.notebook.cells[CellId("a")]
    await made.agent_runs("a")
    await made.agent_runs("b")
    await made.user_runs("b")
    users = made.notebook.cells[CellId("b")]

    back = await made.restore()

    assert made.notebook.cells[CellId("a")] == before
    assert made.notebook.cells[CellId("b")] == users
    assert back.documents[0].outputs == (name("a", "x = 1"),)
    assert [(item.cell_id, item.reason) for item in back.documents[0].kept] == [("b", "run")]


async def test_kernel_holds_what_ran_with_its_names_until_it_is_restarted():
    made = make_harness()
    await made.agent_runs("a")
    await made.agent_runs("b")

    (held,) = (await made.restore()).drift
    made.kernel.name = "k 2"
    (restarted,) = (await made.restore()).drift
    made.kernel.name = None
    (gone,) = (await made.restore()).drift

    assert held.kernel == "same"
    assert [(ran.title, ran.names) for ran in held.cells] == [("x = 1", ("x",)), ("y = 2", ("y",))]
    assert (restarted.kernel, gone.kernel) == ("restarted", "gone")


async def test_run_that_never_began_is_not_said_to_be_in_the_kernel():
    made = make_harness()
    made.kernel.fails = "before"
    with pytest.raises(NotFound):
        await made.agent_runs("a")
    await made.agent(write("b", "y = 9"))

    back = await made.restore()

    assert back.drift == ()


async def test_outputs_of_a_run_that_was_cut_off_go_back_as_well():
    made = make_harness()
    made.kernel.fails = "midway"
    with pytest.raises(Conflict):
        await made.agent_runs("a")
    assert made.notebook.cells[CellId("a")].outputs

    back = await made.restore()

    assert made.notebook.cells[CellId("a")].outputs == ()
    assert [ran.title for ran in back.drift[0].cells] == ["x = 1"]


async def test_kernel_holds_what_ran_without_a_cell_even_if_no_cell_changed():
    made = make_harness()
    await made.agent_tries("tmp = 1")
    await made.agent_tries("other = 2")

    back = await made.restore()

    assert back.documents == ()
    assert [ran.names for ran in back.drift[0].cells] == [("tmp",), ("other",)]


async def test_proposal_that_was_applied_is_taken_back_unless_the_user_rewrote_it():
    made = make_harness()
    made.propose("a", "x = 9")
    made.propose("b", "y = 9")
    await made.decide("a", None)
    await made.decide("b", "y = 99")

    await made.restore()

    assert made.notebook.texts == [("a", "x = 1"), ("b", "y = 99"), ("c", "z = 3")]


async def test_restore_says_in_words_what_it_did_and_what_the_kernel_holds():
    made = make_harness()
    await made.agent(add("n", "df = 1", after="c"))
    await made.agent_runs("n")
    back = await made.restore()

    text = describe_restore(
        Restore(
            restore_id=RestoreId("r"),
            seq_before=1,
            what=("notebook",),
            documents=back.documents,
            drift=back.drift,
        )
    )

    assert text == (
        "a.ipynb was put back: 1 cell removed. The kernel of a.ipynb still holds what these cells "
        "did: “df = 1”, with df. Restart it, or run the cells that depend on them again."
    )


async def test_each_turn_has_one_checkpoint_of_the_texts_before_its_first_change():
    made = make_harness()
    await made.agent(write("a", "1"), turn="t1")
    await made.agent(write("b", "2"), turn="t1")
    await made.agent(write("b", "3"), turn="t2")

    kinds = [type(event) for event in made.store.events[SESSION][1:]]

    assert kinds == [Checkpoint, CellsChange, CellsChange, Checkpoint, CellsChange]


async def test_going_back_to_the_second_turn_leaves_what_the_first_did():
    made = make_harness()
    await made.agent(write("a", "first"), add("n", "new", after="a"), turn="t1")
    seq = made.seq
    await made.agent(write("a", "second"), delete("n"), turn="t2")

    await made.restore(after=seq)

    assert made.notebook.texts == [("a", "first"), ("n", "new"), *THREE[1:]]


async def test_nothing_is_changed_when_the_checkpoint_cannot_be_kept():
    made = make_harness()

    def full(event: Event) -> None:
        raise StateUnavailable("The disk is full.")

    made.store.before_append = full
    with pytest.raises(StateUnavailable, match="The disk is full"):
        await made.agent(write("a", "x = 9"))

    assert made.notebook.texts == list(THREE)


async def test_protected_cells_are_left_and_named():
    made = make_harness()
    await made.agent(write("a", "x = 9"), add("n", "new"))
    for cell_id in ("a", "n"):
        locked = {"metadata": {"editable": False, "deletable": False}}
        made.notebook.cells[CellId(cell_id)] = made.notebook.cells[CellId(cell_id)].model_copy(
            update=locked
        )
    await made.agent(write("b", "y = 9"))

    back = await made.restore()

    assert dict(made.notebook.texts)["b"] == "y = 2"
    assert {item.cell_id for item in back.documents[0].kept if item.reason == "protected"} == {
        "a",
        "n",
    }


# random histories

_AGENT = st.sampled_from(["write", "add", "delete", "move", "run"])
_USER = st.sampled_from(["write", "add", "delete", "run"])
_STEPS = st.lists(
    st.tuples(st.booleans(), _AGENT, _USER, st.integers(0, 9), st.integers(0, 9)), max_size=12
)


class History:
    """Plays steps and tracks who wrote each cell last."""

    def __init__(self) -> None:
        self.make_harness = make_harness()
        self.users: dict[str, str] = {}
        """Cells whose last text is the user's."""
        self.agents: set[str] = set()
        """Cells the agent created and the user did not change."""
        self.users_deleted: set[str] = set()
        self._count = 0

    async def step(self, agent: bool, act: str, pick: int, place: int) -> None:
        self._count += 1
        order = self.make_harness.notebook.order
        if act == "add" or not order:
            await self._add(agent, order[place % len(order)] if order else None)
            return
        chosen = order[pick % len(order)]
        match act:
            case "write":
                await self._write(agent, chosen)
            case "delete":
                await self._delete(agent, chosen)
            case "move":
                target = order[place % len(order)]
                after = None if target == chosen else target
                await self.make_harness.agent(move(chosen, after))
            case _:
                run = self.make_harness.agent_runs if agent else self.make_harness.user_runs
                await run(chosen)

    async def _add(self, agent: bool, after: str | None) -> None:
        made, text = f"n{self._count}", f"text {self._count}"
        if agent:
            await self.make_harness.agent(add(made, text, after))
            self.agents.add(made)
        else:
            await self.make_harness.user(add(made, text, after))
            self.users[made] = text

    async def _write(self, agent: bool, chosen: str) -> None:
        text = f"text {self._count}"
        if agent:
            await self.make_harness.agent(write(chosen, text))
            self.users.pop(chosen, None)
        else:
            await self.make_harness.user(write(chosen, text))
            self.users[chosen] = text
            self.agents.discard(chosen)

    async def _delete(self, agent: bool, chosen: str) -> None:
        if agent:
            await self.make_harness.agent(delete(chosen))
        else:
            await self.make_harness.user(delete(chosen))
            self.users_deleted.add(chosen)
            self.users.pop(chosen, None)
        self.agents.discard(chosen)


@settings(max_examples=150, deadline=None)
@given(_STEPS)
def test_users_texts_survive_any_history_and_the_agents_go(
    steps: list[tuple[bool, str, str, int, int]],
):
    async def play() -> None:
        history = History()
        for agent, agents_act, users_act, pick, place in steps:
            await history.step(agent, agents_act if agent else users_act, pick, place)
        made = history.make_harness
        texts = dict(made.notebook.texts)
        await made.restore()
        after = dict(made.notebook.texts)
        for cell_id, text in history.users.items():
            if cell_id in texts:  # and not deleted by the agent
                assert after[cell_id] == text
        assert not history.agents & after.keys()
        for cell_id, text in THREE:
            untouched = cell_id not in history.users and cell_id not in history.users_deleted
            if untouched and of(made, Checkpoint) and not _written_by_user_first(steps):
                assert after[cell_id] == text
        writes = made.notebook.writes
        await made.restore()
        assert made.notebook.writes == writes  # there is nothing left to restore

    asyncio.run(play())


def _written_by_user_first(steps: list[tuple[bool, str, str, int, int]]) -> bool:
    """Return whether the user wrote anything, which the checkpoint may contain then."""
    return any(not agent and act == "write" for agent, _, act, _, _ in steps)


@settings(max_examples=100, deadline=None)
@given(_STEPS)
def test_taking_a_restore_back_brings_the_notebook_of_before_it(
    steps: list[tuple[bool, str, str, int, int]],
):
    async def play() -> None:
        history = History()
        for agent, agents_act, users_act, pick, place in steps:
            await history.step(agent, agents_act if agent else users_act, pick, place)
        made = history.make_harness
        cells, order = dict(made.notebook.cells), list(made.notebook.order)
        seq = made.seq
        await made.restore()
        await made.restore(after=seq)
        assert made.notebook.order == order
        assert made.notebook.cells == cells

    asyncio.run(play())
