"""Citations of documents: their text in a syntax, and rendered in a style. Used by the routes.

Made by ``host.shared_services``; the styles and the processor are loaded with the first request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.wire.api.references import (
    CitationStyleList,
    CitationText,
    FormattedCitations,
    PostCitation,
    PostFormat,
)

if TYPE_CHECKING:
    from jupyter_ai_shoulders.host.references.service import ReferenceService
    from jupyter_ai_shoulders.host.shared_services import SharedServices
    from jupyter_ai_shoulders.references.styles.citation_styles import CitationStyles
    from jupyter_ai_shoulders.references.styles.messages import CitedWork

ELSEWHERE_LIMIT = 20
"""Keys of one document that Zotero is asked for."""
ELSEWHERE_SECONDS = 3.0


class CitationService:
    """Cites and formats."""

    def __init__(self, services: SharedServices, references: ReferenceService) -> None:
        self._services = services
        self._references = references
        self._styles: CitationStyles | None = None

    def citation(self, command: PostCitation) -> CitationText:
        """Return the text that cites works in the syntax of a document.

        Raises ``InvalidRequest`` for a key that the syntax cannot hold.
        """
        from jupyter_ai_shoulders.references.citation_syntax import citation_text, detect_syntax

        usual = self._services.preferences.references().citation_syntax
        syntax = detect_syntax(command.text) or usual
        return CitationText(text=citation_text(command.keys, syntax), syntax=syntax)

    async def styles(self) -> CitationStyleList:
        """Return the styles that can be used."""
        return await self._loaded_styles().styles()

    async def format(self, command: PostFormat) -> FormattedCitations:
        """Render the citations of a document. Raises like ``CitationStyles.format``."""
        return await self._loaded_styles().format(command)

    async def cited_works(self, keys: Iterable[str]) -> Mapping[str, CitedWork]:
        """Return the works with these keys, of the workspace first, then of Zotero."""
        from jupyter_ai_shoulders.references.styles.messages import CitedWork

        content = await self._references.library.content()
        works: dict[str, CitedWork] = {}
        missing: list[str] = []
        for key in keys:
            try:
                _, entry = content.find(key)
            except NotFound:
                missing.append(key)
            except Conflict:
                continue  # broken: it is shown as unknown
            else:
                works[key] = CitedWork(key, entry.type, dict(entry.values))
        found = await asyncio.gather(*(self._elsewhere(key) for key in missing[:ELSEWHERE_LIMIT]))
        return works | {work.key: work for work in found if work is not None}

    async def _elsewhere(self, key: str) -> CitedWork | None:
        """Return a work of Zotero."""
        from jupyter_ai_shoulders.references.bibtex.bibliography import parse_bibliography
        from jupyter_ai_shoulders.references.styles.messages import CitedWork

        try:
            async with asyncio.timeout(ELSEWHERE_SECONDS):
                shown = await self._references.entry(key)
        except (NotFound, Conflict, TimeoutError):
            return None
        entries = parse_bibliography(shown.bibtex).entries
        return CitedWork(key, entries[0].type, dict(entries[0].values)) if entries else None

    def _loaded_styles(self) -> CitationStyles:
        if self._styles is None:
            from jupyter_ai_shoulders.references.styles.citation_styles import CitationStyles

            services = self._services
            self._styles = CitationStyles(
                self,
                services.documents.workspace,
                services.path_index,
                lambda: services.preferences.references().style,
            )
        return self._styles
