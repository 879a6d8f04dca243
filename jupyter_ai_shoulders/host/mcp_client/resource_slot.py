"""Connects the reading of attachments to MCP servers, which a host makes later."""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.host.context.attachment_content import ServerResources


class LateServerResources:
    """``ServerResources`` of a source that is set later."""

    def __init__(self) -> None:
        self.source: ServerResources | None = None

    async def capture(self, server: str, uri: str, *, images: bool) -> AttachmentContent:
        """See ``ServerResources``. Raises ``NotFound`` without a source."""
        if self.source is None:
            raise NotFound(f"There is no MCP server {server}.")
        return await self.source.capture(server, uri, images=images)
