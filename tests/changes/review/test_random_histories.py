"""Random histories of a notebook and a file: edits, decisions, undo, restores and restarts.

The user's lines are unique and never removed by the user, so none may be lost. Changes of the agent
that nobody else touched must leave no trace.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.wire.ids import CellId
from tests.changes.notebook_harness import add, cell, delete, write
from tests.changes.review.harness import OTHER, ReviewWorld, review_world
from tests.engine.engine_harness import SESSION

FILE = "notes.txt"
CELLS = [cell("a", "a1\na2\na3\na4"), cell("b", "b1\nb2"), cell("c", "c1")]
LINES = "f1\nf2\nf3\nf4\n"

Step = tuple[str, int, int]
"""An action, its target, and a number that varies it."""
NUMBERS = st.integers(0, 5)
AGENT = ("agent", "agent", "insert", "delete", "write", "other")
REVIEW = ("keep", "undo", "keep-hunk", "undo-hunk", "restart")


def steps(*names: str) -> st.SearchStrategy[list[Step]]:
    return st.lists(st.tuples(st.sampled_from(names), NUMBERS, NUMBERS), max_size=14)


class Life:
    """Plays steps in a ``ReviewWorld``."""

    def __init__(self, world: ReviewWorld) -> None:
        self.world = world
        self.typed: list[tuple[str, str]] = []
        """The user's lines and their documents."""
        self._count = 0

    async def play(self, step: Step) -> None:
        """Perform a step if it is possible now."""
        name, place, number = step
        self._count += 1
        match name:
            case "agent" | "other":
                await self._edit(place, number, by_other=name == "other")
            case "insert":
                line = f"made {self._count}"
                await self.world.agent(add(f"n{self._count}", line, after=self._cell(place)))
            case "delete":
                await self._delete(place)
            case "write":
                await self._write(number)
            case "user":
                await self._type(place, number)
            case "user-file":
                text = self._with(self.world.text(FILE), number, f"user {self._count}")
                self.world.user_writes(FILE, text)
                self.typed.append((FILE, f"user {self._count}"))
            case "restart":
                await self.world.restart()
            case _:
                await self._decide(name, place, number)

    async def _edit(self, place: int, number: int, *, by_other: bool) -> None:
        cell_id = self._cell(place)
        text = self._changed(self._text(cell_id), number)
        turn = f"t{self._count}"
        by = OTHER if by_other else SESSION
        await self.world.agent(write(cell_id, text), turn=turn, by=by)

    async def _write(self, number: int) -> None:
        await self.world.agent_writes(FILE, self._changed(self.world.text(FILE), number))

    async def _delete(self, place: int) -> None:
        cell_id = self._cell(place)
        if len(self.world.notebook.order) > 1 and "user" not in self._text(cell_id):
            await self.world.agent(delete(cell_id))

    async def _type(self, place: int, number: int) -> None:
        cell_id, line = self._cell(place), f"user {self._count}"
        await self.world.user(write(cell_id, self._with(self._text(cell_id), number, line)))
        self.typed.append((cell_id, line))

    async def _decide(self, name: str, place: int, number: int) -> None:
        pending = await self.world.pending()
        if not pending:
            return
        edit = pending[place % len(pending)]
        decision = name.removesuffix("-hunk")
        hunks = (number % len(edit.hunks),) if name != decision and edit.hunks else ()
        await self.world.decide(edit, decision, *hunks)

    def _changed(self, text: str, number: int) -> str:
        """Return a text in which a line of the agent replaces one that is not the user's."""
        lines = text.split("\n")
        at = number % len(lines)
        if lines[at].startswith("user"):
            return text + f"\nagent {self._count}"
        lines[at : at + 1] = [f"agent {self._count}"] * (number % 3)
        return "\n".join(lines)

    def _with(self, text: str, number: int, line: str) -> str:
        """Return a text with one more line, which replaces an agent's line every other time."""
        lines = text.split("\n")
        at = number % len(lines)
        replaces = number % 2 and lines[at].startswith("agent")
        lines[at : at + int(replaces)] = [line]
        return "\n".join(lines)

    def _cell(self, place: int) -> CellId:
        order = self.world.notebook.order
        return order[place % len(order)]

    def _text(self, cell_id: CellId) -> str:
        return self.world.notebook.cells[cell_id].source

    def missing(self) -> list[tuple[str, str]]:
        """Return the user's lines that are lost."""
        texts = {cell_id: self._text(cell_id) for cell_id in self.world.notebook.order}
        everything = "\n".join([*texts.values(), self.world.text(FILE)]).split("\n")
        return [(place, line) for place, line in self.typed if line not in everything]


async def played(folder: Path, given: list[Step], *, undo_all: bool) -> None:
    with review_world(folder, *CELLS) as world:
        world.user_writes(FILE, LINES)
        life = Life(world)
        for step in given:
            await life.play(step)
            assert life.missing() == []
        before = await world.pending()
        await world.restart()
        assert await world.pending() == before
        if undo_all:
            for edit in before:
                await world.decide(edit, "undo")
            assert world.notebook.texts == [(made.id, made.source) for made in CELLS]
            assert world.text(FILE) == LINES
            assert await world.pending() == []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps(*AGENT, *REVIEW, "user", "user", "user-file"))
def test_no_line_of_the_users_is_ever_lost(given_steps: list[Step]):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(played(Path(folder), given_steps, undo_all=False))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example([("delete", 0, 0), ("agent", 0, 0), ("delete", 0, 0)])
@given(steps(*AGENT, "undo", "undo-hunk", "restart"))
def test_undoing_everything_gives_back_what_there_was(given_steps: list[Step]):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(played(Path(folder), given_steps, undo_all=True))
