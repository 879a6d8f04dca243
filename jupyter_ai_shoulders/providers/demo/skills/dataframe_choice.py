"""Selects the dataframe of a request; asks when several match. Used by ``plot`` and ``profile``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jupyter_ai_shoulders.providers.demo.code_analysis import names
from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.dataframes import DataFrameInfo, closest_name, find_frames
from jupyter_ai_shoulders.providers.demo.notebook import ParsedNotebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import Recipe, SkillFailed
from jupyter_ai_shoulders.providers.demo.skills.clarify import ask

MAX_NAMED = 6
"""Dataframes named in a question."""


def which_frame(
    task: Task, notebook: ParsedNotebook, verb: str, columns: Sequence[str] = ()
) -> Recipe[DataFrameInfo]:
    """Return the dataframe: named, with the columns, in the active cell, or as answered.

    Raises ``SkillFailed`` when there is none.
    """
    frames = find_frames(notebook)
    if not frames:
        raise SkillFailed(
            "I found no dataframe in this notebook. Load one first, for example with "
            "`pd.read_csv(…)`, and ask me again."
        )
    fitting = candidates(task, notebook, frames, columns)
    if len(fitting) == 1:
        return fitting[0]
    options = [frame.name for frame in fitting]
    *most, last = [f"`{name}`" for name in options[:MAX_NAMED]]
    named = f"{', '.join(most)} or {last}" + ("" if len(options) <= MAX_NAMED else ", or another")
    question = f"Which dataframe shall I {verb}: {named}?"
    answer = yield from ask(task, question, options)
    said = [frame for frame in fitting if frame.name == answer or frame.name in spoken(answer)]
    if not said:
        raise SkillFailed(f"I do not know a dataframe `{answer}` here. There is {named}.")
    return said[0]


def candidates(
    task: Task, notebook: ParsedNotebook, frames: dict[str, DataFrameInfo], columns: Sequence[str]
) -> list[DataFrameInfo]:
    """Return the best matching dataframes; one when there is no doubt."""
    said = spoken(task.words)
    named = [frame for frame in frames.values() if frame.name in said]
    if named:
        return named[:1]
    having = {
        frame.name: sum(closest_name(name, list(frame.columns)) is not None for name in columns)
        for frame in frames.values()
    }
    fitting = [frame for frame in frames.values() if having[frame.name] == max(having.values())]
    active = notebook.cell(task.active_cell)
    used = names(active.source) if active is not None and active.is_code else None
    in_active = [frame for frame in fitting if used and frame.name in used.used | used.defined]
    return in_active if len(in_active) == 1 else fitting


def spoken(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"\w+", text))
