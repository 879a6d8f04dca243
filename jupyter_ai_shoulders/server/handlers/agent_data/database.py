"""``agent-database``: the tables of the agent's database, and exports of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.agent_data.database import (
    DatabaseExportQuery,
    DatabasePageQuery,
)

_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


class AgentDatabaseHandler(ShouldersHandler):
    """``agent-database``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the tables."""
        self.answer(await self.host.services.agent_database.overview())


class DatabaseTableHandler(ShouldersHandler):
    """``agent-database/tables/{name}``."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """List some rows of a table or view."""
        query = self.query(DatabasePageQuery)
        self.answer(await self.host.services.agent_database.page(name, query))


class DatabaseExportHandler(ShouldersHandler):
    """``agent-database/tables/{name}/export``."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Send a table as a file."""
        form = self.query(DatabaseExportQuery).format
        pieces = self.host.services.agent_database.export(name, form)
        async with aclosing(cast("AsyncGenerator[bytes, None]", pieces)) as chunks:
            began = False
            async for chunk in chunks:
                if not began:
                    began = True
                    self._begin(name, form)
                self.write(chunk)
                try:
                    await self.flush()
                except StreamClosedError:
                    return
        await self.finish()

    def _begin(self, name: str, form: str) -> None:
        self.set_header("Content-Type", _MEDIA_TYPES[form])
        self.set_download_headers(f"attachment; filename*=UTF-8''{quote(name, safe='')}.{form}")
