"""Orders the embedding models that may be used where none was named. Pure.

Applied by ``EmbedderSelector``; follows the rules of ``model_selection`` for the sides of a mode.
"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ModelSpec
from jupyter_ai_shoulders.core.embedding import SUGGESTED_MODEL
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.catalogue.model_selection import (
    ProviderAvailability,
    searched_sides,
    side_in_mode,
)
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue
from jupyter_ai_shoulders.providers.formats.embedding import supports_embedding


def usable_embedders(
    catalogue: Catalogue,
    preferences: ModelPreferences,
    availability: ProviderAvailability,
    shipped: ShippedCatalogue,
) -> Iterator[ModelSpec]:
    """Yield the embedding models that the mode permits and whose provider can answer, best first.

    On each side those the user configured, then the shipped ones, then those a service lists. The
    order of listed ones does not depend on the service, because another model needs another index.
    """
    order = sorted(catalogue.embedders.values(), key=lambda spec: _rank(catalogue, spec, shipped))
    for side in searched_sides(preferences):
        for spec in order:
            provider = catalogue.providers[spec.provider]
            if (
                side_in_mode(provider, preferences) == side
                and supports_embedding(provider)
                and availability.obstacle(provider) is None
            ):
                yield spec


def _rank(
    catalogue: Catalogue, spec: ModelSpec, shipped: ShippedCatalogue
) -> tuple[int, bool, str]:
    if spec.id in shipped.models:
        return (
            1,
            False,
            "",
        )  # the sort is stable: the catalogue's order is the order of preference
    if catalogue.providers[spec.provider].listed_name(spec.id) is None:
        return (0, False, "")
    return (2, not spec.model.startswith(SUGGESTED_MODEL), spec.model)
