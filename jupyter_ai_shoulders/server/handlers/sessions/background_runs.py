"""``runs``: start a background run, or continue one."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import MESSAGE_BYTES
from jupyter_ai_shoulders.wire.api.commands import StartRun


class RunsHandler(ShouldersHandler):
    """``runs``."""

    most_bytes = MESSAGE_BYTES

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Send a prompt; 201 with a new session, 200 with one that goes on."""
        session, is_new = await self.host.runs.start(self.body(StartRun), owner=self.user)
        self.answer(session, 201 if is_new else 200)
