"""All tools that carry out requests of agents; called by ``host.tool_wiring``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.commands.run_command import RunCommand
from jupyter_ai_shoulders.tools.external_agents.commands import AgentRunCommand
from jupyter_ai_shoulders.tools.external_agents.files import AgentReadFile, AgentWriteFile
from jupyter_ai_shoulders.tools.external_agents.permissions import permission_tools
from jupyter_ai_shoulders.tools.external_agents.requests import AgentRequests
from jupyter_ai_shoulders.tools.files.access import FileAccess
from jupyter_ai_shoulders.tools.files.read_tracking import FileReadTracker


def agent_tools(
    requests: AgentRequests,
    access: FileAccess,
    versions: FileReadTracker,
    commands: RunCommand,
    redact: Callable[[str], str],
) -> list[Tool[Any]]:
    """Return the tools; they share the open ``requests`` with the agents' provider."""
    return [
        AgentReadFile(access, versions, requests, redact),
        AgentWriteFile(access, versions, requests),
        AgentRunCommand(commands, requests),
        *permission_tools(requests),
    ]
