"""Lists the models of services in the background, with their capabilities.

Owned by ``ConfiguredProviders``. Results go into the catalogue and, for services with a key, into
the provider's health. A service is asked every minute or, where its models are configured, every
five.
"""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections.abc import Callable, Iterable

from jupyter_ai_shoulders.core.catalogue.specs import ProviderKind, ProviderSpec
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.providers.adapter_factory import load_adapter, make_provider
from jupyter_ai_shoulders.providers.base import ListedModel
from jupyter_ai_shoulders.providers.catalogue.discovered_capabilities import discovered_capabilities
from jupyter_ai_shoulders.providers.catalogue.listed_models import (
    catalogue_entries,
    embedder_entries,
    placeholder_model,
)
from jupyter_ai_shoulders.providers.catalogue.loader import CatalogueLoader
from jupyter_ai_shoulders.providers.endpoint_resolver import EndpointResolver
from jupyter_ai_shoulders.providers.health import VALID_SECONDS
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ProviderId

LISTING_SECONDS = 60.0
"""Between requests to services whose models change, as Ollama's do when the user pulls one."""
ANSWER_SECONDS = 3.0
"""Time limit for a service's answer."""
WAIT_SECONDS = 1.0
"""How long a caller waits; later results are used by the next call."""


class ModelDiscovery:
    """Lists the models of services."""

    def __init__(
        self,
        files: CatalogueLoader,
        endpoints: EndpointResolver,
        clock: Clock,
        redactor: Callable[[], Redactor],
    ) -> None:
        self._files = files
        self._endpoints = endpoints
        self._clock = clock
        self._redactor = redactor
        self._next_listing: dict[tuple[ProviderId, str], float] = {}
        self._tasks: dict[ProviderId, asyncio.Task[None]] = {}
        self._unreachable: dict[ProviderId, ErrorInfo] = {}

    async def refresh_all(self, *, remote: bool = True) -> None:
        """List the models of services that are due, and wait up to ``WAIT_SECONDS``.

        A service that does not answer has no models; that does not affect its health. Without
        ``remote`` the caller waits for services on this machine only, which answer or fail at once.
        """
        await self._refresh(self._files.current().providers.values(), remote=remote)

    async def refresh_local(self) -> None:
        """List the models of the services on this machine that are due, and wait for all of them.

        Each has ``ANSWER_SECONDS``, because the result decides which model answers.
        """
        here = filter(_is_local, self._files.current().providers.values())
        await self._refresh(here, remote=False, seconds=None)

    async def refresh_provider(self, provider: ProviderSpec) -> None:
        """List the models of one service now, and wait up to ``ANSWER_SECONDS``."""
        self.forget(provider.id)
        await self._refresh([provider], remote=True, seconds=None)

    def unreachable_error(self, provider_id: ProviderId) -> ErrorInfo | None:
        """Return why a service without a key could not be reached the last time."""
        return self._unreachable.get(provider_id)

    async def _refresh(
        self,
        providers: Iterable[ProviderSpec],
        *,
        remote: bool,
        seconds: float | None = WAIT_SECONDS,
    ) -> None:
        for provider in self._claim_due(providers):
            name = f"shoulders-models-of-{provider.id}"
            self._tasks[provider.id] = asyncio.create_task(self._update(provider), name=name)
        asked = self._files.current().providers.get  # a provider may be removed during its request
        kinds: set[ProviderKind] = {spec.kind for spec in map(asked, self._tasks) if spec}
        for kind in kinds:  # the time limit of the caller does not include the import
            await asyncio.to_thread(load_adapter, kind)
        awaited = [
            task
            for provider_id, task in self._tasks.items()
            if remote or _is_local(asked(provider_id))
        ]
        if awaited:
            await asyncio.wait(awaited, timeout=seconds)

    def forget(self, provider_id: ProviderId) -> None:
        """Make a provider due again, because its key or settings changed."""
        self._next_listing = {
            place: at for place, at in self._next_listing.items() if place[0] != provider_id
        }

    async def aclose(self) -> None:
        """Cancel all requests."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _claim_due(self, providers: Iterable[ProviderSpec]) -> list[ProviderSpec]:
        """Return the services that are due, and schedule their next request."""
        now = self._clock.monotonic()
        due = [spec for spec in providers if self._can_list(spec) and now >= self._next(spec)]
        for spec in due:
            wait = LISTING_SECONDS if spec.lists_its_models else VALID_SECONDS
            self._next_listing[spec.id, spec.url] = now + wait
        return due

    def _can_list(self, provider: ProviderSpec) -> bool:
        busy = provider.id in self._tasks
        return not busy and provider.kind != "demo" and self._endpoints.refusal(provider) is None

    def _next(self, provider: ProviderSpec) -> float:
        return self._next_listing.get((provider.id, provider.url), -math.inf)

    async def _update(self, provider: ProviderSpec) -> None:
        try:
            await asyncio.to_thread(load_adapter, provider.kind)
            found = await self._list(provider)
            if provider.lists_its_models:
                models = found or []
                entries = catalogue_entries(provider, models) + embedder_entries(provider, models)
                self._files.set_listed(provider.id, entries)
            elif found is not None:
                self._files.set_facts(provider.id, discovered_capabilities(provider, found))
        finally:
            del self._tasks[provider.id]

    async def _list(self, provider: ProviderSpec) -> list[ListedModel] | None:
        """Return the provider's models; None when it does not answer.

        Only services with a key are reported as failing when they do not answer.
        """
        try:
            endpoint = self._endpoints.make(placeholder_model(provider), provider, self._redactor())
            quiet = (
                endpoint if provider.needs_key else dataclasses.replace(endpoint, report=_ignore)
            )
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await make_provider(quiet).list_models()
        except (InvalidRequest, PolicyRefusal, TimeoutError):
            return None
        except ProviderError as error:
            if not provider.needs_key and error.info.code == "provider_unreachable":
                self._unreachable[provider.id] = error.info
            return None
        self._unreachable.pop(provider.id, None)
        endpoint.report(None)
        return found


def _is_local(provider: ProviderSpec | None) -> bool:
    return provider is not None and is_loopback(provider.url)


def _ignore(_: ProviderError | None) -> None:
    """Discard the outcome of a background call."""
