"""``instructions``: which of the user's own files models are told of."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.host.told import told
from jupyter_ai_shoulders.server.base import ShouldersHandler


class InstructionsHandler(ShouldersHandler):
    """``instructions``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the files, and what is wrong in them."""
        self.answer(told(await self.host.standing()))
