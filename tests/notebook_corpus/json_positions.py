"""Positions in a JSON text, found without the code under test."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"\ufeff]+')


@dataclass(frozen=True)
class Span:
    """A value: its position, and the members of an object or items of a list."""

    start: int
    end: int
    members: dict[str, "Span"] = field(default_factory=dict[str, "Span"])
    items: list["Span"] = field(default_factory=list["Span"])

    def text(self, whole: str) -> str:
        """Its own text."""
        return whole[self.start : self.end]


@dataclass(frozen=True)
class Located:
    """The cells of a notebook file, and the text around them."""

    head: str
    """Up to and including the bracket that opens the list of cells."""
    cells: list[Span]
    gaps: list[str]
    """Before each cell, and after the last."""
    tail: str
    """From the bracket that closes the list."""
    text: str

    def texts(self) -> list[str]:
        """The text of each cell."""
        return [cell.text(self.text) for cell in self.cells]


def locate(text: str) -> Located:
    """Return the positions of the cells; format 3 must have one worksheet or edits within cells."""
    tokens = _TOKEN.finditer(text)
    top = _value(next(tokens), tokens)
    if "worksheets" in top.members:
        arrays = [sheet.members["cells"] for sheet in top.members["worksheets"].items]
    else:
        arrays = [top.members["cells"]]
    cells = [cell for array in arrays for cell in array.items]
    first, last = arrays[0].start + 1, arrays[-1].end - 1
    edges = [first, *(edge for cell in cells for edge in (cell.start, cell.end)), last]
    gaps = [text[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)]
    return Located(text[:first], cells, gaps, text[last:], text)


def _value(token: re.Match[str], tokens: Iterator[re.Match[str]]) -> Span:
    if token[0] == "{":
        return _object(token.start(), tokens)
    if token[0] == "[":
        return _list(token.start(), tokens)
    return Span(*token.span())


def _object(start: int, tokens: Iterator[re.Match[str]]) -> Span:
    members: dict[str, Span] = {}
    for token in tokens:
        if token[0] == "}":
            return Span(start, token.end(), members)
        if token[0] != ",":
            next(tokens)  # the colon
            members[json.loads(token[0])] = _value(next(tokens), tokens)
    raise AssertionError("an object without an end")


def _list(start: int, tokens: Iterator[re.Match[str]]) -> Span:
    items: list[Span] = []
    for token in tokens:
        if token[0] == "]":
            return Span(start, token.end(), {}, items)
        if token[0] != ",":
            items.append(_value(token, tokens))
    raise AssertionError("a list without an end")
