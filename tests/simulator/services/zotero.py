"""Zotero's local API: the requests that ``references.zotero`` sends, answered as Zotero does.

https://www.zotero.org/support/dev/web_api/v3/basics: read requests with ``q``, ``qmode``, ``limit``
and ``format``, the header ``Zotero-API-Version``, and ``Total-Results`` in answers.
"""

from __future__ import annotations

from typing import Any

from tests.simulator.http import HttpRequest
from tests.simulator.services.answers import Refused, ServiceAnswer, json_answer, parameters

ITEMS: list[dict[str, Any]] = [
    {
        "key": "ABCD2345",
        "itemType": "journalArticle",
        "title": "Computing Machinery and Intelligence",
        "creators": [{"creatorType": "author", "firstName": "A. M.", "lastName": "Turing"}],
        "publicationTitle": "Mind",
        "date": "October 1950",
        "DOI": "10.1093/mind/LIX.236.433",
        "url": "",
        "extra": "Citation Key: turing1950",
    },
    {
        "key": "WXYZ6789",
        "itemType": "report",
        "title": "A Report of an Institute",
        "creators": [{"creatorType": "author", "name": "The Institute"}],
        "date": "2001-02-03",
        "extra": "",
    },
]
BIBTEX = """
@article{turing_computing_1950,
\ttitle = {Computing Machinery and Intelligence},
\tauthor = {Turing, A. M.},
\tjournal = {Mind},
\tyear = {1950},
\tdoi = {10.1093/mind/LIX.236.433},
}
"""
_PARAMETERS = frozenset({"format", "limit", "sort", "q", "qmode", "start", "include"})


def zotero(request: HttpRequest) -> ServiceAnswer:
    """Answer a request for items."""
    if request.method != "GET" or request.headers.get("zotero-api-version") != "3":
        raise Refused(ServiceAnswer(b"Bad request", 400))
    try:
        query = parameters(request, _PARAMETERS)
    except ValueError as error:
        raise Refused(ServiceAnswer(str(error).encode(), 400)) from error
    if request.path == "/api/users/0/items/top":
        wanted = query.get("q", "").lower()
        found = [item for item in ITEMS if wanted in str(item["title"]).lower()]
        limit = int(query.get("limit", "25"))
        answer = json_answer(
            [{"key": item["key"], "version": 1, "data": item} for item in found[:limit]]
        )
        return ServiceAnswer(answer.body, 200, {**answer.headers, "Total-Results": str(len(found))})
    if request.path == "/api/users/0/items/ABCD2345" and query.get("format") == "bibtex":
        return ServiceAnswer(BIBTEX.encode(), 200, {"Content-Type": "application/x-bibtex"})
    raise Refused(ServiceAnswer(b"Not found", 404))
