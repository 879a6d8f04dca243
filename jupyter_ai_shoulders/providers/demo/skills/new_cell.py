"""Adds a code cell and finds it by its id. Used by ``plot`` and ``profile``."""

from __future__ import annotations

import re
from dataclasses import replace

from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.dataframes import DataFrameInfo
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import (
    Recipe,
    SkillCall,
    SkillFailed,
    refused,
)
from jupyter_ai_shoulders.providers.demo.skills.notebook_steps import read_as

NEW_CELL_ID = re.compile(r"\bid[=: ]+[\"'`]?([\w-]+)")
BELOW_ACTIVE = re.compile(
    r"\b(below|under|after)\b.*\b(this|it|here)\b|\bnew cell below\b", re.IGNORECASE
)


def place(task: Task, notebook: ParsedNotebook, frame: DataFrameInfo) -> ParsedCell:
    """Return the cell to insert after: the active one if requested, else the last with the data."""
    active = notebook.cell(task.active_cell)
    first = frame.defined_in or 0
    if active is not None and active.number >= first and BELOW_ACTIVE.search(task.words):
        return active
    used = [cell for cell in notebook.cells if cell.number == frame.last_used_in]
    return used[0] if used else notebook.cells[-1]


def add(notebook: ParsedNotebook, after: ParsedCell, source: str, what: str) -> Recipe[ParsedCell]:
    """Add a cell for ``what`` and return it with its id."""
    path = notebook.path
    say = f"I'll add a {what} cell below cell {after.number}."
    outcome = yield SkillCall(
        "add_cell",
        {"path": path, "source": source, "cell_type": "code", "after": after.id},
        say,
    )
    if outcome.is_error:
        raise refused(outcome, "add a cell")
    found = NEW_CELL_ID.search(outcome.text)
    if found and notebook.cell(found[1]) is None:
        return ParsedCell(
            after.number + 1, found[1], "code", source, None, complete=True, failed=False
        )
    known = {cell.id for cell in notebook.cells}
    now = yield from read_as({"path": path}, "")
    new = [cell for cell in now.code if cell.id not in known]
    if not new:
        raise SkillFailed("I added a cell, but I cannot find it in the notebook any more.")
    return replace(new[0], source=source)
