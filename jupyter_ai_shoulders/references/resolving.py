"""Finds the work that is to be added: from registers, pages, texts and PDFs.

Nothing is invented: what a register confirms is taken from the register; else only what the text
itself says is taken, and marked as unverified with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, assert_never
from urllib.parse import urlsplit

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.references.extraction import (
    ExtractedWork,
    Requester,
    WorkExtractor,
    grounded_work,
)
from jupyter_ai_shoulders.references.identifiers import (
    AddQuery,
    find_arxiv,
    find_doi,
    find_dois,
    find_isbn,
    isbn13,
    url_query,
)
from jupyter_ai_shoulders.references.registers.lookup import RegisterLookup
from jupyter_ai_shoulders.references.registers.page_tags import (
    identifiers_of_tags,
    page_tags,
    work_of_tags,
)
from jupyter_ai_shoulders.references.registers.work import RegisterWork, same_title, title_is_in

if TYPE_CHECKING:
    from jupyter_ai_shoulders.guard.network.fetch import FetchResult

TEXT_LIMIT = 8_000
"""Characters of a text or page that are read."""


class PageFetcher(Protocol):
    """Fetches a public page; ``guard.network.fetch.FetchGuard``."""

    async def fetch(self, url: str) -> FetchResult:
        """Get a page. Raises ``ShouldersError``."""
        ...


@dataclass(frozen=True, slots=True)
class ResolvedWork:
    """What was found; without a work, ``reason`` says why."""

    work: RegisterWork | None
    unverified: str = ""
    """Why no register confirms it; empty if one does."""
    reason: str = ""


@dataclass(slots=True)
class _Notes:
    """What failed on the way to a work."""

    said: list[str] = field(default_factory=list[str])

    def add(self, problem: ShouldersError | str) -> None:
        text = str(problem)
        if text not in self.said:
            self.said.append(text)

    def text(self) -> str:
        return " ".join(self.said)


class WorkResolver:
    """Resolves queries that are not BibTeX."""

    def __init__(
        self,
        lookup: RegisterLookup,
        pages: PageFetcher,
        extractor: WorkExtractor | None,
        pdf_text: Callable[[str, bytes], Awaitable[str]],
    ) -> None:
        """``pdf_text`` returns the text of a PDF of this name."""
        self._lookup = lookup
        self._pages = pages
        self._extractor = extractor
        self._pdf_text = pdf_text

    async def resolve(self, query: AddQuery, requester: Requester) -> ResolvedWork:
        """Return what a query names; a register that fails is a reason, not an error.

        Raises ``InvalidRequest`` (not a DOI, arXiv id, ISBN or address), ``PolicyRefusal`` (a page
        that must not be fetched).
        """
        match query.kind:
            case "doi":
                return await self._registered(
                    self._lookup.by_doi, _required(find_doi(query.value), query), "DOI"
                )
            case "arxiv":
                return await self._registered(
                    self._lookup.by_arxiv, _required(find_arxiv(query.value), query), "arXiv id"
                )
            case "isbn":
                value = find_isbn(query.value) or isbn13(query.value)
                return await self._registered(self._lookup.by_isbn, _required(value, query), "ISBN")
            case "url":
                return await self._page(query.value, requester)
            case "text":
                return await self.text(query.value, requester)
            case "bibtex" | "file":
                raise InvalidRequest(f"A {query.kind} is not looked up.")
            case _:
                assert_never(query.kind)

    async def pdf(self, name: str, content: bytes, requester: Requester) -> ResolvedWork:
        """Return the work that the first page of a PDF is the beginning of.

        Raises what reading the PDF raises.
        """
        page = first_page(await self._pdf_text(name, content))
        if not page.strip():
            return ResolvedWork(
                None, reason=f"{name} has no text on its first page; it may be a scan."
            )
        return await self.text(page, requester)

    async def text(self, text: str, requester: Requester) -> ResolvedWork:
        """Return the work that a text describes."""
        text = text[:TEXT_LIMIT]
        notes = _Notes()
        named = await self._named_in(text, notes)
        if named is not None:
            return ResolvedWork(named)
        extracted = await self._extracted(text, requester, notes)
        if extracted is None:
            found = await self._tried(self._lookup.by_entry_text(text), notes)
            if found is not None:
                return ResolvedWork(found)
            notes.add("No register has a work with the title, author and year of the text.")
            return ResolvedWork(None, reason=notes.text())
        return await self._confirmed(extracted, text, notes)

    async def _registered(
        self, ask: Callable[[str], Awaitable[RegisterWork | None]], value: str, what: str
    ) -> ResolvedWork:
        try:
            work = await ask(value)
        except ShouldersError as error:
            hint = f" {error.info.hint}" if error.info.hint else ""
            return ResolvedWork(None, reason=f"{error}{hint}")
        if work is None:
            return ResolvedWork(None, reason=f"No register has the {what} {value}.")
        return ResolvedWork(work)

    async def _named_in(self, text: str, notes: _Notes) -> RegisterWork | None:
        """Return the work of an identifier in a text, if the text has its title, too."""
        isbn = find_isbn(text)
        arxiv = find_arxiv(text)
        asked = [self._lookup.by_doi(doi) for doi in find_dois(text)]
        asked += [self._lookup.by_arxiv(arxiv)] if arxiv else []
        asked += [self._lookup.by_isbn(isbn)] if isbn else []
        chosen: RegisterWork | None = None
        for question in asked:
            if chosen is not None:
                question.close()
                continue
            work = await self._tried(question, notes)
            if work is not None and title_is_in(work.title, text):
                chosen = work
        return chosen

    async def _extracted(
        self, text: str, requester: Requester, notes: _Notes
    ) -> ExtractedWork | None:
        if self._extractor is None:
            notes.add("No model read the text.")
            return None
        try:
            return await self._extractor.extract(text, requester)
        except ShouldersError as error:
            notes.add(f"No model read the text: {error}")
            return None

    async def _confirmed(self, found: ExtractedWork, text: str, notes: _Notes) -> ResolvedWork:
        """Return what a register has of the extracted work, else what the text itself says."""
        work = await self._by_identifiers(found, text, notes)
        grounded = grounded_work(found, text)
        if work is None and grounded is not None:
            family = grounded.authors[0].family if grounded.authors else ""
            description = self._lookup.by_description(grounded.title, family, grounded.year)
            if family or grounded.year:
                work = await self._tried(description, notes)
            else:
                description.close()
        if work is not None:
            return ResolvedWork(work, reason=notes.text())
        if grounded is None:
            notes.add("What the model read is not in the text, so nothing was added.")
            return ResolvedWork(None, reason=notes.text())
        notes.add("No register confirms this work; check it.")
        return ResolvedWork(grounded, unverified=notes.text(), reason=notes.text())

    async def _by_identifiers(
        self, found: ExtractedWork, text: str, notes: _Notes
    ) -> RegisterWork | None:
        """Return the work of the extracted identifiers; those that no register has are dropped."""
        doi, arxiv, isbn = find_doi(found.doi), find_arxiv(found.arxiv), find_isbn(found.isbn)
        asked = (
            (doi, self._lookup.by_doi, "DOI"),
            (arxiv, self._lookup.by_arxiv, "arXiv id"),
            (isbn, self._lookup.by_isbn, "ISBN"),
        )
        for value, ask, what in asked:
            if not value:
                continue
            work = await self._tried(ask(value), notes)
            if work is not None and (
                same_title(work.title, found.title) and title_is_in(work.title, text)
            ):
                return work
            notes.add(f"The {what} {value} was left out: no register has it for this work.")
        return None

    async def _page(self, url: str, requester: Requester) -> ResolvedWork:
        named = url_query(url)
        if named.kind != "url":
            return await self.resolve(named, requester)
        fetched = await self._pages.fetch(url)
        kind = fetched.headers.get("content-type", "")
        if fetched.status != 200:
            return ResolvedWork(None, reason=f"The page answered with the status {fetched.status}.")
        if "pdf" in kind or fetched.content.startswith(b"%PDF-"):
            return await self.pdf("the page.pdf", fetched.content, requester)
        tags = await asyncio.to_thread(page_tags, fetched.content, kind)
        notes = _Notes()
        doi, arxiv, isbn = identifiers_of_tags(tags)
        work = work_of_tags(tags, fetched.url)
        asked = (
            (find_doi(doi), self._lookup.by_doi),
            (find_arxiv(arxiv), self._lookup.by_arxiv),
            (find_isbn(isbn), self._lookup.by_isbn),
        )
        for value, ask in asked:
            found = await self._tried(ask(value), notes) if value else None
            if found is not None:
                return ResolvedWork(found)
        if work is None:
            return ResolvedWork(None, reason="The page does not say what work it is about.")
        notes.add(f"From the tags of a page of {urlsplit(fetched.url).hostname}, not a register.")
        return ResolvedWork(work, unverified=notes.text(), reason=notes.text())

    async def _tried(
        self, question: Awaitable[RegisterWork | None], notes: _Notes
    ) -> RegisterWork | None:
        try:
            return await question
        except ShouldersError as error:
            notes.add(error)
            return None


def first_page(text: str) -> str:
    """Return the first page of a PDF's text, as previews divide it."""
    if not text.startswith("[page 1 of "):  # a note that there is no text
        return ""
    page = text.partition("\n")[2]
    return page.partition("\n\n[page 2 of ")[0][:TEXT_LIMIT]


def _required(value: str, query: AddQuery) -> str:
    if value:
        return value
    names = {"doi": "DOI", "arxiv": "arXiv id", "isbn": "valid ISBN"}
    raise InvalidRequest(
        f"{query.value[:200]!r} is not a {names.get(query.kind, query.kind)}.",
        hint="Check it for typing errors.",
    )
