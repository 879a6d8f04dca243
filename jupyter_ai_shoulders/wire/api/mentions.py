"""Files and variables mentioned with ``@`` in the input, and skills with ``/``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel

MATCH_LIMIT = 50
"""Maximum number of files in an answer."""
QUERY_LIMIT = 200
"""Maximum characters of a search."""


class FileSearchQuery(CommandModel):
    """Query arguments of ``GET files/search``."""

    q: str = Field(default="", max_length=QUERY_LIMIT)


class FileMatch(WireModel):
    """A file or folder of the workspace, by its path."""

    path: str
    kind: Literal["file", "folder", "notebook"]


class FileMatches(WireModel):
    """``GET files/search``, best first; not ``complete`` when the workspace is too large."""

    matches: tuple[FileMatch, ...]
    complete: bool


class VariablesQuery(CommandModel):
    """Query arguments of ``GET variables``."""

    path: str = Field(min_length=1, max_length=4096)


class VariableSummary(WireModel):
    """A variable of a kernel: its name and type, never its value."""

    name: str
    summary: str


class VariableList(WireModel):
    """``GET variables``: variables of the notebook's kernel; ``reason`` when they are unknown."""

    variables: tuple[VariableSummary, ...]
    reason: str | None


class SkillSummary(WireModel):
    """A skill: a message with ``/name`` includes its text."""

    name: str
    description: str
    path: str


class SkillSummaries(WireModel):
    """``GET skills``."""

    skills: tuple[SkillSummary, ...]
