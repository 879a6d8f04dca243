"""Breaks streamed text between words, where the terminal would break within them.

Pure; used by ``terminal``. The last word is held back until its end is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from prompt_toolkit.utils import get_cwidth

from jupyter_ai_shoulders.cli.chat.markdown_styles import BLOCK, Piece

EXACT = "class:exact"
"""Style of text that is shown verbatim, such as the effect of a call."""
_UNBROKEN = frozenset({"class:exact", BLOCK.partition(" ")[0]})
_PARTS = re.compile(r"\n|[^\S\n]+|\S+")


class LineWrapper:
    """The wrapping state of one terminal."""

    def __init__(self) -> None:
        self._column = 0
        self._space = ""
        """Space between words, dropped where a line is broken."""
        self._word: list[Piece] = []

    @property
    def at_start(self) -> bool:
        """Whether the cursor is at the start of a line, and nothing is held back."""
        return self._column == 0 and not self._word and not self._space

    def feed(self, pieces: Sequence[Piece], columns: int) -> list[Piece]:
        """Return the text that can be written now."""
        return [shown for piece in pieces for shown in self._take(piece, columns)]

    def end(self, columns: int) -> list[Piece]:
        """Return the text that was held back."""
        return [*self._end_word(columns), *self._end_space("")]

    def _take(self, piece: Piece, columns: int) -> Iterable[Piece]:
        style, text = piece
        broken = _UNBROKEN.isdisjoint(style.split())
        for part in _PARTS.findall(text):
            if part == "\n":
                yield from self.end(columns)
                yield style, part
                self._column = 0
            elif part.isspace():
                yield from self._end_word(columns)
                self._space += part
            elif broken:
                self._word.append((style, part))
            else:
                yield from self.end(columns)
                yield self._moved(style, part)

    def _end_word(self, columns: int) -> Iterable[Piece]:
        word, self._word = self._word, []
        if not word:
            return
        width = sum(get_cwidth(text) for _, text in word)
        if self._column and self._column + get_cwidth(self._space) + width > columns:
            self._column, self._space = 0, ""
            yield "", "\n"
        yield from self._end_space(word[0][0])
        for style, text in word:
            yield self._moved(style, text)

    def _end_space(self, style: str) -> Iterable[Piece]:
        space, self._space = self._space, ""
        if space:
            yield self._moved(style, space)

    def _moved(self, style: str, text: str) -> Piece:
        self._column += get_cwidth(text)
        return style, text
