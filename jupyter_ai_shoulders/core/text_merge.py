"""Merges two changes of one text by lines, and where that fails by words. Pure.

Used where a text was changed on two sides: by the edit tools (``tools.editing.three_way_merge``),
by undo of files (``files.undo.file_undo``), by pending edits and by proposals. The page has the
same rules (``labextension/src/text/merge.ts``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.line_diff import changed_regions

_WORDS = re.compile(r"\w+|\s|[^\w\s]")


@dataclass(frozen=True, slots=True)
class LineChange:
    """Lines ``start`` to ``end`` (0-based, half-open) of a text become ``lines``."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge_texts(base: str, mine: str, theirs: str) -> str | None:
    """Return the text with both changes of ``base``; None if they change the same lines.

    An identical change on both sides is applied once.
    """
    if theirs in {mine, base}:
        return mine
    if mine == base:
        return theirs
    merged = _merge(*_lines(base, mine, theirs), _nothing)
    return None if merged is None else "\n".join(merged)


def merge_words(base: str, mine: str, theirs: str) -> str | None:
    """Merge like ``merge_texts``; lines that both sides changed are merged by words.

    None if both change the same words, or insert words at the same place.
    """
    merged = _merge(*_lines(base, mine, theirs), _by_words)
    return None if merged is None else "\n".join(merged)


def merge_preferring(base: str, mine: str, preferred: str) -> str:
    """Merge both changes; where both changed the same lines, take those of ``preferred``."""
    merged = _merge(*_lines(base, mine, preferred), lambda _base, _mine, theirs: theirs)
    return mine if merged is None else "\n".join(merged)


def line_changes(before: str, after: str) -> list[LineChange]:
    r"""Return the changes from ``before`` to ``after`` in whole lines; only ``\n`` ends a line."""
    return _changes(before.split("\n"), after.split("\n"))


def changed_lines(text: str, changes: Iterable[LineChange]) -> list[str]:
    """Return the lines of a text with changes applied, which must not overlap."""
    return _changed(text.split("\n"), changes)


_Pieces = Sequence[str]
_Resolve = Callable[[_Pieces, _Pieces, _Pieces], _Pieces | None]
"""Resolves pieces that both sides changed; None when they cannot be merged."""


def _lines(base: str, mine: str, theirs: str) -> tuple[_Pieces, _Pieces, _Pieces]:
    return base.split("\n"), mine.split("\n"), theirs.split("\n")


def _nothing(_base: _Pieces, _mine: _Pieces, _theirs: _Pieces) -> None:
    return None


def _by_words(base: _Pieces, mine: _Pieces, theirs: _Pieces) -> _Pieces | None:
    if not len(base) == len(mine) == len(theirs):
        return None  # lines are never joined or split
    merged: list[str] = []
    for lines in zip(base, mine, theirs, strict=True):
        old, here, there = map(_WORDS.findall, lines)
        words = _merge(old, here, there, _nothing)
        if words is None:
            return None
        merged.append("".join(words))
    return merged


def _merge(
    base: _Pieces, mine: _Pieces, theirs: _Pieces, resolve: _Resolve
) -> Sequence[str] | None:
    own, others = _changes(base, mine), _changes(base, theirs)
    more = [change for change in others if change not in own]
    changes: list[LineChange] = []
    for group in _groups([*own, *more]):
        if len(group) == 1:
            changes += group
            continue
        start, end = group[0].start, max(change.end for change in group)
        sides = [
            _changed(base[start:end], [_moved(each, -start) for each in group if each in side])
            for side in (own, more)
        ]
        both = resolve(base[start:end], sides[0], sides[1])
        if both is None:
            return None
        changes.append(LineChange(start, end, tuple(both)))
    return _changed(base, changes)


def _groups(changes: Iterable[LineChange]) -> Iterator[list[LineChange]]:
    """Yield groups of conflicting changes, in the order of the text."""
    group: list[LineChange] = []
    for change in sorted(changes, key=_place):
        if group and not any(_clash(change, other) for other in group):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _clash(one: LineChange, other: LineChange) -> bool:
    """Return whether two changes conflict: they share lines, or insert at the same place."""
    overlap = one.start < other.end and other.start < one.end
    return overlap or _place(one) == _place(other)


def _place(change: LineChange) -> tuple[int, int]:
    return change.start, change.end


def _moved(change: LineChange, by: int) -> LineChange:
    return LineChange(change.start + by, change.end + by, change.lines)


def _changes(old: _Pieces, new: _Pieces) -> list[LineChange]:
    return [
        LineChange(start, end, tuple(new[first:last]))
        for start, end, first, last in changed_regions(old, new)
    ]


def _changed(lines: _Pieces, changes: Iterable[LineChange]) -> list[str]:
    result: list[str] = []
    position = 0
    for change in sorted(changes, key=_place):
        result += [*lines[position : change.start], *change.lines]
        position = change.end
    return [*result, *lines[position:]]
