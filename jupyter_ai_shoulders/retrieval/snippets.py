"""The part of a chunk that is shown for a query, with its matching words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from jupyter_ai_shoulders.retrieval.words import is_unspaced, query_terms, unfinished_word

LINES = 3
"""Lines of a snippet."""
LINE_CHARACTERS = 160
MARKED_LETTERS = 3
"""Shorter words are in every line; they count where a query has no others."""
_WORD = re.compile(r"\w+")


class Snippet(NamedTuple):
    """Some lines of a chunk."""

    line: int
    """Index of the first one in the chunk."""
    text: str
    marks: tuple[tuple[int, int], ...]


class MatchingWords:
    """The words, and the parts of identifiers, that a query finds.

    Searches for each word with ``str.find``: one pattern for all takes ten times as long.
    """

    def __init__(self, query: str) -> None:
        terms = query_terms(query)
        long = [term for term in terms if len(term) >= MARKED_LETTERS or is_unspaced(term)]
        self._terms = long or terms
        self._unfinished = unfinished_word(query).lower()

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return start and end of each match, in order, without overlaps."""
        lower = _lower(text)
        found = [span for term in self._terms for span in _found(term, text, lower)]
        if self._unfinished:
            starts = _starts(self._unfinished, text, lower)
            found += [(start, _word_end(text, start)) for start in starts]
        found.sort(key=lambda span: (span[0], -span[1]))
        spans: list[tuple[int, int]] = []
        for start, end in found:
            if not spans or start >= spans[-1][1]:
                spans.append((start, end))
        return spans


def _lower(text: str) -> str:
    """Return a text of the same length in small letters."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(one if len(one := each.lower()) == 1 else each for each in text)


def _found(term: str, text: str, lower: str) -> Iterator[tuple[int, int]]:
    unspaced = is_unspaced(term)
    for start in _occurrences(term, lower) if unspaced else _starts(term, text, lower):
        end = start + len(term)
        rest = text[end : end + 1]
        if unspaced or not (rest.islower() or rest.isdigit()):
            yield start, end


def _starts(term: str, text: str, lower: str) -> Iterator[int]:
    """Yield where a term begins a word, or a part of an identifier."""
    for start in _occurrences(term, lower):
        before = text[start - 1] if start else " "
        is_part = text[start].isupper() and (before.islower() or before.isdigit())
        if is_part or not before.isalnum():
            yield start


def _occurrences(term: str, lower: str) -> Iterator[int]:
    at = lower.find(term)
    while at >= 0:
        yield at
        at = lower.find(term, at + 1)


def _word_end(text: str, start: int) -> int:
    found = _WORD.match(text, start)
    return found.end() if found else start


def snippet(text: str, words: MatchingWords) -> Snippet:
    """Return the lines with the most different matching words, and their marks."""
    lines = text.split("\n")
    found: dict[int, set[str]] = {}
    line = end = 0
    for start, stop in words.spans(text):
        line += text.count("\n", end, start)
        end = start
        found.setdefault(line, set()).add(text[start:stop].lower())
    best = max(found, key=lambda at: (_different_words(found, at), -at), default=0)
    shown = [_around(line.rstrip(), words) for line in lines[best : best + LINES]]
    text = "\n".join(shown).rstrip()
    return Snippet(best, text, tuple(words.spans(text)))


def _different_words(found: Mapping[int, set[str]], start: int) -> int:
    nobody = set[str]()
    return len(nobody.union(*(found.get(at, nobody) for at in range(start, start + LINES))))


def _around(line: str, words: MatchingWords) -> str:
    """Return a line, or of a long one the part with its first matching word."""
    if len(line) <= LINE_CHARACTERS:
        return line
    spans = words.spans(line)
    start = max(spans[0][0] - LINE_CHARACTERS // 3, 0) if spans else 0
    return f"{'…' * (start > 0)}{line[start : start + LINE_CHARACTERS]}…"
