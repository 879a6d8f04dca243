"""What MCP servers offer to a host: tools, resources, prompts, and their questions.

Made by ``host.external_agents.protocol_services`` from the servers of ``host.mcp_client.service``.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

from jupyter_ai_shoulders.host.mcp_client.change_notices import ChangeNotices
from jupyter_ai_shoulders.host.mcp_client.missing_values import AskedValues, ServerValues
from jupyter_ai_shoulders.host.mcp_client.sampling import Sampling
from jupyter_ai_shoulders.host.mcp_client.server_content import ServerContent
from jupyter_ai_shoulders.host.mcp_client.server_questions import ServerQuestions
from jupyter_ai_shoulders.host.mcp_client.server_tools import ConfiguredServers, ServerTools
from jupyter_ai_shoulders.host.ports import PagePort
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.tools.registry import ToolRegistry

FILE = "mcp_tools.json"


class HostServers(ConfiguredServers, ServerValues, Protocol):
    """The configured servers of a host."""

    def allows_sampling(self, name: str) -> bool:
        """Return whether a server's entry lets it ask for a model."""
        ...


class ServerOffers:
    """The parts that use MCP servers; ``start`` and ``aclose`` them."""

    def __init__(
        self, services: SharedServices, registry: ToolRegistry, servers: HostServers
    ) -> None:
        store = services.store
        notices = ChangeNotices(store.log.append)
        self.tools = ServerTools(
            servers,
            registry,
            StateFile(store.directory, FILE),
            changed=partial(_announce, services.ports.pages),
            admitted=notices.offered,
            limits=services.settings.mcp_calls,
        )
        self.questions = ServerQuestions(
            self.tools.running,
            services.documents.runner.inputs,
            services.settings.workspace,
            Sampling(
                services.models,
                services.preferences.models,
                store.sessions,
                allows=servers.allows_sampling,
                redact=services.redact,
            ),
        )
        self.tools.values = AskedValues(servers, self.questions)
        self.content = ServerContent(servers, services.ports.clock)
        services.server_resources.source = self.content
        store.hub.add(self.tools)
        store.hub.add(notices)

    async def start(self) -> None:
        """Offer what the servers offered last; starts none of them."""
        await self.tools.start()

    async def aclose(self) -> None:
        """Stop reading what servers offer."""
        await self.tools.aclose()


def _announce(pages: PagePort) -> None:
    """Have pages read the tools, and the settings that show what is left out."""
    pages.tools_changed()
    pages.settings_changed("mcp")
