"""``models`` and ``providers``: available models, and the set-up and health of providers."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.commands import SetKey
from jupyter_ai_shoulders.wire.api.provider_setup import DetectProvider, PutProvider
from jupyter_ai_shoulders.wire.ids import ProviderId


class ModelsHandler(ShouldersHandler):
    """``models``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List models and providers; of keys, only whether they exist."""
        await self.host.models.discover()
        self.answer(self.host.models.listing())


class ProviderTestHandler(ShouldersHandler):
    """``providers/{id}/test``."""

    @web.authenticated
    @authorized
    async def post(self, provider_id: str) -> None:
        """Make one real call and report the error."""
        self.answer(await self.host.models.test(ProviderId(provider_id), self.user))


class ProviderCheckHandler(ShouldersHandler):
    """``providers/{id}/check``."""

    @web.authenticated
    @authorized
    async def post(self, provider_id: str) -> None:
        """Request the provider's list of models, which is free, unless its health is known."""
        self.answer(await self.host.models.providers.check(ProviderId(provider_id)))


class ProviderKeyHandler(ShouldersHandler):
    """``providers/{id}/key``."""

    @web.authenticated
    @authorized
    async def put(self, provider_id: str) -> None:
        """Store a key without a test."""
        command = self.body(SetKey)
        stored = await self.host.models.providers.set_key(ProviderId(provider_id), command.key)
        self.host.pages.settings_changed("providers")
        self.answer(stored)

    @web.authenticated
    @authorized
    async def post(self, provider_id: str) -> None:
        """Test a key, and store it unless it is refused."""
        command = self.body(SetKey)
        setup = self.host.models.setup
        saved = await setup.save_key(ProviderId(provider_id), command.key, self.user)
        if saved.stored:
            self.host.pages.settings_changed("providers")
        self.answer(saved)

    @web.authenticated
    @authorized
    async def delete(self, provider_id: str) -> None:
        """Remove the stored key."""
        removed = await self.host.models.providers.remove_key(ProviderId(provider_id))
        self.host.pages.settings_changed("providers")
        self.answer(removed)


class ProviderDetectHandler(ShouldersHandler):
    """``providers/detect``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Detect the provider of a key, or the service at an address."""
        found = await self.host.models.setup.detector.detect(self.body(DetectProvider))
        self.answer(found)


class ProviderHandler(ShouldersHandler):
    """``providers/{id}``: providers of the user's own models.json."""

    @web.authenticated
    @authorized
    async def get(self, provider_id: str) -> None:
        """Show a provider's entry in the user's file."""
        self.answer(await self.host.models.setup.own_provider(ProviderId(provider_id)))

    @web.authenticated
    @authorized
    async def put(self, provider_id: str) -> None:
        """Test a provider, and write it into the user's file unless it is refused."""
        command = self.body(PutProvider)
        setup = self.host.models.setup
        saved = await setup.save(ProviderId(provider_id), command, self.user)
        if saved.stored:
            self.host.pages.settings_changed("providers")
        self.answer(saved)

    @web.authenticated
    @authorized
    async def delete(self, provider_id: str) -> None:
        """Remove a provider from the user's file."""
        await self.host.models.setup.remove(ProviderId(provider_id))
        self.host.pages.settings_changed("providers")
        self.no_content()
