"""The search of papers by OpenAlex and Crossref.

https://developers.openalex.org/api-reference/works, https://developers.openalex.org/api-reference/errors,
https://api.crossref.org/swagger-ui/index.html
"""

from __future__ import annotations

import re
from typing import Any

from tests.simulator.http import HttpRequest
from tests.simulator.services.answers import (
    KEY,
    Refused,
    ServiceAnswer,
    json_answer,
    parameters,
)
from tests.simulator.services.fixtures import load

_OPENALEX = frozenset(
    {"search", "filter", "sort", "per_page", "per-page", "page", "select", "api_key", "mailto"}
)
_OPENALEX_FILTERS = {
    "publication_year": re.compile(r"\d{4}|\d{4}-\d{4}|\d{4}-|-\d{4}|[<>]\d{4}"),
    "is_oa": re.compile("true|false"),
    "open_access.is_oa": re.compile("true|false"),
    "from_publication_date": re.compile(r"\d{4}-\d\d-\d\d"),
    "to_publication_date": re.compile(r"\d{4}-\d\d-\d\d"),
    "doi": re.compile(".+"),
}
_CROSSREF = frozenset(
    {
        *("query", "query.bibliographic", "query.title", "query.author"),
        *("filter", "rows", "offset", "sort", "order", "select", "mailto"),
    }
)
_CROSSREF_FILTERS = {
    "from-pub-date": re.compile(r"\d{4}(-\d\d(-\d\d)?)?"),
    "until-pub-date": re.compile(r"\d{4}(-\d\d(-\d\d)?)?"),
    "type": re.compile("[a-z-]+"),
    "has-abstract": re.compile("true|false|0|1"),
    "isbn": re.compile(r"[\dX-]+"),
}


def openalex(request: HttpRequest) -> ServiceAnswer:
    """``GET /works``; a key is optional, but a wrong one is refused."""
    if request.path != "/works" or request.method != "GET":
        raise Refused(json_answer({"error": "Not found", "message": "No such route"}, 404))
    try:
        query = parameters(request, _OPENALEX)
        count = int(query.get("per_page", query.get("per-page", "25")))
        if not 1 <= count <= 100:
            raise ValueError("per_page must be between 1 and 100")
        filters = _filters(query.get("filter", ""), _OPENALEX_FILTERS)
    except ValueError as error:
        body = {"error": "Invalid query parameters error.", "message": str(error)}
        raise Refused(json_answer(body, 400)) from error
    if query.get("api_key", KEY) != KEY:
        body = {"error": "Invalid API key", "message": "API key is not valid."}
        raise Refused(json_answer(body, 401))
    works = [work for work in load("openalex") if _openalex_fits(work, filters)]
    selected = query.get("select")
    if selected is not None:
        names = selected.split(",")
        works = [{name: work.get(name) for name in names} for work in works]
    meta = {"count": len(works), "db_response_time_ms": 12, "page": 1, "per_page": count}
    return json_answer({"meta": meta, "results": works[:count], "group_by": []})


def crossref_works(request: HttpRequest) -> ServiceAnswer:
    """``GET /works``."""
    if request.method != "GET":
        raise Refused(ServiceAnswer(b"Method not allowed", 405))
    try:
        query = parameters(request, _CROSSREF)
        rows = int(query.get("rows", "20"))
        if not 0 <= rows <= 1000:
            raise ValueError("Integer specified as rows but must be a positive integer <= 1000")
        filters = _filters(query.get("filter", ""), _CROSSREF_FILTERS)
    except ValueError as error:
        failure = {"type": "validation-failure", "value": "", "message": str(error)}
        body = {
            "status": "failed",
            "message-type": "validation-failure",
            "message": [failure],
        }
        raise Refused(json_answer(body, 400)) from error
    works = [work for work in load("crossref").values() if _crossref_fits(work, filters)]
    message = {
        "facets": {},
        "total-results": len(works),
        "items": works[:rows],
        "items-per-page": rows,
        "query": {"start-index": 0, "search-terms": query.get("query")},
    }
    return json_answer(
        {
            "status": "ok",
            "message-type": "work-list",
            "message-version": "1.0.0",
            "message": message,
        }
    )


def _filters(text: str, known: dict[str, re.Pattern[str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.split(",") if text else []:
        name, _, value = part.partition(":")
        if name not in known:
            raise ValueError(f"Unknown filter field: {name}")
        if not known[name].fullmatch(value):
            raise ValueError(f"Invalid filter: {part}")
        found[name] = value
    return found


def _openalex_fits(work: dict[str, Any], filters: dict[str, str]) -> bool:
    year = work["publication_year"]
    span = filters.get("publication_year", "-")
    first, dash, last = span.partition("-")
    last = last if dash else first
    is_open = filters.get("is_oa", filters.get("open_access.is_oa"))
    return int(first or 0) <= year <= int(last or 9999) and (
        is_open is None or work["open_access"]["is_oa"] == (is_open == "true")
    )


def _crossref_fits(work: dict[str, Any], filters: dict[str, str]) -> bool:
    if filters.get("isbn", "") not in {"", *work.get("ISBN", ())}:
        return False
    year = work["issued"]["date-parts"][0][0]
    first = int(filters.get("from-pub-date", "0")[:4])
    return first <= year <= int(filters.get("until-pub-date", "9999")[:4])
