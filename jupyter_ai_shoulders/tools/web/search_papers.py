"""The tool that searches scientific literature."""

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
    refusal,
    text_content,
)
from jupyter_ai_shoulders.tools.notebook.line_search import quote_query
from jupyter_ai_shoulders.web.papers.sources import PaperQuery
from jupyter_ai_shoulders.wire.api.web_services import Paper, PaperSearch
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

DEFAULT_LIMIT = 8
_FIRST_YEAR, _LAST_YEAR = 1000, 2999


class SearchPapersArguments(ToolArguments):
    """Arguments of ``search_papers``."""

    query: str = Field(min_length=1, max_length=500, description="Topic, title or authors.")
    year_from: int | None = Field(
        default=None, ge=_FIRST_YEAR, le=_LAST_YEAR, description="Published in or after this year."
    )
    year_to: int | None = Field(
        default=None, ge=_FIRST_YEAR, le=_LAST_YEAR, description="Published in or before this year."
    )
    open_access: bool | None = Field(default=None, description="Only works free to read.")
    limit: int | None = Field(default=None, ge=1, le=25, description="Works to return; none: 8.")


class PaperSearchService(Protocol):
    """Search of papers; implemented by ``web.papers.searcher.PaperSearcher``."""

    async def search(self, query: PaperQuery) -> PaperSearch:
        """Return the works. Raises ``Conflict``, ``PolicyRefusal``."""
        ...


class SearchPapers(BaseTool[SearchPapersArguments]):
    """Finds scientific works."""

    name = "search_papers"
    category = "web"
    risk = "read"
    external = True
    arguments = SearchPapersArguments

    def __init__(self, service: PaperSearchService) -> None:
        self._service = service

    async def subject(self, args: SearchPapersArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown."""
        return CallSubject(
            title=f"Search papers for {quote_query(args.query)}",
            target_label=None,
            target=Target(),
            preview=args.query,
            preview_is_complete=True,
        )

    async def run(
        self, args: SearchPapersArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Search. Raises what ``PaperSearchService.search`` raises."""
        first, last = args.year_from, args.year_to
        if first is not None and last is not None and first > last:
            yield refusal(f"No year is from {first} to {last}.", "Exchange the years.")
            return
        query = PaperQuery(
            args.query, args.limit or DEFAULT_LIMIT, first, last, bool(args.open_access)
        )
        yield _result(await self._service.search(query))


def _result(found: PaperSearch) -> Result:
    count = len(found.works)
    more = f" of {found.total}" if found.total > count else ""
    head = f"{count}{more} works of {found.source} for {quote_query(found.query)}."
    if not count:
        head = f"{found.source} found no works for {quote_query(found.query)}."
    texts = ["\n".join(_lines(number, work)) for number, work in enumerate(found.works, start=1)]
    warning = " ".join(found.notes) or None
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="papers",
            data=found.model_dump(mode="json"),
            warning=warning,
            meta=ResultMeta(total=found.total),
        ),
        content=text_content("\n\n".join([head, *texts, *([warning] if warning else [])])),
    )


def _lines(number: int, work: Paper) -> list[str]:
    """Return a work in at most 15 lines."""
    others = f" and {work.more_authors} more" if work.more_authors else ""
    place = [
        f"volume {work.volume}" if work.volume else "",
        f"issue {work.issue}" if work.issue else "",
    ]
    place.append(f"pages {work.pages}" if work.pages else "")
    facts = {
        "Authors": f"{', '.join(work.authors)}{others}",
        "Year": work.year,
        "DOI": work.doi,
        "Type": work.type,
        "Venue": work.venue,
        "Place": ", ".join(filter(None, place)),
        "Citations": work.citations,
        "Open access": work.open_access_url,
        "Address": None if work.doi else work.url,
        "Abstract": work.abstract,
    }
    retracted = " [RETRACTED]" if work.is_retracted else ""
    shown = [f"   {name}: {value}" for name, value in facts.items() if value not in {None, ""}]
    return [f"{number}. {work.title}{retracted}", *shown]
