"""The route ``{base_url}shoulders/mcp``: authenticates programs, and hands requests to the SDK."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from jupyter_server.auth import User
from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import origin_matches_pat
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.host.mcp_server.access_tokens import SECRET_PREFIX, StoredToken
from jupyter_ai_shoulders.host.mcp_server.request_identity import RequestIdentity
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelIdentity
from jupyter_ai_shoulders.server.auth.user_identity import owner_of
from jupyter_ai_shoulders.server.handlers.base import HostSource, ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import LONG_TEXT_BYTES, MAX_VALUES
from jupyter_ai_shoulders.server.mcp.asgi_bridge import AsgiExchange
from jupyter_ai_shoulders.server.mcp.endpoint import McpEndpoint, McpNotInstalled
from jupyter_ai_shoulders.wire.api.access_tokens import ALL_SCOPES, AccessScope

ANYONE = "shoulders-mcp"
"""The user of an access token where users are not distinguished."""
SESSION_HEADER = "Mcp-Session-Id"
SCOPES_HEADER = "X-Shoulders-Scopes"
"""Narrows the scopes of a request, such as ``read,edit``; it cannot widen them."""
_REFUSED = (
    "Send a token of this Jupyter server, or an access token made in JupyterLab's AI settings, "
    "as 'Authorization: Bearer …'."
)


class McpHandler(ShouldersHandler):
    """``mcp``."""

    max_body_bytes = LONG_TEXT_BYTES
    max_body_values = MAX_VALUES

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the arguments of the route: ``endpoint``, ``enabled``."""
        super().initialize(host_source)
        self._endpoint: McpEndpoint = route["endpoint"]
        self._enabled: bool = route["enabled"]
        self._token: StoredToken | None = None
        self._disconnected = asyncio.Event()

    async def prepare(self) -> None:
        """Authenticate by one of our tokens, or as Jupyter does; refuse other pages."""
        if not self._enabled:
            raise NotFound(
                "The MCP server is switched off here.",
                code="disabled",
                hint="An administrator can switch it on: Shoulders.mcp_server.",
            )
        if self._is_foreign():
            raise web.HTTPError(403, "Requests from pages of other origins are refused.")
        await self._authenticate_by_token()
        try:
            await super().prepare()
        except web.HTTPError as error:
            if error.status_code in {403, 404} and not self.current_user:
                raise web.HTTPError(401, _REFUSED) from error
            raise
        if not self.current_user:  # Jupyter leaves the refusal to each method
            raise web.HTTPError(401, _REFUSED)

    def set_cors_headers(self) -> None:
        """Leave them out: no page of another origin may use the server."""

    def options(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: pages of other origins may not use the server."""
        del args, kwargs
        raise web.HTTPError(405)

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Open the stream of a protocol session."""
        await self._serve()

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Handle a message of a client."""
        await self._serve()

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """End a protocol session."""
        await self._serve()
        connection = self.request.headers.get(SESSION_HEADER, "")
        if connection and self.get_status() < 400:
            self.host.protocols.mcp_clients.disconnected(connection)

    def on_connection_close(self) -> None:
        """End what waits: the client has disconnected."""
        self._disconnected.set()

    async def _serve(self) -> None:
        exchange = AsgiExchange(self, self._disconnected)
        try:
            await self._endpoint.serve(exchange, self._identity(), self.host)
        except McpNotInstalled as error:
            raise web.HTTPError(501, f"{error} {error.info.hint}") from error
        except StreamClosedError:
            self.log.debug("A client of the MCP server left before its answer")

    def _identity(self) -> RequestIdentity:
        token, user = self._token, self.current_user
        return RequestIdentity(
            actor=token.id if token else f"user:{owner_of(user)}",
            name=token.name if token else None,
            scopes=self._scopes(frozenset(token.scopes if token else ALL_SCOPES)),
            owner=self.user,
            disconnected=self._disconnected,
        )

    def _scopes(self, covered: frozenset[AccessScope]) -> frozenset[AccessScope]:
        wanted = self.request.headers.get(SCOPES_HEADER)
        if wanted is None:
            return covered
        names = {name.strip() for name in wanted.split(",")}
        return frozenset(scope for scope in covered if scope in names)

    async def _authenticate_by_token(self) -> None:
        secret = self._given_secret()
        if not secret.startswith(SECRET_PREFIX):
            return
        host = await self._host_source()
        self._token = await host.protocols.access_tokens.find(secret)
        if self._token is None:
            raise web.HTTPError(401, "This access token is unknown or was revoked.")
        name = self._token.username or ANYONE
        self._kernel = KernelIdentity(User(name, name))

    def _given_secret(self) -> str:
        scheme, _, secret = self.request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() in {"bearer", "token"}:
            return secret.strip()
        return self.get_query_argument("token", "")

    def _is_foreign(self) -> bool:
        """Return whether a page of an origin that Jupyter does not allow sent the request.

        Unlike for Jupyter's own routes, a token does not change that.
        """
        origin, host = self.request.headers.get("Origin"), self.request.headers.get("Host")
        if origin is None or self.allow_origin == "*":
            return False
        if host is not None and urlsplit(origin.lower()).netloc == host.lower():
            return False
        if self.allow_origin:
            return self.allow_origin != origin.lower()
        pattern = self.allow_origin_pat
        return not (pattern and origin_matches_pat(pattern, origin.lower()))
