"""Files that run by themselves later or instruct agents: changing them asks in every mode.

The list is data, ``protected_files.json``, with its sources. File tools ask
(``tools.permissions.rules``), a command line that names one asks (``tools.commands.run_command``),
and the sandbox protects existing ones (``guard.sandbox.protected_paths``) and quarantines new ones
(``guard.sandbox.quarantine``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from jupyter_ai_shoulders.core.sensitive_files.path_patterns import PathPatterns, plain_parts

Kind = Literal[
    "instructions",
    "git",
    "shell",
    "session",
    "programs",
    "python",
    "jupyter",
    "languages",
    "editors",
    "automation",
]


class ProtectedFileGroup(BaseModel):
    """Files of one kind; ``then`` says when they run, as a sentence without its full stop."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    then: str
    source: str
    files: tuple[str, ...]
    places: tuple[str, ...]


class _ProtectedFileTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    groups: tuple[ProtectedFileGroup, ...]


def protected_group_of(path: str) -> ProtectedFileGroup | None:
    """Return the group of files that a path (with ``/``) belongs to, or None."""
    parts = plain_parts(path)
    if not has_protected_name(parts):
        return None
    return next(group for group, patterns in _patterns() if patterns.match(parts))


def has_protected_name(parts: Sequence[str]) -> bool:
    """Return whether a path, in the form of ``path_patterns.plain_parts``, names such a file."""
    return _any().match(parts)


def protected_locations() -> tuple[str, ...]:
    """Return the locations of the list, relative to a home directory, with ``/``."""
    return tuple(place for group in _table().groups for place in group.places)


def first_protected_file_in(line: str) -> str | None:
    """Return the first such file named in a command line, as spelled there, or None.

    A program at the start of a command does not count as changed. Names that the shell assembles,
    or that a program knows itself, are not detected.
    """
    for word in _WORDS.split(_QUOTES.sub("", line)):
        # ``--output=.bashrc`` and ``user@host:.bashrc`` end in the name of a file.
        for part in (word, *_PARTS.split(word)):
            group = protected_group_of(part) if part.strip("./") else None
            if group is not None and group.kind != "programs":
                return part
    return None


_QUOTES = re.compile(r"[\"'\\]")
_WORDS = re.compile(r"[\s;&|<>()`]+")
_PARTS = re.compile(r"[=:,@]")


@cache
def _table() -> _ProtectedFileTable:
    text = (
        files("jupyter_ai_shoulders.core.sensitive_files")
        .joinpath("protected_files.json")
        .read_text("utf-8")
    )
    return _ProtectedFileTable.model_validate_json(text)


@cache
def _any() -> PathPatterns:
    """Return the patterns of all groups together: most files match none."""
    groups = _table().groups
    return PathPatterns(
        (name for group in groups for name in group.files),
        (place for group in groups for place in group.places),
    )


@cache
def _patterns() -> tuple[tuple[ProtectedFileGroup, PathPatterns], ...]:
    return tuple((group, PathPatterns(group.files, group.places)) for group in _table().groups)
