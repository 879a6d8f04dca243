"""Finding the place of a quote that was written anew (chapter 09). Pure.

By a formatter, or by somebody who put other text in its place. Part of ``core.anchors.text``;
``labextension/src/threads/anchors/anchorRewrites.ts`` is the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

TAIL = 12
"""Characters of the text on either side that have to stand there."""
GROWTH = 64
"""Characters a place may have grown by, beside twice what it had."""
MOST = 200
"""Places of a side that are looked at."""
LONGEST = 1_000_000
"""Characters of a text up to which a rewritten quote is looked for."""
LOOSE = 4
"""How much longer than before the text around a quote may be."""
_SPACES = re.compile("[ \t\r\n]+")
_COMMA = re.compile("[ \t\r\n]*,")
_LAST_COMMA = re.compile(r",(?=[)\]}])")
"""The comma that formatters put after the last of several."""


def without_formatting(text: str) -> str:
    """Return a text as formatters leave it: no white space, one kind of quote characters."""
    return _LAST_COMMA.sub("", _SPACES.sub("", text).replace("'", '"'))


def find_reformatted(text: str, quote: str, most: int) -> list[tuple[int, int]]:
    """Return where a quote stands that a formatter has rewritten: begin and end.

    Both are compared as formatters leave them, in time that grows with the text only.
    """
    wanted = without_formatting(quote)
    if not wanted or len(text) > LONGEST:
        return []
    if wanted == ",":
        return [(at, at + 1) for at in islice(_places(text, ","), most)]
    letters, places = _letters(text)
    body = wanted.removesuffix(",")  # in the text it may be one that folding leaves out
    found: list[tuple[int, int]] = []
    position = letters.find(body)
    while position >= 0 and len(found) < most:
        after = position + len(body)
        end = places[after - 1] + 1
        if body != wanted:
            end = _behind_comma(text, end)
        if end:
            found.append((places[position], end))
            position = letters.find(body, bisect_left(places, end))
        else:
            position = letters.find(body, position + 1)
    return found


def _letters(text: str) -> tuple[str, list[int]]:
    """Return a text as ``without_formatting`` does, and where each of its characters stands."""
    squeezed = _SPACES.sub("", text)
    places = [at for at, sign in enumerate(text) if sign not in " \t\r\n"]
    left_out = {found.start() for found in _LAST_COMMA.finditer(squeezed)}
    return without_formatting(text), [
        place for at, place in enumerate(places) if at not in left_out
    ]


def _behind_comma(text: str, at: int) -> int:
    """Return where a comma ends that comes next; 0 where something else does."""
    found = _COMMA.match(text, at)
    return found.end() if found else 0


def reformatted_difference(text: str, prefix: str, suffix: str, span: tuple[int, int]) -> float:
    """Return the share of the text around a place that is not as it was, but for its form."""
    start, end = span
    wanted_before, wanted_after = without_formatting(prefix), without_formatting(suffix)
    known = len(wanted_before) + len(wanted_after)
    before = without_formatting(text[max(0, start - LOOSE * len(prefix)) : start])
    after = without_formatting(text[end : end + LOOSE * len(suffix)])
    same = common_prefix_length(before[::-1], wanted_before[::-1]) + common_prefix_length(
        after, wanted_after
    )
    return 0.0 if not known else 1 - same / known


def text_between(text: str, quote: str, prefix: str, suffix: str) -> tuple[int, int] | None:
    """Return what stands between the texts a quote stood between.

    None unless both stand there in order, once.
    """
    if not prefix and not suffix:
        return None
    most = 2 * len(quote) + GROWTH
    starts = _starts(text, suffix)
    gaps = [(end, at) for end in _ends(text, prefix) for at in starts if 0 <= at - end <= most]
    return gaps[0] if len(gaps) == 1 else None


def common_prefix_length(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _ends(text: str, prefix: str) -> list[int]:
    """Return where the tail of a prefix ends; a shorter one is all there was before."""
    if len(prefix) < TAIL:
        return [len(prefix)] if text.startswith(prefix) else []
    return [at + TAIL for at in islice(_places(text, prefix[-TAIL:]), MOST)]


def _starts(text: str, suffix: str) -> list[int]:
    """Return where the head of a suffix begins; a shorter one is all there was after."""
    if len(suffix) < TAIL:
        return [len(text) - len(suffix)] if text.endswith(suffix) else []
    return list(islice(_places(text, suffix[:TAIL]), MOST))


def _places(text: str, part: str) -> Iterator[int]:
    position = text.find(part)
    while position >= 0:
        yield position
        position = text.find(part, position + 1)
