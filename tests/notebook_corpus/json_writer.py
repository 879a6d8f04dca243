"""A JSON writer with configurable style, independent of ``json`` and nbformat.

Tools differ in indentation, line ends, the order of keys, the spelling of characters and numbers,
and white space. All of it must survive an edit.
"""

import random
from dataclasses import dataclass
from typing import Any, Literal, cast

_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SHORTER = {**_SHORT, "\b": "\\b", "\f": "\\f"}


@dataclass(frozen=True)
class Literally:
    """A value with a fixed spelling: ``1E5``, ``-0``, ``NaN``."""

    text: str


class Twice(dict[str, Any]):
    """An object with duplicate keys; the first of each is null."""


@dataclass(frozen=True)
class Spelling:
    """The style of one tool; None for ``indent`` is one line."""

    indent: str | None = " "
    newline: str = "\n"
    colon: str = ": "
    comma: str = ","
    order: Literal["as is", "sorted", "reversed", "shuffled"] = "as is"
    escape: Literal["no", "lower", "upper"] = "no"
    slashes: bool = False
    """Whether ``/`` is escaped, as PHP and some Java writers do."""
    empty_space: str = ""
    """The content of an empty list or object."""
    trailing: str = ""
    """White space at the end of each line."""
    own_lines: bool = True
    """Whether short lists of scalars take several lines."""
    final: str = "\n"
    before: str = ""
    """The text before the first brace: a byte-order mark, white space."""


def spell(value: Any, spelling: Spelling, seed: int = 0) -> str:
    """Return the value's JSON text."""
    return spelling.before + _Speller(spelling, random.Random(seed)).text(value, 0) + spelling.final


class _Speller:
    def __init__(self, spelling: Spelling, choices: random.Random) -> None:
        self._spelling = spelling
        self._choices = choices

    def text(self, value: Any, depth: int) -> str:
        match value:
            case str():
                return self._string(value)
            case dict():
                return self._object(cast("dict[str, Any]", value), depth)
            case list():
                return self._list(cast("list[Any]", value), depth)
            case Literally():
                return value.text
            case bool() | None:
                return {None: "null", True: "true", False: "false"}[value]
            case _:
                return repr(value)

    def _object(self, value: dict[str, Any], depth: int) -> str:
        pairs = [(key, item) for key, item in value.items() if isinstance(value, Twice)]
        pairs = [(key, None) for key, _ in pairs] + self._ordered(list(value.items()))
        items = [
            f"{self._string(key)}{self._spelling.colon}{self.text(item, depth + 1)}"
            for key, item in pairs
        ]
        return self._joined("{", items, "}", depth, one_line=False)

    def _ordered(self, pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        match self._spelling.order:
            case "sorted":
                return sorted(pairs, key=lambda pair: pair[0])
            case "reversed":
                return pairs[::-1]
            case "shuffled":
                return self._choices.sample(pairs, len(pairs))
            case "as is":
                return pairs

    def _list(self, value: list[Any], depth: int) -> str:
        scalars = not any(isinstance(item, list | dict) for item in value)
        items = [self.text(item, depth + 1) for item in value]
        one_line = scalars and not self._spelling.own_lines
        return self._joined("[", items, "]", depth, one_line=one_line)

    def _joined(self, mark: str, items: list[str], end: str, depth: int, *, one_line: bool) -> str:
        style = self._spelling
        if not items:
            return f"{mark}{style.empty_space}{end}"
        if style.indent is None or one_line:
            return f"{mark}{style.comma.join(items)}{end}"
        line = f"{style.trailing}{style.newline}{style.indent * (depth + 1)}"
        last = f"{style.trailing}{style.newline}{style.indent * depth}"
        comma = style.comma.rstrip()
        return f"{mark}{line}{f'{comma}{line}'.join(items)}{last}{end}"

    def _string(self, text: str) -> str:
        return '"' + "".join(map(self._character, text)) + '"'

    def _character(self, one: str) -> str:
        code = ord(one)
        if one in _SHORTER:
            return _SHORTER[one]
        if one == "/" and self._spelling.slashes:
            return "\\/"
        is_plain = 0x20 <= code < 0x7F or (code >= 0x80 and self._spelling.escape == "no")
        if is_plain and not 0xD800 <= code < 0xE000:
            return one
        if code == 0x7F:
            return one
        units = one.encode("utf-16-be", "surrogatepass").hex()
        text = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        return text.upper().replace("\\U", "\\u") if self._spelling.escape == "upper" else text
