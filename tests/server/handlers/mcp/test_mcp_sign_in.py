"""Signing in at a protected MCP server, through our route behind a hub's prefix."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.mcp_client.probes import http_server
from tests.server.client import Api
from tests.server.handlers.mcp.test_mcp_servers_api import files_with, listed, mode_of, read


@pytest.fixture
def jp_base_url() -> str:
    return "/user/ada/"


async def returned_to(url: str) -> str:
    """Sign in as the browser does, and return the address it is sent back to."""
    async with httpx.AsyncClient() as browser:
        answer = await browser.get(url)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


async def test_a_user_signs_in_stays_signed_in_and_signs_out(
    api: Api,
    jp_home_dir: Path,
    jp_root_dir: Path,
    jp_http_port: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    public_url = f"http://127.0.0.1:{jp_http_port}/user/ada/"
    async with http_server("oauth_server.py") as port:
        body = {"transport": "http", "url": f"http://127.0.0.1:{port}/mcp"}
        assert (await api.put("mcp/servers/a", body)).status == 200
        refused = (await api.post("mcp/servers/a/test")).body
        assert (refused["ok"], refused["server"]["authorization"]) == (False, "needed")
        assert "wants you to sign in" in refused["message"]

        begun = await api.post("mcp/servers/a/authorize", {"public_url": public_url})
        asked = parse_qs(urlsplit(str(begun.body["url"])).query)
        assert asked["code_challenge_method"] == ["S256"]
        assert asked["redirect_uri"] == [f"{public_url}shoulders/api/v1/mcp/oauth/callback"]
        wrong = await api.post("mcp/servers/a/authorize", {"public_url": "http://127.0.0.1/other"})
        assert wrong.status == 400
        back = await returned_to(begun.body["url"])
        headers = {"Authorization": api.token}
        async with httpx.AsyncClient(headers=headers) as browser:
            forged = await browser.get(re.sub("state=[^&]*", "state=other", back))
            assert (forged.status_code, "not known" in forged.text) == (400, True)
            done = await browser.get(back)
            assert (done.status_code, "signed in at a" in done.text) == (200, True)
            again = await browser.get(back)
            assert again.status_code == 400
        async with httpx.AsyncClient() as stranger:
            assert (await stranger.get(back)).status_code == 403

        tested = (await api.post("mcp/servers/a/test")).body
        assert (tested["ok"], tested["server"]["authorization"]) == (True, "signed_in")
        file = jp_home_dir / ".shoulders" / "mcp_sign_ins.json"
        tokens = json.loads(read(file))["servers"]["a"]["tokens"]
        assert mode_of(file) == 0o600
        for secret in (tokens["access_token"], tokens["refresh_token"]):
            assert files_with(secret, jp_home_dir, jp_root_dir) == [file]
            assert secret not in caplog.text

        out = await api.delete("mcp/servers/a/authorization")
        assert out.body["authorization"] == "none"
        assert files_with(tokens["refresh_token"], jp_home_dir) == []
        assert not (await api.post("mcp/servers/a/test")).body["ok"]
        assert (await listed(api))["a"]["authorization"] == "needed"
