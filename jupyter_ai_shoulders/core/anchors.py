"""Finding the place of a task thread again in a text that may have changed (chapter 09). Pure.

A text that was changed since an anchor was made is searched for the quoted text. Pages do not move
anchors along with edits yet; ``tests/wire/fixtures/anchors.json`` is the table for both languages.
Used by the prompt of a thread and by ``propose_edit``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_ai_shoulders.wire.sessions import Anchor, Certainty, TextRange
from jupyter_ai_shoulders.wire.versions import cell_version, text_version

CONTEXT = 64
"""UTF-16 units of text kept on either side of the quote."""
MOST_PLACES = 2_000
"""Occurrences of a quote that are compared; a text with more of them says nothing."""
TELLING = 12
"""Units from which on a quote that occurs once is its own proof."""
LIKELY = 0.5
"""Share of the text around a quote that has to be the same for a place to be certain."""
_WIDE = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an anchor is in a text: UTF-16 offsets, None when it is not there any more."""

    range: TextRange | None
    certainty: Certainty


ORPHANED = Place(None, "orphaned")


def locate(text: str, anchor: Anchor) -> Place:
    """Return where the quote of an anchor stands in a text.

    An anchor without a range is of a whole cell: it is there as long as its cell is.
    """
    if anchor.range is None:
        return Place(None, "exact")
    units = Units(text)
    if _is_unchanged(text, anchor) and units.slice(anchor.range) == anchor.quote:
        return Place(anchor.range, "exact")
    if not anchor.quote:
        return _point(units, anchor.range.from_, anchor)
    places = [_rated(units, anchor, start) for start in _occurrences(text, anchor.quote)]
    if not places:
        return ORPHANED
    best = min(places)
    certain = _is_certain(anchor, best, places)
    return Place(best.range, "exact" if certain else "approximate")


def _is_unchanged(text: str, anchor: Anchor) -> bool:
    version = text_version(text) if anchor.cell_id is None else cell_version(text)
    return anchor.version == version


@dataclass(frozen=True, slots=True, order=True)
class _Rated:
    """An occurrence; the least is the likeliest."""

    unlike: float
    """The share of the text around it that is not as it was."""
    distance: int
    start: int
    end: int

    @property
    def range(self) -> TextRange:
        return text_range(self.start, self.end)


class Units:
    """A text whose places are counted in UTF-16 units, as CodeMirror does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._wide = [found.start() for found in _WIDE.finditer(text)]
        """Characters of two units."""
        self._wide_units = [index + before for before, index in enumerate(self._wide)]

    @property
    def length(self) -> int:
        """Units in all."""
        return len(self.text) + len(self._wide)

    def of(self, index: int) -> int:
        """Return the unit a character begins at."""
        return index + bisect_right(self._wide, index - 1)

    def character(self, unit: int) -> int:
        """Return the character a unit is in; half of one counts as the whole."""
        before = bisect_right(self._wide_units, unit - 1)
        return max(0, min(len(self.text), unit - before))

    def slice(self, place: TextRange) -> str:
        """Return a part of the text."""
        return self.text[self.character(place.from_) : self.character(place.to)]


def _occurrences(text: str, quote: str) -> Iterator[int]:
    position = text.find(quote)
    for _ in range(MOST_PLACES):
        if position < 0:
            return
        yield position
        position = text.find(quote, position + 1)


def _rated(units: Units, anchor: Anchor, start: int) -> _Rated:
    assert anchor.range is not None
    end = start + len(anchor.quote)
    before = units.text[max(0, start - len(anchor.prefix)) : start]
    after = units.text[end : end + len(anchor.suffix)]
    same = _common(before[::-1], anchor.prefix[::-1]) + _common(after, anchor.suffix)
    known = len(anchor.prefix) + len(anchor.suffix)
    at = units.of(start)
    unlike = 0.0 if not known else 1 - same / known
    return _Rated(round(unlike, 6), abs(at - anchor.range.from_), at, units.of(end))


def _is_certain(anchor: Anchor, best: _Rated, places: list[_Rated]) -> bool:
    if len(places) >= MOST_PLACES:
        return False
    others = [place.unlike for place in places if place is not best]
    if not others:
        return len(anchor.quote) >= TELLING or best.unlike <= 1 - LIKELY
    return best.unlike <= 1 - LIKELY and best.unlike < min(others)


def _point(units: Units, wanted: int, anchor: Anchor) -> Place:
    """Return the place of a caret: it is where the text around it is."""
    around = anchor.prefix + anchor.suffix
    if not around:  # it stood in an empty text
        return Place(text_range(0, 0), "approximate")
    found = list(_occurrences(units.text, around))
    if not found:
        return ORPHANED
    starts = [units.of(start + len(anchor.prefix)) for start in found]
    at = min(starts, key=lambda start: abs(start - wanted))
    return Place(text_range(at, at), "exact" if len(starts) == 1 else "approximate")


def text_range(start: int, end: int) -> TextRange:
    """Return a range of UTF-16 offsets."""
    return TextRange.model_validate({"from": start, "to": end})


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
