"""Tells shipped catalogue entries from configured ones; used by ``model_selection``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ProviderSpec
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId


@dataclass(frozen=True, slots=True)
class ShippedCatalogue:
    """Providers and model ids of the shipped ``models.json``."""

    providers: Mapping[ProviderId, ProviderSpec]
    models: frozenset[ModelId]

    @staticmethod
    def read(text: str) -> ShippedCatalogue:
        """Read the catalogue from its JSON text."""
        content: dict[str, Any] = json.loads(text)
        providers = [
            ProviderSpec.model_validate({**entry, "id": name})
            for name, entry in content["providers"].items()
        ]
        return ShippedCatalogue(
            {provider.id: provider for provider in providers},
            frozenset(ModelId(entry["id"]) for entry in content["models"]),
        )

    def holds(self, spec: ModelSpec, provider: ProviderSpec) -> bool:
        """Return whether the model and its provider are as shipped."""
        return spec.id in self.models and self.providers.get(provider.id) == provider
