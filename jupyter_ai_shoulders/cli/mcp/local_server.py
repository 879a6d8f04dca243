"""Serves MCP with an engine in this process. Called by ``cli.mcp.command``.

Nobody can be asked here, so calls that need an approval are refused; ``--mode`` says what runs
without one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mcp.server.stdio import stdio_server

from jupyter_ai_shoulders.cli.in_process import InProcessBackend, load_configuration
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.host.mcp_server.request_identity import RequestIdentity
from jupyter_ai_shoulders.host.mcp_server.server_factory import mcp_protocol
from jupyter_ai_shoulders.wire.api.access_tokens import ALL_SCOPES, AccessScope
from jupyter_ai_shoulders.wire.sessions import Mode


def serve_locally(workspace: Path, scopes: Sequence[AccessScope], mode: Mode | None) -> None:
    """Serve until standard input closes. Raises ``ShouldersError``."""
    identity = RequestIdentity(
        actor=f"process:{os.getpid()}",
        name=None,
        scopes=frozenset(scopes or ALL_SCOPES),
        owner=None,
    )

    async def serve(host: Host) -> None:
        host.protocols.mcp_clients.set_defaults(mode=mode, interactive=False)
        server = mcp_protocol(host, identity).server()
        async with stdio_server() as (client_in, client_out):
            await server.run(client_in, client_out, server.create_initialization_options())

    InProcessBackend(workspace.resolve(), load_configuration()).use(serve)
