"""Formats a text file for the model: numbered lines, as many as fit a result. Pure.

Used by ``read_file`` and by refusals that show the current file.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.tools.truncation import BYTE_LIMIT, LINE_LIMIT

SHOWN_LINES = LINE_LIMIT - 20
SHOWN_BYTES = BYTE_LIMIT - 1_024
"""Bytes of a page, so that it fits a result with its heading and hint."""


@dataclass(frozen=True, slots=True)
class NumberedLines:
    """Numbered lines of a text; ``last`` is ``first - 1`` if there are none.

    ``whole`` if they are the entire text; ``cut`` if a line is too long to be shown in full.
    """

    text: str
    first: int
    last: int
    total: int
    cut: bool = False

    @property
    def whole(self) -> bool:
        """Return whether nothing is omitted."""
        return self.first == 1 and self.last == self.total and not self.cut


def split_lines(text: str) -> list[str]:
    r"""Split a text into lines, which end at ``\n`` only."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def numbered_lines(
    text: str, start: int = 1, end: int | None = None, most: int = SHOWN_BYTES
) -> NumberedLines:
    """Return the lines from ``start`` to ``end`` (1-based, inclusive) that fit."""
    lines = split_lines(text)
    wanted = lines[start - 1 : end][:SHOWN_LINES]
    taken: list[str] = []
    left = min(most, SHOWN_BYTES)
    for number, line in enumerate(wanted, start):
        numbered = f"{number}: {line}"
        left -= _size(numbered) + 1
        if left < 0:
            break
        taken.append(numbered)
    if not taken and wanted:
        return _beginning_of_line(wanted[0], start, len(lines), most)
    return NumberedLines("\n".join(taken), start, start + len(taken) - 1, len(lines))


def last_lines(text: str, count: int, most: int = SHOWN_BYTES) -> NumberedLines:
    """Return those of the last ``count`` lines that fit, preferring the later ones."""
    lines = split_lines(text)
    left = min(most, SHOWN_BYTES)
    start = len(lines) + 1
    while start > 1 and len(lines) - start + 1 < min(count, SHOWN_LINES):
        left -= _size(f"{start - 1}: {lines[start - 2]}") + 1
        if left < 0:
            break
        start -= 1
    if start > len(lines) and lines:
        return _beginning_of_line(lines[-1], len(lines), len(lines), most)
    return numbered_lines(text, start, None, most)


def _beginning_of_line(line: str, number: int, total: int, most: int) -> NumberedLines:
    """Return the beginning of a line that is longer than a result."""
    shown = line[: max(1, (min(most, SHOWN_BYTES) - 100) // 4)]
    text = f"{number}: {shown} [… {len(line) - len(shown)} more characters of this line …]"
    return NumberedLines(text, number, number, total, cut=True)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
