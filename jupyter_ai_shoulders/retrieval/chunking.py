"""Splits documents into chunks: cells, definitions, sections, or paragraphs.

Used by ``retrieval.indexer``. Chunks follow the document's structure, because a hit is shown and
opened as one unit; only units that are too long are split, at blank lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import cast

from jupyter_ai_shoulders.retrieval.chunk import Chunk
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

CHARACTERS = 1_200
"""Length from which a unit is split at the next blank line."""
MOST_CHARACTERS = 2 * CHARACTERS
"""Length at which it is split anywhere."""
OUTPUT_CHARACTERS = 2_000
"""Indexed characters of the outputs of a cell."""
PRIVATE = "private"
"""Tag of cells that are not indexed."""
TRAIL = " › "
"""Between the headings above a chunk."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*$")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_ENTRY = re.compile(r"[ \t]*@\w+[ \t]*[{(][ \t]*([^,\s{}]*)")
_DEFINITION = re.compile(
    r"(?:(?:export|default|public|private|protected|static|abstract|final|pub|async|unsafe|inline)"
    r"[ \t]+)*(?:def|class|function|func|fn|struct|enum|trait|impl|interface|type|module|macro|sub)"
    r"\b[ \t*]*([\w.$:]*)"
    r"|([\w.]+)[ \t]*(?:<-|=)[ \t]*function\b"
)
"""Start of a top-level definition in common languages, R included; groups are its name."""


class HeadingTrail:
    """The headings above a place in a document, outermost first."""

    def __init__(self) -> None:
        self._levels: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """Begin a section."""
        self._levels = [each for each in self._levels if each[0] < level]
        self._levels.append((level, title))

    def __str__(self) -> str:
        return TRAIL.join(title for _, title in self._levels)


def notebook_chunks(cells: Iterable[NotebookCell]) -> Iterator[Chunk]:
    """Yield the chunks of a notebook's cells and of their text outputs; private cells have none."""
    trail = HeadingTrail()
    for cell in cells:
        tags = cell.metadata.get("tags")
        if isinstance(tags, list) and PRIVATE in tags:
            continue
        headings = [*_headings(cell.source)] if cell.cell_type == "markdown" else []
        for _, level, title in headings:
            trail.enter(level, title)
        heading = str(trail)
        for line, text in split(cell.source):
            yield Chunk(line, text, heading, cell.id)
        output = output_text(cell)[:OUTPUT_CHARACTERS]
        if output.strip():
            yield Chunk(1, output, heading, cell.id, is_output=True)


def output_text(cell: NotebookCell) -> str:
    """Return the text of a cell's outputs: streams, plain results and error messages."""
    texts: list[str] = []
    for output in cell.outputs or ():
        data = output.get("data")
        plain = data.get("text/plain") if isinstance(data, dict) else None
        said = (output.get("text"), plain, output.get("ename"), output.get("evalue"))
        texts += [_joined(text) for text in said if text]
    return "\n".join(texts)


def code_chunks(text: str) -> Iterator[Chunk]:
    """Yield the top-level definitions of a code file, and what is between them."""
    lines = text.split("\n")
    found = _definitions(lines)
    for (start, name), (end, _) in pairwise([(0, ""), *found, (len(lines), "")]):
        for line, piece in split("\n".join(lines[start:end]), start + 1):
            yield Chunk(line, piece, name)


def markdown_chunks(text: str) -> Iterator[Chunk]:
    """Yield the sections of a Markdown file."""
    lines, trail = text.split("\n"), HeadingTrail()
    found = [*_headings(text)]
    for (start, level, title), (end, _, _) in pairwise([(0, 0, ""), *found, (len(lines), 0, "")]):
        if level:
            trail.enter(level, title)
        for line, piece in split("\n".join(lines[start:end]), start + 1):
            yield Chunk(line, piece, str(trail))


def reference_chunks(text: str) -> Iterator[Chunk]:
    """Yield the entries of a BibTeX file, with their keys as headings."""
    lines = text.split("\n")
    found = [(n, entry[1]) for n, line in enumerate(lines) if (entry := _ENTRY.match(line))]
    for (start, key), (end, _) in pairwise([(0, ""), *found, (len(lines), "")]):
        for line, piece in split("\n".join(lines[start:end]), start + 1):
            yield Chunk(line, piece, key)


def text_chunks(text: str) -> Iterator[Chunk]:
    """Yield groups of paragraphs of a text."""
    for line, piece in split(text):
        yield Chunk(line, piece)


def split(text: str, first_line: int = 1) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each piece of a unit; blank ones are left out."""
    piece: list[str] = []
    length, start = 0, first_line
    for number, line in enumerate(_bounded_lines(text), first_line):
        too_long = length + len(line) > MOST_CHARACTERS
        if piece and (too_long or (length > CHARACTERS and not line.strip())):
            yield from _piece(start, piece)
            piece, length, start = [], 0, number
        piece.append(line)
        length += len(line) + 1
    yield from _piece(start, piece)


def _bounded_lines(text: str) -> Iterator[str]:
    """Yield the lines; one that is longer than a chunk is cut to the length of one.

    Such a line is data or generated code: its beginning is enough to find it.
    """
    for line in text.split("\n"):
        yield line[:MOST_CHARACTERS]


def _piece(start: int, lines: list[str]) -> Iterator[tuple[int, str]]:
    blank = 0
    while blank < len(lines) and not lines[blank].strip():
        blank += 1
    text = "\n".join(lines[blank:]).rstrip()
    if text:
        yield start + blank, text


def _headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line index, level and title of each Markdown heading outside of code fences."""
    fence = ""
    for number, line in enumerate(text.split("\n")):
        if found := _FENCE.match(line):
            mark = found[1]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            yield number, len(heading[1]), heading[2]


def _definitions(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the index of the first line of each definition, decorators included, and its name."""
    decorated: int | None = None
    for number, line in enumerate(lines):
        if line.startswith("@"):
            decorated = number if decorated is None else decorated
        elif found := _DEFINITION.match(line):
            name = (found[1] or found[2] or "").rstrip(":")
            yield (number if decorated is None else decorated), name
            decorated = None
        elif line[:1] not in " \t)":
            decorated = None


def _joined(text: object) -> str:
    """Return nbformat's multi-line text, a string or a list of strings, as one."""
    lines = cast("list[object]", text) if isinstance(text, list) else [text]
    return "".join(map(str, lines))
