"""Selects a model where the caller named none; used by ``ModelRegistry`` and ``ProviderSetup``.

Applies the rules of ``catalogue.model_selection`` to the current configuration.
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ModelSpec
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.catalogue.listed_models import with_unlisted
from jupyter_ai_shoulders.providers.catalogue.model_selection import (
    ModelChoice,
    Strategy,
    choose_by_strategy,
    choose_default,
    choose_from_provider,
)
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue
from jupyter_ai_shoulders.providers.configured_providers import ConfiguredProviders
from jupyter_ai_shoulders.wire.api.responses import SingleCallModel
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId


class ModelSelector:
    """Selects models by the user's preferences; makes no network calls."""

    def __init__(
        self,
        providers: ConfiguredProviders,
        shipped: ShippedCatalogue,
        preferences: Callable[[], ModelPreferences],
        last_used: Callable[[], ModelId | None],
    ) -> None:
        """``last_used`` returns the model of the user's latest conversation."""
        self._providers = providers
        self._shipped = shipped
        self.preferences = preferences
        self._last_used = last_used

    def default(self) -> ModelChoice | None:
        """Return the model of a new conversation; None when the mode allows no configured model."""
        last_used = self._last_used()
        return choose_default(
            self._with_named_models(last_used),
            last_used,
            self.preferences(),
            self._providers.availability(),
            self._shipped,
        )

    def by_strategy(self, strategy: Strategy) -> ModelId:
        """Return the model for single calls of this kind.

        Raises ``InvalidRequest`` that says why none can answer, see ``choose_by_strategy``.
        """
        spec = choose_by_strategy(
            self._providers.catalogue(),
            strategy,
            self.preferences(),
            self._providers.availability(),
        )
        return spec.id

    def single_call(self, purpose: Strategy) -> SingleCallModel:
        """Return the model for single calls of this kind, or the reason why there is none."""
        try:
            return SingleCallModel(purpose=purpose, model=self.by_strategy(purpose), reason=None)
        except InvalidRequest as error:
            return SingleCallModel(purpose=purpose, model=None, reason=error.info.message)

    def test_model(self, provider_id: ProviderId) -> ModelSpec | None:
        """Return the model that tests a provider: the one its user would get."""
        last_used = self._last_used()
        return choose_from_provider(
            provider_id, self._with_named_models(last_used), last_used, self.preferences()
        )

    def _with_named_models(self, last_used: ModelId | None) -> Catalogue:
        """Return the catalogue with the named models that their services may yet list."""
        catalogue = self._providers.catalogue()
        named = filter(None, (ModelId(self.preferences().default), last_used, catalogue.default))
        return with_unlisted(catalogue, named)
