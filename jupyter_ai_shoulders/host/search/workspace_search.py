"""Search in the workspace, made on first use: a server that nobody searches pays nothing.

Made by ``host.shared_services``; used by the tool, the routes and the command line.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import PolicyRefusal, StateUnavailable
from jupyter_ai_shoulders.storage.ledger.usage_queries import purpose_cost
from jupyter_ai_shoulders.wire.api.search import (
    PostSearchIndex,
    SearchIndexStatus,
    SearchQuery,
    SearchResults,
)
from jupyter_ai_shoulders.wire.ids import SessionId

if TYPE_CHECKING:
    from jupyter_ai_shoulders.host.search.embedders import SettingsEmbedders
    from jupyter_ai_shoulders.host.shared_services import SharedServices
    from jupyter_ai_shoulders.retrieval.ports import VectorCollections
    from jupyter_ai_shoulders.retrieval.service import IndexLevel, SearchService

NOBODY = ""
"""A user without conversations of their own, who finds those without an owner."""
LEDGER_SECONDS = 0.5
"""How long a status waits for the ledger."""


class WorkspaceSearch:
    """The search of one host."""

    def __init__(self, services: SharedServices) -> None:
        self._services = services
        self._service: SearchService | None = None
        self._making = asyncio.Lock()

    async def search(self, query: SearchQuery, owner: str | None = None) -> SearchResults:
        """Return the places that match best; ``owner`` limits conversations to those of a user.

        Raises ``InvalidRequest`` (an empty query), ``PolicyRefusal`` (``disabled``: switched off).
        """
        from jupyter_ai_shoulders.retrieval.service import Searcher

        return await (await self._started()).search(query, Searcher(owner))

    async def search_for_agent(self, query: SearchQuery, session_id: SessionId) -> SearchResults:
        """Return the places that match best, for the agent of a conversation.

        Raises like ``search``, and ``NotFound`` for a conversation that was deleted.
        """
        from jupyter_ai_shoulders.retrieval.service import Searcher

        owner, _ = self._services.store.sessions.header(session_id)
        if owner is None and self._services.settings.has_owners:
            owner = NOBODY
        return await (await self._started()).search(query, Searcher(owner, session_id))

    async def status(self, path: str = "") -> SearchIndexStatus:
        """Return the state of the index and, with a path, of a file. Raises ``PolicyRefusal``."""
        return await self._completed(await (await self._started()).status(path))

    def level(self) -> IndexLevel | None:
        """Return how far the index is; None before its first use in this process."""
        return None if self._service is None else self._service.level()

    async def command(self, command: PostSearchIndex) -> SearchIndexStatus:
        """Change the index. Raises ``StateUnavailable``, ``PolicyRefusal``."""
        service = await self._started()
        match command.action:
            case "rebuild":
                await service.rebuild()
            case "clear":
                await service.clear()
            case "pause":
                await service.set_paused(paused=True)
            case "resume":
                await service.set_paused(paused=False)
        return await self._completed(await service.status())

    async def settings_changed(self) -> None:
        """Follow changed settings, if search is in use."""
        if self._service is not None and self._services.preferences.search().enabled:
            await self._service.settings_changed()

    async def aclose(self) -> None:
        """Stop the background work."""
        if self._service is not None:
            await self._service.aclose()

    async def _completed(self, status: SearchIndexStatus) -> SearchIndexStatus:
        """Add the embedding models to choose from, and what embedding has cost."""
        if status.meaning is None:
            return status
        models = await self._embedders().choices()
        cost = await self._cost()
        meaning = status.meaning.model_copy(update={"models": models, "cost_micro_usd": cost})
        return status.model_copy(update={"meaning": meaning})

    async def _cost(self) -> int | None:
        """Return the cost of embedding in this month, in micro-dollars; None if unknown."""
        ledger = self._services.budgets.of(None).ledger
        first = self._services.ports.clock.now().astimezone().date().replace(day=1)
        try:
            async with asyncio.timeout(LEDGER_SECONDS):
                await ledger.flush()
                return await asyncio.to_thread(
                    purpose_cost, ledger.path, "embedding", first.isoformat()
                )
        except (StateUnavailable, TimeoutError):  # the settings of the budget say why
            return None

    async def _started(self) -> SearchService:
        if not self._services.preferences.search().enabled:
            raise PolicyRefusal(
                "Search in the workspace is switched off.",
                code="disabled",
                hint="Switch it on under Search in the AI settings.",
            )
        async with self._making:
            if self._service is None:
                self._services.store.problem()  # opens the conversations, if they can be
                self._service = await asyncio.to_thread(self._make)
            return self._service

    def _make(self) -> SearchService:
        from jupyter_ai_shoulders.host.search.conversation_source import SearchedDocuments
        from jupyter_ai_shoulders.host.search.document_source import WorkspaceDocuments
        from jupyter_ai_shoulders.host.search.index_ownership import StateDirectoryIndex
        from jupyter_ai_shoulders.retrieval.index_file import IndexFile
        from jupyter_ai_shoulders.retrieval.service import MeaningPorts, SearchService

        services = self._services
        documents, store = services.documents, services.store
        file = IndexFile(store.directory.words)
        settings = services.preferences.search
        source = SearchedDocuments(
            WorkspaceDocuments(
                documents.workspace,
                services.path_index,
                notebooks=documents.notebooks,
                live=documents.live,
                texts=services.files.texts,
                settings=settings,
            ),
            store.conversation_texts,
            settings,
        )
        pages = services.ports.pages
        return SearchService(
            file,
            source,
            StateDirectoryIndex(store.directory, store.origin, file),
            services.ports.clock,
            changed=lambda: pages.settings_changed("search"),
            meaning=MeaningPorts(
                self._embedders(),
                self._collections(file.path.with_name("vectors")),
            ),
        )

    def _embedders(self) -> SettingsEmbedders:
        from jupyter_ai_shoulders.host.search.embedders import SettingsEmbedders

        return SettingsEmbedders(self._services.models, self._services.preferences.search)

    def _collections(self, folder: Path) -> VectorCollections:
        from jupyter_ai_shoulders.retrieval.vectors.collections import (
            LocalCollections,
            ServerCollections,
            tenant_name,
        )
        from jupyter_ai_shoulders.retrieval.vectors.qdrant_connection import QdrantServer

        settings = self._services.settings
        if not settings.qdrant_url:
            return LocalCollections(folder)
        server = QdrantServer(settings.qdrant_url, settings.qdrant_api_key or None)
        return ServerCollections(server, tenant_name(settings.workspace))
