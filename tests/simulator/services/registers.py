"""Registers of publications: Crossref, DataCite, arXiv, Open Library and doi.org.

https://api.crossref.org/swagger-ui/index.html, https://support.datacite.org/docs/api-get-doi,
https://info.arxiv.org/help/api/user-manual.html, https://openlibrary.org/dev/docs/api/books,
https://www.crossref.org/documentation/retrieve-metadata/content-negotiation/
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from tests.simulator.http import HttpRequest
from tests.simulator.services.answers import Refused, ServiceAnswer, json_answer, parameters
from tests.simulator.services.fixtures import load, load_text

DEAD_DOI = "10.5555/no-longer-there"
"""A DOI that no register knows."""


def crossref_work(request: HttpRequest) -> ServiceAnswer:
    """``GET /works/{doi}``; unknown ones are plain text."""
    _only_get(request)
    work = load("crossref").get(request.path.removeprefix("/works/").lower())
    if work is None:
        raise Refused(ServiceAnswer(b"Resource not found.", 404, {"Content-Type": "text/plain"}))
    return json_answer(
        {"status": "ok", "message-type": "work", "message-version": "1.0.0", "message": work}
    )


def datacite(request: HttpRequest) -> ServiceAnswer:
    """``GET /dois/{doi}``."""
    _only_get(request)
    found = load("datacite").get(request.path.removeprefix("/dois/").lower())
    if found is None:
        missing = {"status": "404", "title": "The resource you are looking for doesn't exist."}
        raise Refused(json_answer({"errors": [missing]}, 404, "application/vnd.api+json"))
    return json_answer({"data": found}, 200, "application/vnd.api+json")


def arxiv(request: HttpRequest) -> ServiceAnswer:
    """``GET /api/query?id_list=…``; an unknown id gives a feed without entries."""
    _only_get(request)
    known = frozenset({"id_list", "search_query", "start", "max_results", "sortBy", "sortOrder"})
    try:
        query = parameters(request, known)
    except ValueError as error:
        raise Refused(_atom(f"<summary>{error}</summary>", 400)) from error
    if request.path != "/api/query":
        raise Refused(ServiceAnswer(b"Not found", 404))
    entries = load("arxiv")
    wanted = [part for part in query.get("id_list", "").split(",") if part]
    malformed = [part for part in wanted if not part.replace(".", "").split("v")[0].isdigit()]
    if malformed and not any("/" in part for part in malformed):
        raise Refused(
            _atom(
                f"<entry><title>Error</title><summary>incorrect id format for {malformed[0]}"
                "</summary></entry>",
                400,
            )
        )
    found = [entries[part.split("v")[0]] for part in wanted if part.split("v")[0] in entries]
    return _atom("".join(load_text(name) for name in found))


def open_library(request: HttpRequest) -> ServiceAnswer:
    """``GET /api/books?bibkeys=ISBN:…&format=json&jscmd=data`` and ``GET /isbn/{isbn}.json``."""
    _only_get(request)
    books = load("openlibrary")
    if request.path == "/api/books":
        query = dict(parse_qsl(request.query))
        if query.get("format") != "json":
            return ServiceAnswer(b"var _OLBookInfo = {};", 200, {"Content-Type": "text/javascript"})
        wanted = query.get("bibkeys", "").split(",")
        found = {key: books[key] for key in wanted if key in books}
        return json_answer(found)
    isbn = request.path.removeprefix("/isbn/").removesuffix(".json")
    book = books.get(f"ISBN:{isbn}")
    if book is None:
        raise Refused(json_answer({"error": "notfound", "key": request.path}, 404))
    return json_answer(book)


def doi_org(request: HttpRequest) -> ServiceAnswer:
    """``GET /{doi}``: a redirect, CSL-JSON where that is asked for, 404 for unknown ones."""
    if request.method not in {"GET", "HEAD"}:
        raise Refused(ServiceAnswer(b"", 405))
    doi = request.path.lstrip("/").lower()
    targets = {
        **{key: work["URL"] for key, work in load("crossref").items()},
        **{key: item["attributes"]["url"] for key, item in load("datacite").items()},
    }
    if doi not in targets:
        raise Refused(ServiceAnswer(b"<h1>DOI Not Found</h1>", 404, {"Content-Type": "text/html"}))
    location = f"https://publisher.example.org/{doi}"
    return ServiceAnswer(b"", 302, {"Location": location, "Content-Type": "text/html"})


def _only_get(request: HttpRequest) -> None:
    if request.method != "GET":
        raise Refused(ServiceAnswer(b"Method not allowed", 405))


def _atom(entries: str, status: int = 200) -> ServiceAnswer:
    feed = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"<title>ArXiv Query</title>{entries}</feed>"
    )
    return ServiceAnswer(feed.encode(), status, {"Content-Type": "application/atom+xml"})
