"""Servers of the SDK over streamable HTTP and the older SSE, in processes of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from mcp.shared.auth import AuthorizationCodeResult

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.mcp_client.authorization import (
    SignInSteps,
    StoredAuthorization,
    sign_in,
)
from jupyter_ai_shoulders.mcp_client.connection import open_server
from jupyter_ai_shoulders.mcp_client.connection_events import (
    ConnectionEnvironment,
    ConnectionEvents,
    OpenConnection,
)
from jupyter_ai_shoulders.mcp_client.pool import ConfiguredServer
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry, checked_entry
from jupyter_ai_shoulders.mcp_client.sign_in_store import StoredSignIn
from tests.mcp_client.probes import free_port, http_server, pool_of


@pytest.mark.parametrize(("kind", "path"), [("http", "mcp"), ("sse", "sse")], ids=["http", "sse"])
async def test_tools_over_http(kind: str, path: str, tmp_path: Path) -> None:
    async with http_server("sdk_server.py", kind) as port:
        url = f"http://127.0.0.1:{port}/{path}"
        entry = checked_entry("remote", {"type": kind, "url": url}, "user")
        async with pool_of(entry, folder=tmp_path) as pool:
            connection = await pool.connection("remote")
            added = await connection.call_tool("add", {"a": 1, "b": 2})
            assert added.structured_content == {"result": 3}
            with pytest.raises(ShouldersError, match="did not finish the tool hang"):
                await connection.call_tool("hang", {"file": str(tmp_path / "x")}, timeout_s=0.3)
            assert len(await connection.list_tools()) == 4


async def test_a_server_that_is_not_there_says_so(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}/mcp"
    entry = checked_entry("remote", {"url": url}, "user")
    async with pool_of(entry, folder=tmp_path) as pool:
        with pytest.raises(ShouldersError, match="could not be reached for its start"):
            await pool.connection("remote")
        assert pool.states()[0].status == "waiting"


class MemoryStore:
    """Keeps one sign-in."""

    stored: StoredSignIn | None = None

    async def load(self, server: str) -> StoredSignIn | None:
        del server
        return self.stored

    async def save(self, server: str, sign_in: StoredSignIn) -> None:
        del server
        self.stored = sign_in


async def signed_in(entry: ServerEntry) -> MemoryStore:
    """Sign in as a user with a browser would."""
    store = MemoryStore()
    back: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def show(url: str) -> None:
        async with httpx.AsyncClient() as browser:
            back.set_result((await browser.get(url)).headers["location"])

    async def answer() -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(await back).query)
        return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0])

    await sign_in(entry, store, SignInSteps("http://127.0.0.1:1/back", show, answer))
    return store


async def test_a_token_that_expired_is_renewed_and_goes_to_its_server_only(tmp_path: Path) -> None:
    async with http_server("oauth_server.py") as port:
        entry = checked_entry("a", {"url": f"http://127.0.0.1:{port}/mcp"}, "user")
        store = await signed_in(entry)

        async def opener(
            entry: ServerEntry, environment: ConnectionEnvironment, events: ConnectionEvents
        ) -> OpenConnection:
            return await open_server(entry, environment, events, StoredAuthorization(entry, store))

        async with pool_of(entry, folder=tmp_path, opener=opener) as pool:
            connection = await pool.connection("a")
            await connection.call_tool("expire", {})
            renewals = await connection.call_tool("renewals", {})
            assert renewals.structured_content == {"result": 1}
            assert store.stored is not None
            store.stored = store.stored.model_copy(update={"expires_at": 1.0})
            await pool.stop("a")
            again = await (await pool.connection("a")).call_tool("renewals", {})
            assert again.structured_content == {"result": 2}
            moved = checked_entry("a", {"url": f"http://localhost:{port}/mcp"}, "user")
            pool.update([ConfiguredServer(moved)])
            with pytest.raises(ShouldersError, match="wants you to sign in"):
                await pool.connection("a")
