"""How papers are asked of OpenAlex, Exa and Crossref, and slimmed.

Wire facts: https://developers.openalex.org/api-reference/works,
https://docs.exa.ai/reference/search, https://api.crossref.org/swagger-ui/index.html
"""

from __future__ import annotations

import html
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.core.web_services import ServiceId
from jupyter_ai_shoulders.guard.network.service_client import ServiceClient, ServiceRequest
from jupyter_ai_shoulders.web.papers.answers import (
    CrossrefAnswer,
    CrossrefWork,
    ExaAnswer,
    ExaWork,
    OpenAlexAnswer,
    OpenAlexWork,
)
from jupyter_ai_shoulders.web.service_answers import read_answer
from jupyter_ai_shoulders.wire.api.web_services import Paper
from jupyter_ai_shoulders.wire.base import JsonObject

ABSTRACT = 300
AUTHORS = 8
_LONGEST = 100_000
"""Words of an abstract; an index with larger positions is not one."""
_MARKUP = re.compile(r"<[^>]{0,200}>")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
_OPENALEX_FIELDS = (
    "id,doi,title,publication_year,type,cited_by_count,authorships,primary_location,open_access,"
    "biblio,abstract_inverted_index,is_retracted"
)


@dataclass(frozen=True, slots=True)
class PaperQuery:
    """What is searched for; years are inclusive."""

    text: str
    limit: int
    year_from: int | None = None
    year_to: int | None = None
    open_access: bool = False


@dataclass(frozen=True, slots=True)
class PaperList:
    """Works, best first, and how many there are."""

    works: tuple[Paper, ...]
    total: int


@dataclass(frozen=True, slots=True)
class PaperSource:
    """A service, what its answers lack, and how it is asked."""

    id: ServiceId
    lacks: str | None
    search: Callable[[ServiceClient, PaperQuery], Awaitable[PaperList]]


async def search_openalex(client: ServiceClient, query: PaperQuery) -> PaperList:
    """Ask OpenAlex; a key is optional. Raises what ``send`` and ``read_answer`` raise."""
    filters: list[str] = []
    if query.year_from is not None or query.year_to is not None:
        filters.append(f"publication_year:{query.year_from or ''}-{query.year_to or ''}")
    if query.open_access:
        filters.append("is_oa:true")
    params = {
        "search": query.text,
        "per_page": str(query.limit),
        "select": _OPENALEX_FIELDS,
        **({"filter": ",".join(filters)} if filters else {}),
    }
    request = ServiceRequest("openalex", "/works", params=params, key_in="query:api_key")
    answer = await read_answer("openalex", await client.send(request), OpenAlexAnswer)
    works = tuple(_from_openalex(work) for work in answer.results[: query.limit])
    return PaperList(works, answer.meta.count)


async def search_exa(client: ServiceClient, query: PaperQuery) -> PaperList:
    """Ask Exa. Raises what ``send`` and ``read_answer`` raise."""
    body: JsonObject = {
        "query": query.text,
        "category": "research paper",
        "numResults": query.limit,
        "contents": {"text": {"maxCharacters": 2 * ABSTRACT}},
    }
    if query.year_from is not None:
        body["startPublishedDate"] = f"{query.year_from:04}-01-01T00:00:00.000Z"
    if query.year_to is not None:
        body["endPublishedDate"] = f"{query.year_to:04}-12-31T23:59:59.999Z"
    request = ServiceRequest("exa", "/search", json=body, key_in="header:x-api-key")
    answer = await read_answer("exa", await client.send(request), ExaAnswer)
    works = tuple(_from_exa(work) for work in answer.results[: query.limit])
    return PaperList(works, len(works))


async def search_crossref(client: ServiceClient, query: PaperQuery) -> PaperList:
    """Ask Crossref. Raises what ``send`` and ``read_answer`` raise."""
    filters: list[str] = []
    if query.year_from is not None:
        filters.append(f"from-pub-date:{query.year_from:04}")
    if query.year_to is not None:
        filters.append(f"until-pub-date:{query.year_to:04}")
    params = {
        "query.bibliographic": query.text,
        "rows": str(query.limit),
        **({"filter": ",".join(filters)} if filters else {}),
    }
    request = ServiceRequest("crossref", "/works", params=params)
    answer = await read_answer("crossref", await client.send(request), CrossrefAnswer)
    works = tuple(_from_crossref(work) for work in answer.message.items[: query.limit])
    return PaperList(works, answer.message.total_results)


SOURCES: tuple[PaperSource, ...] = (
    PaperSource("openalex", None, search_openalex),
    PaperSource(
        "exa",
        "citation counts, venues and open-access addresses are unavailable",
        search_exa,
    ),
    PaperSource(
        "crossref",
        "open-access addresses are unavailable, citation counts are those of Crossref",
        search_crossref,
    ),
)
"""In the order in which they are asked."""


def rebuild_abstract(index: Mapping[str, tuple[int, ...]] | None) -> str | None:
    """Return the text of an inverted index: each word with its positions."""
    if not index:
        return None
    placed = [(at, word) for word, places in index.items() for at in places if at < _LONGEST]
    return " ".join(word for _, word in sorted(placed)) or None


def shorten(text: str | None, most: int = ABSTRACT) -> str | None:
    """Return a text of one line without markup, cut at a word."""
    if text is None:
        return None
    line = " ".join(html.unescape(_MARKUP.sub(" ", text)).split()).removeprefix("Abstract ")
    if len(line) <= most:
        return line or None
    return f"{line[: most - 1].rpartition(' ')[0] or line[: most - 1]}…"


def plain_doi(text: str | None) -> str | None:
    """Return the DOI in an address or a text, in lower case."""
    found = _DOI.search(text or "")
    return found.group().rstrip(".,;)").lower() if found else None


def _from_openalex(work: OpenAlexWork) -> Paper:
    names = [entry.author.display_name for entry in work.authorships if entry.author]
    place, biblio, access = work.primary_location, work.biblio, work.open_access
    pages = [page for page in (biblio.first_page, biblio.last_page) if page] if biblio else []
    doi = plain_doi(work.doi)
    return Paper(
        title=shorten(work.title, 300) or "Untitled",
        **_authors([name for name in names if name]),
        year=work.publication_year,
        doi=doi,
        url=f"https://doi.org/{doi}" if doi else work.id,
        citations=work.cited_by_count,
        type=work.type,
        venue=place.source.display_name if place and place.source else None,
        volume=biblio.volume if biblio else None,
        issue=biblio.issue if biblio else None,
        pages="–".join(dict.fromkeys(pages)) or None,
        abstract=shorten(rebuild_abstract(work.abstract_inverted_index)),
        open_access_url=access.oa_url if access else None,
        is_retracted=bool(work.is_retracted),
    )


def _from_exa(work: ExaWork) -> Paper:
    names = [name.strip() for name in re.split(r"[;,]", work.author or "") if name.strip()]
    year = (work.publishedDate or "")[:4]
    return Paper(
        title=shorten(work.title, 300) or work.url,
        **_authors(names),
        year=int(year) if year.isdigit() else None,
        doi=plain_doi(work.url),
        url=work.url,
        abstract=shorten(work.text),
    )


def _from_crossref(work: CrossrefWork) -> Paper:
    names = [each.name or f"{each.given or ''} {each.family or ''}" for each in work.author]
    dated = work.issued.date_parts if work.issued else ()
    year = dated[0][0] if dated and dated[0] else None
    return Paper(
        title=shorten(work.title[0] if work.title else None, 300) or "Untitled",
        **_authors([name.strip() for name in names if name.strip()]),
        year=year,
        doi=work.DOI.lower(),
        url=f"https://doi.org/{work.DOI.lower()}",
        citations=work.is_referenced_by_count,
        type=work.type,
        venue=work.container_title[0] if work.container_title else None,
        volume=work.volume,
        issue=work.issue,
        pages=work.page.replace("-", "–") if work.page else None,
        abstract=shorten(work.abstract),
        is_retracted=any(update.type == "retraction" for update in work.updated_by),
    )


def _authors(names: list[str]) -> dict[str, Any]:
    return {"authors": tuple(names[:AUTHORS]), "more_authors": max(0, len(names) - AUTHORS)}
