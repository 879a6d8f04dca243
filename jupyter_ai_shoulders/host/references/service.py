"""The references of one host, for routes and tools; nothing is loaded before the first use.

Made by ``host.shared_services``. A server without bibliographies pays nothing for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.wire.api.references import (
    AddedReference,
    BibliographyFile,
    DeleteReference,
    PostReference,
    PostReferenceCheck,
    PutReferenceFields,
    Reference,
    ReferenceCheck,
    ReferenceEntry,
    ReferenceList,
    ReferenceQuery,
)

if TYPE_CHECKING:
    from jupyter_ai_shoulders.host.shared_services import SharedServices
    from jupyter_ai_shoulders.references.resolving import WorkResolver
    from jupyter_ai_shoulders.references.zotero import ZoteroItems, ZoteroLibrary
    from jupyter_ai_shoulders.tools.references.adding import ReferenceAdder
    from jupyter_ai_shoulders.tools.references.library import Library

PAGE_SECONDS = 20.0
ZOTERO_SECONDS = 3.0
"""How long a list waits for Zotero."""


class ReferenceService:
    """Lists, shows and changes references."""

    def __init__(self, services: SharedServices) -> None:
        self._services = services
        self._library: Library | None = None
        self._zotero: ZoteroLibrary | None = None
        self._adder: ReferenceAdder | None = None

    @property
    def adder(self) -> ReferenceAdder:
        """Adds works to the main bibliography."""
        if self._adder is None:
            from jupyter_ai_shoulders.tools.references.adding import ReferenceAdder

            self._adder = ReferenceAdder(self.library, self._resolver)
        return self._adder

    @property
    def library(self) -> Library:
        """The bibliographies of the workspace."""
        if self._library is None:
            from jupyter_ai_shoulders.tools.files.access import FileAccess
            from jupyter_ai_shoulders.tools.references.library import Library

            services = self._services
            files = services.files
            access = FileAccess(services.documents.workspace, files.texts, files.changes)
            self._library = Library(access, services.path_index, services.preferences.references)
        return self._library

    async def search(self, query: ReferenceQuery) -> ReferenceList:
        """Return the references that match, of the workspace first, then of Zotero.

        Raises ``InvalidRequest`` (bibtexparser is not installed), ``StateUnavailable``.
        """
        from jupyter_ai_shoulders.references.reference_list import search_references

        content, zotero = await asyncio.gather(self.library.content(), self._ask_zotero(query.q))
        found = await asyncio.to_thread(search_references, content.references, query.q)
        dois = {item.reference.doi.lower() for item in content.references if item.reference.doi}
        keys = content.keys()
        elsewhere = [
            item
            for item in zotero.references
            if item.key.casefold() not in keys and (not item.doi or item.doi.lower() not in dois)
        ]
        everything = [*found, *elsewhere]
        return ReferenceList(
            references=tuple(everything[query.offset : query.offset + query.limit]),
            total=len(everything),
            files=tuple(
                BibliographyFile(
                    path=file.path,
                    is_main=file.path == content.main_file,
                    entries=len(file.content.entries),
                )
                for file in content.files
            ),
            problems=content.problems,
            zotero=zotero.status,
            add_to=content.main_file,
            syntax=self._services.preferences.references().citation_syntax,
        )

    async def entry(self, key: str) -> ReferenceEntry:
        """Return a reference with its fields. Raises ``NotFound``, ``Conflict`` (it is broken)."""
        from jupyter_ai_shoulders.references.bibtex.bibliography import parse_bibliography
        from jupyter_ai_shoulders.references.latex_text import decoded
        from jupyter_ai_shoulders.references.reference_list import to_reference
        from jupyter_ai_shoulders.tools.references.library import reference_of

        try:
            file, found = (await self.library.content()).find(key)
        except NotFound:
            bibtex = await self._zotero_library().bibtex(key)
            parsed = None if bibtex is None else parse_bibliography(bibtex)
            if parsed is None or not parsed.entries:
                raise
            found, text = parsed.entries[0], parsed.text
            reference = to_reference("", found).model_copy(update={"line": None, "key": key})
        else:
            reference, text = reference_of(file, found), file.content.text
        return ReferenceEntry(
            reference=reference,
            fields={name: decoded(value) for name, value in found.values.items()},
            bibtex=text[found.start : found.end],
        )

    async def add(self, command: PostReference, owner: str | None = None) -> AddedReference:
        """Add a work as the user; ``owner`` pays for a model, where calls have owners.

        Raises ``InvalidRequest``, ``NotFound`` (no such PDF), ``PolicyRefusal`` (``disabled``).
        """
        from jupyter_ai_shoulders.references.extraction import Requester
        from jupyter_ai_shoulders.tools.references.adding import the_query

        query = the_query(command)
        if query.kind != "bibtex":
            await asyncio.to_thread(self._services.web.check_allowed, "add_reference")
        return (await self.adder.add(query, _user(), Requester(owner=owner))).added

    async def check(self, command: PostReferenceCheck) -> ReferenceCheck:
        """Check citations and bibliographies.

        Raises ``NotFound`` (no such document), ``InvalidRequest`` (it cannot cite).
        """
        from jupyter_ai_shoulders.references.registers.lookup import RegisterLookup
        from jupyter_ai_shoulders.tools.references.checking import ReferenceChecker

        services = self._services
        checker = ReferenceChecker(
            self.library,
            services.documents.notebooks,
            services.path_index,
            lambda: RegisterLookup(services.web),
            services.web.check_allowed,
        )
        return await checker.check(command)

    async def elsewhere(self, query: str) -> Sequence[Reference]:
        """Return the items of Zotero that match; see ``tools.references.read``."""
        return (await self._ask_zotero(query)).references

    async def edit(self, command: PutReferenceFields) -> Reference:
        """Change fields of an entry as the user. Raises like ``Library.plan_edit``."""
        from jupyter_ai_shoulders.tools.references.library import make_change

        await make_change(
            self.library,
            lambda: self.library.plan_edit(command.key, command.file, command.fields),
            _user(),
        )
        return (await self.entry(command.key)).reference

    async def delete(self, command: DeleteReference) -> None:
        """Remove an entry as the user. Raises ``NotFound``, ``Conflict``."""
        from jupyter_ai_shoulders.tools.references.library import make_change

        await make_change(
            self.library,
            lambda: self.library.plan_deletion(command.key, command.file),
            _user(),
        )

    def _resolver(self) -> WorkResolver:
        from jupyter_ai_shoulders.assist.one_shot import OneShotCalls
        from jupyter_ai_shoulders.assist.reference_extraction import ModelWorkExtractor
        from jupyter_ai_shoulders.files.previews.document_previews import DocumentPreviews
        from jupyter_ai_shoulders.guard.network.fetch import FetchGuard, FetchLimits
        from jupyter_ai_shoulders.references.registers.lookup import RegisterLookup
        from jupyter_ai_shoulders.references.resolving import WorkResolver

        services = self._services
        calls = OneShotCalls(services.models, services.preferences.models)
        return WorkResolver(
            RegisterLookup(services.web),
            FetchGuard(limits=FetchLimits(seconds=PAGE_SECONDS)),
            ModelWorkExtractor(calls, lambda: services.models.by_strategy("cheapest")),
            DocumentPreviews().text,
        )

    def _zotero_library(self) -> ZoteroLibrary:
        if self._zotero is None:
            from jupyter_ai_shoulders.references.zotero import ZoteroLibrary

            services = self._services
            self._zotero = ZoteroLibrary(services.web, services.ports.clock.monotonic)
        return self._zotero

    async def _ask_zotero(self, query: str) -> ZoteroItems:
        from jupyter_ai_shoulders.references.zotero import ZoteroItems
        from jupyter_ai_shoulders.wire.api.references import ZoteroStatus

        try:
            async with asyncio.timeout(ZOTERO_SECONDS):
                return await self._zotero_library().search(query)
        except TimeoutError:
            problem = f"Zotero did not answer within {ZOTERO_SECONDS:.0f} s."
            return ZoteroItems(ZoteroStatus(running=True, items=0, problem=problem))


def _user() -> ChangeOrigin:
    return ChangeOrigin(None, by="user")
