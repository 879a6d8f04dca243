"""Tests providers and keys that are not stored yet, with real calls. Used by ``setup``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ProviderSpec
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.providers.adapter_factory import load_adapter
from jupyter_ai_shoulders.providers.base import ListedModel, ResolvedModel
from jupyter_ai_shoulders.providers.catalogue.listed_models import (
    catalogue_entries,
    placeholder_model,
)
from jupyter_ai_shoulders.providers.configured_providers import ConfiguredProviders
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.setup.connection_test import (
    failed_connection_test,
    run_connection_test,
)
from jupyter_ai_shoulders.wire.api.responses import ProviderTest
from jupyter_ai_shoulders.wire.errors import ErrorCode

LISTING_SECONDS = 10.0
_REFUSED: frozenset[ErrorCode] = frozenset(
    {
        *("authentication", "permission", "provider_unreachable", "provider_timeout"),
        *("provider_protocol", "stream_truncated", "model_not_found", "bad_request_upstream"),
        *("disabled", "invalid_request", "no_key", "denied"),
    }
)
"""Errors that question the key or the address; a busy service or an empty account does not."""


class CandidateCheck:
    """Makes test calls; they cost money, but do not change the recorded health of a provider."""

    def __init__(
        self,
        providers: ConfiguredProviders,
        clock: Clock,
        *,
        metered: Callable[[ResolvedModel], ResolvedModel],
    ) -> None:
        self._providers = providers
        self._endpoints = providers.endpoints
        self._clock = clock
        self._metered = metered

    def endpoint(self, provider: ProviderSpec, key: str | None) -> Endpoint:
        """Return the endpoint of calls that concern no model.

        Raises as ``EndpointResolver.make_candidate``.
        """
        return self._endpoints.make_candidate(
            placeholder_model(provider), provider, self._providers.redactor(), key
        )

    async def list_models(self, provider: ProviderSpec, key: str | None) -> list[ListedModel]:
        """Return the models of a service.

        Raises ``ProviderError``, ``PolicyRefusal``, ``InvalidRequest``.
        """
        with self._endpoints.redact_candidate_key(key):
            await asyncio.to_thread(load_adapter, provider.kind)
            endpoint = self.endpoint(provider, key)
            try:
                async with asyncio.timeout(LISTING_SECONDS):
                    return await self._providers.adapter(endpoint).list_models()
            except TimeoutError as error:
                what = f"nothing came for {LISTING_SECONDS:g} seconds"
                raise endpoint.service.fail("provider_timeout", what) from error

    async def test(
        self, provider: ProviderSpec, model: ModelSpec | None, key: str | None, owner: str | None
    ) -> ProviderTest | None:
        """Make one real call; without a ``model``, to the first one the service lists.

        Returns None where there is no model to call.
        """
        with self._endpoints.redact_candidate_key(key):
            try:
                model = model or await self._first(provider, key)
                if model is None:
                    return None
                await asyncio.to_thread(load_adapter, provider.kind)
                redactor = self._providers.redactor()
                endpoint = self._endpoints.make_candidate(model, provider, redactor, key)
            except ShouldersError as error:
                return failed_connection_test(error)
            resolved = self._metered(
                ResolvedModel(model, self._providers.adapter(endpoint), lambda: redactor)
            )
            try:
                return await run_connection_test(resolved, self._clock, owner=owner)
            except (InvalidRequest, PolicyRefusal) as error:  # the mode changed during the test
                return failed_connection_test(error)

    async def _first(self, provider: ProviderSpec, key: str | None) -> ModelSpec | None:
        if not provider.lists_its_models:
            return None
        found = catalogue_entries(provider, await self.list_models(provider, key))
        specs = sorted(map(ModelSpec.model_validate, found), key=lambda spec: not spec.tools)
        return next(iter(specs), None)


def is_refused(test: ProviderTest | None) -> bool:
    """Return whether a test failed because of the key or the address."""
    return (
        test is not None
        and test.error is not None
        and test.error.code in _REFUSED
        and not _ran(test)
    )


def _ran(test: ProviderTest) -> bool:
    """Return whether the model answered, so that key and address are right."""
    return test.stream_ok
