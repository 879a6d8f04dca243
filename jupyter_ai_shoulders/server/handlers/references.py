"""``references``: bibliographies, citations and checks."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.references import (
    DeleteReference,
    PostCitation,
    PostFormat,
    PostReference,
    PostReferenceCheck,
    PutReferenceFields,
    ReferenceKeyQuery,
    ReferenceQuery,
)


class ReferencesHandler(ShouldersHandler):
    """``references``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the references that match ``?q=``."""
        self.answer(await self.host.references.search(self.query(ReferenceQuery)))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Add a work."""
        self.answer(await self.host.references.add(self.body(PostReference), self.user))


class ReferenceEntryHandler(ShouldersHandler):
    """``references/entry``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Show the entry of ``?key=``."""
        self.answer(await self.host.references.entry(self.query(ReferenceKeyQuery).key))


class ReferenceEditHandler(ShouldersHandler):
    """``references/edit``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Change fields of an entry."""
        self.answer(await self.host.references.edit(self.body(PutReferenceFields)))


class ReferenceDeletionHandler(ShouldersHandler):
    """``references/delete``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Remove an entry."""
        await self.host.references.delete(self.body(DeleteReference))
        self.no_content()


class ReferenceCheckHandler(ShouldersHandler):
    """``references/check``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Check the citations of a document, or of all."""
        self.answer(await self.host.references.check(self.body(PostReferenceCheck)))


class CitationStylesHandler(ShouldersHandler):
    """``references/styles``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the citation styles."""
        self.answer(await self.host.citations.styles())


class CitationHandler(ShouldersHandler):
    """``references/citation``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Return the text that cites works in a document."""
        self.answer(self.host.citations.citation(self.body(PostCitation)))


class FormatHandler(ShouldersHandler):
    """``references/format``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Render the citations of a document and its bibliography."""
        self.answer(await self.host.citations.format(self.body(PostFormat)))
