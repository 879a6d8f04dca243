"""``mcp/servers``: the MCP servers that the agent uses, and signing in at them."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.host.mcp_client.service import McpServers
from jupyter_ai_shoulders.host.mcp_client.sign_ins import SignInAnswer
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.mcp_servers import (
    McpAuthorizationUrl,
    PostMcpAuthorization,
    PutMcpServer,
    PutMcpServerEnabled,
    PutMcpServerValue,
)

CALLBACK = "shoulders/api/v1/mcp/oauth/callback"
_PAGE = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<body style="font: 16px sans-serif; margin: 3em"><h1>{title}</h1><p>{text}</p></body>"""


class _McpHandler(ShouldersHandler):
    @property
    def servers(self) -> McpServers:
        """The servers of the host."""
        return self.host.protocols.mcp_servers

    def changed(self) -> None:
        """Tell pages to fetch the servers again."""
        self.host.pages.settings_changed("mcp")


class McpServersHandler(_McpHandler):
    """``mcp/servers``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the servers; of values, only their names."""
        self.answer(await self.servers.listing())


class McpServerHandler(_McpHandler):
    """``mcp/servers/{name}``."""

    @web.authenticated
    @authorized
    async def put(self, name: str) -> None:
        """Add or change an entry of the user's file."""
        self.answer(await self.servers.put(name, self.body(PutMcpServer)))
        self.changed()

    @web.authenticated
    @authorized
    async def delete(self, name: str) -> None:
        """Remove an entry of the user's file."""
        await self.servers.remove(name)
        self.no_content()
        self.changed()


class McpServerTestHandler(_McpHandler):
    """``mcp/servers/{name}/test``."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Start the server and list what it offers."""
        self.answer(await self.servers.test(name))


class McpServerRestartHandler(_McpHandler):
    """``mcp/servers/{name}/restart``."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Stop the server and start it."""
        self.answer(await self.servers.restart(name))


class McpServerStopHandler(_McpHandler):
    """``mcp/servers/{name}/stop``."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Stop the server until its next use."""
        self.answer(await self.servers.stop(name))


class McpServerEnabledHandler(_McpHandler):
    """``mcp/servers/{name}/enabled``."""

    @web.authenticated
    @authorized
    async def put(self, name: str) -> None:
        """Switch the server on or off."""
        command = self.body(PutMcpServerEnabled)
        self.answer(await self.servers.set_enabled(name, enabled=command.enabled))
        self.changed()


class McpServerValueHandler(_McpHandler):
    """``mcp/servers/{name}/values/{NAME}``."""

    @web.authenticated
    @authorized
    async def put(self, name: str, variable: str) -> None:
        """Store or remove a value that the entry names."""
        command = self.body(PutMcpServerValue)
        self.answer(await self.servers.set_value(name, variable, command.value))
        self.changed()


class McpAuthorizeHandler(_McpHandler):
    """``mcp/servers/{name}/authorize``."""

    @web.authenticated
    @authorized
    async def post(self, name: str) -> None:
        """Begin a sign-in, and answer with the page where the user signs in."""
        redirect_url = self._redirect_url(self.body(PostMcpAuthorization).public_url)
        self.answer(McpAuthorizationUrl(url=await self.servers.authorize(name, redirect_url)))

    def _redirect_url(self, public_url: str) -> str:
        """Return our address as the browser reaches it, also behind a hub."""
        try:
            parts = urlsplit(public_url)
        except ValueError as error:
            raise InvalidRequest(
                "The address of this Jupyter server is not a web address."
            ) from error
        usable = parts.scheme in {"http", "https"} and parts.netloc
        if not usable or parts.username is not None or parts.query or parts.fragment:
            raise InvalidRequest("The address of this Jupyter server is not a web address.")
        if not parts.path.rstrip("/").endswith(self.base_url.rstrip("/")):
            raise InvalidRequest("The address does not end in this Jupyter server's base URL.")
        return f"{parts.scheme}://{parts.netloc}{url_path_join(parts.path, CALLBACK)}"


class McpAuthorizationHandler(_McpHandler):
    """``mcp/servers/{name}/authorization``."""

    @web.authenticated
    @authorized
    async def delete(self, name: str) -> None:
        """Sign out."""
        self.answer(await self.servers.sign_out(name))
        self.changed()


class McpOAuthCallbackHandler(_McpHandler):
    """``mcp/oauth/callback``: the way back from a sign-in page, opened by the browser."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Complete the sign-in, and say so in a small page."""
        given = SignInAnswer(
            state=self.get_query_argument("state", ""),
            code=self.get_query_argument("code", None),
            issuer=self.get_query_argument("iss", None),
            error=self.get_query_argument("error", None),
        )
        try:
            name = await self.servers.finish_authorization(given)
        except ShouldersError as error:
            self.set_status(400)
            self._show("Sign-in failed", f"{error.info.message} {error.info.hint or ''}")
            return
        self._show("Signed in", f"You are signed in at {name}. You can close this window.")
        self.changed()

    def _show(self, title: str, text: str) -> None:
        self.set_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")
        page = _PAGE.format(title=escape(title), text=escape(self.host.redact(text)))
        # Without the argument, Jupyter's API handlers label every answer as JSON.
        self.finish(page, set_content_type="text/html; charset=utf-8")


_NAME = r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})"
MCP_SERVER_HANDLERS: tuple[tuple[str, type[ShouldersHandler]], ...] = (
    ("mcp/servers", McpServersHandler),
    (f"mcp/servers/{_NAME}", McpServerHandler),
    (f"mcp/servers/{_NAME}/test", McpServerTestHandler),
    (f"mcp/servers/{_NAME}/restart", McpServerRestartHandler),
    (f"mcp/servers/{_NAME}/stop", McpServerStopHandler),
    (f"mcp/servers/{_NAME}/enabled", McpServerEnabledHandler),
    (f"mcp/servers/{_NAME}/values/([A-Za-z_][A-Za-z0-9_]{{0,127}})", McpServerValueHandler),
    (f"mcp/servers/{_NAME}/authorize", McpAuthorizeHandler),
    (f"mcp/servers/{_NAME}/authorization", McpAuthorizationHandler),
    ("mcp/oauth/callback", McpOAuthCallbackHandler),
)
