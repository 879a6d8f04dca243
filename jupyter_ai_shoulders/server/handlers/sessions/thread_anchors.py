"""``anchors`` and ``anchors/adopt``: pages tell where the task threads of documents are."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import MAX_BODY_BYTES
from jupyter_ai_shoulders.wire.api.anchors import AdoptThreads, MoveAnchors


class AnchorsHandler(ShouldersHandler):
    """``anchors``."""

    most_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Take the places of threads; the answer says which were refused, and why."""
        self.answer(await self.host.anchors.move(self.body(MoveAnchors), self.may_see))


class AdoptHandler(ShouldersHandler):
    """``anchors/adopt``."""

    most_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Say which threads stand for those that a document lists in its metadata."""
        self.answer(await self.host.thread_import.adopt(self.body(AdoptThreads), self.may_see))
