"""Fixes a failing cell: finds it, works out the cause, edits, runs, looks, and says what it did.

Also explains an error without touching anything. Chosen by ``plan``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import assert_never

from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.diagnosis import (
    Edit,
    RunFirst,
    Unknown,
    diagnose,
    first_unresolved,
)
from jupyter_ai_shoulders.providers.demo.notebook import Cell, Notebook
from jupyter_ai_shoulders.providers.demo.skills.notebooks import (
    Recipe,
    edit,
    listed,
    read,
    run,
    run_needed,
)
from jupyter_ai_shoulders.providers.demo.steps import GiveUp, Skill

CELL_NUMBER = re.compile(r"\bcell\s+#?(\d+)", re.IGNORECASE)
MAX_EDITS = 2
MAX_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """A cell and its error; ``seen`` when it was run and failed, else found by reading."""

    cell: Cell
    error: str
    seen: bool


def fix(task: Task) -> Skill:
    """Fix the failing cell."""
    notebook = yield from read(task, outputs=True, say="I'll read the notebook with its outputs.")
    problem = find_problem(task, notebook)
    if problem is None:
        problem = yield from try_active(task, notebook)
    repair = Repair(notebook, problem)
    try:
        yield from repair.work()
    except GiveUp as reason:
        return repair.report_stopped(reason)
    return repair.report()


def explain(task: Task) -> Skill:
    """Explain the error, change nothing."""
    notebook = yield from read(task, outputs=True, say="I'll read the notebook with its outputs.")
    problem = find_problem(task, notebook)
    if problem is None:
        return "I see no error in this notebook. Run the cell that fails and ask me again."
    found = diagnose(notebook, problem.cell, problem.error)
    head = (
        f"Cell {problem.cell.number} {'fails' if problem.seen else 'will fail'}: `{problem.error}`."
    )
    match found:
        case Edit():
            return (
                f"{head}\n\nThe cause: {found.why}. Say *fix it* and I'll change that and run it."
            )
        case RunFirst():
            return f"{head}\n\nThe cause: {found.why}. Say *fix it* and I'll run what it needs."
        case Unknown():
            return f"{head}\n\n{found.advice}"
        case _:
            assert_never(found)


def find_problem(task: Task, notebook: Notebook) -> Problem | None:
    """Return the failure the user means: seen in an output, else found by reading."""
    order = by_interest(task, notebook)
    failed = [cell for cell in order if cell.error is not None]
    if failed:
        return Problem(failed[0], failed[0].error or "", seen=True)
    found = first_unresolved(notebook, order)
    if found is None:
        return None
    return Problem(found[0], f"NameError: name '{found[1]}' is not defined", seen=False)


def by_interest(task: Task, notebook: Notebook) -> list[Cell]:
    """Return the code cells: the one named or active first, then the last run, then the rest."""
    named = CELL_NUMBER.search(task.words)

    def interest(cell: Cell) -> tuple[bool, bool, int, int]:
        is_named = named is not None and cell.number == int(named[1])
        return (not is_named, cell.id != task.active_cell, -(cell.run_count or 0), cell.number)

    return sorted(notebook.code, key=interest)


def try_active(task: Task, notebook: Notebook) -> Recipe[Problem]:
    """Nothing looks wrong: run the active cell, when it is code, and see."""
    cell = notebook.cell(task.active_cell)
    if cell is None or not cell.is_code or not cell.source.strip():
        raise GiveUp("I see no error in this notebook. Run the cell that fails and ask me again.")
    ended = yield from run(notebook, cell, f"I see no error yet; I'll run cell {cell.number}.")
    if ended.error is None:
        raise GiveUp(
            f"I ran cell {cell.number}: it works. If another cell fails, run it and ask me."
        )
    return Problem(cell, ended.error, seen=True)


@dataclass(slots=True)
class Repair:
    """The work on one failing cell, and what there is to tell about it."""

    notebook: Notebook
    problem: Problem
    edits: int = 0
    told: list[str] = field(default_factory=list[str])
    error: str | None = None
    advice: str | None = None

    def work(self) -> Recipe[None]:
        """Repair and run until the cell works or no rule is left."""
        self.error = self.problem.error
        for _ in range(MAX_ROUNDS):
            found = diagnose(self.notebook, self.cell, self.error)
            if isinstance(found, Unknown) or (isinstance(found, Edit) and self.edits == MAX_EDITS):
                self.advice = found.advice if isinstance(found, Unknown) else None
                return
            yield from self.apply(found)
            ended = yield from run(self.notebook, self.cell, "Now I'll run it.")
            if ended.error is None:
                self.error = None
                return
            if ended.error == self.error:
                return
            self.error = ended.error

    @property
    def cell(self) -> Cell:
        """The cell as it stands now."""
        return self.problem.cell

    def apply(self, found: Edit | RunFirst) -> Recipe[None]:
        """Do what a diagnosis asks for."""
        match found:
            case Edit():
                say = f"Cell {self.cell.number}: {found.why}. I'll change that."
                yield from edit(self.notebook, self.cell, found.source, say)
                self.edits += 1
                self.told.append(f"{found.why}; I {found.what}")
                changed = replace(self.cell, source=found.source)
                self.notebook = self.notebook.updated([changed])
                self.problem = replace(self.problem, cell=changed)
            case RunFirst(later=False):
                ran = yield from run_needed(self.notebook, self.cell, self.announce(found))
                self.told.append(f"{found.why}; I ran {listed(ran or list(found.cells))} first")
            case RunFirst():
                yield from self.run_later(found)
            case _:
                assert_never(found)

    def run_later(self, found: RunFirst) -> Recipe[None]:
        """Run a cell that stands below, and say that the order is wrong."""
        below = found.cells[0]
        yield from run_needed(self.notebook, below, self.announce(found))
        ended = yield from run(self.notebook, below, self.announce(found))
        if ended.error is not None:
            raise GiveUp(
                f"Cell {self.cell.number} needs cell {below.number} below it, and that one fails: "
                f"`{ended.error}`."
            )
        self.told.append(
            f"{found.why}; I ran that one first. A run from the top would fail again, so cell "
            f"{below.number} should move above cell {self.cell.number}"
        )

    def announce(self, found: RunFirst) -> str:
        """Return what is said before other cells run."""
        return f"Cell {self.cell.number}: {found.why}. I'll run {listed(list(found.cells))} first."

    def story(self) -> list[str]:
        """Return what was wrong and what was done, line by line."""
        verb = "failed with" if self.problem.seen else "would have failed with"
        lines = [f"Cell {self.cell.number} {verb} `{self.problem.error}`."]
        words = ["The cause", *("Then" for _ in self.told[1:])]
        return lines + [f"- {word}: {told}." for word, told in zip(words, self.told, strict=False)]

    def report_stopped(self, reason: GiveUp) -> str:
        """Return the answer when something was not possible on the way."""
        return "\n".join([*self.story(), f"\n{reason}"]) if self.told else str(reason)

    def report(self) -> str:
        """Return the answer."""
        number = self.cell.number
        lines = self.story()
        if self.error is None:
            lines.append(f"\nI ran cell {number} again: it works now.")
        elif self.told:
            lines.append(f"\nIt still fails, now with `{self.error}`. {self.advice or ''}".rstrip())
        else:
            lines.append(f"\n{self.advice or 'I could not find a fix.'} I changed nothing.")
        return "\n".join(lines)
