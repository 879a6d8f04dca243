"""Builds the registry of models on the usual files; called by ``host`` and by tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.folder_trust import FolderTrust
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.adapter_factory import make_provider
from jupyter_ai_shoulders.providers.base import Provider, ResolvedModel
from jupyter_ai_shoulders.providers.catalogue.loader import CatalogueLoader, shipped_text
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue
from jupyter_ai_shoulders.providers.catalogue.user_models import UserCatalogue
from jupyter_ai_shoulders.providers.configured_providers import ConfiguredProviders
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore
from jupyter_ai_shoulders.providers.credentials.key_vendors import KeyVendors
from jupyter_ai_shoulders.providers.embedder_selector import (
    EmbedderSelector,
    MeteredEmbeddings,
)
from jupyter_ai_shoulders.providers.endpoint_resolver import EndpointResolver
from jupyter_ai_shoulders.providers.health import HealthTracker
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.upstream import Upstream
from jupyter_ai_shoulders.providers.model_selector import ModelSelector
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.providers.setup.candidate_check import CandidateCheck
from jupyter_ai_shoulders.providers.setup.provider_detector import ProviderDetector
from jupyter_ai_shoulders.providers.setup.provider_setup import ProviderSetup
from jupyter_ai_shoulders.wire.ids import ModelId

KEY_FILE = Path(".shoulders") / "keys.env"
MODEL_FILE = Path(".shoulders") / "models.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryOptions:
    """Configuration of a registry beside its files."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    trait: Mapping[str, Any] | None = None
    """The administrator's catalogue."""
    keys: KeyStore | None = None
    """Given where a keyring is used; defaults to environment and key file."""
    withdraw: Callable[[Iterable[str]], None] | None = None
    """Called with the names of the variables that providers read, see ``CatalogueLoader``."""
    trust: FolderTrust | None = None
    """The user's answers about the workspace's entries; without it, they are the user's own."""
    last_used: Callable[[], ModelId | None] = lambda: None
    """Returns the model of the user's latest conversation."""
    preferences: Callable[[], ModelPreferences] = ModelPreferences
    metered: Callable[[ResolvedModel], ResolvedModel] = lambda resolved: resolved
    """Puts the meter before the provider of each resolved model."""
    metered_embedding: MeteredEmbeddings = lambda _, service: service
    """Puts the meter before each embedding model."""
    new_upstream: Callable[[], Upstream] = Upstream
    adapter: Callable[[Endpoint], Provider] = make_provider


def build_registry(
    home: Path,
    state_directory: Path,
    clock: Clock,
    ids: IdSource,
    options: RegistryOptions | None = None,
) -> ModelRegistry:
    """Return a registry on ``~/.shoulders`` and the workspace's state directory."""
    options = options or RegistryOptions()
    providers = _configured_providers(home, state_directory, clock, ids, options)
    shipped = ShippedCatalogue.read(shipped_text())
    selector = ModelSelector(providers, shipped, options.preferences, options.last_used)
    candidates = CandidateCheck(providers, clock, metered=options.metered)
    vendors = KeyVendors(shipped.providers)
    setup = ProviderSetup(
        providers,
        selector,
        UserCatalogue(home / MODEL_FILE),
        candidates,
        ProviderDetector(providers, candidates, vendors, new_upstream=options.new_upstream),
        vendors=vendors,
        shipped=shipped,
        environ=options.environ,
    )
    embedders = EmbedderSelector(
        providers, shipped, options.preferences, clock, metered=options.metered_embedding
    )
    return ModelRegistry(
        providers, selector, setup, clock, embedders=embedders, metered=options.metered
    )


def _configured_providers(
    home: Path, state_directory: Path, clock: Clock, ids: IdSource, options: RegistryOptions
) -> ConfiguredProviders:
    files = CatalogueLoader(
        home / MODEL_FILE,
        state_directory / MODEL_FILE.name,
        options.environ,
        options.trait,
        ollama_host=lambda: options.preferences().ollama_host,
        trust=options.trust,
        withdraw=options.withdraw,
    )
    keys = options.keys or KeyStore(home / KEY_FILE, options.environ)
    health = HealthTracker(clock)
    endpoints = EndpointResolver(
        keys,
        options.environ,
        ids,
        health,
        now=clock.now,
        new_upstream=options.new_upstream,
        only_local=lambda: options.preferences().mode == "local",
    )
    return ConfiguredProviders(files, keys, endpoints, health, clock=clock, adapter=options.adapter)
