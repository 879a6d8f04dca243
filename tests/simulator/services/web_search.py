"""Exa, Brave, Tavily and SearXNG, as their documentation describes them.

https://docs.exa.ai/reference/search, https://api-dashboard.search.brave.com/app/documentation,
https://docs.tavily.com/documentation/api-reference/endpoint/search,
https://docs.searxng.org/dev/search_api.html
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.simulator.http import HttpRequest
from tests.simulator.services.answers import (
    KEY,
    Refused,
    ServiceAnswer,
    json_answer,
    json_body,
    parameters,
)
from tests.simulator.services.fixtures import load

_EXA_FIELDS = frozenset(
    {
        *("query", "type", "category", "numResults", "includeDomains", "excludeDomains"),
        *("startPublishedDate", "endPublishedDate", "contents"),
    }
)
_EXA_CATEGORIES = {"research paper", "news", "company", "pdf", "github", "personal site"}
_BRAVE = frozenset({"q", "count", "offset", "country", "search_lang", "safesearch", "freshness"})
_TAVILY = frozenset(
    {"query", "max_results", "search_depth", "topic", "include_domains", "exclude_domains"}
)
_SEARXNG = frozenset({"q", "format", "categories", "engines", "language", "pageno", "time_range"})


def exa(request: HttpRequest) -> ServiceAnswer:
    """``POST /search``."""
    if request.headers.get("x-api-key") != KEY:
        raise Refused(
            json_answer(
                {"requestId": "r", "error": "Invalid API key", "tag": "INVALID_API_KEY"}, 401
            )
        )
    if request.path != "/search":
        raise Refused(json_answer({"error": "Not found"}, 404))
    try:
        body = json_body(request, _EXA_FIELDS)
        _check(isinstance(body.get("query"), str) and bool(body["query"]), "query is required")
        _check(1 <= body.get("numResults", 10) <= 100, "numResults must be 1 to 100")
        _check(body.get("category", "pdf") in _EXA_CATEGORIES, "category is invalid")
        _check(str(body.get("startPublishedDate", "Z")).endswith("Z"), "dates are ISO 8601")
    except ValueError as error:
        raise Refused(
            json_answer({"error": str(error), "tag": "INVALID_REQUEST_BODY"}, 400)
        ) from error
    papers = body.get("category") == "research paper"
    results = load("exa")["papers" if papers else "pages"]
    results = _within(results, body.get("includeDomains") or [])[: body.get("numResults", 10)]
    return json_answer({"requestId": "r1", "resolvedSearchType": "neural", "results": results})


def brave(request: HttpRequest) -> ServiceAnswer:
    """``GET /res/v1/web/search``."""
    if request.headers.get("x-subscription-token") != KEY:
        error = {
            "code": "SUBSCRIPTION_TOKEN_INVALID",
            "detail": "The provided subscription token is invalid.",
            "status": 422,
        }
        raise Refused(json_answer({"type": "ErrorResponse", "error": error}, 422))
    try:
        _check(request.method == "GET" and request.path == "/res/v1/web/search", "no such route")
        query = parameters(request, _BRAVE)
        _check(0 < len(query.get("q", "")) <= 400, "q must have 1 to 400 characters")
        _check(1 <= int(query.get("count", "20")) <= 20, "count must be 1 to 20")
    except ValueError as error:
        detail = {"code": "VALIDATION", "detail": str(error), "status": 422}
        raise Refused(json_answer({"type": "ErrorResponse", "error": detail}, 422)) from error
    sites = [word[5:] for word in query["q"].split() if word.startswith("site:")]
    results = _within(load("brave"), sites)[: int(query.get("count", "20"))]
    return json_answer({"type": "search", "web": {"type": "search", "results": results}})


def tavily(request: HttpRequest) -> ServiceAnswer:
    """``POST /search``."""
    if request.headers.get("authorization") != f"Bearer {KEY}":
        detail = {"error": "Unauthorized: missing or invalid API key."}
        raise Refused(json_answer({"detail": detail}, 401))
    try:
        _check(request.path == "/search", "no such route")
        body = json_body(request, _TAVILY)
        _check(isinstance(body.get("query"), str) and bool(body["query"]), "query is required")
        _check(0 <= body.get("max_results", 5) <= 20, "max_results must be 0 to 20")
    except ValueError as error:
        raise Refused(json_answer({"detail": {"error": str(error)}}, 400)) from error
    results = _within(load("tavily"), body.get("include_domains") or [])
    answer: dict[str, Any] = {
        "query": body["query"],
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": results[: body.get("max_results", 5)],
        "response_time": 0.8,
    }
    return json_answer(answer)


def searxng(request: HttpRequest) -> ServiceAnswer:
    """``GET /search``; formats other than JSON are switched off, as ``settings.yml`` can do."""
    try:
        _check(request.method == "GET" and request.path == "/search", "no such route")
        query = parameters(request, _SEARXNG)
        _check(bool(query.get("q")), "q is required")
    except ValueError as error:
        raise Refused(ServiceAnswer(str(error).encode(), 400)) from error
    if query.get("format") != "json":
        raise Refused(ServiceAnswer(b"Forbidden", 403, {"Content-Type": "text/html"}))
    sites = [word[5:] for word in query["q"].split() if word.startswith("site:")]
    results = _within(load("searxng"), sites)
    return json_answer(
        {
            "query": query["q"],
            "number_of_results": len(results),
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [["google", "timeout"]],
        }
    )


def _within(results: list[dict[str, Any]], domains: list[str]) -> list[dict[str, Any]]:
    def is_within(result: dict[str, Any]) -> bool:
        host = urlsplit(str(result["url"])).hostname or ""
        return any(host == domain or host.endswith(f".{domain}") for domain in domains)

    return [result for result in results if not domains or is_within(result)]


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
