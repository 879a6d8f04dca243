"""``status``: what a page shows before anything else, and what it warns of."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.responses import Status
from jupyter_ai_shoulders.wire.base import WIRE_VERSION


class StatusHandler(ShouldersHandler):
    """``status``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Answer even when the state directory cannot be used: that is said here."""
        host = self.host
        sandbox = asyncio.create_task(host.commands.facts())
        await host.models.discover(remote=False)  # a local model is there from the first look on
        readiness = host.models.readiness()
        self.answer(
            Status(
                version=__version__,
                wire_version=WIRE_VERSION,
                workspace=str(host.settings.workspace),
                models=readiness,
                default_model=host.models.default_model(),
                providers=host.models.health(),
                demo=readiness == "demo",
                collaboration=host.settings.collaboration,
                document_server=host.settings.document_server,
                sandbox=(await sandbox).kind,
                state_directory_error=host.state_notice(),
                usage_error=host.budgets.problem(),
                package_errors=host.installed.errors(),
            )
        )
