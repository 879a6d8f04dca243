"""Stream output as a terminal would show it, kept within a bound.

Used by ``notebook.outputs.collector``.
"""

from __future__ import annotations

import re
from collections import deque

_CONTROLS = re.compile(r"[\r\b\n]|[^\r\b\n]+")


class StreamText:
    r"""Text printed to one stream: ``\r`` and ``\b`` move back in the open line, as in the lab.

    ``cursor`` counts in the open line only; closed lines never change again.
    """

    def __init__(self) -> None:
        self._closed: deque[str] = deque()
        self._closed_length = 0
        self._line = ""
        self._cursor = 0

    def __len__(self) -> int:
        return self._closed_length + len(self._line)

    def __str__(self) -> str:
        return "".join(self._closed) + self._line

    def write(self, text: str) -> None:
        """Print ``text`` at the cursor."""
        if self._cursor == len(self._line) and "\r" not in text and "\b" not in text:
            self._append(text)
            return
        for match in _CONTROLS.finditer(text):
            self._type(match.group())

    def drop_oldest(self, limit: int) -> int:
        """Drop text from the beginning until ``limit`` characters are left; return how many."""
        excess = surplus = max(0, len(self) - limit)
        while excess and self._closed:
            first = self._closed.popleft()
            if len(first) > excess:
                self._closed.appendleft(first[excess:])
            dropped = min(len(first), excess)
            self._closed_length -= dropped
            excess -= dropped
        self._line = self._line[excess:]
        self._cursor = max(0, self._cursor - excess)
        return surplus

    def _append(self, text: str) -> None:
        end = text.rfind("\n") + 1
        if end:
            self._close(self._line + text[:end])
            self._line = text[end:]
        else:
            self._line += text
        self._cursor = len(self._line)

    def _close(self, lines: str) -> None:
        self._closed.append(lines)
        self._closed_length += len(lines)

    def _type(self, piece: str) -> None:
        if piece == "\n":
            self._close(self._line + "\n")
            self._line, self._cursor = "", 0
        elif piece == "\r":
            self._cursor = 0
        elif piece == "\b":
            self._cursor = max(0, self._cursor - 1)
        else:
            end = self._cursor + len(piece)
            self._line = self._line[: self._cursor] + piece + self._line[end:]
            self._cursor = end
