"""``artifacts/{session}/{name}``: what the agent shared, as a download that can do nothing."""

from __future__ import annotations

import asyncio
import mimetypes
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler

POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"


class ArtifactHandler(ShouldersHandler):
    """``artifacts/{session}/{name}``."""

    @web.authenticated
    @authorized
    async def get(self, session_id: str, name: str) -> None:
        """Give the file to be saved, never to be shown as a page of this server."""
        session = self.session(session_id)
        content = await asyncio.to_thread(self.host.artifacts.read, session.id, name)
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{quote(name)}")
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cache-Control", "private, no-cache")
        self.finish(content, set_content_type=media_type)
