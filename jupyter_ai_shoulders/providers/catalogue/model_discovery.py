"""Asks services for their models, in the background: which there are, and what each can do.

Kept by ``registry``. Answers end up in the catalogue and, for services with a key, in the health
book; each service is asked once a minute or, where its models are known already, in five minutes.
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
    placeholder_model,
)
from jupyter_ai_shoulders.providers.catalogue.loader import CatalogueLoader
from jupyter_ai_shoulders.providers.endpoint_resolver import EndpointResolver
from jupyter_ai_shoulders.providers.health import VALID_SECONDS
from jupyter_ai_shoulders.providers.http.loopback import is_loopback
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ProviderId

LISTING_SECONDS = 60.0
"""Between looks at services whose models come and go, as Ollama's do when the user pulls one."""
ANSWER_SECONDS = 3.0
"""Within which a service answers, or has nothing to say this time."""
WAIT_SECONDS = 1.0
"""How long a caller waits; what is found later is there at the next look."""


class ModelDiscovery:
    """What services say of their models."""

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
        """Ask the services that are due, and wait a little for their answers.

        Those that do not answer have no models; that is no failure of theirs. Without ``remote``
        only services on this machine, which answer at once or not at all, are waited for.
        """
        await self._refresh(self._files.current().providers.values(), remote=remote)

    async def refresh_local(self) -> None:
        """Ask the services on this machine that are due, and no other; waits until they answered.

        Each has ``ANSWER_SECONDS``, because what they say decides who answers.
        """
        here = filter(_is_local, self._files.current().providers.values())
        await self._refresh(here, remote=False, seconds=None)

    async def refresh_provider(self, provider: ProviderSpec) -> None:
        """Ask one service now, and wait until it answered or ``ANSWER_SECONDS`` are over."""
        self.forget(provider.id)
        await self._refresh([provider], remote=True, seconds=None)

    def unreachable_error(self, provider_id: ProviderId) -> ErrorInfo | None:
        """Return why a service that needs no key could not be reached when last asked."""
        return self._unreachable.get(provider_id)

    async def _refresh(
        self,
        providers: Iterable[ProviderSpec],
        *,
        remote: bool,
        seconds: float | None = WAIT_SECONDS,
    ) -> None:
        due = self._claim_due(providers)
        kinds: set[ProviderKind] = {provider.kind for provider in due}
        for kind in kinds:
            await asyncio.to_thread(load_adapter, kind)
        for provider in due:
            name = f"shoulders-models-of-{provider.id}"
            self._tasks[provider.id] = asyncio.create_task(self._update(provider), name=name)
        asked = self._files.current().providers.get  # one that is being asked may be gone by now
        awaited = [
            task
            for provider_id, task in self._tasks.items()
            if remote or _is_local(asked(provider_id))
        ]
        if awaited:
            await asyncio.wait(awaited, timeout=seconds)

    def forget(self, provider_id: ProviderId) -> None:
        """Ask a provider again at the next look, because its key changed."""
        self._next_listing = {
            place: at for place, at in self._next_listing.items() if place[0] != provider_id
        }

    async def aclose(self) -> None:
        """Stop asking."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _claim_due(self, providers: Iterable[ProviderSpec]) -> list[ProviderSpec]:
        """Return whom to ask now, and note that they are asked."""
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
            found = await self._list(provider)
            if provider.lists_its_models:
                self._files.set_listed(provider.id, catalogue_entries(provider, found or []))
            elif found is not None:
                self._files.set_facts(provider.id, discovered_capabilities(provider, found))
        finally:
            del self._tasks[provider.id]

    async def _list(self, provider: ProviderSpec) -> list[ListedModel] | None:
        """Return the provider's models, None when it does not tell.

        A local service that is not there is not broken; one with a key is, if it does not answer.
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
    """Take the outcome of a call that nobody asked for."""
