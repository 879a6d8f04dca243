"""What the rest of the product sees of MCP servers: states, connections, and their requests.

``mcp_client.pool`` and ``mcp_client.connection`` implement ``ServerPool`` and ``ServerConnection``;
``host.mcp_client`` implements ``ServerRequests``. Types of the SDK are named, never imported here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from jupyter_ai_shoulders.wire.base import Json

if TYPE_CHECKING:
    import mcp_types

ServerSource = Literal["workspace", "user", "administrator"]
"""``.mcp.json`` of the workspace, ``~/.shoulders/mcp.json``, ``Shoulders.mcp_servers``."""

ConnectionStatus = Literal["stopped", "starting", "running", "waiting", "failed"]
"""``waiting``: ended by itself and starts again after a pause; ``failed``: starts on the next use.
"""

ProgressListener = Callable[[float, float | None, str | None], Awaitable[None]]
"""Called with progress, total and message."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says about itself; untrusted text."""

    name: str
    version: str = ""
    title: str | None = None
    instructions: str | None = None
    protocol_version: str = ""
    has_tools: bool = True
    has_resources: bool = False
    has_prompts: bool = False


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state of one configured server."""

    name: str
    source: ServerSource
    status: ConnectionStatus
    blocked: str | None = None
    """Why it cannot be started now (disabled, not trusted, a value is missing); None: it can."""
    error: str | None = None
    """Why it last failed."""
    info: ServerInfo | None = None
    """As of the last start."""


@dataclass(frozen=True, slots=True)
class ServerRoot:
    """A folder that servers learn about."""

    uri: str
    name: str


class ServerConnection(Protocol):
    """A running server.

    Every method raises ``ShouldersError`` (``Conflict`` with code ``timeout`` at a time limit), and
    cancels the request at the server when its caller is cancelled. Lists follow all pages up to a
    limit. Calls may run at the same time.
    """

    @property
    def name(self) -> str:
        """Return the name in the configuration."""
        ...

    @property
    def info(self) -> ServerInfo:
        """Return what the server says about itself."""
        ...

    @property
    def unread_tools(self) -> str | None:
        """Return why the last list of tools is only a part, as a sentence; None: it is all."""
        ...

    async def list_tools(self) -> Sequence[mcp_types.Tool]:
        """Return its tools."""
        ...

    async def call_tool(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        *,
        progress: ProgressListener | None = None,
        timeout_s: float | None = None,
    ) -> mcp_types.CallToolResult:
        """Call a tool; a result with ``is_error`` is returned, not raised."""
        ...

    async def list_resources(self) -> Sequence[mcp_types.Resource]:
        """Return its resources."""
        ...

    async def list_resource_templates(self) -> Sequence[mcp_types.ResourceTemplate]:
        """Return its templates of resource addresses."""
        ...

    async def read_resource(self, uri: str) -> mcp_types.ReadResourceResult:
        """Return the content of a resource."""
        ...

    async def list_prompts(self) -> Sequence[mcp_types.Prompt]:
        """Return its prompts."""
        ...

    async def get_prompt(
        self, prompt: str, arguments: Mapping[str, str]
    ) -> mcp_types.GetPromptResult:
        """Return the messages of a prompt."""
        ...


class PoolListener(Protocol):
    """Notified of changes; the methods must return quickly and not raise."""

    def tools_changed(self, server: str) -> None:
        """Handle that the tools of a running server changed, or that it started."""
        ...

    def resources_changed(self, server: str) -> None:
        """Handle that the resources of a running server changed."""
        ...

    def prompts_changed(self, server: str) -> None:
        """Handle that the prompts of a running server changed."""
        ...

    def state_changed(self, server: str) -> None:
        """Handle that a server was added, removed, started, ended, blocked or released."""
        ...


class ServerPool(Protocol):
    """All configured servers."""

    def states(self) -> Sequence[ServerState]:
        """Return the states of all servers, in the order of their names."""
        ...

    async def connection(self, name: str) -> ServerConnection:
        """Return the connection, and start the server if it is not running.

        Raises ``NotFound`` (no such server), ``PolicyRefusal`` (disabled or not trusted),
        ``InvalidRequest`` (a value is missing), ``StateUnavailable`` (it does not start).
        """
        ...

    def add_listener(self, listener: PoolListener) -> Callable[[], None]:
        """Notify a listener until the returned function is called."""
        ...


class ServerRequests(Protocol):
    """What servers may ask of their client; errors are answered to the server."""

    def allows_sampling(self, server: str) -> bool:
        """Return whether the server is offered ``sampling``."""
        ...

    def allows_elicitation(self, server: str) -> bool:
        """Return whether the server is offered ``elicitation``."""
        ...

    async def elicit(
        self, server: str, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        """Ask the user."""
        ...

    async def sample(
        self, server: str, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.ErrorData:
        """Ask a model."""
        ...

    def roots(self, server: str) -> Sequence[ServerRoot]:
        """Return the folders that the server may work in."""
        ...
