"""``mcp/resources`` and ``mcp/prompts``: what running MCP servers offer to the user."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.mcp.content import McpResourceQuery, PostMcpPrompt


class McpResourcesHandler(ShouldersHandler):
    """``mcp/resources``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Search the resources of running servers."""
        query = self.query(McpResourceQuery).query
        self.answer(await self.host.protocols.offers.content.resources(query))


class McpPromptsHandler(ShouldersHandler):
    """``mcp/prompts``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the prompts of running servers."""
        self.answer(await self.host.protocols.offers.content.prompts())


class McpPromptHandler(ShouldersHandler):
    """``mcp/prompts/{server}/{name}``."""

    @web.authenticated
    @authorized
    async def post(self, server: str, name: str) -> None:
        """Return a prompt's text for the input."""
        command = self.body(PostMcpPrompt)
        content = self.host.protocols.offers.content
        self.answer(await content.prompt(server, name, command.arguments))


MCP_CONTENT_HANDLERS: tuple[tuple[str, type[ShouldersHandler]], ...] = (
    ("mcp/resources", McpResourcesHandler),
    ("mcp/prompts", McpPromptsHandler),
    ("mcp/prompts/([A-Za-z0-9][A-Za-z0-9_.-]{0,63})/([^/]+)", McpPromptHandler),
)
