"""Globs from a model, matched in time proportional to pattern and path.

``*`` and ``?`` stay within a folder, ``**`` crosses folders, ``{a,b}`` are alternatives, ``[ab]``
is a set. A glob without ``/`` matches the name alone, as in ripgrep and ``.gitignore``. Nothing
backtracks: ``fnmatch`` handles each ``*`` once, and folders are matched by dynamic programming.
Used by ``guard.search.directory_listing``, ``guard.search.tree_search`` and their tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase, translate
from operator import methodcaller

from jupyter_ai_shoulders.core.errors import InvalidRequest

ALTERNATIVES_LIMIT = 64
"""Maximum number of globs that ``{a,b}`` expand to."""
LENGTH_LIMIT = 1_000
_WILD = re.compile(r"[*?\[]")
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
        self._matchers: dict[frozenset[str], Callable[[str], object]] = {}
        """By the globs for a name, which are parts of this one."""
        anywhere = [len(each) == 2 and each[0] == "**" for each in self._alternatives]
        self._by_name = _matcher(frozenset(self.names)) if all(anywhere) else None
        """Matches names in every folder."""

    def matches(self, path: str) -> bool:
        """Return whether a path with ``/``, relative to the searched folder, matches."""
        parts = path.split("/")
        return any(_matches(segments, parts) for segments in self._alternatives)

    def names_in(self, folder: str) -> Callable[[str], object] | None:
        """Return what tells for each name in a folder whether its path matches; None: no name.

        ``folder`` is relative to the searched folder, empty for itself.
        """
        if self._by_name is not None:
            return self._by_name
        parts = folder.split("/") if folder else []
        found = {name for segments in self._alternatives for name in _last(segments, parts)}
        if not found:
            return None
        key = frozenset(found)
        if key not in self._matchers:
            self._matchers[key] = _matcher(key)
        return self._matchers[key]

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


def _last(segments: Sequence[str], parts: Sequence[str]) -> Iterator[str]:
    """Yield the globs that the name after these folders may match."""
    reached = _skipping(segments, {0})
    for part in parts:
        passed = {at + 1 for at in reached if _passes(segments, at, part)}
        reached = _skipping(segments, passed | {at for at in reached if _crosses(segments, at)})
        if not reached:
            return
    for at in reached:
        if at < len(segments) and len(segments) in _skipping(segments, {at + 1}):
            yield "*" if _crosses(segments, at) else segments[at]


def _crosses(segments: Sequence[str], at: int) -> bool:
    return at < len(segments) and segments[at] == "**"


def _passes(segments: Sequence[str], at: int, part: str) -> bool:
    return at < len(segments) and segments[at] != "**" and fnmatchcase(part, segments[at])


def _skipping(segments: Sequence[str], reached: set[int]) -> set[int]:
    """Add what is reached when ``**`` stands for no folder."""
    found = set(reached)
    for at in range(len(segments)):
        if at in found and segments[at] == "**":
            found.add(at + 1)
    return found


def _matcher(globs: frozenset[str]) -> Callable[[str], object]:
    if all(glob[:1] == "*" and not _WILD.search(glob[1:]) for glob in globs):
        return methodcaller("endswith", tuple(glob[1:] for glob in globs))
    return re.compile("|".join(map(translate, sorted(globs)))).match
