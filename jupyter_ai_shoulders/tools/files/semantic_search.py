"""The tool that searches the workspace by words and by meaning, best places first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from pydantic import Field

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
from jupyter_ai_shoulders.tools.notebook.line_search import quote_query
from jupyter_ai_shoulders.wire.api.search import (
    SEARCH_QUERY_LIMIT,
    SEARCH_RESULT_LIMIT,
    DocumentKind,
    SearchMatch,
    SearchQuery,
    SearchResults,
)
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

DEFAULT_LIMIT = 10
WAIT_SECONDS = 10.0
"""How long a call waits for an index that is being built; what is missing is in its warning."""


class SemanticSearchArguments(ToolArguments):
    """Arguments of ``semantic_search``."""

    query: str = Field(
        min_length=1, max_length=SEARCH_QUERY_LIMIT, description="What to look for, in words."
    )
    path: str | None = Field(
        default=None,
        max_length=4096,
        description="Workspace-relative path of a folder or file; none: the whole workspace.",
    )
    kind: DocumentKind | None = Field(default=None, description="Search only such documents.")
    limit: int | None = Field(
        default=None, ge=1, le=SEARCH_RESULT_LIMIT, description="Places to return; none: 10."
    )


class WorkspaceSearcher(Protocol):
    """The search of the workspace; implemented by ``host.search``."""

    async def search_for_agent(self, query: SearchQuery, session_id: SessionId) -> SearchResults:
        """Return the best places, but not the words of the conversation that searches.

        Raises ``InvalidRequest``, ``PolicyRefusal``.
        """
        ...


class SemanticSearch(BaseTool[SemanticSearchArguments]):
    """Finds the cells, definitions and sections that are about something."""

    name = "semantic_search"
    category = "workspace"
    risk = "read"
    arguments = SemanticSearchArguments

    def __init__(self, searcher: WorkspaceSearcher) -> None:
        self._searcher = searcher

    async def subject(self, args: SemanticSearchArguments, context: CallContext) -> CallSubject:
        return CallSubject(
            title=f"Search the workspace for {quote_query(args.query)}",
            target_label=args.path,
            target=Target(path=args.path),
        )

    async def run(
        self, args: SemanticSearchArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Search. Raises ``InvalidRequest``, ``PolicyRefusal``."""
        query = SearchQuery(
            q=args.query,
            path=args.path or "",
            kind=args.kind,
            limit=args.limit or DEFAULT_LIMIT,
            wait_s=WAIT_SECONDS,
        )
        found = await self._searcher.search_for_agent(query, context.session_id)
        yield _result(args.query, found)


def _result(query: str, found: SearchResults) -> Result:
    shown = len(found.matches)
    places = f"{found.total} place{'s' * (found.total != 1)}"
    more = f", the best {shown} shown" if found.total > shown else ""
    head = (
        f"{places} for {quote_query(query)}{more}."
        if shown
        else f"Nothing for {quote_query(query)}."
    )
    lines = [head, *(line for match in found.matches for line in _described(match))]
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="matches",
            data={
                "query": query,
                "matches": [match.model_dump(mode="json") for match in found.matches],
                "index": found.index.model_dump(mode="json"),
            },
            warning=found.warning,
            meta=ResultMeta(total=found.total),
        ),
        content=text_content("\n".join([*lines, *([found.warning] if found.warning else [])])),
    )


def _described(match: SearchMatch) -> list[str]:
    if match.conversation is not None:
        return [f"--- earlier conversation · {match.heading or 'untitled'}", match.snippet]
    place = f"#{match.cell_id}" if match.cell_id else f":{match.line}"
    parts = (match.heading, "output of the cell" if match.is_output else "")
    return [" · ".join([f"--- [[{match.path}{place}]]", *filter(None, parts)]), match.snippet]
