"""Makes the MCP servers of a host; called by ``host.build`` and ``protocol_services``."""

from __future__ import annotations

import asyncio
from functools import partial

from jupyter_ai_shoulders.guard.process.stdio_launcher import StdioLauncher
from jupyter_ai_shoulders.host.context.instruction_cache import read_text
from jupyter_ai_shoulders.host.mcp_client.configuration import WORKSPACE_FILE, ConfigurationSources
from jupyter_ai_shoulders.host.mcp_client.server_requests import ServerRequestRouter
from jupyter_ai_shoulders.host.mcp_client.service import McpServers
from jupyter_ai_shoulders.host.mcp_client.sign_ins import SignIns
from jupyter_ai_shoulders.host.mcp_client.user_servers import UserServers
from jupyter_ai_shoulders.host.ports import PagePort
from jupyter_ai_shoulders.host.shared_services import STATE_DIR, SharedServices
from jupyter_ai_shoulders.mcp_client.connection_events import ConnectionEnvironment
from jupyter_ai_shoulders.mcp_client.pool import ConnectionPool

NOTICE_SECONDS = 0.2
"""Changes within this time are announced to pages once."""


def mcp_configuration(services: SharedServices) -> ConfigurationSources:
    """Return the sources of the configuration; reads nothing."""
    settings, trust = services.settings, services.trust
    return ConfigurationSources(
        read_workspace=lambda: read_text(services.instruction_sources, WORKSPACE_FILE),
        user=UserServers(settings.home / STATE_DIR),
        trait=settings.mcp_servers,
        locked=settings.mcp_servers_locked,
        trust=trust.of_folder,
        was_answered=partial(trust.answers.named, "program"),
        answered_facts=partial(trust.answers.facts, "program"),
        policy=trust.policy,
        keys=services.keys,
    )


def build_mcp_servers(services: SharedServices) -> McpServers:
    """Return the MCP servers of a host; starts none."""
    settings, ports = services.settings, services.ports
    requests = ServerRequestRouter(settings.workspace)
    sign_ins = SignIns(settings.home / STATE_DIR)
    environment = ConnectionEnvironment(
        StdioLauncher(), ports.environ, settings.workspace, settings.home, requests
    )
    pool = ConnectionPool(environment, sign_ins.open_server)
    pool.add_listener(_PageNotice(ports.pages))
    servers = McpServers(
        mcp_configuration(services),
        pool,
        sign_ins,
        requests,
        redact=services.redact,
        clock=ports.clock,
    )
    services.models.add_secret_source(servers.secrets)
    return servers


class _PageNotice:
    """Announces changes of states to pages."""

    def __init__(self, pages: PagePort) -> None:
        self._pages = pages
        self._due = False

    def tools_changed(self, server: str) -> None:
        self.state_changed(server)

    def resources_changed(self, server: str) -> None:
        self.state_changed(server)

    def prompts_changed(self, server: str) -> None:
        self.state_changed(server)

    def state_changed(self, server: str) -> None:
        del server
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_later(NOTICE_SECONDS, self._announce)

    def _announce(self) -> None:
        self._due = False
        self._pages.settings_changed("mcp")
