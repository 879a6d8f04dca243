"""The routes of the MCP server, imported on the first request to one of them."""

from __future__ import annotations

from jupyter_ai_shoulders.server.handlers.base import HostSource
from jupyter_ai_shoulders.server.lazy_routes import Route
from jupyter_ai_shoulders.server.mcp.endpoint import McpEndpoint
from jupyter_ai_shoulders.server.mcp.handlers import McpHandler


def mcp_routes(
    prefix: str, host_source: HostSource, endpoint: McpEndpoint, *, enabled: bool
) -> list[Route]:
    """Return the route, as a pattern that starts with ``prefix``."""
    arguments = {"host_source": host_source, "endpoint": endpoint, "enabled": enabled}
    return [(f"{prefix}/?", McpHandler, arguments)]
