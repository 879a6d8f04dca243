"""The tool that searches the web."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Protocol

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
from jupyter_ai_shoulders.web.search.engines import WebQuery
from jupyter_ai_shoulders.web.search.searcher import WebFindings
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

DEFAULT_LIMIT = 8
Domain = Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]{1,253}$")]


class WebSearchArguments(ToolArguments):
    """Arguments of ``web_search``."""

    query: str = Field(min_length=1, max_length=350, description="What to look for, in words.")
    limit: int | None = Field(default=None, ge=1, le=20, description="Results to return; none: 8.")
    domains: tuple[Domain, ...] | None = Field(
        default=None, max_length=5, description="Only these hosts, such as docs.python.org."
    )


class WebSearchService(Protocol):
    """Search of the web; implemented by ``web.search.searcher.WebSearcher``."""

    async def search(self, query: WebQuery) -> WebFindings:
        """Return the results. Raises ``InvalidRequest``, ``Conflict``, ``PolicyRefusal``."""
        ...


class WebSearch(BaseTool[WebSearchArguments]):
    """Finds pages of the web."""

    name = "web_search"
    category = "web"
    risk = "read"
    external = True
    arguments = WebSearchArguments

    def __init__(self, service: WebSearchService) -> None:
        self._service = service

    async def subject(self, args: WebSearchArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown."""
        return CallSubject(
            title=f"Search the web for {quote_query(args.query)}",
            target_label=", ".join(args.domains or ()) or None,
            target=Target(),
            preview=args.query,
            preview_is_complete=True,
        )

    async def run(
        self, args: WebSearchArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Search. Raises what ``WebSearchService.search`` raises."""
        query = WebQuery(args.query, args.limit or DEFAULT_LIMIT, args.domains or ())
        yield _result(args.query, await self._service.search(query))


def _result(query: str, found: WebFindings) -> Result:
    count = len(found.results)
    head = f"{count} result{'s' * (count != 1)} of {found.source} for {quote_query(query)}."
    lines = [head if count else f"{found.source} found nothing for {quote_query(query)}."]
    for number, result in enumerate(found.results, start=1):
        dated = f" · {result.date}" if result.date else ""
        lines += [f"{number}. {result.title}{dated}", f"   {result.url}"]
        lines += [f"   {result.snippet}"] if result.snippet else []
    warning = " ".join(found.notes) or None
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="search_results",
            data={
                "query": query,
                "source": found.source,
                "results": [result.model_dump(mode="json") for result in found.results],
            },
            warning=warning,
            meta=ResultMeta(total=count),
        ),
        content=text_content("\n".join([*lines, *([warning] if warning else [])])),
    )
