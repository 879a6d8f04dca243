"""The tokens by which agents in the panel reach our MCP server."""

from __future__ import annotations

from pathlib import Path

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.host.external_agents.notebook_server import NotebookServer
from jupyter_ai_shoulders.host.mcp_server.access_tokens import AccessTokens


async def test_an_agents_token_works_until_it_ends_and_is_never_stored(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    tokens = AccessTokens(path, SystemClock())
    server = NotebookServer(tokens, lambda: "http://127.0.0.1:9/mcp")

    access = server.open("Codex", "ann")

    assert access is not None
    secret = access.endpoint.headers["Authorization"].removeprefix("Bearer ")
    found = await tokens.find(secret)
    assert found is not None
    assert (found.id, found.username) == (access.token_id, "ann")
    assert [token.id for token in await tokens.list("ann")] == [access.token_id]
    assert await tokens.list("bob") == ()
    assert not path.exists()
    assert await AccessTokens(path, SystemClock()).find(secret) is None  # after a kill

    await server.close(access)

    assert await tokens.find(secret) is None
