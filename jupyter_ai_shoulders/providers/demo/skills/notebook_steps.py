"""Steps shared by skills: read a notebook, edit and run cells, list files.

Each is a generator that yields calls; skills use them with ``yield from``.
"""

from __future__ import annotations

import posixpath

from jupyter_ai_shoulders.providers.demo.code_analysis import needed_before
from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.missing_files import missing_path, paths_in_text
from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell, ParsedNotebook, parse_notebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import (
    CellRunResult,
    Recipe,
    SkillCall,
    SkillFailed,
    refused,
)
from jupyter_ai_shoulders.providers.demo.skills.clarify import ask
from jupyter_ai_shoulders.wire.base import JsonObject

MAX_WHOLE_CELLS = 10
DEPTH = 4
LISTING_CODE = (
    "print(*sorted(map(str, __import__('pathlib').Path('.').glob('**/*{ending}')))[:200], "
    "sep='\\n')"
)


def read(task: Task, *, outputs: bool, say: str) -> Recipe[ParsedNotebook]:
    """Read the notebook in question; truncated cells are read again in full."""
    path = task.notebook or (yield from which_notebook(task))
    wanted: JsonObject = {"path": path, "outputs": True} if outputs else {"path": path}
    notebook = yield from read_as(wanted, say)
    short = [cell.id for cell in notebook.code if not cell.complete][:MAX_WHOLE_CELLS]
    if not short:
        return notebook
    whole = yield from read_as({"path": path, "cells": [*short]}, "")
    return notebook.updated(whole.cells)


def read_python(task: Task, *, outputs: bool, say: str) -> Recipe[ParsedNotebook]:
    """Read the notebook in question.

    Raises ``SkillFailed`` when its language is not Python.
    """
    notebook = yield from read(task, outputs=outputs, say=say)
    if notebook.foreign is not None:
        raise SkillFailed(
            f"`{notebook.path}` holds {notebook.foreign}, and my rules for code know only Python. "
            "I changed nothing. I can outline it."
        )
    return notebook


def which_notebook(task: Task) -> Recipe[str]:
    """Return the path of the notebook, asking when several are open and none is active."""
    open_ones = [path for path in task.open_documents if path.endswith(".ipynb")]
    if not open_ones:
        raise SkillFailed(
            "I do not see a notebook. Open the one you mean (or name it, like `analysis.ipynb`) "
            "and ask me again."
        )
    named = ", ".join(f"`{path}`" for path in open_ones)
    answer = yield from ask(task, "Which notebook do you mean?", open_ones, f" Open are {named}.")
    if answer not in open_ones:
        raise SkillFailed(f"I do not see a notebook `{answer}`. Open are {named}.")
    return answer


def read_as(arguments: JsonObject, say: str) -> Recipe[ParsedNotebook]:
    """Read a notebook with these arguments."""
    outcome = yield SkillCall("read_notebook", arguments, say)
    notebook = parse_notebook(outcome.text)
    if notebook is None:
        raise refused(outcome, f"read `{arguments['path']}`")
    return notebook


def edit(notebook: ParsedNotebook, cell: ParsedCell, source: str, say: str) -> Recipe[None]:
    """Replace the source of a cell."""
    arguments: JsonObject = {"path": notebook.path, "cell_id": cell.id, "source": source}
    outcome = yield SkillCall("edit_cell", arguments, say)
    if outcome.is_error:
        raise refused(outcome, f"edit cell {cell.number}")


def run(notebook: ParsedNotebook, cell: ParsedCell, say: str = "") -> Recipe[CellRunResult]:
    """Run a cell; an error in it is part of the result."""
    outcome = yield SkillCall("run_cell", {"path": notebook.path, "cell_id": cell.id}, say)
    ended = outcome.run()
    if ended is None:
        raise refused(outcome, f"run cell {cell.number}")
    return ended


def run_needed(notebook: ParsedNotebook, cell: ParsedCell, say: str) -> Recipe[list[ParsedCell]]:
    """Run the cells above that define names a cell uses; return them."""
    needed = needed_before(cell, notebook.code)
    for position, earlier in enumerate(needed):
        ended = yield from run(notebook, earlier, say if position == 0 else "")
        if ended.error is not None:
            raise SkillFailed(
                f"Cell {cell.number} needs cell {earlier.number}, and that one fails: "
                f"`{ended.error}`. Ask me to fix cell {earlier.number} first."
            )
    return needed


def listed(cells: list[ParsedCell]) -> str:
    """Return cells in words: ``cells 2, 3 and 5``."""
    numbers = [str(cell.number) for cell in cells]
    if len(numbers) == 1:
        return f"cell {numbers[0]}"
    return f"cells {', '.join(numbers[:-1])} and {numbers[-1]}"


def listed_files(
    task: Task, notebook: ParsedNotebook, error: str, *, may_run: bool
) -> Recipe[tuple[str, ...] | None]:
    """Return the files near the notebook, relative to its folder; None when they cannot be listed.

    Lists files only when the error is about a missing file. ``may_run``: code may be run for it.
    """
    path = missing_path(error)
    if path is None:
        return None
    say = f"There is no file `{path}`; I'll look which files there are."
    if "list_files" in task.tools:
        outcome = yield SkillCall("list_files", listing_arguments(task), say)
        folder = posixpath.dirname(notebook.path) or "."
        found = [posixpath.relpath(one, folder) for one in paths_in_text(outcome.text)]
        return None if outcome.is_error else tuple(found)
    ending = posixpath.splitext(path)[1]
    if may_run and "run_code" in task.tools and ending[1:].isalnum():
        code = LISTING_CODE.format(ending=ending)
        outcome = yield SkillCall("run_code", {"path": notebook.path, "code": code}, say)
        return None if outcome.is_error else tuple(paths_in_text(outcome.text))
    return None


def listing_arguments(task: Task) -> JsonObject:
    """Return the arguments that the tool takes."""
    taken = task.tools["list_files"]
    return {"depth": DEPTH} if "depth" in taken else {}
