"""Hidden characters: the set of them, those needed for writing, and their display."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.wire.hidden_characters import (
    LegibleStream,
    escaped_json,
    legible,
    visible,
    without_hidden,
)

# The page passes the same table: labextension/src/text/__tests__/hiddenCharacters.spec.ts.
FIXTURE = Path(__file__).parent / "fixtures" / "hidden_characters.json"
TABLE: dict[str, Any] = json.loads(FIXTURE.read_text(encoding="utf-8"))
LOOKED_AT = (*range(0x20000), *range(0xE0000, 0xE1000))
SPECIAL = (
    "a1é#ب\u0915\u1782👩🏽❤🏴\u20e3 \n\ufe0f\ufe01\u200b\u200c\u200d\xad\ufeff\u202e\x1b\U000e0067"
)


def in_ranges(ranges: list[str]) -> set[int]:
    """Return the code points of ranges such as ``007F-009F``."""

    def ends() -> Iterator[tuple[int, int]]:
        for each in ranges:
            first, _, last = each.partition("-")
            yield int(first, 16), int(last or first, 16)

    return {code for first, last in ends() for code in range(first, last + 1)}


def test_exactly_these_characters_are_hidden() -> None:
    found = {code for code in LOOKED_AT if visible(chr(code)) != chr(code)}

    assert found == in_ranges(TABLE["hidden"]) | {0x0D}  # the page shows it as a line break


@pytest.mark.parametrize("name", TABLE["needed"])
def test_a_hidden_character_is_needed_behind_exactly_these(name: str) -> None:
    text, behind = TABLE["needed"][name]["text"], TABLE["needed"][name]["behind"]

    found = {
        code
        for code in LOOKED_AT
        if without_hidden(chr(code) + text)[1] == without_hidden(chr(code))[1]
    }

    assert found == in_ranges(behind)


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["name"])
def test_text_keeps_what_it_needs_and_shows_the_rest(case: dict[str, Any]) -> None:
    text, clean, hidden = case["text"], case["clean"], case["hidden"]

    assert without_hidden(text) == (clean, hidden)
    assert (legible(text) == text) == (hidden == 0)
    assert json.loads(escaped_json(json.dumps(text, ensure_ascii=False))) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 🙂\t\n", "plain é 漢 🙂\t\n"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\rb", "a\\x0db"),
        ("a\r\nb", "a\nb"),
        ("\x9b2J\x7f", "\\x9b2J\\x7f"),
        ("a\u202eb\u200bc\u2028d", "a\\u202eb\\u200bc\\u2028d"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("a\u3164\u115f\u2800\uffa0", "a\\u3164\\u115f\\u2800\\uffa0"),
        ("a\u034f\U000e0100", "a\\u034f\\U000e0100"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("co\xadop", "co\\xadop"),
        ("👩\u200d👧", "👩\\u200d👧"),
    ],
)
def test_what_is_approved_shows_every_hidden_character(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(SPECIAL))
def test_cleaned_text_hides_nothing(text: str) -> None:
    clean, _ = without_hidden(text)

    assert without_hidden(clean) == (clean, 0)
    assert legible(legible(text)) == legible(text)


@given(st.lists(st.text(SPECIAL)))
def test_pieces_show_what_is_hidden_in_the_whole(pieces: list[str]) -> None:
    stream = LegibleStream()

    shown = "".join(map(stream.feed, pieces))

    assert without_hidden(shown)[1] == 0
    assert without_hidden(shown)[0] == shown


def test_pieces_keep_what_is_needed() -> None:
    stream = LegibleStream()

    assert (
        "".join(map(stream.feed, ["👩", "\u200d👧", " می", "\u200cخو"])) == "👩\u200d👧 می\u200cخو"
    )
