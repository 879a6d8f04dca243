"""What running MCP servers offer to the user: resources under ``@`` and prompts under ``/``.

All texts come from the servers and are untrusted; hidden characters are already escaped.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from jupyter_ai_shoulders.wire.api.mentions import QUERY_LIMIT
from jupyter_ai_shoulders.wire.base import CommandModel, WireModel

MCP_MATCH_LIMIT = 50
"""Maximum number of resources in an answer."""


class McpResourceQuery(CommandModel):
    """Query arguments of ``GET mcp/resources``."""

    query: str = Field(default="", max_length=QUERY_LIMIT)


class McpProblemOfServer(WireModel):
    """Why a server's resources or prompts are missing from an answer."""

    server: str
    message: str


class McpResourceMatch(WireModel):
    """A resource, to be attached as ``mcp_resource`` with its server, uri and name."""

    server: str
    uri: str
    name: str
    title: str | None
    description: str | None
    media_type: str | None
    size: int | None


class McpResourceMatches(WireModel):
    """``GET mcp/resources``, best first; not ``complete`` when there are more."""

    resources: tuple[McpResourceMatch, ...]
    complete: bool
    problems: tuple[McpProblemOfServer, ...]


class McpPromptArgument(WireModel):
    """An argument of a prompt."""

    name: str
    description: str | None
    required: bool


class McpPromptView(WireModel):
    """A prompt, shown under ``/`` as ``server:name``."""

    server: str
    name: str
    title: str | None
    description: str | None
    arguments: tuple[McpPromptArgument, ...]


class McpPromptList(WireModel):
    """``GET mcp/prompts``."""

    prompts: tuple[McpPromptView, ...]
    problems: tuple[McpProblemOfServer, ...]


class PostMcpPrompt(CommandModel):
    """``POST mcp/prompts/{server}/{name}``."""

    arguments: Annotated[
        dict[str, Annotated[str, StringConstraints(max_length=16_384)]],
        Field(default_factory=dict, max_length=50),
    ]


class McpPromptText(WireModel):
    """The text of a prompt, for the input.

    The message that holds it has an attachment ``mcp_prompt``, so that it counts as text that the
    user did not write.
    """

    server: str
    name: str
    text: str
    notes: tuple[str, ...]
    """What was left out, such as pictures."""
