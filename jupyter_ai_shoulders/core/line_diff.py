"""Finds the differing lines of two texts in bounded time. Pure.

``difflib`` compares small regions. Between them, lines that occur once in both texts are aligned
(patience diff, Bram Cohen): ``difflib`` alone takes minutes for two files of 100 000 lines that
differ in every second one. Used by ``core.text_merge``.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

Region = tuple[int, int, int, int]
"""Half-open line ranges: start and end in the old text, start and end in the new one."""
COMPARED = 90_000
"""Maximum number of line pairs for a line-by-line comparison (0.2 s at worst); a larger region
without unique lines counts as changed as a whole.
"""


def changed_regions(old: Sequence[str], new: Sequence[str]) -> list[Region]:
    """Return the differing regions in order, with adjacent ones joined."""
    joined: list[Region] = []
    for region in _regions(old, new, (0, len(old), 0, len(new))):
        if joined and joined[-1][1] == region[0] and joined[-1][3] == region[2]:
            joined[-1] = (joined[-1][0], region[1], joined[-1][2], region[3])
        else:
            joined.append(region)
    return joined


def _regions(old: Sequence[str], new: Sequence[str], region: Region) -> Iterator[Region]:
    start, end, first, last = region
    while start < end and first < last and old[start] == new[first]:
        start, first = start + 1, first + 1
    while start < end and first < last and old[end - 1] == new[last - 1]:
        end, last = end - 1, last - 1
    if start == end or first == last:
        if (start, first) != (end, last):
            yield start, end, first, last
        return
    anchors = _anchors(old, new, (start, end, first, last))
    if not anchors:
        yield from _compared(old, new, (start, end, first, last))
        return
    for line, other in [*anchors, (end, last)]:
        if (start, first) != (line, other):
            yield from _regions(old, new, (start, line, first, other))
        start, first = line + 1, other + 1


def _anchors(old: Sequence[str], new: Sequence[str], region: Region) -> list[tuple[int, int]]:
    """Return the longest increasing sequence of lines that occur once in both, as index pairs."""
    start, end, first, last = region
    if end - start == 1 or last - first == 1:
        return []  # a single line cannot be divided
    counts, others = Counter(old[start:end]), Counter(new[first:last])
    place = {new[i]: i for i in range(first, last) if others[new[i]] == 1}
    pairs = [
        (i, place[old[i]]) for i in range(start, end) if counts[old[i]] == 1 and old[i] in place
    ]
    return _ascending(pairs)


def _ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest increasing subsequence of pairs (patience sorting)."""
    tops: list[int] = []
    piles: list[int] = []
    before: list[int | None] = []
    for index, (_, other) in enumerate(pairs):
        pile = bisect_left(tops, other)
        before.append(piles[pile - 1] if pile else None)
        if pile == len(tops):
            tops.append(other)
            piles.append(index)
        else:
            tops[pile], piles[pile] = other, index
    row: list[tuple[int, int]] = []
    at = piles[-1] if piles else None
    while at is not None:
        row.append(pairs[at])
        at = before[at]
    return row[::-1]


def _compared(old: Sequence[str], new: Sequence[str], region: Region) -> Iterator[Region]:
    start, end, first, last = region
    if (end - start) * (last - first) > COMPARED:
        yield region
        return
    matcher = difflib.SequenceMatcher(None, old[start:end], new[first:last], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            yield start + i, start + j, first + k, first + m
