"""Last touches to rendered text: quotation marks, doubled points, the number before an entry. Pure.

Used by ``references.styles.processor``; citeproc-py leaves them to its callers. Texts are HTML with
the processor's tags.
"""

from __future__ import annotations

import re

_DOUBLED = re.compile(r"([.,;:!?])((?:</[a-z]+>)+)\1")
_AFTER_QUOTE = re.compile(r"(</[a-z]+>)?([”’])((?:</[a-z]+>)*)([.,])")
_ENDS_SENTENCE = "!?.,"
_NUMBER = re.compile(
    r"^((?:<[a-z]+(?: [^<>]*)?>)*[\[(]?\d+[\])]?\.?(?:</[a-z]+>)*)(?=[^\s\d.)\]<])"
)
_REPEATED_PERIOD = re.compile(r"([!?])((?:</[a-z]+>)*”?)\.(?= |$)")


def polish(html: str, *, punctuation_in_quotes: bool) -> str:
    """Return text without doubled points, and with points within quotation marks where wanted."""
    text = _DOUBLED.sub(r"\1\2", html)
    if punctuation_in_quotes:
        text = _AFTER_QUOTE.sub(_within, text)
    text = _REPEATED_PERIOD.sub(r"\1\2", text)
    return re.sub(r"(?<=\S) {2,}", " ", text).strip()


def _within(match: re.Match[str]) -> str:
    """Return a quotation mark with the point that follows it before it."""
    before = match.string[: match.start()]
    tag, mark, tags, point = match[1] or "", match[2], match[3], match[4]
    ended = before[-1:] in _ENDS_SENTENCE
    if mark == "’" and not re.search(r"‘[^’]*$", before):
        return match[0]  # an apostrophe
    if ended and point == ",":
        return match[0]
    return f"{tag}{'' if ended else point}{mark}{tags}"


def space_after_number(html: str) -> str:
    """Return an entry with a space between its number and its text."""
    return _NUMBER.sub(r"\1 ", html)


def with_year_suffix(html: str, year: str, suffix: str) -> str:
    """Return text with a letter after the first occurrence of the year."""
    return re.sub(rf"(?<!\d){re.escape(year)}(?![\da-z])", year + suffix, html, count=1)
