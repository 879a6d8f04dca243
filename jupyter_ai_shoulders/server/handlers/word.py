"""``word``: Word documents as read-only pages."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.word import WordPageQuery


class WordHandler(ShouldersHandler):
    """``word``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Show the Word document ``?path=`` as a page."""
        self.answer(await self.host.word.page(self.query(WordPageQuery).path))
