"""Asks the user to choose: with the ``clarify`` tool where that is offered, else in the answer.

Used by the skills with ``yield from``.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.skill_protocol import Recipe, SkillCall, SkillFailed
from jupyter_ai_shoulders.wire.base import Json, JsonObject

MAX_OPTIONS = 6
MAX_OPTION = 80
"""Characters of an option, the limit of the ``clarify`` tool."""


def ask(task: Task, question: str, options: Sequence[str], hint: str = "") -> Recipe[str]:
    """Ask and return the answer; one of the options where the answer names one.

    Raises ``SkillFailed`` with the question (and ``hint``) where it cannot be answered within this
    turn.
    """
    if "clarify" not in task.tools:
        raise SkillFailed(f"{question}{hint}")
    shown: list[Json] = [one for one in dict.fromkeys(options) if 0 < len(one) <= MAX_OPTION]
    arguments: JsonObject = {"question": question}
    if shown:
        arguments["options"] = shown[:MAX_OPTIONS]
    outcome = yield SkillCall("clarify", arguments)
    if outcome.is_error or not outcome.text.strip():
        raise SkillFailed(f"{question}{hint}")
    return chosen(outcome.text.strip(), options)


def chosen(answer: str, options: Sequence[str]) -> str:
    """Return the option an answer names, or the answer."""
    lowered = answer.lower()
    if lowered in (option.lower() for option in options):
        return next(option for option in options if option.lower() == lowered)
    named = [option for option in options if option.lower() in lowered]
    return max(named, key=len) if named else answer
