"""``agents``: the agents of others that can answer in the panel."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.agents import PatchAgent


class AgentsHandler(ShouldersHandler):
    """``agents``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the agents, installed or not; none is run."""
        self.answer(await self.host.protocols.agents.listing())


class SessionAgentHandler(ShouldersHandler):
    """``sessions/{id}/agent``."""

    @web.authenticated
    @authorized
    async def patch(self, session_id: str) -> None:
        """Change the mode or an option of the conversation's agent."""
        session = self.session(session_id)
        await self.host.protocols.agent_models.change(session.id, self.body(PatchAgent))
        self.no_content()
