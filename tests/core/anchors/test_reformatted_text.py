"""Quotes rewritten by a formatter: same results as the plain rule, in bounded time."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.anchors.reformatted_text import find_reformatted, without_formatting

SPACE = "[ \t\r\n]*"
TEXTS = st.text(st.sampled_from("ab,)] \n'\""), max_size=16)


def by_rule(text: str, quote: str) -> list[tuple[int, int]]:
    """The page's rule: ignore white space, and a comma before a closing bracket."""
    pattern = ""
    for index, sign in enumerate(without_formatting(quote)):
        comma = f"(?:,{SPACE})?" if index and sign in ")]}" else ""
        pattern += (SPACE if index else "") + comma
        pattern += "[\"']" if sign == '"' else re.escape(sign)
    return [found.span() for found in re.finditer(pattern, text)] if pattern else []


@given(text=TEXTS, quote=TEXTS)
def test_places_are_those_of_the_rule(text: str, quote: str) -> None:
    for written in (text, quote):  # folding may remove one of them
        assume(",," not in re.sub(SPACE, "", written))  # no code has two commas in a row

    assert find_reformatted(text, quote, 100) == by_rule(text, quote)


@pytest.mark.parametrize("wanted", ["a" * 10_000 + "b" + "a" * 9_999, "a  a " * 3_999 + "c"])
def test_a_long_quote_is_looked_for_in_a_text_that_is_nearly_the_same_everywhere(
    wanted: str,
) -> None:
    """Trying each position takes minutes; the search takes seconds, far below the timeout."""
    assert find_reformatted("a" * 300_000, wanted, 100) == []
    assert find_reformatted("a " * 150_000 + wanted, wanted, 100) != []


def test_no_more_places_are_given_than_asked_for() -> None:
    assert find_reformatted("f( 1 ) " * 9, "f(1)", 2) == [(0, 6), (7, 13)]
