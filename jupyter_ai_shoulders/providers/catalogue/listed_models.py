"""Catalogue entries for models that a service lists, such as those the user pulled with Ollama.

Pure; used by ``registry`` and ``model_discovery``. Their ids are ``PROVIDER/NAME``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jupyter_ai_shoulders.core.catalogue.specs import (
    Catalogue,
    ModelSpec,
    ProviderKind,
    ProviderSpec,
)
from jupyter_ai_shoulders.core.embedding.model_names import EMBEDDING, is_embedding_name
from jupyter_ai_shoulders.providers.base import ListedModel
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.wire.ids import ModelId

MAX_CONTEXT_WINDOW = 32_768
"""Tokens of an Ollama model's window; the user can configure more. Ollama allocates memory for all
of it.
"""

_FREE = {"input": 0, "output": 0, "source": "runs on this machine"}

_OTHER_WORDS: frozenset[ProviderKind] = frozenset({"anthropic", "google"})
"""Services that do not use Ollama's capability names."""

Entry = Mapping[str, Any]


def placeholder_model(provider: ProviderSpec) -> ModelSpec:
    """Return a placeholder for calls that concern no model."""
    return ModelSpec(id=ModelId(provider.id), name="", provider=provider.id, model="")


def catalogue_entries(provider: ProviderSpec, models: Sequence[ListedModel]) -> list[Entry]:
    """Return entries for the models that can chat, including those of unknown capabilities."""
    able = (
        model
        for model in models
        if not _embeds(provider, model)
        and (
            provider.kind in _OTHER_WORDS
            or not model.capabilities
            or "completion" in model.capabilities
        )
    )
    return [_entry(provider, model) for model in able]


def embedder_entries(provider: ProviderSpec, models: Sequence[ListedModel]) -> list[Entry]:
    """Return entries for the embedding models."""
    return [_entry(provider, model) for model in models if _embeds(provider, model)]


def entry_by_name(provider: ProviderSpec, name: str) -> Entry:
    """Return an entry for a model of which only the name is known."""
    return _entry(provider, ListedModel(name))


def entry_for_unlisted(
    catalogue: Catalogue, model_id: ModelId
) -> tuple[ProviderSpec, Entry] | None:
    """Return an entry for an id that its service may yet list, as after a restart."""
    for provider in catalogue.providers.values():
        name = provider.listed_name(model_id)
        if name is not None:
            return provider, entry_by_name(provider, name)
    return None


def with_unlisted(catalogue: Catalogue, names: Iterable[ModelId]) -> Catalogue:
    """Return the catalogue with entries for these chat models, where their services are known.

    A service that is not running lists no models, but the user may have named one of them.
    """
    found: dict[ModelId, ModelSpec] = {}
    for name in names:
        guess = None if catalogue.spec(name) else entry_for_unlisted(catalogue, name)
        if guess is not None and without_configured([guess[1]], catalogue):
            spec = ModelSpec.model_validate(guess[1])
            if EMBEDDING not in spec.roles:
                found[name] = spec
    return replace(catalogue, models={**catalogue.models, **found}) if found else catalogue


def without_configured(found: Sequence[Entry], catalogue: Catalogue) -> list[Entry]:
    """Return the entries of models that the catalogue does not have under another id."""
    configured = {(spec.provider, spec.model) for spec in catalogue.all_models()}
    return [entry for entry in found if (entry["provider"], entry["model"]) not in configured]


def _entry(provider: ProviderSpec, model: ListedModel) -> Entry:
    entry: dict[str, Any] = {
        "id": f"{provider.id}/{model.name}",
        "name": model.name.removesuffix(":latest"),
        "provider": provider.id,
        "model": model.name,
    }
    if provider.kind == "ollama":
        entry |= _of_ollama(model)
    elif model.context_window is not None:
        entry["context_window"] = model.context_window
    if model.capabilities and provider.kind not in _OTHER_WORDS:
        entry |= {"tools": "tools" in model.capabilities, "images": "vision" in model.capabilities}
    if "insert" in model.capabilities:
        entry["fill_in"] = True
    entry["roles"] = [EMBEDDING] if _embeds(provider, model) else []
    if is_loopback(provider.url):
        entry["prices"] = _FREE
    return entry


def _embeds(provider: ProviderSpec, model: ListedModel) -> bool:
    """Return whether a model is an embedding model: by its capabilities, else by its name."""
    if model.capabilities and provider.kind not in _OTHER_WORDS:
        return EMBEDDING in model.capabilities and "completion" not in model.capabilities
    return is_embedding_name(model.name)


def _of_ollama(model: ListedModel) -> Entry:
    """Return the properties that only Ollama lists.

    Details of a model's thinking are set by its family in the catalogue.
    """
    window = min(model.context_window or MAX_CONTEXT_WINDOW, MAX_CONTEXT_WINDOW)
    entry: dict[str, Any] = {"context_window": window}
    if "thinking" in model.capabilities and not model.name.startswith("gpt-oss"):
        entry["thinking_support"] = {"mode": "effort", "off": "disabled"}
    return entry
