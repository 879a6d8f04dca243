"""Ports the engine needs beside those of ``storage``, ``tools`` and ``providers``."""

from __future__ import annotations

from typing import Protocol

from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.wire.ids import ModelId

__all__ = ["Models", "ResolvedModel"]


class Models(Protocol):
    """Finds models by id; implemented by ``providers.registry``."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model, or the default for None; makes no network call.

        Raises ``ShouldersError`` with code ``no_model``, ``unknown_model`` or ``no_key``.
        """
        ...
