"""Looks which files there are, with the tools that are offered. Used by fix and explain."""

from __future__ import annotations

import posixpath

from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.missing_files import missing_path, paths_in_text
from jupyter_ai_shoulders.providers.demo.notebook import ParsedNotebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import Recipe, SkillCall
from jupyter_ai_shoulders.wire.base import JsonObject

DEPTH = 4
LISTING_CODE = (
    "print(*sorted(map(str, __import__('pathlib').Path('.').glob('**/*{ending}')))[:200], "
    "sep='\\n')"
)


def listed_files(
    task: Task, notebook: ParsedNotebook, error: str, *, may_run: bool
) -> Recipe[tuple[str, ...] | None]:
    """Return the files near the notebook, seen from its folder; None when nobody could look.

    Looks only when the error is about a missing file. ``may_run``: code may be run for it.
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
    """Return the arguments, as far as the tool takes them."""
    taken = task.tools["list_files"]
    return {"depth": DEPTH} if "depth" in taken else {}
