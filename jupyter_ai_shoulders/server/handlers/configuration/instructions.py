"""``instructions``: which of the user's own files models are told of."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.host.context.instruction_list import list_instructions
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler


class InstructionsHandler(ShouldersHandler):
    """``instructions``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the files, and what is wrong in them."""
        self.answer(list_instructions(await self.host.standing()))
