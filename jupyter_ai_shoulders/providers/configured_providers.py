"""The providers of the merged catalogue: keys, health and the models their services list.

Made by ``registry_builder``; used by ``ModelRegistry``, ``ModelSelector`` and ``ProviderSetup``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from jupyter_ai_shoulders.core.catalogue.specs import Catalogue, ProviderSpec
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import NotFound, PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.providers.catalogue.listed_models import placeholder_model
from jupyter_ai_shoulders.providers.catalogue.loader import CatalogueLoader
from jupyter_ai_shoulders.providers.catalogue.model_discovery import ModelDiscovery
from jupyter_ai_shoulders.providers.catalogue.model_selection import ProviderAvailability
from jupyter_ai_shoulders.providers.catalogue.model_views import provider_health
from jupyter_ai_shoulders.providers.credentials.key_store import KeyStore
from jupyter_ai_shoulders.providers.endpoint_resolver import EndpointResolver
from jupyter_ai_shoulders.providers.health import HealthTracker
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.wire.api.responses import ProviderHealth, ProviderTest
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ProviderId


class ConfiguredProviders:
    """The providers of the catalogue; picks up changed configuration and keys."""

    def __init__(
        self,
        files: CatalogueLoader,
        keys: KeyStore,
        endpoints: EndpointResolver,
        health: HealthTracker,
        *,
        clock: Clock,
        adapter: Callable[[Endpoint], Provider],
    ) -> None:
        self.files = files
        self.keys = keys
        self.endpoints = endpoints
        self.discovery = ModelDiscovery(files, endpoints, clock, self.redactor)
        self.adapter = adapter
        """Makes the adapter of an endpoint."""
        self._health = health

    def catalogue(self) -> Catalogue:
        """Return the catalogue; two ``stat`` calls when the files did not change."""
        return self.files.current()

    def provider(self, provider_id: ProviderId) -> ProviderSpec:
        """Return a provider's settings. Raises ``NotFound``."""
        provider = self.catalogue().providers.get(provider_id)
        if provider is None:
            raise NotFound(f"There is no provider {provider_id!r}.")
        return provider

    def redactor(self) -> Redactor:
        """Return the redactor that knows the keys in use now."""
        return self.endpoints.redactor(self.catalogue().providers.values())

    def health(self) -> tuple[ProviderHealth, ...]:
        """Return the known health of each provider; makes no network call."""
        return tuple(map(self.health_of, self.catalogue().providers.values()))

    def health_of(self, provider: ProviderSpec) -> ProviderHealth:
        """Return a provider's known health; makes no network call."""
        key = self.endpoints.key(provider)
        custom = provider.id in self.files.own
        return provider_health(provider, key, self._health.health_of(provider.id), custom=custom)

    def availability(self) -> ProviderAvailability:
        """Return why each provider cannot answer, as model selection reads it."""

        def refusal(provider: ProviderSpec) -> ErrorInfo | None:
            missing = self.endpoints.missing(provider)
            return None if missing is None else missing.info

        def failure(provider: ProviderSpec) -> ErrorInfo | None:
            health = self._health.health_of(provider.id)
            known = health.state != "unknown"
            return health.error if known else self.discovery.unreachable_error(provider.id)

        return ProviderAvailability(refusal, failure)

    async def check(self, provider_id: ProviderId) -> ProviderHealth:
        """Return a provider's health; list its models first where the health is unknown.

        Raises ``NotFound``.
        """
        provider = self.provider(provider_id)
        unknown = self._health.health_of(provider_id).state == "unknown"
        if unknown and self.endpoints.refusal(provider) is None:
            endpoint = self.endpoints.make(placeholder_model(provider), provider, self.redactor())
            with contextlib.suppress(ProviderError, PolicyRefusal):  # the endpoint reports it
                await self.adapter(endpoint).list_models()
        return self.health_of(provider)

    async def set_key(self, provider_id: ProviderId, value: str) -> ProviderHealth:
        """Store a provider's key.

        Raises ``NotFound``, ``InvalidRequest``, ``Conflict`` (set in the environment),
        ``StateUnavailable``.
        """
        provider = self.provider(provider_id)
        await asyncio.to_thread(self.keys.set, provider.key_name, value)
        self.reset(provider_id, None)
        return self.health_of(provider)

    async def remove_key(self, provider_id: ProviderId) -> ProviderHealth:
        """Remove a provider's stored key. Raises as ``set_key`` does."""
        provider = self.provider(provider_id)
        await asyncio.to_thread(self.keys.remove, provider.key_name)
        self.reset(provider_id, None)
        return self.health_of(provider)

    def reset(self, provider_id: ProviderId, test: ProviderTest | None) -> None:
        """Forget a provider's health and when it was asked; a passed ``test`` is its health."""
        self._health.forget(provider_id)
        self.discovery.forget(provider_id)
        if test is not None and test.ok:
            self._health.report(provider_id, None)

    async def aclose(self) -> None:
        """Stop listing models, and close all connections."""
        await self.discovery.aclose()
        await self.endpoints.aclose()
