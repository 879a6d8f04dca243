"""Makes the MCP server of a host; imports the SDK.

Used by ``server.mcp.endpoint`` for HTTP and by ``cli.mcp`` for standard input and output.
"""

from __future__ import annotations

from importlib.metadata import version

from jupyter_ai_shoulders.host.host import Host
from jupyter_ai_shoulders.host.mcp_server.prompts import SkillPrompts
from jupyter_ai_shoulders.host.mcp_server.protocol import McpProtocol
from jupyter_ai_shoulders.host.mcp_server.request_identity import RequestIdentity
from jupyter_ai_shoulders.host.mcp_server.resources import NotebookResources


def mcp_protocol(host: Host, only_client: RequestIdentity | None = None) -> McpProtocol:
    """Return the handlers; without ``only_client``, each HTTP request carries its identity."""
    return McpProtocol(
        clients=host.protocols.mcp_clients,
        tools=host.tools,
        disabled=lambda: host.rules.disabled,
        resources=NotebookResources(
            host.live.open_paths, host.services.documents.notebooks, host.redact
        ),
        prompts=SkillPrompts(host.services.environment),
        version=version("jupyter_ai_shoulders"),
        only_client=only_client,
    )
