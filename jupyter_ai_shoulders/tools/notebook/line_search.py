"""Searches lines of notebook cells for a text or a pattern, and formats the matches.

Searches sources with unsaved changes of open notebooks, never raw JSON. Used by ``search_notebook``
and ``search_content``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.search.ripgrep import matching_lines
from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.notebooks import NotebookCell

NOTEBOOK_LIMIT = 500
"""Most notebooks searched when none is named."""
_LINE = 200
_AT_ONCE = 4
_NAMED = 5


@dataclass(frozen=True, slots=True)
class CellLine:
    """A line of a cell; ``number`` (of the cell) and ``line`` count from 1."""

    path: str
    number: int
    cell: NotebookCell
    line: int
    text: str

    def row(self) -> JsonObject:
        """Return the line for the envelope, where the index counts from 0."""
        return {
            "path": self.path,
            "cell_id": self.cell.id,
            "index": self.number - 1,
            "line": self.line,
            "text": shorten_line(self.text),
        }


async def read_notebooks(
    access: NotebookAccess, paths: Sequence[str]
) -> tuple[list[NotebookSnapshot], list[str]]:
    """Return the readable notebooks, up to a limit, and notes on the others."""
    gate = asyncio.Semaphore(_AT_ONCE)
    unread: list[str] = []

    async def read(path: str) -> NotebookSnapshot | None:
        async with gate:
            try:
                return await (await access.open(path)).read()
            except ShouldersError:  # named in a note
                unread.append(path)
                return None

    found = await asyncio.gather(*(read(path) for path in paths[:NOTEBOOK_LIMIT]))
    notes: list[str] = []
    if unread:
        more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
        notes.append(f"Not readable: {', '.join(sorted(unread)[:_NAMED])}{more}.")
    if len(paths) > NOTEBOOK_LIMIT:
        left = len(paths) - NOTEBOOK_LIMIT
        notes.append(f"{left} more notebooks were not searched; name one with path.")
    return [snapshot for snapshot in found if snapshot is not None], notes


def matching_cell_lines(
    snapshots: Sequence[NotebookSnapshot], query: str, *, is_regex: bool
) -> list[CellLine]:
    """Return the lines that contain a text or, ignoring case, match a pattern.

    Blocks. Raises like ``matching_lines``.
    """
    lines = list(_lines(snapshots))
    if is_regex:
        text = "\n".join(hit.text.replace("\r", " ") for hit in lines)
        return [lines[number] for number in matching_lines(query, text) if number < len(lines)]
    return [hit for hit in lines if query in hit.text]


def format_matches(hits: Sequence[CellLine]) -> list[str]:
    """Return the marked matching lines by cell, each with its neighbours."""
    groups: dict[tuple[str, str], list[CellLine]] = {}
    for hit in hits:
        groups.setdefault((hit.path, hit.cell.id), []).append(hit)
    return [line for group in groups.values() for line in (_header(group[0]), *_around(group))]


def shorten_line(line: str) -> str:
    """Return a line on one row, shortened if long."""
    line = re.sub(r"\r", " ", line)
    return line if len(line) <= _LINE else f"{line[:_LINE]} …"


def quote_query(query: str) -> str:
    """Return the query as quoted in sentences."""
    return f'"{shorten_line(query)}"'


def _lines(snapshots: Sequence[NotebookSnapshot]) -> Iterator[CellLine]:
    for snapshot in snapshots:
        for number, cell in enumerate(snapshot.cells, start=1):
            for line, text in enumerate(cell.source.split("\n"), start=1):
                yield CellLine(snapshot.path, number, cell, line, text)


def _header(hit: CellLine) -> str:
    return f"--- {hit.path} · cell {hit.number} · id={hit.cell.id} · {hit.cell.cell_type}"


def _around(group: Sequence[CellLine]) -> list[str]:
    source = group[0].cell.source.split("\n")
    matching = {hit.line for hit in group}
    near = {at for line in matching for at in range(line - 1, line + 2)}
    shown = [at for at in sorted(near) if 0 < at <= len(source)]
    lines: list[str] = []
    for before, at in zip([None, *shown], shown, strict=False):
        if before is not None and at > before + 1:
            lines.append("  …")
        lines.append(f"{'>' if at in matching else ' '} {at}: {shorten_line(source[at - 1])}")
    return lines
