"""The tool that searches the active document."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from pydantic import Field

from jupyter_ai_shoulders.guard.search.ripgrep import matching_lines
from jupyter_ai_shoulders.tools.active_document.access import (
    DocumentAccess,
    OpenDocument,
    OpenTextDocument,
    count_text,
)
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.tools.files.numbered_lines import split_lines
from jupyter_ai_shoulders.tools.notebook.line_search import (
    format_matches,
    matching_cell_lines,
    quote_query,
    shorten_line,
)
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

SHOWN_MATCHES = 20


class SearchDocumentArguments(ToolArguments):
    """Arguments of ``search_document``."""

    query: str = Field(min_length=1, description="Text that a line must contain.")
    is_regex: bool | None = Field(
        default=None,
        description="Whether query is a regular expression, which ignores case; text does not.",
    )


class SearchDocument(BaseTool[SearchDocumentArguments]):
    """Finds the lines of the document that contain a text or match a pattern."""

    name = "search_document"
    category = "document"
    risk = "read"
    arguments = SearchDocumentArguments

    def __init__(self, access: DocumentAccess) -> None:
        self._access = access

    async def subject(self, args: SearchDocumentArguments, context: CallContext) -> CallSubject:
        return self._access.subject(f"Search for {quote_query(args.query)}", context)

    async def run(
        self, args: SearchDocumentArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        document = await self._access.open(context)
        total, rows, shown = await asyncio.to_thread(
            _search, document, args.query, is_regex=args.is_regex is True
        )
        count = count_text(total, "line") if total else "No line"
        more = f", the first {len(rows)} shown" if total > len(rows) else ""
        head = f'{count} of "{document.path}" with {quote_query(args.query)}{more}.'
        yield Result(
            envelope=ToolEnvelope(
                ok=True,
                kind="matches",
                data={"path": document.path, "query": args.query, "matches": rows},
                meta=ResultMeta(total=total, truncated=total > len(rows) or None),
            ),
            content=text_content("\n".join([head, *shown])),
        )


def _search(
    document: OpenDocument, query: str, *, is_regex: bool
) -> tuple[int, list[Json], list[str]]:
    """Return the number of matching lines, and the first of them as data and as text. Blocks."""
    if isinstance(document, OpenTextDocument):
        lines = split_lines(document.text)
        hits = _hits(lines, query, is_regex=is_regex)
        first = hits[:SHOWN_MATCHES]
        rows: list[Json] = [{"line": at + 1, "text": shorten_line(lines[at])} for at in first]
        return len(hits), rows, _context_lines(lines, first)
    cells = matching_cell_lines([document.snapshot], query, is_regex=is_regex)
    found = cells[:SHOWN_MATCHES]
    return len(cells), [hit.row() for hit in found], format_matches(found)


def _hits(lines: Sequence[str], query: str, *, is_regex: bool) -> list[int]:
    if is_regex:
        found = matching_lines(query, "\n".join(lines))
        return [at for at in found if at < len(lines)]
    return [at for at, line in enumerate(lines) if query in line]


def _context_lines(lines: Sequence[str], hits: Sequence[int]) -> list[str]:
    """Return the marked matching lines with their neighbours."""
    marked = set(hits)
    near = {at for hit in hits for at in range(hit - 1, hit + 2) if 0 <= at < len(lines)}
    shown: list[str] = []
    before = None
    for at in sorted(near):
        if before is not None and at > before + 1:
            shown.append("  …")
        shown.append(f"{'>' if at in marked else ' '} {at + 1}: {shorten_line(lines[at])}")
        before = at
    return shown
