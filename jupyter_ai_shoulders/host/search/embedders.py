"""Chooses the embedder of search by the user's settings and their consent.

Implements ``retrieval.ports.EmbedderSource``, and lists the choices for the settings page. Made by
``host.search.workspace_search``.
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.core.embedding import Embedder
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.wire.api.search import EmbedderChoice
from jupyter_ai_shoulders.wire.api.settings import SearchSettings


class SettingsEmbedders:
    """The embedders that the settings allow."""

    def __init__(self, models: ModelRegistry, settings: Callable[[], SearchSettings]) -> None:
        self._models = models
        self._settings = settings

    @property
    def enabled(self) -> bool:
        """See ``EmbedderSource.enabled``."""
        return self._settings().by_meaning

    async def wanted(self) -> Embedder | None:
        """See ``EmbedderSource.wanted``."""
        settings = self._settings()
        if not settings.by_meaning:
            return None
        await self._models.discover(remote=False)  # Ollama's models are known once it was asked
        return self._models.embedder(settings.embedder or None)

    def by_id(self, embedder_id: str) -> Embedder | None:
        """See ``EmbedderSource.by_id``."""
        try:
            return self._models.embedder(embedder_id)
        except ShouldersError:  # without its key, or not allowed by the mode
            return None

    def may_send_to(self, host: str) -> bool:
        """See ``EmbedderSource.may_send_to``."""
        return self._settings().send_to == host

    async def choices(self) -> tuple[EmbedderChoice, ...]:
        """Return the embedders that can be used now, the one used without a choice first."""
        await self._models.discover(remote=False)
        named = self._settings().embedder
        chosen = self.by_id(named) if named else None
        return tuple(
            EmbedderChoice(
                id=info.id,
                model=info.model,
                host=info.host,
                is_local=info.is_local,
                is_chosen=chosen is not None and chosen.info.id == info.id,
            )
            for info in self._models.embedders()
        )
