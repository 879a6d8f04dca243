"""What connects this host to programs of others: MCP servers, MCP clients and ACP agents.

Made by ``host.build``. Each part is made on first use, so that a start imports no SDK.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property

from jupyter_ai_shoulders.core.catalogue.external_agents import AGENT_PREFIX, CLIENT_PREFIX
from jupyter_ai_shoulders.engine.calls.background_tasks import BackgroundTasks
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.guard.process.stdio_launcher import StdioLauncher
from jupyter_ai_shoulders.host.external_agents.agent_catalogue import (
    AgentCatalogue,
    agent_catalogue,
)
from jupyter_ai_shoulders.host.external_agents.agent_models import AgentModels, AgentPorts
from jupyter_ai_shoulders.host.external_agents.notebook_server import NotebookServer
from jupyter_ai_shoulders.host.external_agents.proxy_access import ModelProxy, ProxyAccess
from jupyter_ai_shoulders.host.external_agents.routed_models import RoutedModels
from jupyter_ai_shoulders.host.mcp_client.build import build_mcp_servers
from jupyter_ai_shoulders.host.mcp_client.offers import ServerOffers
from jupyter_ai_shoulders.host.mcp_client.service import McpServers
from jupyter_ai_shoulders.host.mcp_server.access_tokens import AccessTokens
from jupyter_ai_shoulders.host.mcp_server.clients import McpClients
from jupyter_ai_shoulders.host.mcp_server.conversation import ConversationPorts
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.tools.registry import ToolRegistry


@dataclass(eq=False)
class ProtocolServices:
    """The parts that speak MCP and ACP, and what they need of the host; ``aclose`` it."""

    services: SharedServices
    base: ToolRegistry
    """The registry that new tools are admitted to; ``tools`` is derived from it."""
    tools: ToolRegistry
    engine: Engine
    sessions: SessionService
    models: RoutedModels
    """Resolves agents of others as models."""
    background: BackgroundTasks
    """Runs that outlast their step."""

    def __post_init__(self) -> None:
        """Resolve the models of earlier conversations too."""
        self.models.add(CLIENT_PREFIX, self.mcp_clients)
        self.models.add(AGENT_PREFIX, self.agent_models)
        self.services.store.hub.add(self.agent_models)

    @cached_property
    def access_tokens(self) -> AccessTokens:
        """Tokens that open our MCP server."""
        path = self.services.settings.home / ".shoulders" / "mcp_tokens.json"
        return AccessTokens(path, self.services.ports.clock)

    @cached_property
    def proxy_access(self) -> ProxyAccess:
        """Secrets by which agents reach our model proxy."""
        return ProxyAccess()

    @cached_property
    def mcp_clients(self) -> McpClients:
        """The connected clients of our MCP server."""
        store, ports = self.services.store, self.services.ports
        shared = ConversationPorts(self.engine, store.hub, self.background, ports.ids)
        return McpClients(shared, self.sessions, store.sessions, ports.clock)

    @cached_property
    def mcp_servers(self) -> McpServers:
        """The MCP servers that the agent uses."""
        return build_mcp_servers(self.services)

    @cached_property
    def offers(self) -> ServerOffers:
        """What these servers offer to conversations."""
        servers = self.mcp_servers
        offers = ServerOffers(self.services, self.base, servers)
        servers.requests.use(offers.questions)
        servers.show_offers(offers.tools.offer)
        return offers

    @cached_property
    def agents(self) -> AgentCatalogue:
        """Agents of others that can answer in the panel."""
        return agent_catalogue(self.services)

    @cached_property
    def agent_models(self) -> AgentModels:
        """The running agents of others."""
        services = self.services
        return AgentModels(
            AgentPorts(
                catalogue=self.agents,
                starter=StdioLauncher(),
                requests=services.agent_requests,
                log=services.store.log,
                ids=services.ports.ids,
                workspace=services.settings.workspace,
                notebook_server=NotebookServer(self.access_tokens, services.ports.mcp_url),
                session=services.store.sessions.get,
                model_proxy=ModelProxy(self.proxy_access, services.ports.proxy_url),
            )
        )

    async def aclose(self) -> None:
        """End all connections and processes."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.agent_models.aclose)
            stack.callback(self.mcp_clients.close)
            if "mcp_servers" in self.__dict__:
                stack.push_async_callback(self.mcp_servers.aclose)
            if "offers" in self.__dict__:
                stack.push_async_callback(self.offers.aclose)
