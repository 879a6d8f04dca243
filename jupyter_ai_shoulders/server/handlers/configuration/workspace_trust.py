"""``trust``: settings the folder brings along, and the person's answers about them."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.folder_trust import PutTrust


class TrustHandler(ShouldersHandler):
    """``trust``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the items that would extend what the agent may do, with their answers."""
        self.answer(await self.host.trust.view())

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Trust or decline some items; every page is told."""
        command = self.body(PutTrust)
        stored = await self.host.trust.answer(command)
        self.host.trust_changed()
        self.answer(stored)
