"""The MCP server of the official SDK with our tools; imported on the first request to it.

``server.mcp.endpoint`` gives it HTTP requests. Each carries a ``RequestIdentity``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.host.mcp_server.call_results import (
    error_result,
    error_text,
    result_of,
    tool_of,
)
from jupyter_ai_shoulders.host.mcp_server.clients import ClientKey, McpClients, shown_name
from jupyter_ai_shoulders.host.mcp_server.conversation import CallOutcome
from jupyter_ai_shoulders.host.mcp_server.offered_tools import NEEDS, may_call, offered_tools
from jupyter_ai_shoulders.host.mcp_server.progress_reports import (
    ClientDisconnected,
    ProgressReports,
)
from jupyter_ai_shoulders.host.mcp_server.request_identity import SCOPE_KEY, RequestIdentity
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.base import JsonObject

if TYPE_CHECKING:
    from starlette.requests import Request

NAME = "jupyter-ai-shoulders"
SESSION_HEADER = "mcp-session-id"

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class McpProtocol:
    """The handlers of the server's requests."""

    clients: McpClients
    tools: ToolRegistry
    disabled: Callable[[], frozenset[str]]
    """Returns the tools that the permissions switch off."""
    version: str

    def server(self) -> Server[Any]:
        """Return the SDK's server."""
        return Server(
            NAME,
            version=self.version,
            title="JupyterLab",
            instructions=server_instructions(),
            get_tool_input_schema=self._schema_of,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )

    async def list_tools(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """List the tools that the client's scopes cover."""
        del params
        scopes = identity_of(context).scopes
        offered = offered_tools(self.tools, scopes, self.disabled())
        return ListToolsResult(tools=[tool_of(tool) for tool in offered])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Make a call in the client's conversation, and answer with its result."""
        identity = identity_of(context)
        if params.name not in NEEDS:
            return error_result(f"There is no tool named {params.name!r}. List the tools again.")
        if not may_call(params.name, identity.scopes):
            return error_result(_not_covered(params.name))
        try:
            outcome = await self._outcome(context, identity, params)
        except ShouldersError as error:
            return error_result(error_text(error))
        except ClientDisconnected:
            return error_result("The client disconnected.")
        return result_of(outcome)

    def _schema_of(self, name: str) -> JsonObject | None:
        """Return a tool's schema: without it, the SDK lists all tools before each call."""
        return self.tools.definition(name).parameters if name in NEEDS else None

    async def _outcome(
        self, context: Context, identity: RequestIdentity, params: CallToolRequestParams
    ) -> CallOutcome:
        reports = ProgressReports(context.session.report_progress)
        key = client_key(context, identity)
        call = self.clients.call(key, params.name, dict(params.arguments or {}), reports.report)
        return await reports.follow(call, identity.disconnected)


def server_instructions() -> str:
    """Return the guidance for a client's model."""
    return (
        (resources.files("jupyter_ai_shoulders.host.mcp_server") / "instructions.md")
        .read_text("utf-8")
        .strip()
    )


def identity_of(context: Context) -> RequestIdentity:
    """Return who sent the request."""
    request = cast("Request", context.request)
    return cast("RequestIdentity", request.scope[SCOPE_KEY])


def client_key(context: Context, identity: RequestIdentity) -> ClientKey:
    """Return the key of the client's conversation."""
    request = cast("Request", context.request)
    return ClientKey(
        actor=identity.actor,
        name=shown_name(identity.name or _stated_name(context)),
        connection=request.headers.get(SESSION_HEADER, ""),
        owner=identity.owner,
    )


def _stated_name(context: Context) -> str:
    """Return how the client calls itself."""
    params = context.session.client_params
    if params is None:
        return ""
    return params.client_info.title or params.client_info.name


def _not_covered(name: str) -> str:
    needed = " or ".join("+".join(sorted(scopes)) for scopes in NEEDS[name])
    return (
        f"This access token does not cover {name}: it needs the scope {needed}. "
        "Make a token with that scope in JupyterLab's AI settings."
    )
