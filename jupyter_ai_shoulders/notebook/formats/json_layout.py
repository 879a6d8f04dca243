"""JSON text with the positions of the members of an object and the items of an array.

Only one level is walked in Python; the C scanner decodes everything below. Used by
``notebook.formats.notebook_file`` and ``notebook.formats.splice``, which must leave all other text
unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

_space = re.compile(r"[ \t\r\n]*").match
_comma = re.compile(r"[ \t\r\n]*,[ \t\r\n]*").match
_decode = json.JSONDecoder().raw_decode
_scan: Callable[[str, int], tuple[Any, int]] = cast("Any", json.JSONDecoder()).scan_once
"""The function behind ``raw_decode``; the difference is noticeable for long arrays."""
T = TypeVar("T")


class ItemSpan(NamedTuple):
    """An item of an array: ``text[start:end]``; the text that leads to it begins at ``before``."""

    before: int
    start: int
    end: int
    value: Any


class MemberSpan(NamedTuple):
    """A member of an object; the ``value`` of a walked array is the list of its converted items."""

    key: str
    key_start: int
    start: int
    end: int
    value: Any


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of an array: the text before the first item, between two, after the last."""

    first: str
    between: str
    last: str

    def join(self, items: list[str]) -> str:
        """Return the text of an array of these items."""
        return f"[{self.first}{self.between.join(items)}{self.last}]" if items else "[]"


def skip_space(text: str, position: int) -> int:
    """Return the position of the next character that is not white space."""
    match = _space(text, position)
    assert match is not None
    return match.end()


def walk_object(
    text: str, position: int, arrays: Mapping[str, Callable[..., Any]] | None = None
) -> tuple[list[MemberSpan], int]:
    """Return an object's members in order, and its end position.

    Arrays under a key of ``arrays`` are walked and their items converted by its function. Raises
    ``json.JSONDecodeError``; ``ValueError`` and ``RecursionError`` as ``json.loads`` does.
    """
    position = _expect(text, position, "{", "Expecting an object")
    members: list[MemberSpan] = []
    if text[position : position + 1] == "}":
        return members, position + 1
    while True:
        if text[position : position + 1] != '"':
            raise json.JSONDecodeError(
                "Expecting property name enclosed in double quotes", text, position
            )
        key, end = _decode(text, position)
        start = _expect(text, skip_space(text, end), ":", "Expecting ':' delimiter")
        make = arrays.get(key) if arrays else None
        if make is not None and text[start : start + 1] == "[":
            value, end = walk_array(text, start, make)
        else:
            value, end = _decode(text, start)
        members.append(MemberSpan(key, position, start, end, value))
        position = skip_space(text, end)
        if text[position : position + 1] == "}":
            return members, position + 1
        position = _expect(text, position, ",", "Expecting ',' delimiter")


def walk_array(
    text: str, position: int, make: Callable[[int, int, int, Any], T]
) -> tuple[list[T], int]:
    """Return ``make(before, start, end, value)`` for each item, and the array's end position.

    Raises like ``walk_object``.
    """
    before = position + 1
    position = _expect(text, position, "[", "Expecting an array")
    made: list[T] = []
    if text[position : position + 1] == "]":
        return made, position + 1
    while True:
        try:
            value, end = _scan(text, position)
        except StopIteration as error:
            raise json.JSONDecodeError("Expecting value", text, error.value) from None
        made.append(make(before, position, end, value))
        before = end
        comma = _comma(text, end)
        if comma is None:
            end = skip_space(text, end)
            if text[end : end + 1] == "]":
                return made, end + 1
            raise json.JSONDecodeError("Expecting ',' delimiter", text, end)
        position = comma.end()


def layout_of(text: str) -> Layout | None:
    """Return the layout of an array's text; None when it is empty."""
    items, end = walk_array(text, 0, ItemSpan)
    if not items:
        return None
    first = text[1 : items[0].start]
    between = text[items[0].end : items[1].start] if len(items) > 1 else None
    last = text[items[-1].end : end - 1]
    return Layout(first, between if between is not None else "," + (first or " "), last)


def _expect(text: str, position: int, mark: str, problem: str) -> int:
    """Return the position of the next token after ``mark``."""
    if text[position : position + 1] != mark:
        raise json.JSONDecodeError(problem, text, position)
    return skip_space(text, position + 1)
