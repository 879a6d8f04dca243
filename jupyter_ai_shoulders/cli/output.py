"""Standard output and standard error of the commands, free of terminal control characters.

The only module of ``cli`` that writes to them, apart from the terminal chat's own screen.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from jupyter_ai_shoulders.wire.hidden_characters import LegibleStream, legible


def write_out(text: str) -> None:
    """Write text to standard output."""
    sys.stdout.write(legible(text))
    sys.stdout.flush()


def write_error(text: str) -> None:
    """Write text to standard error."""
    sys.stderr.write(legible(text))
    sys.stderr.flush()


def write_json(value: Any, *, indent: int | None = 2) -> None:
    """Write a value as JSON and a line feed; in ASCII, in which nothing is hidden."""
    write_out(json.dumps(value, indent=indent) + "\n")


class StreamedAnswer:
    """An answer that is streamed to standard output."""

    def __init__(self) -> None:
        self._text = LegibleStream()

    def write(self, piece: str) -> None:
        """Write the next piece."""
        sys.stdout.write(self._text.feed(piece))
        sys.stdout.flush()
