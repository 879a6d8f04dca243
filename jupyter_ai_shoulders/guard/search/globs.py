"""Globs that a model gives, matched in time proportional to pattern and path.

``*`` and ``?`` stay within a folder, ``**`` crosses folders, ``{a,b}`` are alternatives, ``[ab]``
is a set. A glob without ``/`` is about the name alone, as in ripgrep and ``.gitignore``. No
backtracking engine runs here (chapters 07 and 13): ``fnmatch`` takes each ``*`` once, and folders
are matched by a table. Used by ``guard.search.directory_listing``, ``guard.search.tree_search`` and
the tools on them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from jupyter_ai_shoulders.core.errors import InvalidRequest

ALTERNATIVES_LIMIT = 64
"""Globs that ``{a,b}`` may stand for."""
LENGTH_LIMIT = 1_000
_BRACES = re.compile(r"\{([^{}]*)\}")


class Glob:
    """A glob, read once."""

    def __init__(self, text: str) -> None:
        """Read it. Raises ``InvalidRequest`` for one that is too long or stands for too much."""
        if len(text) > LENGTH_LIMIT or "\0" in text:
            raise InvalidRequest(
                f"The glob has {len(text)} characters; it may have {LENGTH_LIMIT}, and no NUL.",
                hint="Use a shorter glob, such as *.py or src/**/*.csv.",
            )
        self._alternatives = [_segments(glob) for glob in _expanded(text)]

    def matches(self, path: str) -> bool:
        """Return whether a path with ``/``, relative to the folder looked at, is meant."""
        parts = path.split("/")
        return any(_matches(segments, parts) for segments in self._alternatives)

    @property
    def names(self) -> tuple[str, ...]:
        """The globs of which one fits the name of each file that is meant."""
        last = (segments[-1] for segments in self._alternatives)
        return tuple(dict.fromkeys("*" if name == "**" else name for name in last))


def _expanded(text: str) -> list[str]:
    """Return what the innermost braces stand for, until there are none."""
    found = [text]
    while any(_BRACES.search(glob) for glob in found):
        found = [choice for glob in found for choice in _choices(glob)]
        if len(found) > ALTERNATIVES_LIMIT:
            raise InvalidRequest(
                f"The glob {text!r} stands for more than {ALTERNATIVES_LIMIT} globs.",
                hint="Use fewer alternatives in braces.",
            )
    return found


def _choices(glob: str) -> list[str]:
    braces = _BRACES.search(glob)
    if braces is None:
        return [glob]
    before, after = glob[: braces.start()], glob[braces.end() :]
    return [before + choice + after for choice in braces[1].split(",")]


def _segments(glob: str) -> list[str]:
    parts = [part for part in glob.removeprefix("./").split("/") if part] or ["**"]
    if len(parts) == 1 and not glob.startswith("/"):
        parts.insert(0, "**")
    if glob.endswith("/"):
        parts.append("**")
    return parts


def _matches(segments: Sequence[str], parts: Sequence[str]) -> bool:
    """Match folder by folder; ``reached`` holds how many parts may be used up so far."""
    reached = {0}
    for segment in segments:
        if segment == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {
                at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], segment)
            }
        if not reached:
            return False
    return len(parts) in reached
