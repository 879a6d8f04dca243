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

    async def wanted(self, active: str | None) -> Embedder | None:
        """See ``EmbedderSource.wanted``.

        Where none is chosen, the active one is kept while its provider fails: another one would
        need new vectors of all texts.
        """
        settings = self._settings()
        if not settings.by_meaning:
            return None
        await self._models.discover(remote=False)  # Ollama's models are known once it was asked
        if settings.embedder:
            return self._models.embedder(settings.embedder)
        return self._failing(active) or self._models.embedder(None)

    def by_id(self, embedder_id: str) -> Embedder | None:
        """See ``EmbedderSource.by_id``."""
        try:
            return self._models.embedder(embedder_id)
        except ShouldersError:  # without its key, or not allowed by the mode
            return None

    def may_send_to(self, host: str) -> bool:
        """See ``EmbedderSource.may_send_to``."""
        return self._settings().send_to == host

    def _failing(self, embedder_id: str | None) -> Embedder | None:
        """Return the embedder if its provider cannot be reached now."""
        embedder = None if embedder_id is None else self.by_id(embedder_id)
        if embedder is None:
            return None
        providers = self._models.providers
        provider = providers.provider(embedder.info.provider)
        return embedder if providers.availability().failure(provider) is not None else None

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
