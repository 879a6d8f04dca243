r"""Finds the fields of one BibTeX entry with their exact spans. Pure; called by ``bibliography``.

bibtexparser splits a file into entries but keeps no positions, so the spans are found here and the
names and values compared with its own. Grammar: https://ctan.org/pkg/bibtex (btxdoc), with entries
in parentheses. Like bibtexparser, ``\{`` and ``\}`` are not counted as braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_HEAD = re.compile(r"@(\w*)[ \t]*([{(])\s*([^\s,{}]*)\s*")
_NAME = re.compile(r"\s*([^\s{}\"#%'(),=]+)\s*=\s*")
_BARE = re.compile(r"[^\s{}\"#%'(),=@\\]+")
_BRACE = re.compile(r"(?<!\\)[{}]")
_QUOTED_MARK = re.compile(r"(?<!\\)[{}\"]")
_SPACE = re.compile(r"(?:\s|%[^\n]*(?:\n|\Z))*")
"""Space between fields; Biber takes comments there, which BibTeX does not."""

PieceKind = Literal["braced", "quoted", "bare"]


class BrokenEntry(Exception):
    """The entry is not as BibTeX wants it; ``offset`` is where, from the beginning of its text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class ValuePiece:
    """A part of a value: a text in braces or quotes, or a number or name of a ``@string``."""

    kind: PieceKind
    text: str
    """Without its delimiters."""


@dataclass(frozen=True, slots=True)
class FieldSpan:
    """A field; positions count from the beginning of the entry's text."""

    name: str
    """As it is written."""
    start: int
    """Where its name begins."""
    value_start: int
    value_end: int
    pieces: tuple[ValuePiece, ...]
    """More than one are joined with ``#``."""


@dataclass(frozen=True, slots=True)
class EntrySpans:
    """The parts of an entry; positions count from the beginning of its text."""

    type: str
    key: str
    key_end: int
    fields: tuple[FieldSpan, ...]
    commas: tuple[int, ...]
    """Positions of the commas after the key and after fields."""
    close: int
    """The position of its last delimiter."""


def entry_spans(raw: str) -> EntrySpans:
    """Return the spans of an entry's text. Raises ``BrokenEntry``."""
    head = _HEAD.match(raw)
    if head is None or not head[3]:
        raise BrokenEntry("The entry has no key.", 0)
    closing = "}" if head[2] == "{" else ")"
    position = head.end()
    fields: list[FieldSpan] = []
    commas: list[int] = []
    while True:
        if position >= len(raw):
            raise BrokenEntry("The entry does not end.", len(raw))
        if raw[position] == closing:
            break
        if raw[position] != ",":
            raise BrokenEntry("A comma is missing, or braces do not match.", position)
        commas.append(position)
        position = _end_of_space(raw, position + 1)
        if raw[position : position + 1] == closing:
            break
        found = _field(raw, position)
        fields.append(found)
        position = _end_of_space(raw, found.value_end)
    if position != len(raw) - 1:
        raise BrokenEntry("There is text after the end of the entry.", position)
    return EntrySpans(head[1], head[3], head.end(3), tuple(fields), tuple(commas), position)


def is_same_field(found: FieldSpan, raw: str, name: str, value: str) -> bool:
    """Return whether a field is the one that bibtexparser read.

    It counts comments before a name, and after a value, to them.
    """
    ours = raw[found.value_start : found.value_end]
    return (
        name[_end_of_space(name, 0) :] == found.name
        and value.startswith(ours)
        and _end_of_space(value, len(ours)) == len(value)
    )


def value_pieces(raw: str) -> tuple[ValuePiece, ...]:
    """Return the parts of a whole value. Raises ``BrokenEntry``."""
    position = _end_of_space(raw, 0)
    pieces, end = _value(raw, position)
    if _end_of_space(raw, end) != len(raw):
        raise BrokenEntry("A comma is missing, or braces do not match.", end)
    return pieces


def _field(raw: str, position: int) -> FieldSpan:
    name = _NAME.match(raw, position)
    if name is None:
        raise BrokenEntry("A field has no name, or no = after it.", position)
    pieces, end = _value(raw, name.end())
    return FieldSpan(name[1], name.start(1), name.end(), end, pieces)


def _value(raw: str, position: int) -> tuple[tuple[ValuePiece, ...], int]:
    """Return the parts of the value at a position, and its end."""
    pieces: list[ValuePiece] = []
    while True:
        piece, end = _piece(raw, position)
        pieces.append(piece)
        following = _end_of_space(raw, end)
        if raw[following : following + 1] != "#":
            return tuple(pieces), end
        position = _end_of_space(raw, following + 1)


def _piece(raw: str, position: int) -> tuple[ValuePiece, int]:
    match raw[position : position + 1]:
        case "{":
            end = _closing_brace(raw, position)
            return ValuePiece("braced", raw[position + 1 : end - 1]), end
        case '"':
            end = _closing_quote(raw, position)
            return ValuePiece("quoted", raw[position + 1 : end - 1]), end
        case _:
            bare = _BARE.match(raw, position)
            if bare is None:
                raise BrokenEntry("A field has no value.", position)
            return ValuePiece("bare", bare[0]), bare.end()


def _closing_brace(raw: str, start: int) -> int:
    depth = 0
    for mark in _BRACE.finditer(raw, start):
        depth += 1 if mark[0] == "{" else -1
        if depth == 0:
            return mark.end()
    raise BrokenEntry("A brace is not closed.", start)


def _closing_quote(raw: str, start: int) -> int:
    depth = 0
    for mark in _marks(raw, start + 1):
        if mark[0] == '"':
            if depth == 0:
                return mark.end()
        else:
            depth += 1 if mark[0] == "{" else -1
            if depth < 0:
                break
    raise BrokenEntry("A quotation mark is not closed.", start)


def _marks(raw: str, start: int) -> Iterator[re.Match[str]]:
    return _QUOTED_MARK.finditer(raw, start)


def _end_of_space(raw: str, position: int) -> int:
    space = _SPACE.match(raw, position)
    return position if space is None else space.end()
