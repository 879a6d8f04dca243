"""How much of the text around the caret is sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.assist.inline_completion.caret_window import (
    MAX_PREFIX_LENGTH,
    MAX_SUFFIX_LENGTH,
    OMISSION_MARK,
    cut_window,
)

WORDS = st.lists(st.text(st.sampled_from("abé\n "), max_size=12), max_size=20)


@st.composite
def long_texts(draw: st.DrawFn) -> str:
    return " ".join(draw(WORDS)) * draw(st.integers(1, 200))


def test_short_texts_are_sent_whole() -> None:
    found = cut_window("x = ", "\n")

    assert (found.shown_prefix, found.shown_suffix) == ("x = ", "\n")


def test_long_texts_begin_and_end_with_whole_words_and_a_mark() -> None:
    found = cut_window("longword " * 1_000, " tailword" * 1_000)

    assert found.shown_prefix.startswith("[…] longword ")
    assert found.shown_suffix.endswith(" tailword […]")


def test_a_text_without_blanks_is_cut_all_the_same() -> None:
    found = cut_window("x" * 9_000, "y" * 9_000)

    assert found.shown_prefix == OMISSION_MARK + "x" * (MAX_PREFIX_LENGTH - len(OMISSION_MARK))
    assert found.shown_suffix == "y" * (MAX_SUFFIX_LENGTH - len(OMISSION_MARK)) + OMISSION_MARK


@given(prefix=long_texts(), suffix=long_texts())
def test_nothing_is_lost_and_the_limits_hold(prefix: str, suffix: str) -> None:
    found = cut_window(prefix, suffix)

    assert found.above + found.prefix == prefix
    assert found.suffix + found.below == suffix
    assert len(found.shown_prefix) <= MAX_PREFIX_LENGTH
    assert len(found.shown_suffix) <= MAX_SUFFIX_LENGTH
    sides = ((found.above, found.prefix, found.prefix), (found.suffix, found.below, found.suffix))
    for first, second, sent in sides:
        cuts_word = first[-1:].strip() and second[:1].strip()
        assert not cuts_word or not any(sign.isspace() for sign in sent), "a word is cut"
