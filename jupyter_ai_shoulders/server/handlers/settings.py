"""``settings``, ``trust`` and ``status``: preferences, workspace trust and the server's state."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.folder_trust import PutTrust
from jupyter_ai_shoulders.wire.api.responses import Status
from jupyter_ai_shoulders.wire.api.settings import PutSettings, SettingsScope
from jupyter_ai_shoulders.wire.base import WIRE_VERSION


class SettingsHandler(ShouldersHandler):
    """``settings``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Show all values with their sources, and the problems of the files."""
        self.answer(await asyncio.to_thread(self.host.preferences.settings))

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Store some values, for this workspace or for the user; notify every page."""
        scope = self.query(SettingsScope).scope
        command = self.body(PutSettings)
        stored = await asyncio.to_thread(self.host.preferences.put, command, scope)
        self.host.pages.settings_changed("settings")
        if command.commands is not None:
            self.host.pages.tools_changed()  # some tools depend on them
        if command.search is not None or command.models is not None:
            await self.host.search.settings_changed()
        self.answer(stored)


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
        """Trust or decline some items; notify every page."""
        command = self.body(PutTrust)
        stored = await self.host.trust.answer(command)
        self.host.trust_changed()
        self.answer(stored)


class StatusHandler(ShouldersHandler):
    """``status``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Answer even when the state directory is unusable: the answer says so."""
        host = self.host
        sandbox = asyncio.create_task(host.commands.facts())
        await host.models.discover(remote=False)  # lists local models from the first request on
        readiness = host.models.readiness()
        self.answer(
            Status(
                version=__version__,
                wire_version=WIRE_VERSION,
                workspace=str(host.settings.workspace),
                models=readiness,
                default_model=host.models.default_model(),
                providers=host.models.providers.health(),
                demo=readiness == "demo",
                collaboration=host.settings.collaboration,
                document_server=host.settings.document_server,
                sandbox=(await sandbox).kind,
                state_directory_error=host.state_notice(),
                usage_error=host.budgets.problem(),
                package_errors=host.installed.errors(),
            )
        )
