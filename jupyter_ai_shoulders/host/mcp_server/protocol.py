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
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextResourceContents,
)

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.host.mcp_server.call_results import (
    error_result,
    error_text,
    result_of,
    text_of,
    tool_of,
)
from jupyter_ai_shoulders.host.mcp_server.clients import ClientKey, McpClients, shown_name
from jupyter_ai_shoulders.host.mcp_server.conversation import CallOutcome
from jupyter_ai_shoulders.host.mcp_server.offered_tools import NEEDS, may_call, offered_tools
from jupyter_ai_shoulders.host.mcp_server.progress_reports import (
    ClientDisconnected,
    ProgressReports,
)
from jupyter_ai_shoulders.host.mcp_server.prompts import TASK, SkillPrompts
from jupyter_ai_shoulders.host.mcp_server.request_identity import SCOPE_KEY, RequestIdentity
from jupyter_ai_shoulders.host.mcp_server.resources import (
    MIME_TYPE,
    READS,
    TEMPLATE,
    NotebookResources,
    read_arguments,
)
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
    resources: NotebookResources
    prompts: SkillPrompts
    version: str
    only_client: RequestIdentity | None = None
    """The client at the other end of standard input; else each HTTP request carries an identity."""

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
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_resource_templates,
            on_read_resource=self.read_resource,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )

    async def list_tools(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """List the tools that the client's scopes cover."""
        del params
        scopes = self._identity(context).scopes
        offered = offered_tools(self.tools, scopes, self.disabled())
        return ListToolsResult(tools=[tool_of(tool) for tool in offered])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Make a call in the client's conversation, and answer with its result."""
        identity = self._identity(context)
        if params.name not in NEEDS:
            return error_result(f"There is no tool named {params.name!r}. List the tools again.")
        if not may_call(params.name, identity.scopes):
            return error_result(_not_covered(params.name))
        try:
            outcome = await self._outcome(context, identity, params.name, params.arguments)
        except ShouldersError as error:
            return error_result(error_text(error))
        except ClientDisconnected:
            return error_result("The client disconnected.")
        return result_of(outcome)

    async def list_resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """List the open notebooks and their cells."""
        del params
        covered = may_call(READS, self._identity(context).scopes)
        return ListResourcesResult(resources=await self.resources.listed() if covered else [])

    async def list_resource_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Return how the address of any notebook is made."""
        del params
        covered = may_call(READS, self._identity(context).scopes)
        return ListResourceTemplatesResult(resource_templates=[TEMPLATE] if covered else [])

    async def read_resource(
        self, context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Read a notebook or cell in the client's conversation. Raises ``MCPError``."""
        identity = self._identity(context)
        if not may_call(READS, identity.scopes):
            raise MCPError(code=INVALID_PARAMS, message=_not_covered(READS))
        try:
            arguments = read_arguments(str(params.uri))
            outcome = await self._outcome(context, identity, READS, arguments)
        except ShouldersError as error:
            raise MCPError(code=INVALID_PARAMS, message=error_text(error)) from error
        text = text_of(outcome)
        if not outcome.envelope.ok:
            raise MCPError(code=INVALID_PARAMS, message=text)
        content = TextResourceContents(uri=params.uri, mime_type=MIME_TYPE, text=text)
        return ReadResourceResult(contents=[content])

    async def list_prompts(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """List the skills."""
        del context, params
        return ListPromptsResult(prompts=await self.prompts.listed())

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """Return a skill. Raises ``MCPError``."""
        del context
        try:
            return await self.prompts.read(params.name, (params.arguments or {}).get(TASK))
        except ShouldersError as error:
            raise MCPError(code=INVALID_PARAMS, message=error_text(error)) from error

    def _identity(self, context: Context) -> RequestIdentity:
        return self.only_client or identity_of(context)

    def _schema_of(self, name: str) -> JsonObject | None:
        """Return a tool's schema: without it, the SDK lists all tools before each call."""
        return self.tools.definition(name).parameters if name in NEEDS else None

    async def _outcome(
        self,
        context: Context,
        identity: RequestIdentity,
        tool: str,
        arguments: JsonObject | None,
    ) -> CallOutcome:
        reports = ProgressReports(context.session.report_progress)
        key = client_key(context, identity)
        call = self.clients.call(key, tool, dict(arguments or {}), reports.report)
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
    request = cast("Request | None", context.request)
    return ClientKey(
        actor=identity.actor,
        name=shown_name(identity.name or _stated_name(context)),
        connection=request.headers.get(SESSION_HEADER, "") if request is not None else "",
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
