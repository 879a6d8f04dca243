"""``sessions/{id}/export``: a conversation as a file, streamed; a browser only saves it."""

from __future__ import annotations

import re
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_ai_shoulders.host.export.exporter import Format
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.storage.errors import session_not_found
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.ids import SessionId

_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
_TYPES: dict[Format, str] = {
    "md": "text/markdown; charset=utf-8",
    "jsonl": "application/x-ndjson; charset=utf-8",
    "ipynb": "application/x-ipynb+json; charset=utf-8",
}
_UNFIT = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]+')
"""What file names cannot have on some system."""


class ExportQuery(CommandModel):
    """Query arguments of ``GET sessions/{id}/export``."""

    format: Format = "md"


class ExportHandler(ShouldersHandler):
    """``sessions/{id}/export``."""

    @web.authenticated
    @authorized
    async def get(self, session_id: str) -> None:
        """Give the conversation to be saved; also one that is set aside, as far as it is read."""
        form = self.query(ExportQuery).format
        owner, title = self.host.sessions.header(SessionId(session_id))
        if self.user is not None and owner not in {None, self.user}:
            raise session_not_found(SessionId(session_id))
        self._announce(f"{_UNFIT.sub(' ', title).strip(' .')[:80] or 'conversation'}.{form}", form)
        try:
            async for piece in self.host.exporter.export(SessionId(session_id), form):
                self.write(piece.encode("utf-8", "replace"))
                await self.flush()
            await self.finish(set_content_type=_TYPES[form])
        except StreamClosedError:
            return  # whoever asked went away

    def _announce(self, name: str, form: Format) -> None:
        self.set_header("Content-Type", _TYPES[form])
        self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(name)}")
        self.set_header("Content-Security-Policy", _POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cache-Control", "private, no-cache")
