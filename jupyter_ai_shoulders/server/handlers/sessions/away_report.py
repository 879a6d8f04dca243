"""``away``: what the agent did while the person had no page connected."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.away_report import AwayAnswer


class AwayHandler(ShouldersHandler):
    """``away``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Tell what happened, until it is dismissed."""
        self.answer(AwayAnswer(report=await self.host.away.report(self.user)))

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Dismiss it."""
        self.host.away.dismiss(self.user)
        self.no_content()
