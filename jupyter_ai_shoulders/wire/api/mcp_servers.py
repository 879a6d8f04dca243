"""MCP servers that the agent uses (``mcp/servers``).

Changes are announced to pages as ``settings_changed`` with the part ``mcp``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel

McpServerSource = Literal["workspace", "user", "administrator"]
"""``.mcp.json`` of the workspace, ``~/.shoulders/mcp.json``, ``Shoulders.mcp_servers``."""
McpTransport = Literal["stdio", "http", "sse"]
McpServerStatus = Literal["stopped", "starting", "running", "waiting", "failed"]
"""``waiting``: ended by itself, starts again after a pause; ``failed``: starts on the next use."""
McpTrust = Literal["not_needed", "new", "changed", "trusted", "declined", "forbidden"]
"""The user's answer about an entry of the workspace; only ``not_needed`` and ``trusted`` start."""
McpAuthorization = Literal["none", "needed", "signed_in"]
"""``needed``: the server wants a sign-in (``POST …/authorize``)."""

McpServerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
_Text = Annotated[str, StringConstraints(max_length=8192)]
_Secret = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class McpMissingValue(WireModel):
    """A ``${NAME}`` in an entry that has no value yet."""

    name: str
    used_in: tuple[str, ...]
    """The fields that contain it, such as ``env.GITHUB_TOKEN`` or ``headers.Authorization``."""


class McpToolLeftOut(WireModel):
    """A tool of a server that the agent is not offered."""

    tool: str
    reason: str


class McpServerView(WireModel):
    """One server as the settings show it. Texts of the server are untrusted."""

    name: str
    source: McpServerSource
    file: str | None
    """The file of the entry; None for the administrator's."""
    line: int | None
    transport: McpTransport
    command: tuple[str, ...]
    """Program and arguments as written, values not filled in; empty for ``http`` and ``sse``."""
    environment_names: tuple[str, ...]
    header_names: tuple[str, ...]
    folder: str | None
    url: str | None
    """As written."""
    host: str | None
    """Host, and port if given, of the address."""
    enabled: bool
    sampling: bool
    """Whether it may ask for the user's model; the user is asked each time."""
    status: McpServerStatus
    trust: McpTrust
    trust_id: str | None
    """The item of ``GET trust`` that an answer is about; None where no answer is needed."""
    missing_values: tuple[McpMissingValue, ...]
    stored_values: tuple[str, ...]
    """Names of values of this entry that are in the key store."""
    authorization: McpAuthorization
    blocked: str | None
    """Why it cannot be started; None: it can."""
    error: str | None
    """Why it last failed."""
    hint: str | None
    lock_reason: str | None
    """Why the entry cannot be edited, removed or switched on and off; None: it can."""
    server_name: str | None
    server_version: str | None
    instructions: str | None
    tool_count: int | None
    """None until it was started once."""
    resource_count: int | None
    prompt_count: int | None
    left_out: tuple[McpToolLeftOut, ...]
    """The first tools that the agent is not offered, as of the last use."""
    more_left_out: int
    """How many further ones there are."""
    unread: str | None
    """Why only a part of its tools was read, as a sentence; None: all were."""
    log_lines: tuple[str, ...]
    """The last lines of standard error and of its log messages, keys removed."""


class McpProblem(WireModel):
    """A file or an entry that cannot be used."""

    file: str
    line: int | None
    server: str | None
    message: str


class McpServerList(WireModel):
    """``GET mcp/servers``."""

    install: str | None
    """The command that installs the missing extra; None when servers can run."""
    lock_reason: str | None
    """Why no servers can be added; None: they can."""
    user_file: str
    servers: tuple[McpServerView, ...]
    problems: tuple[McpProblem, ...]


class PutMcpServer(CommandModel):
    """``PUT mcp/servers/{name}``: add or change an entry of the user's file.

    Either ``command`` or ``url``. Fields of the entry that are not named here stay as they are;
    so do ``env`` and ``headers`` that are left out, because pages do not know their values.
    ``${NAME}`` and ``${NAME:-default}`` stand for values of the key store or the environment.
    """

    transport: McpTransport
    command: _Text | None = None
    args: Annotated[tuple[_Text, ...], Field(max_length=200)] = ()
    env: Annotated[dict[str, _Text], Field(default_factory=dict, max_length=200)]
    folder: _Text | None = None
    url: _Text | None = None
    headers: Annotated[dict[str, _Text], Field(default_factory=dict, max_length=50)]
    sampling: bool | None = None
    """None leaves it as it is."""


class McpServerTest(WireModel):
    """``POST mcp/servers/{name}/test``: starts it and lists what it offers."""

    ok: bool
    message: str
    hint: str | None
    server: McpServerView


class PutMcpServerEnabled(CommandModel):
    """``PUT mcp/servers/{name}/enabled``; kept in the user's settings, not in the entry."""

    enabled: bool


class PutMcpServerValue(CommandModel):
    """``PUT mcp/servers/{name}/values/{NAME}``: store a value like a key; None removes it."""

    value: Annotated[_Secret | None, Field(repr=False)]


class PostMcpAuthorization(CommandModel):
    """``POST mcp/servers/{name}/authorize``."""

    public_url: Annotated[str, StringConstraints(max_length=2048)]
    """The page's address of this Jupyter server with its base URL, for the way back."""


class McpAuthorizationUrl(WireModel):
    """Where the user signs in; open it in a new window."""

    url: str
