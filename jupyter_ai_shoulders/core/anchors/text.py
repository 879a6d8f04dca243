"""Finds the position of a task thread in a text that may have changed. Pure.

A page moves anchors along with edits while the document is open. Text that changed otherwise is
searched for the quote. ``labextension/src/threads/anchors/anchors.ts`` has the same rules;
``tests/wire/fixtures/anchors.json`` holds cases for both. Used by the prompt of a thread and by
``propose_edit``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_ai_shoulders.core.anchors.reformatted_text import (
    common_prefix_length,
    find_reformatted,
    reformatted_difference,
    text_between,
)
from jupyter_ai_shoulders.wire.sessions import Anchor, Certainty, TextRange
from jupyter_ai_shoulders.wire.versions import cell_version, text_version

CONTEXT = 64
"""UTF-16 units of context kept on either side of the quote."""
MOST_OCCURRENCES = 2_000
"""Occurrences of a quote that are compared; with more of them the quote is no evidence."""
TELLING = 12
"""Minimum length, in units, at which a single occurrence is evidence."""
LIKELY = 0.5
"""Share of the surrounding text that must be unchanged for a certain position."""
_WIDE = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class AnchorPosition:
    """The position of an anchor in a text in UTF-16 offsets; None when it is gone."""

    range: TextRange | None
    certainty: Certainty


ORPHANED = AnchorPosition(None, "orphaned")


def locate_anchor(text: str, anchor: Anchor) -> AnchorPosition:
    """Return the position of an anchor's quote in a text.

    An anchor without a range refers to the whole cell, which exists.
    """
    if anchor.range is None:
        return AnchorPosition(None, "exact")
    units = Utf16Text(text)
    if (same := _unchanged(units, anchor, anchor.range)) is not None:
        return same
    if not anchor.quote:
        return _point(units, anchor.range.from_, anchor)
    places = [_rated(units, anchor, start) for start in _occurrences(text, anchor.quote)]
    return _likeliest(units, anchor, places) if places else _rewritten(units, anchor)


def _unchanged(units: Utf16Text, anchor: Anchor, place: TextRange) -> AnchorPosition | None:
    if anchor.certainty == "orphaned" or not _is_unchanged(units.text, anchor):
        return None
    if anchor.certainty == "approximate":  # an uncertain position stays uncertain
        return AnchorPosition(place, "approximate") if place.to <= units.length else None
    return AnchorPosition(place, "exact") if units.slice(place) == anchor.quote else None


def _is_unchanged(text: str, anchor: Anchor) -> bool:
    version = text_version(text) if anchor.cell_id is None else cell_version(text)
    return anchor.version == version


def _likeliest(units: Utf16Text, anchor: Anchor, places: list[_Rated]) -> AnchorPosition:
    best = min(places)
    if _is_certain(anchor, best, places):
        return AnchorPosition(best.range, "exact")
    # Other text may have replaced the quote, and this may be another occurrence.
    gap = _between(units, anchor) if best.unlike > LIKELY else None
    is_filled = gap is not None and gap.from_ < gap.to
    return AnchorPosition(gap if is_filled else best.range, "approximate")


def _between(units: Utf16Text, anchor: Anchor) -> TextRange | None:
    gap = text_between(units.text, anchor.quote, anchor.prefix, anchor.suffix)
    return None if gap is None else utf16_range(units.unit_at(gap[0]), units.unit_at(gap[1]))


def _rewritten(units: Utf16Text, anchor: Anchor) -> AnchorPosition:
    assert anchor.range is not None
    wanted = anchor.range.from_
    spans = find_reformatted(units.text, anchor.quote, MOST_OCCURRENCES)
    if not spans:
        gap = _between(units, anchor)
        return ORPHANED if gap is None else AnchorPosition(gap, "approximate")
    unlike, _, start, end = min(
        (
            round(reformatted_difference(units.text, anchor.prefix, anchor.suffix, span), 6),
            abs(units.unit_at(span[0]) - wanted),
            *span,
        )
        for span in spans
    )
    is_sure = len(spans) == 1 and unlike <= 1 - LIKELY
    place = utf16_range(units.unit_at(start), units.unit_at(end))
    return AnchorPosition(place, "exact" if is_sure else "approximate")


@dataclass(frozen=True, slots=True, order=True)
class _Rated:
    """An occurrence; the smallest is the likeliest."""

    unlike: float
    """The share of the surrounding text that changed."""
    distance: int
    start: int
    end: int
    beside: bool
    """Whether the text on one side is unchanged."""

    @property
    def range(self) -> TextRange:
        return utf16_range(self.start, self.end)


class Utf16Text:
    """A text with positions in UTF-16 units, as in CodeMirror."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._wide = [found.start() for found in _WIDE.finditer(text)]
        """Positions of characters of two units."""
        self._wide_units = [index + before for before, index in enumerate(self._wide)]

    @property
    def length(self) -> int:
        """Length in units."""
        return len(self.text) + len(self._wide)

    def unit_at(self, index: int) -> int:
        """Return the first unit of a character."""
        return index + bisect_right(self._wide, index - 1)

    def character_at(self, unit: int) -> int:
        """Return the character that contains a unit."""
        before = bisect_right(self._wide_units, unit - 1)
        return max(0, min(len(self.text), unit - before))

    def slice(self, place: TextRange) -> str:
        """Return a part of the text."""
        return self.text[self.character_at(place.from_) : self.character_at(place.to)]


def _occurrences(text: str, quote: str) -> Iterator[int]:
    position = text.find(quote)
    for _ in range(MOST_OCCURRENCES):
        if position < 0:
            return
        yield position
        position = text.find(quote, position + 1)


def _rated(units: Utf16Text, anchor: Anchor, start: int) -> _Rated:
    assert anchor.range is not None
    end = start + len(anchor.quote)
    before = units.text[max(0, start - len(anchor.prefix)) : start]
    after = units.text[end : end + len(anchor.suffix)]
    same_before = common_prefix_length(before[::-1], anchor.prefix[::-1])
    same_after = common_prefix_length(after, anchor.suffix)
    known = len(anchor.prefix) + len(anchor.suffix)
    at = units.unit_at(start)
    unlike = 0.0 if not known else 1 - (same_before + same_after) / known
    beside = _is_like(same_before, anchor.prefix, start == 0) or _is_like(
        same_after, anchor.suffix, end == len(units.text)
    )
    distance = abs(at - anchor.range.from_)
    return _Rated(round(unlike, 6), distance, at, units.unit_at(end), beside)


def _is_like(same: int, side: str, is_edge: bool) -> bool:
    """Return whether enough of one side is unchanged; an empty side must still be empty."""
    return same >= min(TELLING, len(side)) if side else is_edge


def _is_certain(anchor: Anchor, best: _Rated, places: list[_Rated]) -> bool:
    if len(places) >= MOST_OCCURRENCES:
        return False
    others = [place.unlike for place in places if place is not best]
    is_likely = best.unlike <= 1 - LIKELY
    if not others:
        return is_likely or (len(anchor.quote) >= TELLING and best.beside)
    return is_likely and best.unlike < min(others)


def _point(units: Utf16Text, wanted: int, anchor: Anchor) -> AnchorPosition:
    """Return the position of a caret, found by the surrounding text."""
    around = anchor.prefix + anchor.suffix
    if not around:  # the text was empty
        return AnchorPosition(utf16_range(0, 0), "approximate")
    found = list(_occurrences(units.text, around))
    if not found:
        return ORPHANED
    starts = [units.unit_at(start + len(anchor.prefix)) for start in found]
    at = min(starts, key=lambda start: abs(start - wanted))
    return AnchorPosition(utf16_range(at, at), "exact" if len(starts) == 1 else "approximate")


def utf16_range(start: int, end: int) -> TextRange:
    return TextRange.model_validate({"from": start, "to": end})
