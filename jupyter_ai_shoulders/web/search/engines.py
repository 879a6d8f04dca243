"""The search services and how each is asked: SearXNG, Exa, Brave, Tavily.

Wire facts: https://docs.exa.ai/reference/search,
https://api-dashboard.search.brave.com/app/documentation/web-search/get-started,
https://docs.tavily.com/documentation/api-reference/endpoint/search,
https://docs.searxng.org/dev/search_api.html
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.web_services import ServiceId
from jupyter_ai_shoulders.guard.network.service_client import ServiceClient, ServiceRequest
from jupyter_ai_shoulders.web.service_answers import VendorModel, read_answer
from jupyter_ai_shoulders.wire.api.web_services import WebResult
from jupyter_ai_shoulders.wire.base import JsonObject

SNIPPET = 500
_TITLE = 200
_TAG = re.compile(r"</?[a-zA-Z][^>]{0,100}>")


@dataclass(frozen=True, slots=True)
class WebQuery:
    """What is searched for; ``domains`` are hosts, their subdomains included."""

    text: str
    limit: int
    domains: tuple[str, ...] = ()


class _Entry(VendorModel):
    """A result under all names that the services use."""

    url: str
    title: str | None = None
    text: str | None = None
    description: str | None = None
    content: str | None = None
    publishedDate: str | None = None  # noqa: N815 - the services' name
    published_date: str | None = None
    page_age: str | None = None


class _Results(VendorModel):
    results: tuple[_Entry, ...] = ()


class _ListedResults(VendorModel):
    results: tuple[_Entry, ...]


class _BraveAnswer(VendorModel):
    type: str
    web: _Results | None = None


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """A service, and how a query is asked of it."""

    id: ServiceId
    request: Callable[[WebQuery], ServiceRequest]

    async def search(self, client: ServiceClient, query: WebQuery) -> tuple[WebResult, ...]:
        """Return the results, best first. Raises what ``send`` and ``read_answer`` raise."""
        reply = await client.send(self.request(query))
        if self.id == "brave":
            web = (await read_answer(self.id, reply, _BraveAnswer)).web
            entries = web.results if web else ()
        else:
            entries = (await read_answer(self.id, reply, _ListedResults)).results
        usable = [each for each in entries if each.url.startswith(("http://", "https://"))]
        return tuple(_result(entry) for entry in usable[: query.limit])


def _exa(query: WebQuery) -> ServiceRequest:
    body: JsonObject = {
        "query": query.text,
        "numResults": query.limit,
        "contents": {"text": {"maxCharacters": SNIPPET}},
    }
    if query.domains:
        body["includeDomains"] = list(query.domains)
    return ServiceRequest("exa", "/search", json=body, key_in="header:x-api-key")


def _brave(query: WebQuery) -> ServiceRequest:
    params = {"q": _with_sites(query)[:400], "count": str(min(query.limit, 20))}
    path = "/res/v1/web/search"
    return ServiceRequest("brave", path, params=params, key_in="header:X-Subscription-Token")


def _tavily(query: WebQuery) -> ServiceRequest:
    body: JsonObject = {"query": query.text, "max_results": min(query.limit, 20)}
    if query.domains:
        body["include_domains"] = list(query.domains)
    return ServiceRequest("tavily", "/search", json=body, key_in="bearer")


def _searxng(query: WebQuery) -> ServiceRequest:
    params = {"q": _with_sites(query), "format": "json"}
    return ServiceRequest("searxng", "/search", params=params)


ENGINES: Sequence[SearchEngine] = (
    SearchEngine("searxng", _searxng),
    SearchEngine("exa", _exa),
    SearchEngine("brave", _brave),
    SearchEngine("tavily", _tavily),
)
"""In the order in which they are asked: the user's own server first."""


def _with_sites(query: WebQuery) -> str:
    """Return the query limited to hosts by the operator that search engines share."""
    sites = " OR ".join(f"site:{domain}" for domain in query.domains)
    return f"{query.text} {sites}".rstrip()


def _result(entry: _Entry) -> WebResult:
    snippet = entry.text or entry.description or entry.content or ""
    return WebResult(
        title=_plain(entry.title or entry.url, _TITLE),
        url=entry.url,
        snippet=_plain(snippet, SNIPPET),
        date=(entry.publishedDate or entry.published_date or entry.page_age or "")[:10] or None,
    )


def _plain(text: str, most: int) -> str:
    """Return one line without markup."""
    line = " ".join(html.unescape(_TAG.sub("", text[: most * 4])).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
