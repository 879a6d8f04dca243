"""``usage`` and ``budget``: usage, its cost, and spending limits."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.usage import PutBudget, UsageQuery


class UsageHandler(ShouldersHandler):
    """``usage``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Sum up a period by day, model, session or tool."""
        self.answer(await self.host.usage.of(self.user).usage(self.query(UsageQuery)))


class BudgetHandler(ShouldersHandler):
    """``budget``."""

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Replace the user's limits; notify every page."""
        stored = await self.host.usage.of(self.user).set_budget(self.body(PutBudget))
        self.host.pages.settings_changed("budget")
        self.answer(stored)
