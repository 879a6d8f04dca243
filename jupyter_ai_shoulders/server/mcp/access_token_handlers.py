"""``access-tokens``: tokens of programs that use the MCP server."""

from __future__ import annotations

from importlib.util import find_spec

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.mcp.endpoint import INSTALL, SDK
from jupyter_ai_shoulders.wire.api.access_tokens import AccessTokenList, PostAccessToken

MCP_PATH = "shoulders/mcp"


class AccessTokensHandler(ShouldersHandler):
    """``access-tokens``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the tokens; their secrets are not stored."""
        tokens = await self.host.protocols.access_tokens.list(self.user)
        self.answer(
            AccessTokenList(
                enabled=self.host.settings.mcp_server,
                install=INSTALL if find_spec(SDK) is None else None,
                url_path=url_path_join(self.base_url, MCP_PATH),
                tokens=tokens,
            )
        )

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Make a token; the answer is the only one with its secret."""
        command = self.body(PostAccessToken)
        made = await self.host.protocols.access_tokens.create(command, self.user or "")
        self.answer(made, 201)


class AccessTokenHandler(ShouldersHandler):
    """``access-tokens/{id}``."""

    @web.authenticated
    @authorized
    async def delete(self, token_id: str) -> None:
        """Revoke a token."""
        await self.host.protocols.access_tokens.revoke(token_id, self.user)
        self.no_content()
