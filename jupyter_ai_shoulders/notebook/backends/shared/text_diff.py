"""The smallest changes between two texts, so that carets and concurrent typing survive.

Pure; used by ``notebook.backends.shared.ydoc_cells``. The page has the same rule in
``labextension/src/text/edits.ts``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

_SMALL = 40_000
"""Limit for a comparison character by character: the product of both lengths."""


class TextSplice(NamedTuple):
    """Replace ``start`` to ``end`` of the text before all changes."""

    start: int
    end: int
    insert: str


_Compare = Callable[[str, str, int], Iterator[TextSplice]]


def text_changes(before: str, after: str) -> list[TextSplice]:
    """Return the changes from first to last; offsets are in characters."""
    return list(_trimmed(before, after, 0, _by_line))


def tail_change(before: str, after: str) -> TextSplice | None:
    """Return the one change that replaces everything from the first difference on."""
    if before == after:
        return None
    start = _common(before, after)
    return TextSplice(start, len(before), after[start:])


def _trimmed(before: str, after: str, at: int, compare: _Compare) -> Iterator[TextSplice]:
    """Skip the common prefix and suffix, and compare the rest."""
    if before == after:
        return
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    if left and right:
        yield from compare(left, right, at + start)
    else:
        yield TextSplice(at + start, at + start + len(left), right)


def _by_line(before: str, after: str, at: int) -> Iterator[TextSplice]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    offsets = [0]
    for line in old:
        offsets.append(offsets[-1] + len(line))
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            texts = "".join(old[i1:i2]), "".join(new[j1:j2])
            yield from _trimmed(*texts, at + offsets[i1], _by_character)


def _by_character(before: str, after: str, at: int) -> Iterator[TextSplice]:
    if len(before) * len(after) > _SMALL:
        yield TextSplice(at, at + len(before), after)
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield TextSplice(at + i1, at + i2, after[j1:j2])


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix, by bisection, which is fast for long texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
