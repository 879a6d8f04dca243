"""Asks the user for values that a server's entry names and nobody has stored yet."""

from __future__ import annotations

from typing import Protocol

from jupyter_ai_shoulders.host.mcp_client.server_questions import ServerQuestions
from jupyter_ai_shoulders.tools.mcp.form_questions import given_action
from jupyter_ai_shoulders.tools.mcp.running_calls import RunningCall
from jupyter_ai_shoulders.wire.api.mcp_servers import McpServerList


class ServerValues(Protocol):
    """The values of servers (``host.mcp_client.service.McpServers``)."""

    async def listing(self) -> McpServerList:
        """Return the servers, with the values they miss."""
        ...

    async def set_value(self, name: str, variable: str, value: str | None) -> object:
        """Store a value like a key."""
        ...


class AskedValues:
    """``MissingValues`` of ``host.mcp_client.server_tools``."""

    def __init__(self, servers: ServerValues, questions: ServerQuestions) -> None:
        self._servers = servers
        self._questions = questions

    async def supply(self, call: RunningCall) -> bool:
        """Ask for each missing value; the answer is stored like a key and shown nowhere."""
        listing = await self._servers.listing()
        view = next((each for each in listing.servers if each.name == call.server), None)
        if view is None or not view.missing_values or not call.context.interactive:
            return False
        for value in view.missing_values:
            prompt = (
                f"The MCP server {call.server} needs a value for {value.name} "
                f"(used in {', '.join(value.used_in)}). It is stored like a key. "
                "/cancel ends the call."
            )
            answer = await self._questions.ask(call, prompt, password=True)
            if given_action(answer) != "accept" or not answer.strip():
                return False
            await self._servers.set_value(call.server, value.name, answer.strip())
        return True
