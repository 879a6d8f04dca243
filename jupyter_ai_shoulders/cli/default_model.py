"""Checks the default model. Pure; for ``chat_command`` and ``event_printer``."""

from __future__ import annotations

from jupyter_ai_shoulders.wire.api.responses import ModelList
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ModelId

DEMO = "demo"
"""The kind of its provider, and the provider's id."""


def failing_model(models: ModelList) -> tuple[ModelId, ErrorInfo] | None:
    """Return the default model and the error of its provider's last call; None without an error."""
    errors = {provider.id: provider.error for provider in models.providers}
    for model in models.models:
        error = errors.get(model.provider)
        if model.id == models.default and error is not None:
            return model.id, error
    return None
