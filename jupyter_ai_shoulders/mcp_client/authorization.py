"""OAuth at MCP servers: tokens for requests, and the sign-in of the user.

Uses the client of the SDK (discovery, registration, PKCE, token requests). Loads the SDK. Used by
``host.mcp_client.sign_ins``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.mcp_client.http_transport import http_client
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry
from jupyter_ai_shoulders.mcp_client.server_errors import leaves
from jupyter_ai_shoulders.mcp_client.sign_in_store import SignInStore, StoredSignIn
from jupyter_ai_shoulders.wire.base import JsonObject

CLIENT_NAME = "Jupyter AI Shoulders"
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "jupyter-ai-shoulders", "version": "1"},
    },
}
_ACCEPT = "application/json, text/event-stream"


class _Storage:
    """The SDK's ``TokenStorage`` on a ``SignInStore``."""

    def __init__(self, entry: ServerEntry, store: SignInStore, redirect_url: str | None) -> None:
        self._entry = entry
        self._store = store
        self._redirect_url = redirect_url

    async def current(self) -> StoredSignIn:
        stored = await self._store.load(self._entry.name)
        if stored is None or stored.url != self._entry.url:
            return StoredSignIn(url=self._entry.url)
        return stored

    async def get_tokens(self) -> OAuthToken | None:
        tokens = (await self.current()).tokens
        return None if tokens is None else OAuthToken.model_validate(tokens)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        await self.change(tokens=_dumped(tokens))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = (await self.current()).client
        if client is None:
            return None
        info = OAuthClientInformationFull.model_validate(client)
        registered = [str(url) for url in info.redirect_uris or ()]
        if self._redirect_url is not None and self._redirect_url not in registered:
            return None  # the address of this Jupyter server has changed
        return info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self.change(client=_dumped(client_info))

    async def change(self, **fields: object) -> None:
        stored = await self.current()
        await self._store.save(self._entry.name, stored.model_copy(update=fields))


class StoredAuthorization(OAuthClientProvider):
    """Sends the stored token with each request, and renews it; never asks the user."""

    def __init__(self, entry: ServerEntry, store: SignInStore) -> None:
        self._stored = _Storage(entry, store, None)
        super().__init__(entry.url, _client_metadata("http://127.0.0.1/"), self._stored)
        self._server = entry.name
        self.auth: httpx2.Auth = self
        self.needed: ShouldersError | None = None

    async def _initialize(self) -> None:
        await super()._initialize()
        stored = await self._stored.current()
        self.context.token_expiry_time = stored.expires_at
        if stored.metadata is not None:
            self.context.oauth_metadata = OAuthMetadata.model_validate(stored.metadata)

    async def _auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        # Not held during the request: the answer of a call may take minutes.
        async with self.context.lock:
            if not self._initialized:
                await self._initialize()
            if not self.context.is_token_valid() and self.context.can_refresh_token():
                await self._renewed((yield await self._refresh_token()))
            token = self.context.current_tokens
        if token is not None:
            self._add_auth_header(request)
        response = yield request
        if response.status_code != 401:
            return
        async with self.context.lock:
            renewed = self.context.current_tokens is not token
            if not renewed and self.context.can_refresh_token():
                renewed = await self._renewed((yield await self._refresh_token()))
        if renewed and self.context.current_tokens is not None:
            self._add_auth_header(request)
            response = yield request
        if response.status_code == 401:
            self.needed = sign_in_needed(self._server)

    async def _renewed(self, response: httpx2.Response) -> bool:
        done = await self._handle_refresh_response(response)
        await self._stored.change(expires_at=self.context.token_expiry_time)
        return done


@dataclass(frozen=True, slots=True)
class SignInSteps:
    """How the user takes part in a sign-in."""

    redirect_url: str
    show: Callable[[str], Awaitable[None]]
    """Shows the address where the user signs in."""
    answer: Callable[[], Awaitable[AuthorizationCodeResult]]
    """Returns the answer that came back to ``redirect_url``."""


async def sign_in(entry: ServerEntry, store: SignInStore, steps: SignInSteps) -> None:
    """Let the user sign in, and keep the tokens.

    Raises ``InvalidRequest`` (the server wants no sign-in, or it failed), and ``ShouldersError``.
    """
    storage = _Storage(entry, store, steps.redirect_url)
    await storage.change(tokens=None, expires_at=None)
    provider = OAuthClientProvider(
        entry.url,
        _client_metadata(steps.redirect_url),
        storage,
        redirect_handler=steps.show,
        callback_handler=steps.answer,
    )
    try:
        async with (
            await http_client(entry.url, dict(entry.headers), provider) as client,
            client.stream(
                "POST", entry.url, json=_INITIALIZE, headers={"Accept": _ACCEPT}
            ) as response,
        ):
            status = response.status_code
    except ShouldersError:
        raise
    except Exception as error:
        raise InvalidRequest(
            f"The sign-in at {entry.name} failed: {str(next(leaves(error)))[:500]}",
            hint="Try again, or ask the server's operator.",
        ) from error
    tokens = provider.context.current_tokens
    if tokens is None or status == 401:
        raise InvalidRequest(f"The MCP server {entry.name} answers without a sign-in ({status}).")
    metadata = provider.context.oauth_metadata
    await storage.change(
        metadata=None if metadata is None else _dumped(metadata),
        expires_at=provider.context.token_expiry_time,
    )


def sign_in_needed(server: str) -> ShouldersError:
    """Return the error for a server that wants the user to sign in."""
    return PolicyRefusal(
        f"The MCP server {server} wants you to sign in.",
        code="authentication",
        hint="Sign in on the settings page, under MCP servers.",
    )


def _client_metadata(redirect_url: str) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        client_name=CLIENT_NAME,
        redirect_uris=[AnyUrl(redirect_url)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",  # noqa: S106 no secret, a method
    )


def _dumped(model: BaseModel) -> JsonObject:
    return model.model_dump(mode="json", exclude_none=True)
