"""``models``, ``providers/{id}/test`` and ``providers/{id}/key``: what can answer, or why not."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.base import ShouldersHandler
from jupyter_ai_shoulders.wire.commands import SetKey
from jupyter_ai_shoulders.wire.ids import ProviderId


class ModelsHandler(ShouldersHandler):
    """``models``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List models and providers; of keys, only whether they are there."""
        await self.host.models.discover()
        self.answer(self.host.models.listing())


class ProviderTestHandler(ShouldersHandler):
    """``providers/{id}/test``."""

    @web.authenticated
    @authorized
    async def post(self, provider_id: str) -> None:
        """Make one real call and say what failed."""
        self.answer(await self.host.models.test(ProviderId(provider_id), self.user))


class ProviderCheckHandler(ShouldersHandler):
    """``providers/{id}/check``."""

    @web.authenticated
    @authorized
    async def post(self, provider_id: str) -> None:
        """Ask for its list of models, which costs nothing, unless its health is known."""
        self.answer(await self.host.models.check(ProviderId(provider_id)))


class ProviderKeyHandler(ShouldersHandler):
    """``providers/{id}/key``."""

    @web.authenticated
    @authorized
    async def put(self, provider_id: str) -> None:
        """Store a key."""
        command = self.body(SetKey)
        stored = await self.host.models.set_key(ProviderId(provider_id), command.key)
        self.host.pages.settings_changed("providers")
        self.answer(stored)

    @web.authenticated
    @authorized
    async def delete(self, provider_id: str) -> None:
        """Remove the stored key."""
        removed = await self.host.models.remove_key(ProviderId(provider_id))
        self.host.pages.settings_changed("providers")
        self.answer(removed)
