"""``anchors``: pages tell where the task threads of their documents are (chapter 09)."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.base import ShouldersHandler
from jupyter_ai_shoulders.wire.anchors import MoveAnchors


class AnchorsHandler(ShouldersHandler):
    """``anchors``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Take the places of threads; the answer says which were refused, and why."""
        self.answer(self.host.anchors.move(self.body(MoveAnchors), self.may_see))
