"""Styles Markdown for a terminal, keeping every character. Pure; for ``event_display``."""

from __future__ import annotations

from collections.abc import Iterable

Piece = tuple[str, str]
"""A style as prompt_toolkit names it, and text."""

CODE = "ansicyan"
BLOCK = f"class:block {CODE}"
"""Style of code blocks, whose lines are not broken between words."""
STRONG = "bold"
_MARKS = "`*#"
_FENCE = 3
"""Backticks that start or end a code block."""
_DEEPEST_HEADING = 6


class MarkdownStyler:
    """Styles text as it streams in; every character stays, so that it can be copied."""

    def __init__(self) -> None:
        self._run = ""
        """Marks held back until their number is known."""
        self._at_start = True
        self._in_block = False
        self._line = ""
        """Style of the rest of the line."""
        self._inline = ""

    def feed(self, text: str) -> list[Piece]:
        """Return the text that can be shown now."""
        return _joined(piece for character in text for piece in self._take(character))

    def end(self) -> list[Piece]:
        """Return the text that was held back."""
        return self._release("\n")

    def _take(self, character: str) -> list[Piece]:
        if character in _MARKS and self._run.strip(character) == "":
            self._run += character
            return []
        shown = self._release(character)
        if character in _MARKS:
            self._run = character
            return shown
        if character == "\n":
            self._at_start, self._line, self._inline = True, "", ""
            return [*shown, ("", character)]
        self._at_start = self._at_start and character == " "
        return [*shown, (self._style(), character)]

    def _release(self, following: str) -> list[Piece]:
        """Return the marks that were held back, and start or end their style."""
        run, self._run = self._run, ""
        if not run:
            return []
        at_start, self._at_start = self._at_start, False
        if at_start and run[0] == "`" and len(run) >= _FENCE:
            self._in_block, self._line = not self._in_block, BLOCK
        elif at_start and run[0] == "#" and following == " " and len(run) <= _DEEPEST_HEADING:
            self._line = STRONG if not self._in_block else ""
        elif run == "**" or run[0] == "`":
            return [(self._toggled(STRONG if run == "**" else CODE), run)]
        return [(self._style(), run)]

    def _toggled(self, style: str) -> str:
        """Start or end an inline style; return the style of its mark."""
        if self._in_block or self._line:
            return self._style()
        self._inline = "" if self._inline == style else style
        return style

    def _style(self) -> str:
        return self._line or (BLOCK if self._in_block else self._inline)


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for style, text in pieces:
        if joined and joined[-1][0] == style:
            joined[-1] = (style, joined[-1][1] + text)
        else:
            joined.append((style, text))
    return joined
