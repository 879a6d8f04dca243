"""Ports the engine needs beside those of ``storage``, ``tools`` and ``providers``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.core.catalogue import ModelSpec
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.wire.ids import ModelId


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model of the catalogue and the provider that serves it."""

    spec: ModelSpec
    provider: Provider


class Models(Protocol):
    """Finds models by id; implemented by ``providers.registry``."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model, or the default for None; makes no network call.

        Raises ``ShouldersError`` with code ``no_model``, ``unknown_model`` or ``no_key``.
        """
        ...
