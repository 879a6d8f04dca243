"""``agents``: the agents of others that can answer in the panel."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler


class AgentsHandler(ShouldersHandler):
    """``agents``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the agents, installed or not; none is run."""
        self.answer(await self.host.protocols.agents.listing())
