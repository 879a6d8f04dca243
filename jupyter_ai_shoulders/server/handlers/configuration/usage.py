"""``usage`` and ``budget``: what was used, what it cost, and what may be spent."""

from __future__ import annotations

from typing import cast

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import adapter_of, parse_value
from jupyter_ai_shoulders.wire.usage import PutBudget, UsageQuery


class UsageHandler(ShouldersHandler):
    """``usage``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Sum up a period by day, model, session or tool."""
        given = {name: self.get_query_argument(name, None) for name in ("from", "to", "by")}
        present = {name: value for name, value in given.items() if value is not None}
        query = cast("UsageQuery", parse_value(adapter_of(UsageQuery), present))
        self.answer(await self.host.usage.of(self.user).usage(query))


class BudgetHandler(ShouldersHandler):
    """``budget``."""

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Replace the user's limits; every page hears of it."""
        stored = await self.host.usage.of(self.user).set_budget(self.body(PutBudget))
        self.host.pages.settings_changed("budget")
        self.answer(stored)
