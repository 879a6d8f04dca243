"""``operations``: every change of a document, by whom, and whether it can be taken back."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.base import ShouldersHandler
from jupyter_ai_shoulders.storage.operations import operations_page
from jupyter_ai_shoulders.wire.operations import OperationsQuery


class OperationsHandler(ShouldersHandler):
    """``operations``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List changes, the latest first; on a hub nobody else's."""
        query = self.query(OperationsQuery)
        database = self.host.database
        self.answer(await asyncio.to_thread(operations_page, database, query, self.user))
