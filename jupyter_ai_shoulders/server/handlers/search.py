"""``search`` and ``search/index``: search in the workspace, and its index."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.search import PostSearchIndex, SearchIndexQuery, SearchQuery


class SearchHandler(ShouldersHandler):
    """``search``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the places of the workspace that match ``?q=`` best."""
        self.answer(await self.host.search.search(self.query(SearchQuery), self.user))


class SearchIndexHandler(ShouldersHandler):
    """``search/index``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Show the state of the index and, for ``?path=``, whether that file is in it."""
        self.answer(await self.host.search.status(self.query(SearchIndexQuery).path))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Rebuild, pause, resume or clear the index."""
        self.answer(await self.host.search.command(self.body(PostSearchIndex)))
