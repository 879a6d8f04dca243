"""Finds keys by their form, whether configured here or not. Used by ``redaction``.

The forms are data: ``secret_patterns.json``, which names its sources. They are compiled on first
use. Keys are long words, which are rare in most text, so only long words are searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import groupby
from string import ascii_letters, digits

from pydantic import BaseModel, ConfigDict

from jupyter_ai_shoulders.core.redaction.search_text import Span

LONGEST_KEY = 4_096
"""Maximum number of characters of one word held back while it may still become a key."""
LONGEST_LABEL = 256
"""Maximum length of a label before a value, such as ``Authorization: Bearer``."""

Values = dict[bytes, list[tuple[int, re.Pattern[bytes]]]]
"""Patterns by the literal that triggers them, and how far before it they start."""

_LONG_WORD = 13
"""Length of the shortest key with a literal start."""
_NEAR = LONGEST_LABEL // 4
_BASE64 = (ascii_letters + digits + "+/=").encode()
_DATA = b"a" * (1 << 16)
"""A base64 word of this length is data, such as a picture, and holds no key."""
_WORD = frozenset((ascii_letters + digits + "_").encode())
_KEY_BYTES = bytes(_WORD | frozenset(b"-./+=~:%|!@$"))
_MARKS = bytes(97 if byte in _KEY_BYTES else 32 for byte in range(256))
_LONG = b"a" * _LONG_WORD
_ESCAPED = r"(?:(?<=\\)[bf]|(?!(?<=\\)[bf]))"
r"""The letter of ``\b`` or ``\f`` in JSON, which is never the first of a key.

A possessive ``?+`` would say the same, but Python 3.11.2 never matches it around a lookbehind.
"""


class _PatternRow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str


class PrefixPattern(_PatternRow):
    """Keys that start with a literal not preceded by one of the bytes ``not_after``."""

    starts: tuple[str, ...]
    body: str
    not_after: str = ""


class LabelPattern(_PatternRow):
    """Values recognised by a label before them, or by a literal ``lead`` characters inside.

    ``at`` is that literal, or the start of the label, in lower case. ``short`` values may be
    shorter than a long word.
    """

    at: str
    label: str
    value: str
    lead: int = 0
    short: bool = False


class PatternSource(BaseModel):
    """The source of some forms."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    license: str
    url: str


class SecretPatternTable(BaseModel):
    """The content of ``secret_patterns.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    sources: tuple[PatternSource, ...]
    prefixed: tuple[PrefixPattern, ...]
    labelled: tuple[LabelPattern, ...]


def secret_pattern_table() -> SecretPatternTable:
    """Return the table of the file."""
    text = (
        files("jupyter_ai_shoulders.core.redaction")
        .joinpath("secret_patterns.json")
        .read_text("utf-8")
    )
    return SecretPatternTable.model_validate_json(text)


@cache
def compiled_secret_patterns() -> SecretPatterns:
    """Return the compiled table; compiling takes about 10 ms."""
    return SecretPatterns(secret_pattern_table())


class SecretPatterns:
    """The compiled table. Immutable except for patterns compiled on first use."""

    def __init__(self, table: SecretPatternTable) -> None:
        starts = sorted({start for row in table.prefixed for start in row.starts})
        first = _shortest(starts)
        self._forms = {start.encode(): _forms(start, table.prefixed) for start in first}
        self._compiled: dict[bytes, re.Pattern[bytes]] = {}
        self._start = re.compile(
            rf"[^A-Za-z0-9_]{_ESCAPED}(?={_first_two(first)})(?=({_any_of(first)}))".encode()
        )
        self._partial = {start[:end].encode() for start in starts for end in range(1, len(start))}
        self._longest_start = max(map(len, starts))
        self._values = _by_literal([row for row in table.labelled if not row.short])
        self._short_values = _by_literal([row for row in table.labelled if row.short])
        self._any_label = re.compile(
            b"|".join(dict.fromkeys(re.escape(row.at.encode()) for row in table.labelled))
        )
        self._open_values: Values = {}
        for row in table.labelled:
            pattern = re.compile(rf"(?i:{row.label})([^\s\"'\\<>]*)\Z".encode())
            self._open_values.setdefault(row.at.encode(), []).append((row.lead, pattern))

    def spans(self, view: bytes) -> Iterator[Span]:
        """Yield the spans of keys, unordered."""
        around: list[bytes] = []
        for begin, end in _long_words(view):
            around.append(view[max(0, begin - _NEAR) : end])
            done = begin
            for found in self._start.finditer(view, begin - 1, end):
                at = found.start(1)
                key = self._pattern(found.group(1)).match(view, at) if at >= done else None
                if key is not None:
                    done = key.end()
                    yield key.span()
        lowered = view.lower()
        yield from _values(view, lowered, self._short_values)
        if around:
            near = b" ".join(around).lower()
            if self._any_label.search(near):
                labels = {at: rows for at, rows in self._values.items() if at in near}
                yield from _values(view, lowered, labels)

    def open_from(self, view: bytes) -> int:
        """Return where a possible key begins at the text's end; the text's length if none does."""
        return min(self._open_word(view), self._open_start(view), self._open_value(view))

    def _pattern(self, start: bytes) -> re.Pattern[bytes]:
        pattern = self._compiled.get(start)
        if pattern is None:
            pattern = self._compiled[start] = re.compile(self._forms[start])
        return pattern

    def _open_word(self, view: bytes) -> int:
        """Return where a key starts in the unfinished last word."""
        end = len(view)
        tail = view[-LONGEST_KEY:]
        word = end - len(tail) + len(tail.rstrip(_KEY_BYTES))
        found = self._start.search(view, max(word - 1, 0))
        return end if found is None else found.start(1)

    def _open_start(self, view: bytes) -> int:
        """Return where the text's end begins a literal start."""
        end = len(view)
        for at in range(max(1, end - self._longest_start), end):
            if view[at - 1] not in _WORD and view[at:] in self._partial:
                return at
        return end

    def _open_value(self, view: bytes) -> int:
        """Return where an unfinished value after a label starts."""
        tail = view[-LONGEST_KEY:].lower()
        moved = len(view) - len(tail)
        opened = len(view)
        if self._any_label.search(tail) is None:
            return opened
        for literal, patterns in self._open_values.items():
            at = tail.rfind(literal)
            for lead, pattern in patterns if at >= 0 else ():
                found = pattern.match(view, max(0, moved + at - lead))
                if found is not None:
                    opened = min(opened, found.start(1))
        return opened


def _long_words(view: bytes) -> Iterator[Span]:
    """Yield the spans of long words; nearby ones as one span."""
    marks = _without_data(view, view.translate(_MARKS))
    begin = marks.find(_LONG)
    while begin >= 0:
        end = _word_end(marks, begin)
        while (near := marks.find(_LONG, end, end + _NEAR)) >= 0:
            end = _word_end(marks, near)
        yield begin, end
        begin = marks.find(_LONG, end)


def _without_data(view: bytes, marks: bytes) -> bytes:
    """Return the marks without base64 words that are too long for keys."""
    at = marks.find(_DATA)
    while at >= 0:
        end = _word_end(marks, at)
        if not view[at:end].translate(None, _BASE64):
            marks = marks[:at] + b" " * (end - at) + marks[end:]
        at = marks.find(_DATA, end)
    return marks


def _word_end(marks: bytes, at: int) -> int:
    end = marks.find(b" ", at)
    return len(marks) if end < 0 else end


def _by_literal(rows: list[LabelPattern]) -> Values:
    found: Values = {}
    for row in rows:
        pattern = re.compile(f"(?i:{row.label})({row.value})".encode())
        found.setdefault(row.at.encode(), []).append((row.lead, pattern))
    return found


def _values(view: bytes, lowered: bytes, values: Values) -> Iterator[Span]:
    for literal, patterns in values.items():
        at = lowered.find(literal)
        while at >= 0:
            for lead, pattern in patterns:
                found = pattern.match(view, max(0, at - lead))
                if found is not None:
                    yield found.span(1)
            at = lowered.find(literal, at + 1)


def _shortest(starts: list[str]) -> list[str]:
    """Return the sorted literals without those that begin with another."""
    found: list[str] = []
    for start in starts:
        if not found or not start.startswith(found[-1]):
            found.append(start)
    return found


def _forms(first: str, rows: tuple[PrefixPattern, ...]) -> bytes:
    """Return the pattern of all keys that start with ``first``, longer starts before shorter."""
    found = [(start, row) for row in rows for start in row.starts if start.startswith(first)]
    found.sort(key=lambda form: -len(form[0]))
    return "|".join(
        (f"(?<![{re.escape(row.not_after)}])" if row.not_after else "")
        + f"{re.escape(start)}(?:{row.body})"
        for start, row in found
    ).encode()


def _first_two(starts: list[str]) -> str:
    """Return a two-character pattern that all literals match, because it fails faster."""
    sets = (sorted({start[at] for start in starts}) for at in range(2))
    return "".join(f"[{re.escape(''.join(letters))}]" for letters in sets)


def _any_of(starts: list[str]) -> str:
    """Return a pattern for sorted literals, grouped by first character."""
    groups = (
        (first, "|".join(re.escape(start[1:]) for start in group))
        for first, group in groupby(starts, key=lambda start: start[0])
    )
    return "|".join(f"{re.escape(first)}(?:{rest})" for first, rest in groups)
