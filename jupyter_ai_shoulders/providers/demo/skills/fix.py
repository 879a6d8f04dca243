"""Fixes a failing cell: finds it, diagnoses the error, edits and runs it, and reports.

Also explains an error without changing anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import assert_never

from jupyter_ai_shoulders.providers.demo.code_analysis import needed_before
from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.diagnosis import NAME_ERROR, diagnose, first_unresolved
from jupyter_ai_shoulders.providers.demo.diagnosis_results import Diagnosis, Edit, RunFirst, Unknown
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import Recipe, Skill, SkillFailed
from jupyter_ai_shoulders.providers.demo.skills.notebook_steps import (
    edit,
    listed,
    listed_files,
    read_python,
    run,
    run_needed,
)

CELL_NUMBER = re.compile(r"\bcell\s+#?(\d{1,9})", re.IGNORECASE)
ERROR_NAME = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
READING = "I'll read the notebook with its outputs."
MAX_EDITS = 2
MAX_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class CellProblem:
    """A cell and its error; ``seen`` when a run failed, else found in the code."""

    cell: ParsedCell
    error: str
    seen: bool


def fix(task: Task) -> Skill:
    """Fix the failing cell."""
    notebook = yield from read_python(task, outputs=True, say=READING)
    problem = find_problem(task, notebook)
    if problem is None:
        problem = yield from try_cell(task, notebook)
    repair = Repair(task, notebook, problem)
    try:
        yield from repair.work()
    except SkillFailed as reason:
        raise reason.with_story(repair.report_stopped(reason)) from reason
    if repair.error is not None:
        raise SkillFailed(repair.report())
    return repair.report()


def explain(task: Task) -> Skill:
    """Explain the error, change nothing."""
    notebook = yield from read_python(task, outputs=True, say=READING)
    problem = find_problem(task, notebook)
    if problem is None:
        raise SkillFailed(no_error(named_cell(task, notebook)))
    files = yield from listed_files(task, notebook, problem.error, may_run=False)
    found = diagnose(notebook, problem.cell, problem.error, files)
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


def find_problem(task: Task, notebook: ParsedNotebook) -> CellProblem | None:
    """Return the failure in question: from an output, else found in the code."""
    named = named_cell(task, notebook)
    order = by_interest(task, notebook) if named is None else [named]
    failed = [cell for cell in order if cell.error is not None]
    if failed:
        return CellProblem(failed[0], failed[0].error or "", seen=True)
    found = first_unresolved(notebook, order)
    if found is None:
        return None
    return CellProblem(found[0], f"NameError: name '{found[1]}' is not defined", seen=False)


def named_cell(task: Task, notebook: ParsedNotebook) -> ParsedCell | None:
    """Return the cell whose number the user gave. Raises ``SkillFailed`` for a text cell."""
    found = CELL_NUMBER.search(task.words)
    if found is None:
        return None
    number = int(found[1])
    cell = next((cell for cell in notebook.cells if cell.number == number), None)
    if cell is None:
        raise SkillFailed(
            f"There is no cell {number}; the notebook has {len(notebook.cells)} cells."
        )
    if not cell.is_code:
        raise SkillFailed(f"Cell {number} contains text, not code. Which cell fails?")
    return cell


def by_interest(task: Task, notebook: ParsedNotebook) -> list[ParsedCell]:
    """Return the code cells: the active one first, then one with the named error, then the last
    run.
    """
    spoken = ERROR_NAME.findall(task.words)

    def interest(cell: ParsedCell) -> tuple[bool, bool, int, int]:
        other_error = not any((cell.error or "").startswith(name) for name in spoken)
        return (cell.id != task.active_cell, other_error, -(cell.run_count or 0), cell.number)

    return sorted(notebook.code, key=interest)


def try_cell(task: Task, notebook: ParsedNotebook) -> Recipe[CellProblem]:
    """Without a visible failure, run the named or active code cell and return its problem."""
    named = named_cell(task, notebook)
    cell = named or notebook.cell(task.active_cell)
    if cell is None or not cell.is_code or not cell.source.strip():
        raise SkillFailed(no_error(named))
    ended = yield from run(notebook, cell, f"I see no error yet; I'll run cell {cell.number}.")
    if ended.error is None:
        raise SkillFailed(
            f"I ran cell {cell.number}: it works. If another cell fails, run it and ask me."
        )
    return CellProblem(cell, ended.error, seen=True)


def no_error(cell: ParsedCell | None) -> str:
    """Return the answer without a visible failure."""
    where = "this notebook" if cell is None else f"cell {cell.number}"
    return f"I see no error in {where}. Run the cell that fails and ask me again."


@dataclass(slots=True)
class Repair:
    """The repair of one failing cell, and the story to report."""

    task: Task
    notebook: ParsedNotebook
    problem: CellProblem
    edits: int = 0
    told: list[str] = field(default_factory=list[str])
    error: str | None = None
    advice: str | None = None
    found: Diagnosis | None = None

    def work(self) -> Recipe[None]:
        """Repair and run until the cell works or no rule applies."""
        self.error = self.problem.error
        for _ in range(MAX_ROUNDS):
            found = yield from self.diagnosis(self.error)
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

    def diagnosis(self, error: str) -> Recipe[Diagnosis]:
        """Return the diagnosis of an error, listing files first where one is missing."""
        files = yield from listed_files(self.task, self.notebook, error, may_run=True)
        self.found = diagnose(self.notebook, self.cell, error, files)
        return self.found

    @property
    def cell(self) -> ParsedCell:
        """The current state of the cell."""
        return self.problem.cell

    def apply(self, found: Edit | RunFirst) -> Recipe[None]:
        """Apply a diagnosis."""
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
        """Run a cell below, and report that the order is wrong."""
        below = found.cells[0]
        say = self.announce(found)
        needed = needed_before(below, self.notebook.code)
        if any(cell.run_count is None for cell in needed):
            yield from run_needed(self.notebook, below, say)
            say = ""
        ended = yield from run(self.notebook, below, say)
        if needed and NAME_ERROR.match(ended.error or ""):  # run in an earlier kernel
            yield from run_needed(self.notebook, below, "")
            ended = yield from run(self.notebook, below)
        if ended.error is not None:
            raise SkillFailed(
                f"Cell {self.cell.number} needs cell {below.number} below it, and that one fails: "
                f"`{ended.error}`."
            )
        self.told.append(
            f"{found.why}; I ran that one first. A run from the top would fail again, so cell "
            f"{below.number} should move above cell {self.cell.number}"
        )

    def announce(self, found: RunFirst) -> str:
        """Return the text before other cells are run."""
        return f"Cell {self.cell.number}: {found.why}. I'll run {listed(list(found.cells))} first."

    def story(self) -> list[str]:
        """Return the problem and the steps taken, line by line."""
        verb = "failed with" if self.problem.seen else "would have failed with"
        lines = [f"Cell {self.cell.number} {verb} `{self.problem.error}`."]
        words = ["The cause", *("Then" for _ in self.told[1:])]
        return lines + [f"- {word}: {told}." for word, told in zip(words, self.told, strict=False)]

    def report_stopped(self, reason: SkillFailed) -> str:
        """Return the answer when a step was impossible."""
        if self.told:
            return "\n".join([*self.story(), f"\n{reason}"])
        if isinstance(self.found, Edit | RunFirst):
            return f"{self.story()[0]} The cause: {self.found.why}.\n\n{reason}"
        return str(reason)

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
