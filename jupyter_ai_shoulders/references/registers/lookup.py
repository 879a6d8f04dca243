"""Looks works up in registers through the port ``ServiceClient``.

DOIs are asked for at Crossref, then at DataCite (data and software); ISBNs at Crossref, then at
Open Library. An absent work is None; a register that fails raises ``ShouldersError``.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from jupyter_ai_shoulders.core.errors import Conflict, ShouldersError
from jupyter_ai_shoulders.core.web_services import ServiceId, web_service
from jupyter_ai_shoulders.guard.network.service_client import (
    ServiceClient,
    ServiceReply,
    ServiceRequest,
)
from jupyter_ai_shoulders.references.registers import arxiv, crossref, datacite, open_library
from jupyter_ai_shoulders.references.registers.work import (
    RegisterWork,
    names_match,
    same_title,
    title_is_in,
)

_DOI_SAFE = "/():;.-_"
_ABSENT = frozenset({400, 404, 410, 422})
ROWS = 5
"""Works that a search of Crossref returns."""
QUERY_LIMIT = 400


class RegisterLookup:
    """Asks the registers."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def by_doi(self, doi: str) -> RegisterWork | None:
        """Return the work of a DOI. Raises ``ShouldersError`` if no register answers for it."""
        quoted = quote(doi, safe=_DOI_SAFE)
        failed: ShouldersError | None = None
        sources: tuple[tuple[ServiceId, str, Callable[[bytes], RegisterWork | None]], ...] = (
            ("crossref", f"/works/{quoted}", crossref.work_of_answer),
            ("datacite", f"/dois/{quoted}", datacite.work_of_answer),
        )
        for service, path, work_of in sources:
            try:
                reply = await self._ask(service, path)
                work = None if reply is None else _read(service, work_of(reply.content))
            except ShouldersError as error:
                failed = failed or error
                continue
            if work is not None and work.doi.lower() == doi.lower():
                return work
        if failed is not None:
            raise failed
        return None

    async def by_arxiv(self, arxiv_id: str) -> RegisterWork | None:
        """Return the work of an arXiv id; the published one where Crossref has its linked DOI."""
        params = {"id_list": arxiv_id, "max_results": "1"}
        reply = await self._ask("arxiv", "/api/query", params)
        preprint = None if reply is None else arxiv.work_of_answer(reply.content)
        if preprint is None or not preprint.doi:
            return preprint
        try:
            published = await self.by_doi(preprint.doi)
        except ShouldersError:
            return preprint
        if published is None or not same_title(published.title, preprint.title):
            return preprint
        eprint = {name: preprint.fields[name] for name in ("eprint", "archiveprefix")}
        return RegisterWork(
            source=f"{published.source} and arXiv",
            type=published.type,
            title=published.title,
            authors=published.authors,
            editors=published.editors,
            year=published.year,
            month=published.month,
            doi=published.doi,
            fields={**published.fields, **eprint},
            notices=published.notices,
        )

    async def by_isbn(self, isbn: str) -> RegisterWork | None:
        """Return the book of an ISBN of 13 digits."""
        failed: ShouldersError | None = None
        try:
            params = {"filter": f"isbn:{isbn}", "rows": str(ROWS)}
            reply = await self._ask("crossref", "/works", params)
            found = [] if reply is None else crossref.isbns_of_answer(reply.content)
            for work, isbns in found:
                if work.type in {"book", "proceedings"} and isbn in isbns:
                    return work
        except ShouldersError as error:
            failed = error
        params = {"bibkeys": f"ISBN:{isbn}", "format": "json", "jscmd": "data"}
        reply = await self._ask("openlibrary", "/api/books", params)
        book = None if reply is None else open_library.work_of_answer(reply.content, isbn)
        if book is None and failed is not None:
            raise failed
        return book

    async def by_description(self, title: str, family: str, year: str) -> RegisterWork | None:
        """Return the work of Crossref with this title, first author and year, all of them."""
        query = " ".join(filter(None, (title, family, year)))
        for work in await self._search(query):
            families = {name.family for name in (*work.authors, *work.editors)[:1]}
            same_author = not family or any(names_match(name, family) for name in families)
            same_year = not year or not work.year or _near(work.year, year)
            if same_title(work.title, title) and same_author and same_year:
                return work
        return None

    async def by_entry_text(self, text: str) -> RegisterWork | None:
        """Return the work of Crossref whose title, first author and year are in a text."""
        for work in await self._search(text):
            author = work.authors[0].family if work.authors else ""
            if (
                author
                and work.year
                and title_is_in(work.title, text)
                and names_match(author, text)
                and work.year in text
            ):
                return work
        return None

    async def doi_resolves(self, doi: str) -> bool:
        """Return whether doi.org knows a DOI; it answers with a redirect if it does."""
        reply = await self._client.send(
            ServiceRequest("doi", f"/{quote(doi, safe=_DOI_SAFE)}", headers={"Accept": "*/*"})
        )
        if reply.status in {404, 410}:
            return False
        if reply.status < 400:
            return True
        raise _failure("doi", reply.status)

    async def _search(self, query: str) -> list[RegisterWork]:
        params = {"query.bibliographic": query[:QUERY_LIMIT], "rows": str(ROWS)}
        reply = await self._ask("crossref", "/works", params)
        return [] if reply is None else crossref.works_of_answer(reply.content)

    async def _ask(
        self, service: ServiceId, path: str, params: dict[str, str] | None = None
    ) -> ServiceReply | None:
        """Return the answer; None for a work that is not there."""
        headers = {"Accept": "application/atom+xml"} if service == "arxiv" else {}
        reply = await self._client.send(ServiceRequest(service, path, params or {}, headers))
        if reply.status == 200:
            return reply
        if reply.status in _ABSENT:
            return None
        raise _failure(service, reply.status)


def _read(service: ServiceId, work: RegisterWork | None) -> RegisterWork:
    """Return the work of an answer. Raises ``Conflict`` if the answer has none."""
    if work is None:
        raise Conflict(
            f"{web_service(service).title} sent an answer that is no work.",
            code="provider_protocol",
            hint="Try again later.",
            retryable=True,
        )
    return work


def _failure(service: ServiceId, status: int) -> ShouldersError:
    return Conflict(
        f"{web_service(service).title} failed with the status {status}.",
        code="provider_error",
        hint="Try again later.",
        retryable=True,
    )


def _near(one: str, other: str) -> bool:
    """Return whether years are the same, or next to each other: online and in print."""
    return one[:4].isdigit() and other[:4].isdigit() and abs(int(one[:4]) - int(other[:4])) <= 1
