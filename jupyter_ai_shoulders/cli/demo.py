"""When the demo would answer because a real model fails. Pure; for ``run`` and the chat."""

from __future__ import annotations

from jupyter_ai_shoulders.cli.errors import CommandFailed
from jupyter_ai_shoulders.client.errors import told
from jupyter_ai_shoulders.wire.api import ModelList
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ModelId

DEMO = "demo"
"""The kind of its provider, and the provider's id."""


def failing_model(models: ModelList) -> tuple[ModelId, ErrorInfo] | None:
    """Return a model that was set up and what ails it, where only the demo is left; else None."""
    kinds = {provider.id: provider.kind for provider in models.providers}
    errors = {provider.id: provider.error for provider in models.providers}
    left = next((each.provider for each in models.models if each.id == models.default), None)
    if left is not None and kinds[left] != DEMO:
        return None
    for model in models.models:
        error = errors.get(model.provider)
        if error is not None:
            return model.id, error
    return None


def refuse_to_stand_in(models: ModelList) -> None:
    """Raise ``CommandFailed`` where the demo would stand in for a model that fails."""
    failing = failing_model(models)
    if failing is not None:
        model, error = failing
        raise CommandFailed(
            f"{told(error)} Only the demo, which is no AI model, could answer now: --model demo "
            f"asks for it, --model {model} tries again."
        )
