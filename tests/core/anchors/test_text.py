"""Finding an anchor again: the fixtures shared with the page, and generated texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.anchors.text import (
    CONTEXT,
    AnchorPosition,
    Utf16Text,
    locate_anchor,
    utf16_range,
)
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.sessions import Anchor, TextRange
from jupyter_ai_shoulders.wire.versions import cell_version

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "wire" / "fixtures" / "anchors.json").read_text()
)


def anchor_in(text: str, place: TextRange | None) -> Anchor:
    """Return the page's anchor of a range in a cell."""
    units = Utf16Text(text)
    start, end = (place.from_, place.to) if place else (0, 0)
    return Anchor(
        document="a.ipynb",
        cell_id=CellId("c"),
        target="source" if place else "cell",
        range=place,
        quote=units.slice(place) if place else "",
        prefix=units.slice(utf16_range(max(0, start - CONTEXT), start)) if place else "",
        suffix=units.slice(utf16_range(end, min(units.length, end + CONTEXT))) if place else "",
        version=cell_version(text),
    )


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_place_is_found_again_or_said_to_be_uncertain(case: dict[str, Any]) -> None:
    place = None if case["range"] is None else TextRange.model_validate(case["range"])

    found = locate_anchor(case["text"], anchor_in(case["made_in"], place))

    wanted = case["found"]["range"]
    expected = None if wanted is None else TextRange.model_validate(wanted)
    assert found == AnchorPosition(expected, case["found"]["certainty"])


TEXTS = st.text(alphabet="ab \n😀", max_size=40)


@given(before=TEXTS, middle=TEXTS, after=TEXTS, new=TEXTS)
def test_a_certain_place_is_never_the_wrong_one(
    before: str, middle: str, after: str, new: str
) -> None:
    made_in = before + middle + after
    start = Utf16Text(made_in).unit_at(len(before))
    anchor = anchor_in(made_in, utf16_range(start, start + Utf16Text(middle).length))

    text = new + made_in
    found = locate_anchor(text, anchor)

    moved = Utf16Text(new).length
    assert anchor.range is not None
    wanted = utf16_range(anchor.range.from_ + moved, anchor.range.to + moved)
    assert found.certainty != "exact" or found.range == wanted
    if found.range is not None:
        assert Utf16Text(text).slice(found.range) == middle


@given(st.text(alphabet="a😀é", max_size=30))
def test_units_and_characters_are_told_apart(text: str) -> None:
    units = Utf16Text(text)
    for index in range(len(text) + 1):
        assert units.unit_at(index) == len(text[:index].encode("utf-16-le")) // 2
        assert units.character_at(units.unit_at(index)) == index


def test_many_likely_places_in_a_large_text_are_compared_by_what_is_near_them() -> None:
    """Comparing each with all of the text around it would take half a minute."""
    text = "y = 2\n" * 500_000 + "x = 1\n" * 2_000
    anchor = anchor_in(text, utf16_range(3_000_600, 3_000_605)).model_copy(update={"version": None})
    copied = CountedText(text)
    copied.copied = 0
    assert locate_anchor(copied, anchor).certainty == "approximate"
    assert copied.copied < 2_000 * 4 * CONTEXT


class CountedText(str):
    """A text that counts the characters taken out of it."""

    __slots__ = ("copied",)
    copied: int

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.copied += len(part)
        return part
