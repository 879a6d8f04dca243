"""Text layout of the terminal chat: styles, lines broken between words."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.cli.chat.line_wrapping import EXACT, LineWrapper
from jupyter_ai_shoulders.cli.chat.markdown_styles import BLOCK, CODE, MarkdownStyler, Piece


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_markdown_is_styled_as_it_streams_and_every_character_stays(size: int) -> None:
    text = "# Head\n**bold** and `code`\n```py\n# no head\n```\nend **"
    styles, shown = MarkdownStyler(), list[Piece]()
    for start in range(0, len(text), size):
        shown += styles.feed(text[start : start + size])
    shown += styles.end()

    by_character = [(style, character) for style, piece in shown for character in piece]
    assert "".join(character for _, character in by_character) == text
    assert styles_of("Head", text, by_character) == {"bold"}
    assert styles_of("bold", text, by_character) == {"bold"}
    assert styles_of("and", text, by_character) == {""}
    assert styles_of("code", text, by_character) == {CODE}
    assert styles_of("no head", text, by_character) == {BLOCK}
    assert styles_of("end", text, by_character) == {""}


def styles_of(words: str, text: str, shown: list[Piece]) -> set[str]:
    start = text.index(words)
    return {style for style, _ in shown[start : start + len(words)]}


def wrapped(columns: int, *pieces: Piece) -> str:
    wrapper = LineWrapper()
    shown = [shown for piece in pieces for shown in wrapper.feed([piece], columns)]
    return "".join(text for _, text in [*shown, *wrapper.end(columns)])


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        ([("", "one two three")], "one two\nthree"),
        ([("", "one t"), ("", "w"), ("", "o three")], "one two\nthree"),
        ([("", "one "), ("bold", "two"), ("", "x three")], "one twox\nthree"),
        ([("", "  - one two")], "  - one\ntwo"),
        ([("", "one\n\n two ")], "one\n\n two "),
        ([("", "one exceedingly-long two")], "one\nexceedingly-long\ntwo"),
        ([("", "漢字漢 字漢")], "漢字漢\n字漢"),
        ([(BLOCK, "one two three")], "one two three"),
        ([(f"{EXACT} ansired", "one two three")], "one two three"),
    ],
)
def test_lines_are_broken_between_words(pieces: list[Piece], shown: str) -> None:
    assert wrapped(9, *pieces) == shown


def test_a_word_is_held_back_until_it_ends() -> None:
    wrapper = LineWrapper()

    assert wrapper.feed([("", "one tw")], 9) == [("", "one")]
    assert not wrapper.at_start
    assert wrapper.feed([("", "o\n")], 9) == [("", " "), ("", "tw"), ("", "o"), ("", "\n")]
    assert wrapper.at_start
