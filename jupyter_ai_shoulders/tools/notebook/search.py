"""The tool that searches the cells of one notebook, or of all.

Searches sources with unsaved changes of open notebooks, never raw JSON.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from pydantic import Field

from jupyter_ai_shoulders.notebook.base import NotebookSnapshot
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.access import (
    NotebookAccess,
    NotebookIndex,
    file_name,
)
from jupyter_ai_shoulders.tools.notebook.line_search import (
    CellLine,
    format_matches,
    matching_cell_lines,
    quote_query,
    read_notebooks,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

SHOWN_MATCHES = 50


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


class SearchNotebook(BaseTool[SearchNotebookArguments]):
    """Finds the lines of cells that contain a text or match a pattern."""

    name = "search_notebook"
    category = "notebook"
    risk = "read"
    arguments = SearchNotebookArguments

    def __init__(self, access: NotebookAccess, names: NotebookIndex) -> None:
        self._access = access
        self._names = names

    async def subject(self, args: SearchNotebookArguments, context: CallContext) -> CallSubject:
        if args.path is None:
            return CallSubject(
                title=f"Search all notebooks for {quote_query(args.query)}",
                target_label=None,
                target=Target(),
            )
        path = (await self._access.open(args.path)).path
        return CallSubject(
            title=f"Search for {quote_query(args.query)}",
            target_label=file_name(path),
            target=Target(path=path),
            in_page=self._access.in_page(path),
        )

    async def run(
        self, args: SearchNotebookArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        if args.path is not None:
            snapshots = [await (await self._access.open(args.path)).read()]
            notes: list[str] = []
        else:
            snapshots, notes = await self._read_all()
        is_regex = args.is_regex is True
        hits = await asyncio.to_thread(
            matching_cell_lines, snapshots, args.query, is_regex=is_regex
        )
        yield _result(args.query, hits, len(snapshots), notes)

    async def _read_all(self) -> tuple[list[NotebookSnapshot], list[str]]:
        return await read_notebooks(self._access, await self._names.all())


def _result(query: str, hits: Sequence[CellLine], searched: int, notes: Sequence[str]) -> Result:
    shown = hits[:SHOWN_MATCHES]
    notebooks = f"{searched} notebook{'s' * (searched != 1)}"
    count = f"{len(hits)} line{'s' * (len(hits) != 1)}" if hits else "No line"
    more = f", the first {len(shown)} shown" if len(hits) > len(shown) else ""
    lines = [f"{count} of {notebooks} with {quote_query(query)}{more}."]
    lines += format_matches(shown)
    warning = " ".join(notes) or None
    if warning:
        lines.append(warning)
    rows: list[Json] = [hit.row() for hit in shown]
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
