"""``settings``: preferences shared by all surfaces."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.settings import PutSettings, SettingsScope


class SettingsHandler(ShouldersHandler):
    """``settings``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Show all values, where they come from, and what is wrong in the files."""
        self.answer(await asyncio.to_thread(self.host.preferences.settings))

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Store some values, for this workspace or for the user; every page hears of it."""
        scope = self.query(SettingsScope).scope
        command = self.body(PutSettings)
        stored = await asyncio.to_thread(self.host.preferences.put, command, scope)
        self.host.pages.settings_changed("settings")
        if command.commands is not None:
            self.host.pages.tools_changed()  # some tools come and go with them
        self.answer(stored)
