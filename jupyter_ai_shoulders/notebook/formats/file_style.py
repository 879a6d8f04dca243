"""The style of a notebook file: indentation, separators, escapes.

Used by ``notebook.formats.splice``, which writes edits in the style of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cached_property, partial

from jupyter_ai_shoulders.notebook.formats.json_layout import Layout
from jupyter_ai_shoulders.notebook.formats.notebook_file import ParsedNotebook
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.versions import well_formed

_BEYOND_ASCII = re.compile(r"\\u(?:00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])")


class FileStyle:
    """The style of a file, from its first lines and cells, as far as edits need it."""

    def __init__(self, notebook: ParsedNotebook) -> None:
        self._notebook = notebook

    @cached_property
    def _opening(self) -> str:
        """The white space after the file's first brace."""
        found = re.match(r"\ufeff?\s*\{(\s*)", self._notebook.head)
        return found.group(1) if found else ""

    @cached_property
    def _line_end(self) -> re.Match[str] | None:
        return re.search(r"\r\n|\n|\r", self._opening)

    @cached_property
    def indent(self) -> str | None:
        """The text of one level; None when the file is on one line."""
        return self._opening[self._line_end.end() :] if self._line_end else None

    @cached_property
    def newline(self) -> str:
        """The line end."""
        return self._line_end.group() if self._line_end else "\n"

    @cached_property
    def comma(self) -> str:
        """The separator of two items on one line."""
        found = self._notebook
        sample = found.head + found.tail + "".join(cell.text for cell in found.cells[:1])
        return ", " if re.search(r'[\]"\d}], "', sample) else ","

    @cached_property
    def colon(self) -> str:
        """The separator of a key and its value."""
        found = re.search(r'"cells"(\s*:\s*)\[$', self._notebook.head)
        return found.group(1) if found else ": "

    @cached_property
    def escapes(self) -> bool:
        r"""Whether the file writes characters beyond ASCII as ``\uXXXX``."""
        cells = self._notebook.cells
        pieces = (self._notebook.head, self._notebook.tail, *(cell.text for cell in cells))
        return all(piece.isascii() for piece in pieces) and any(
            "\\u" in piece and _BEYOND_ASCII.search(piece) for piece in pieces
        )

    @cached_property
    def lines(self) -> bool:
        """Whether long texts are lists of lines, as in the first cell with such a text."""
        for cell in self._notebook.cells:
            found = re.search(r'"(?:source|input)"\s*:\s*(["\[])', cell.text)
            if found and cell.source:
                return found.group(1) == "["
        return True

    def dump(self, value: Json, prefix: str | None) -> str:
        """Return a value's JSON text; ``prefix`` is the white space at the start of its line."""
        if value is None or isinstance(value, str | int):
            return self._spelled(partial(json.dumps, value))
        indented = self.indent is not None and prefix is not None
        text = self._spelled(
            partial(
                json.dumps,
                value,
                indent=self.indent if indented else None,
                separators=("," if indented else self.comma, self.colon),
                sort_keys=True,
            )
        )
        return text.replace("\n", f"{self.newline}{prefix}") if indented else text

    def _spelled(self, dumps: Callable[..., str]) -> str:
        text = dumps(ensure_ascii=False)
        if not text.isascii() and (self.escapes or text != well_formed(text)):
            text = dumps(ensure_ascii=True)
        return text

    def layout(self, prefix: str | None) -> Layout:
        """Return the layout of an array whose key follows ``prefix``."""
        if self.indent is None or prefix is None:
            return Layout("", self.comma, "")
        first = f"{self.newline}{prefix}{self.indent}"
        return Layout(first, "," + first, f"{self.newline}{prefix}")
