"""The part of a chunk that is shown for a query, with its matching words. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from jupyter_ai_shoulders.retrieval.words import is_unspaced, query_terms, unfinished_word

LINES = 3
"""Lines of a snippet."""
LINE_CHARACTERS = 160
_NEVER = re.compile(r"(?!)")


class Snippet(NamedTuple):
    """Some lines of a chunk."""

    line: int
    """Index of the first one in the chunk."""
    text: str
    marks: tuple[tuple[int, int], ...]


def matching_words(query: str) -> re.Pattern[str]:
    """Return the pattern of the words, and of the parts of identifiers, that a query finds."""
    terms = query_terms(query)
    spaced = sorted(filter(lambda term: not is_unspaced(term), terms), key=len, reverse=True)
    parts: list[str] = []
    if spaced:
        parts.append(rf"(?:{'|'.join(map(re.escape, spaced))})(?-i:(?![a-z0-9]))")
    if last := unfinished_word(query):
        parts.append(rf"{re.escape(last)}\w*")
    start = r"(?:(?<![^\W_])|(?-i:(?<=[a-z0-9])(?=[A-Z])))"
    unspaced = [re.escape(term) for term in terms if is_unspaced(term)]
    patterns = [*([rf"{start}(?:{'|'.join(parts)})"] if parts else []), *unspaced]
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else _NEVER


def snippet(text: str, words: re.Pattern[str]) -> Snippet:
    """Return the lines with the most different matching words, and their marks."""
    lines = text.split("\n")
    found: dict[int, set[str]] = {}
    line = end = 0
    for match in words.finditer(text):
        line += text.count("\n", end, match.start())
        end = match.start()
        found.setdefault(line, set()).add(match[0].lower())
    best = max(found, key=lambda at: (_different_words(found, at), -at), default=0)
    shown = [_around(line.rstrip(), words) for line in lines[best : best + LINES]]
    text = "\n".join(shown).rstrip()
    return Snippet(best, text, tuple(match.span() for match in words.finditer(text)))


def _different_words(found: Mapping[int, set[str]], start: int) -> int:
    nobody = set[str]()
    return len(nobody.union(*(found.get(at, nobody) for at in range(start, start + LINES))))


def _around(line: str, words: re.Pattern[str]) -> str:
    """Return a line, or of a long one the part with its first matching word."""
    if len(line) <= LINE_CHARACTERS:
        return line
    match = words.search(line)
    start = max(match.start() - LINE_CHARACTERS // 3, 0) if match else 0
    return f"{'…' * (start > 0)}{line[start : start + LINE_CHARACTERS]}…"
