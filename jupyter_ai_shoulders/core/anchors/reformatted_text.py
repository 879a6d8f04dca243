"""Finds a quote whose text was reformatted or replaced. Pure.

Part of ``core.anchors.text``; ``labextension/src/threads/anchors/anchorRewrites.ts`` has the same
rules.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

TAIL = 12
"""Characters that must match on each side."""
GROWTH = 64
"""Characters a range may grow by, beyond twice its length."""
MOST = 200
"""Positions examined on each side."""
LONGEST = 1_000_000
"""Maximum length of a text in which a rewritten quote is searched."""
LOOSE = 4
"""How many times longer the text around a quote may become."""
_SPACES = re.compile("[ \t\r\n]+")
_COMMA = re.compile("[ \t\r\n]*,")
_LAST_COMMA = re.compile(r",(?=[)\]}])")
"""The trailing comma that formatters add."""


def without_formatting(text: str) -> str:
    """Return a text without white space and with one kind of quote characters, so that formatting
    is ignored.
    """
    return _LAST_COMMA.sub("", _SPACES.sub("", text).replace("'", '"'))


def find_reformatted(text: str, quote: str, most: int) -> list[tuple[int, int]]:
    """Return the start and end of each occurrence of a reformatted quote.

    Both are compared without formatting, in time linear in the text.
    """
    wanted = without_formatting(quote)
    if not wanted or len(text) > LONGEST:
        return []
    if wanted == ",":
        return [(at, at + 1) for at in islice(_places(text, ","), most)]
    letters, places = _letters(text)
    body = wanted.removesuffix(",")  # folding may remove the comma from the text
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
    """Return a text like ``without_formatting``, and the position of each of its characters."""
    squeezed = _SPACES.sub("", text)
    places = [at for at, character in enumerate(text) if character not in " \t\r\n"]
    left_out = {found.start() for found in _LAST_COMMA.finditer(squeezed)}
    return without_formatting(text), [
        place for at, place in enumerate(places) if at not in left_out
    ]


def _behind_comma(text: str, at: int) -> int:
    """Return the end of the next character if it is a comma, else 0."""
    found = _COMMA.match(text, at)
    return found.end() if found else 0


def reformatted_difference(text: str, prefix: str, suffix: str, span: tuple[int, int]) -> float:
    """Return the share of the text around a range that changed, apart from formatting."""
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
    """Return the range between the texts that used to surround a quote.

    None unless both occur exactly once, in order.
    """
    if not prefix and not suffix:
        return None
    most = 2 * len(quote) + GROWTH
    starts = _starts(text, suffix)
    gaps = [(end, at) for end in _ends(text, prefix) for at in starts if 0 <= at - end <= most]
    return gaps[0] if len(gaps) == 1 else None


def common_prefix_length(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _ends(text: str, prefix: str) -> list[int]:
    """Return the ends of the tail of a prefix; a shorter prefix must start the text."""
    if len(prefix) < TAIL:
        return [len(prefix)] if text.startswith(prefix) else []
    return [at + TAIL for at in islice(_places(text, prefix[-TAIL:]), MOST)]


def _starts(text: str, suffix: str) -> list[int]:
    """Return the starts of the head of a suffix; a shorter suffix must end the text."""
    if len(suffix) < TAIL:
        return [len(text) - len(suffix)] if text.endswith(suffix) else []
    return list(islice(_places(text, suffix[:TAIL]), MOST))


def _places(text: str, part: str) -> Iterator[int]:
    position = text.find(part)
    while position >= 0:
        yield position
        position = text.find(part, position + 1)
