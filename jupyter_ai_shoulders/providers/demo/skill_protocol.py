"""The protocol of skills: generators that yield calls, receive their results and return the answer.

``planner`` runs a skill from its start for every request and feeds it the results in the
conversation, so that no state is kept between requests.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from jupyter_ai_shoulders.wire.base import JsonObject

RUN_LINE = re.compile(
    r"^Cell \d+ \(id=[^)]+\) (?P<verdict>finished: ok|failed: (?P<error>.*)|.*)$",
    re.MULTILINE,
)
STATISTICS = re.compile(r" · In\[\d+\].*$| · [\d.]+ s$")


@dataclass(frozen=True, slots=True)
class SkillCall:
    """One tool call, with the text before it."""

    tool: str
    arguments: JsonObject
    say: str = ""


@dataclass(frozen=True, slots=True)
class SkillReply:
    """One step: text, and a call unless the answer is complete."""

    text: str
    act: SkillCall | None = None


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call."""

    tool: str
    text: str
    is_error: bool

    @property
    def denied(self) -> bool:
        """Return whether the user or a rule denied the call."""
        first = self.first_line.lower()
        return self.is_error and ("not allow" in first or "approval" in first)

    @property
    def proposed(self) -> bool:
        """Return whether the change became a proposal, because the cell had changed."""
        return self.is_error and "as a proposal" in self.text

    @property
    def first_line(self) -> str:
        """Return the first line of the result."""
        return self.text.strip().partition("\n")[0]

    def run(self) -> CellRunResult | None:
        """Return the result of running a cell, or None when the cell was not run."""
        found = RUN_LINE.search(self.text)
        if found is None:
            return None
        error = found["error"]
        if error is None and not found["verdict"].startswith("finished"):
            error = STATISTICS.sub("", found["verdict"])
        return CellRunResult(
            error=None if error is None else STATISTICS.sub("", error), text=self.text
        )


@dataclass(frozen=True, slots=True)
class CellRunResult:
    """The result of a run; ``error`` is ``ErrorName: message``, or None."""

    error: str | None
    text: str

    @property
    def printed(self) -> list[str]:
        """Return the lines of its outputs."""
        return [line for line in self.text.split("\n")[1:] if not line.startswith("--- ")]


T = TypeVar("T")
Recipe = Generator[SkillCall, CallResult, T]
"""A part of a skill, for ``yield from``."""
Skill = Recipe[str]


class SkillFailed(Exception):
    """Ends a skill that could not do the task; the message is its answer."""

    def with_story(self, story: str) -> SkillFailed:
        """Return the same failure with another answer."""
        return type(self)(story)


class OutOfSteps(SkillFailed):
    """The turn allows no further calls."""


def refused(outcome: CallResult, what: str) -> SkillFailed:
    """Return the failure of ``what``, with its reason."""
    if outcome.denied:
        return SkillFailed(f"I did not {what}: it was not allowed.")
    if outcome.proposed:
        return SkillFailed(
            f"I could not {what} directly, because the cell has changed since I read it. Nothing "
            "was overwritten: my change waits as a proposal for you to look at."
        )
    return SkillFailed(f"I could not {what}: {outcome.first_line}")
