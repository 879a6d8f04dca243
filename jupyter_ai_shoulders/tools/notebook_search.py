"""The tool that searches the cells of one notebook, or of all (chapters 05 and 06).

Sources are searched as the notebook has them, unsaved text of open ones included; never raw JSON.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.ripgrep import matching_lines
from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Category,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook_access import (
    NOTEBOOK_TOOLSETS,
    NotebookAccess,
    NotebookNames,
    file_name,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Toolset

SHOWN_MATCHES = 50
NOTEBOOK_LIMIT = 500
"""Notebooks searched when none is named."""
_LINE = 200
_AT_ONCE = 4
_NAMED = 5


class SearchNotebookArguments(ToolArguments):
    """Arguments of ``search_notebook``."""

    path: str | None = Field(
        default=None, description="Workspace-relative path of the notebook; none: all notebooks."
    )
    query: str = Field(min_length=1, description="Text that a line of a cell must contain.")
    is_regex: bool | None = Field(
        default=None,
        description="Whether query is a regular expression, which ignores case; text does not.",
    )


@dataclass(frozen=True, slots=True)
class _Hit:
    """A line of a cell; ``line`` counts from 1."""

    path: str
    number: int
    cell: NotebookCell
    line: int
    text: str


class SearchNotebook:
    """Finds the lines of cells that contain a text or match a pattern."""

    name: ClassVar[str] = "search_notebook"
    category: ClassVar[Category] = "notebook"
    risk: ClassVar[Risk] = "read"
    external: ClassVar[bool] = False
    idempotent: ClassVar[bool] = True
    toolsets: ClassVar[frozenset[Toolset]] = NOTEBOOK_TOOLSETS
    arguments = SearchNotebookArguments

    def __init__(self, access: NotebookAccess, names: NotebookNames) -> None:
        self._access = access
        self._names = names

    async def subject(self, args: SearchNotebookArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown."""
        del context
        if args.path is None:
            return CallSubject(
                title=f"Search all notebooks for {_quoted(args.query)}",
                target_label=None,
                target=Target(),
            )
        path = (await self._access.open(args.path)).path
        return CallSubject(
            title=f"Search for {_quoted(args.query)}",
            target_label=file_name(path),
            target=Target(path=path),
            in_page=self._access.in_page(path),
        )

    async def run(
        self, args: SearchNotebookArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Search and show what was found, with a line around each."""
        del context
        if args.path is not None:
            snapshots = [await (await self._access.open(args.path)).read()]
            notes: list[str] = []
        else:
            snapshots, notes = await self._read_all()
        is_regex = args.is_regex is True
        hits = await asyncio.to_thread(_hits, snapshots, args.query, is_regex=is_regex)
        yield _result(args.query, hits, len(snapshots), notes)

    async def _read_all(self) -> tuple[list[NotebookSnapshot], list[str]]:
        paths = await self._names.all()
        gate = asyncio.Semaphore(_AT_ONCE)
        unread: list[str] = []

        async def read(path: str) -> NotebookSnapshot | None:
            async with gate:
                try:
                    return await (await self._access.open(path)).read()
                except ShouldersError:  # named in the answer
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


def _hits(snapshots: Sequence[NotebookSnapshot], query: str, *, is_regex: bool) -> list[_Hit]:
    lines = list(_lines(snapshots))
    if is_regex:
        text = "\n".join(hit.text.replace("\r", " ") for hit in lines)
        return [lines[number] for number in matching_lines(query, text) if number < len(lines)]
    return [hit for hit in lines if query in hit.text]


def _lines(snapshots: Sequence[NotebookSnapshot]) -> Iterator[_Hit]:
    for snapshot in snapshots:
        for number, cell in enumerate(snapshot.cells, start=1):
            for line, text in enumerate(cell.source.split("\n"), start=1):
                yield _Hit(snapshot.path, number, cell, line, text)


def _result(query: str, hits: Sequence[_Hit], searched: int, notes: Sequence[str]) -> Result:
    shown = hits[:SHOWN_MATCHES]
    notebooks = f"{searched} notebook{'s' * (searched != 1)}"
    count = f"{len(hits)} line{'s' * (len(hits) != 1)}" if hits else "No line"
    more = f", the first {len(shown)} shown" if len(hits) > len(shown) else ""
    lines = [f"{count} of {notebooks} with {_quoted(query)}{more}."]
    for _, group in _by_cell(shown):
        lines += [_header(group[0]), *_around(group)]
    warning = " ".join(notes) or None
    if warning:
        lines.append(warning)
    rows: list[Json] = [
        {
            "path": hit.path,
            "cell_id": hit.cell.id,
            "index": hit.number - 1,
            "line": hit.line,
            "text": _short(hit.text),
        }
        for hit in shown
    ]
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="matches",
            data={"query": query, "matches": rows},
            warning=warning,
            meta=ResultMeta(total=len(hits), truncated=len(hits) > len(shown) or None),
        ),
        content=text_content("\n".join(lines)),
    )


def _by_cell(hits: Sequence[_Hit]) -> list[tuple[tuple[str, str], list[_Hit]]]:
    groups: dict[tuple[str, str], list[_Hit]] = {}
    for hit in hits:
        groups.setdefault((hit.path, hit.cell.id), []).append(hit)
    return list(groups.items())


def _header(hit: _Hit) -> str:
    return f"--- {hit.path} · cell {hit.number} · id={hit.cell.id} · {hit.cell.cell_type}"


def _around(group: Sequence[_Hit]) -> list[str]:
    """Return the matching lines of one cell, marked, each with its neighbours."""
    source = group[0].cell.source.split("\n")
    matching = {hit.line for hit in group}
    near = {at for line in matching for at in range(line - 1, line + 2)}
    shown = [at for at in sorted(near) if 0 < at <= len(source)]
    lines: list[str] = []
    for before, at in zip([None, *shown], shown, strict=False):
        if before is not None and at > before + 1:
            lines.append("  …")
        lines.append(f"{'>' if at in matching else ' '} {at}: {_short(source[at - 1])}")
    return lines


def _short(line: str) -> str:
    line = re.sub(r"\r", " ", line)
    return line if len(line) <= _LINE else f"{line[:_LINE]} …"


def _quoted(query: str) -> str:
    return f'"{_short(query)}"'
