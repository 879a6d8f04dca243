"""Merges two changes of one text line by line. Pure.

Used where a text was changed on two sides: by undo of files (``files.undo``), by pending edits and
by proposals. The page has the same rule (``labextension/src/bridge/mergeText.ts``).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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
    return "\n".join(_changed(base.split("\n"), [*own, *more]))


def line_changes(before: str, after: str) -> list[LineChange]:
    r"""Return what makes ``after`` of ``before``, in whole lines; ``\n`` alone ends a line."""
    old, new = before.split("\n"), after.split("\n")
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle, other = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = difflib.SequenceMatcher(None, middle, other, autojunk=len(middle) > _EXACT)
    return [
        LineChange(head + start, head + end, tuple(other[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    ]


_EXACT = 2_000
"""Changed lines up to which lines that occur often are compared, too: that is quadratic."""


def _common(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many lines both begin with."""
    count = 0
    for one, other in zip(some, others, strict=False):
        if one != other:
            break
        count += 1
    return count


def _clash(one: LineChange, other: LineChange) -> bool:
    """Return whether it is not clear what two changes make together."""
    overlap = one.start < other.end and other.start < one.end
    return overlap or (one.start, one.end) == (other.start, other.end)


def _changed(lines: Sequence[str], changes: Iterable[LineChange]) -> list[str]:
    result: list[str] = []
    position = 0
    for change in sorted(changes, key=lambda change: (change.start, change.end)):
        result += [*lines[position : change.start], *change.lines]
        position = change.end
    return [*result, *lines[position:]]
