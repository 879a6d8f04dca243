"""Globs from a model, matched in time proportional to pattern and path.

``*`` and ``?`` stay within a folder, ``**`` crosses folders, ``{a,b}`` are alternatives, ``[ab]``
is a set. A glob without ``/`` matches the name alone, as in ripgrep and ``.gitignore``. Nothing
backtracks: ``fnmatch`` handles each ``*`` once, and folders are matched by dynamic programming.
Used by ``guard.search.directory_listing``, ``guard.search.tree_search`` and their tools.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from jupyter_ai_shoulders.core.errors import InvalidRequest

ALTERNATIVES_LIMIT = 64
"""Maximum number of globs that ``{a,b}`` expand to."""
LENGTH_LIMIT = 1_000
_BRACES = re.compile(r"\{([^{}]*)\}")


class Glob:
    """A parsed glob."""

    def __init__(self, text: str) -> None:
        """Parse it. Raises ``InvalidRequest`` when it is too long or expands too much."""
        if len(text) > LENGTH_LIMIT or "\0" in text:
            raise InvalidRequest(
                f"The glob has {len(text)} characters; it may have {LENGTH_LIMIT}, and no NUL.",
                hint="Use a shorter glob, such as *.py or src/**/*.csv.",
            )
        self._alternatives = [_segments(glob) for glob in _expanded(text)]

    def matches(self, path: str) -> bool:
        """Return whether a path with ``/``, relative to the searched folder, matches."""
        parts = path.split("/")
        return any(_matches(segments, parts) for segments in self._alternatives)

    @property
    def names(self) -> tuple[str, ...]:
        """Globs for file names; each matching file matches one of them."""
        last = (segments[-1] for segments in self._alternatives)
        return tuple(dict.fromkeys("*" if name == "**" else name for name in last))


def _expanded(text: str) -> list[str]:
    """Expand the innermost braces until there are none."""
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
    """Match component by component; ``reached`` holds how many parts may be consumed so far."""
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
