"""Handles characters that are invisible, reorder text or control a terminal. Pure.

Used where text of models, tools and files is printed, exported or put into a cell. The page has the
same rule in ``labextension/src/text/hiddenCharacters.ts``; both pass
``tests/wire/fixtures/hidden_characters.json``.

Hidden are control characters except tab and line feed, lone surrogates, the line and paragraph
separators, bidirectional controls, blank letters, and Unicode's default ignorable characters
(``DerivedCoreProperties.txt``), which include tags and variation selectors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_PICTURES = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
"""Emoji, and symbols with an emoji form; some blocks as a whole."""
_HYPHENATED = "A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\u024f\u0370-\u058f\u1e00-\u1fff"
"""Letters of Latin, Greek, Cyrillic and Armenian, whose words a soft hyphen may divide."""
_JOINED = (
    "\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\ua840-\ua87f"
    "\ua8e0-\ua8ff\ua980-\ua9df\uaa60-\uaa7f\ufb50-\ufdff\ufe70-\ufefc\U00011000-\U00011fff"
    "\U0001e900-\U0001e95f"
)
"""Scripts that use joiners: Arabic to Mongolian, and those of India and its neighbours."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"
"""Thai, Lao, Burmese and Khmer, where a zero-width space may separate words."""
_MONGOLIAN = "\u1820-\u18aa"
"""Letters whose shapes are chosen by a selector."""
_ENDED = "\U000e007f"
_FLAGS = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + _ENDED
    for region in ("gbeng", "gbsct", "gbwls")
)
"""England, Scotland and Wales: the flags that emoji fonts make of tags; others could be text."""

_PICTURE_FORM = f"(?<=[{_PICTURES}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
_NEEDED = (
    f"{_PICTURE_FORM}"
    f"|(?:(?<=[{_PICTURES}])|(?<=[{_PICTURES}]\ufe0f))\u200d(?=[{_PICTURES}])"
    f"|(?<=\U0001f3f4)(?:{_FLAGS})"
    f"|(?<=[{_JOINED}])[\u200c\u200d]"
    f"|(?<=[{_UNSPACED}])\u200b"
    f"|(?<=[{_MONGOLIAN}])[\u180b-\u180f]"
    f"|(?<=[{_HYPHENATED}])\xad(?=[{_HYPHENATED}])"
    "|\\A\ufeff"
)
_HIDDEN_RUN = re.compile(f"[{_HIDDEN}]+")
_NEEDED_EXACT = re.compile(_PICTURE_FORM)
_NEEDED_LEGIBLE = re.compile(_NEEDED)
_CONTEXT = 2
"""Number of preceding characters that decide whether a character is needed."""


def visible(text: str) -> str:
    r"""Replace every hidden character by a code such as ``\u202e``.

    For names, commands, diffs and everything the user approves character by character.
    """
    return _replaced(text.replace("\r\n", "\n"), _NEEDED_EXACT, _code)


def legible(text: str) -> str:
    """Replace hidden characters by codes, except those needed for writing.

    These are joiners and selectors of emoji, flags, joiners and zero-width spaces in scripts that
    use them, soft hyphens within words, and a byte order mark at the start.
    """
    return _replaced(text.replace("\r\n", "\n"), _NEEDED_LEGIBLE, _code)


def without_hidden(text: str) -> tuple[str, int]:
    """Return text without the characters that ``legible`` replaces, and their number."""
    lines = text.replace("\r\n", "\n")
    clean = _replaced(lines, _NEEDED_LEGIBLE, lambda _: "")
    return clean, len(lines) - len(clean)


def escaped_json(text: str) -> str:
    """Escape the hidden characters in the strings of JSON text; its meaning stays the same."""
    return _replaced(text, _NEEDED_EXACT, lambda character: json.dumps(character)[1:-1])


class LegibleStream:
    """``legible`` for streamed text. Needed characters at the edge of a piece may become codes."""

    def __init__(self) -> None:
        self._before = ""

    def feed(self, piece: str) -> str:
        """Return the next piece for display."""
        start = len(self._before)
        text = self._before + piece.replace("\r\n", "\n")
        self._before = text[-_CONTEXT:]
        return _replaced(text, _NEEDED_LEGIBLE, _code, start)


def _replaced(
    text: str, needed: re.Pattern[str], replace: Callable[[str], str], start: int = 0
) -> str:
    """Return text from ``start`` with every unneeded hidden character replaced.

    Text without hidden characters is only searched for one class, which is fast.
    """

    def shown(run: re.Match[str]) -> str:
        pieces: list[str] = []
        position = run.start()
        while position < run.end():
            kept = needed.match(text, position)
            pieces.append(kept[0] if kept else replace(text[position]))
            position = kept.end() if kept else position + 1
        return "".join(pieces)

    pieces: list[str] = []
    for run in _HIDDEN_RUN.finditer(text, start):
        pieces += (text[start : run.start()], shown(run))
        start = run.end()
    return "".join((*pieces, text[start:]))


def _code(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
