"""Adds works to the main bibliography: resolved, compared with what is there, keyed and written.

Used by the tool ``add_reference`` and by ``POST references``.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.files.path_permissions import permitted_path
from jupyter_ai_shoulders.references.bibtex.bibliography import BibEntry, parse_bibliography
from jupyter_ai_shoulders.references.extraction import Requester
from jupyter_ai_shoulders.references.identifiers import AddQuery, QueryKind, detect_query
from jupyter_ai_shoulders.references.new_entry import entry_text, free_key, new_key
from jupyter_ai_shoulders.references.reference_list import find_duplicate, to_reference
from jupyter_ai_shoulders.references.registers.work import RegisterWork
from jupyter_ai_shoulders.references.resolving import ResolvedWork, WorkResolver
from jupyter_ai_shoulders.tools.references.library import (
    Library,
    LibraryContent,
    MadeChange,
    PlannedChange,
    make_change,
)
from jupyter_ai_shoulders.wire.api.references import AddedReference, PostReference, Reference

SOURCES = ("doi", "arxiv", "isbn", "url", "bibtex", "text", "file", "query")


@dataclass(frozen=True, slots=True)
class Addition:
    """The outcome of an addition; ``change`` is None if the bibliography did not change."""

    added: AddedReference
    change: MadeChange | None = None


def the_query(given: PostReference) -> AddQuery:
    """Return the only source that is given. Raises ``InvalidRequest``."""
    named = [(name, getattr(given, name)) for name in SOURCES if getattr(given, name) is not None]
    if len(named) != 1:
        raise InvalidRequest(
            "Give exactly one of doi, arxiv, isbn, url, bibtex, text and file.",
            hint="Leave the others out.",
        )
    name, value = named[0]
    if name == "query":
        return detect_query(value)
    return AddQuery(cast("QueryKind", name), value.strip())


class ReferenceAdder:
    """Adds references to one workspace."""

    def __init__(self, library: Library, resolver: Callable[[], WorkResolver]) -> None:
        """``resolver`` is called when a register is needed first."""
        self.library = library
        self._resolver = resolver

    async def add(self, query: AddQuery, origin: ChangeOrigin, requester: Requester) -> Addition:
        """Add a work, or say why not.

        Raises ``InvalidRequest`` (the query makes no sense), ``NotFound`` (no such PDF),
        ``PolicyRefusal``, and what writing raises.
        """
        if query.kind == "bibtex":
            return await self._add_bibtex(query.value, origin)
        pdf = ""
        if query.kind == "file":
            pdf, found = await self._resolve_pdf(query.value, requester)
        else:
            found = await self._resolver().resolve(query, requester)
        if found.work is None:
            return Addition(_not_added(found.reason))
        return await self._add_work(found.work, found, pdf, origin)

    async def plan_bibtex(self, text: str) -> tuple[PlannedChange | None, Reference]:
        """Return how a whole entry would be added; None if it is there already.

        Raises ``InvalidRequest``.
        """
        entry = await asyncio.to_thread(single_entry, text)
        content = await self.library.content()
        reference = to_reference(self.library.settings().main_file, entry)
        duplicate = find_duplicate(
            content.references, reference.doi, reference.title, reference.year
        )
        if duplicate is not None:
            return None, duplicate
        key = free_key(entry.key, content.keys())
        start = entry.start
        head, tail = text[start : start + entry.spans.key_end], text[start : entry.end]
        renamed = head.removesuffix(entry.key) + key + tail[entry.spans.key_end :]
        return await self.library.plan_addition(renamed), reference.model_copy(update={"key": key})

    async def _add_bibtex(self, text: str, origin: ChangeOrigin) -> Addition:
        reference: Reference | None = None

        async def plan() -> PlannedChange:
            nonlocal reference
            planned, reference = await self.plan_bibtex(text)
            if planned is None:
                raise _AlreadyThere(reference)
            return planned

        try:
            made = await make_change(self.library, plan, origin)
        except _AlreadyThere as there:
            return Addition(_duplicate(there.reference))
        assert reference is not None
        return await self._added(reference.key, "the BibTeX entry", "", made)

    async def _add_work(
        self, work: RegisterWork, found: ResolvedWork, pdf: str, origin: ChangeOrigin
    ) -> Addition:
        key = ""

        async def plan() -> PlannedChange:
            nonlocal key
            content = await self.library.content()
            duplicate = find_duplicate(content.references, work.doi, work.title, work.year)
            if duplicate is not None:
                raise _AlreadyThere(duplicate)
            key = new_key(work, self.library.settings().key_pattern, content.keys())
            file = _relative(pdf, content.main_file)
            return await self.library.plan_addition(entry_text(work, key, found.unverified, file))

        try:
            made = await make_change(self.library, plan, origin)
        except _AlreadyThere as there:
            return Addition(_duplicate(there.reference))
        said = [found.reason, *(_notice_text(notice.kind, notice.doi) for notice in work.notices)]
        said += _missing(work)
        return await self._added(key, work.source, " ".join(filter(None, said)), made)

    async def _added(self, key: str, source: str, reason: str, made: MadeChange) -> Addition:
        content = await self.library.content()
        added = AddedReference(
            reference=_reference(content, key), status="added", reason=reason, source=source
        )
        return Addition(added, made)

    async def _resolve_pdf(self, given: str, requester: Requester) -> tuple[str, ResolvedWork]:
        if not given.lower().endswith(".pdf"):
            raise InvalidRequest(f"{given} is not a PDF.", hint="Give the path of a PDF.")
        workspace = self.library.access.workspace
        path = await asyncio.to_thread(permitted_path, workspace, given)
        content = await asyncio.to_thread(lambda: workspace.read(path).content)
        return path, await self._resolver().pdf(path, content, requester)


class _AlreadyThere(Exception):
    """The bibliography has the work."""

    def __init__(self, reference: Reference) -> None:
        super().__init__(reference.key)
        self.reference = reference


def single_entry(text: str) -> BibEntry:
    """Return the only entry of a text. Raises ``InvalidRequest``."""
    parsed = parse_bibliography(text)
    if parsed.broken:
        place = parsed.broken[0]
        raise InvalidRequest(
            f"The BibTeX cannot be read, line {place.line}: {place.message}",
            hint="Correct it; nothing was added.",
        )
    if len(parsed.entries) != 1:
        raise InvalidRequest(
            f"The text has {len(parsed.entries)} BibTeX entries, not one.",
            hint="Add one entry at a time.",
        )
    return parsed.entries[0]


def _reference(content: LibraryContent, key: str) -> Reference | None:
    return next((item.reference for item in content.references if item.reference.key == key), None)


def _duplicate(reference: Reference) -> AddedReference:
    return AddedReference(
        reference=reference,
        status="duplicate",
        reason=f"The bibliography has it already: {reference.key} in {reference.file}.",
        source=reference.file,
    )


def _not_added(reason: str) -> AddedReference:
    return AddedReference(reference=None, status="not_added", reason=reason, source="")


def _missing(work: RegisterWork) -> list[str]:
    """Return what a register does not say."""
    absent = [
        name
        for name, value in (("author", work.authors or work.editors), ("year", work.year))
        if not value
    ]
    return [f"{work.source} gives no {' and no '.join(absent)}."] if absent else []


def _notice_text(kind: str, doi: str) -> str:
    return f"This work was {kind}: https://doi.org/{doi}"


def _relative(pdf: str, bibliography: str) -> str:
    if not pdf:
        return ""
    return posixpath.relpath(pdf, posixpath.dirname(bibliography) or ".")
