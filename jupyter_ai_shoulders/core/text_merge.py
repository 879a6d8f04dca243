"""Merges two changes of one text line by line. Pure.

Used where a text was changed on two sides: by undo of files (``files.undo``), by pending edits and
by proposals. The page has the same rule (``labextension/src/bridge/mergeText.ts``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_ai_shoulders.core.line_diff import changed_regions


@dataclass(frozen=True, slots=True)
class LineChange:
    """Lines ``start`` to ``end`` (0-based, half-open) of a text become ``lines``."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge_texts(base: str, mine: str, theirs: str) -> str | None:
    """Return the text with both changes of ``base``; None where both changed the same lines.

    What both changed in the same way is changed once.
    """
    if theirs in {mine, base}:
        return mine
    if mine == base:
        return theirs
    own, others = line_changes(base, mine), line_changes(base, theirs)
    more = [change for change in others if change not in own]
    if any(_clash(change, other) for change in more for other in own):
        return None
    return "\n".join(changed_lines(base, [*own, *more]))


def line_changes(before: str, after: str) -> list[LineChange]:
    r"""Return what makes ``after`` of ``before``, in whole lines; ``\n`` alone ends a line."""
    old, new = before.split("\n"), after.split("\n")
    return [
        LineChange(start, end, tuple(new[first:last]))
        for start, end, first, last in changed_regions(old, new)
    ]


def _clash(one: LineChange, other: LineChange) -> bool:
    """Return whether it is not clear what two changes make together."""
    overlap = one.start < other.end and other.start < one.end
    return overlap or (one.start, one.end) == (other.start, other.end)


def changed_lines(text: str, changes: Iterable[LineChange]) -> list[str]:
    """Return the lines of a text with changes that do not overlap."""
    lines = text.split("\n")
    result: list[str] = []
    position = 0
    for change in sorted(changes, key=lambda change: (change.start, change.end)):
        result += [*lines[position : change.start], *change.lines]
        position = change.end
    return [*result, *lines[position:]]
