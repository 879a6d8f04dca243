"""Who may use the MCP server, and what an access token covers."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from traitlets.config import Config

from jupyter_ai_shoulders.server.mcp import endpoint
from tests.server.client import Api
from tests.server.mcp.conftest import Connect

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "Robot", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}
METHODS = ["GET", "POST", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS"]


@pytest.fixture
def switched_off(jp_server_config: Config) -> None:
    jp_server_config.Shoulders.mcp_server = False


async def ask(
    url: str, headers: dict[str, str], method: str = "POST", **kwargs: Any
) -> httpx.Response:
    body = json.dumps(HELLO) if method in {"POST", "PUT", "PATCH"} else None
    given = {**ACCEPT, "Content-Type": "application/json", **headers}
    async with httpx.AsyncClient(timeout=20) as http:
        return await http.request(method, url, headers=given, content=body, **kwargs)


async def new_token(api: Api, *scopes: str, name: str = "Claude Code") -> dict[str, Any]:
    answer = await api.post("access-tokens", {"name": name, "scopes": scopes})
    assert answer.status == 201, answer
    return answer.body


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer shoulders-mcp.wrong"},
        {"Authorization": "Token shoulders-kernel.k1.wrong"},
        {"Cookie": "username-127-0-0-1=forged; _xsrf=x"},
    ],
    ids=["no token", "wrong token", "unknown access token", "kernel secret", "cookie"],
)
async def test_a_request_without_a_valid_token_is_refused(
    mcp_url: str, headers: dict[str, str]
) -> None:
    statuses = {method: (await ask(mcp_url, headers, method)).status_code for method in METHODS}

    served = {method: statuses.pop(method) for method in ("GET", "POST", "DELETE")}
    assert set(served.values()) == {401}, served
    assert set(statuses.values()) <= {401, 405}, statuses


async def test_a_foreign_origin_is_refused_with_whatever_token(
    mcp_url: str, jp_auth_header: dict[str, str], api: Api
) -> None:
    token = await new_token(api, "read")
    both = (jp_auth_header, {"Authorization": f"Bearer {token['secret']}"})
    for headers, method in product(both, METHODS):
        answer = await ask(mcp_url, {**headers, "Origin": "http://evil.example"}, method)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example"])
async def test_a_foreign_host_is_refused(
    mcp_url: str, jp_auth_header: dict[str, str], host: str
) -> None:
    answer = await ask(mcp_url, {**jp_auth_header, "Host": host})

    assert answer.status_code in {401, 403}


async def test_the_own_origin_and_a_token_in_the_address_are_accepted(
    mcp_url: str, jp_auth_header: dict[str, str]
) -> None:
    origin = mcp_url.split("/a%40b", maxsplit=1)[0]
    token = jp_auth_header["Authorization"].split()[1]

    answer = await ask(mcp_url, {"Origin": origin}, params={"token": token})

    assert answer.status_code == 200


async def test_a_token_is_made_listed_used_and_revoked(
    connect: Connect, api: Api, mcp_url: str, notebook: str
) -> None:
    made = await new_token(api, "read")
    secret, listed = made["secret"], made["token"]
    assert listed["last_used_at"] is None

    async with connect(token=secret) as client:
        result = await client.call_tool("read_notebook", {"path": notebook})
    shown = (await api.get("access-tokens")).body
    assert not result.is_error
    assert shown["enabled"] is True
    assert shown["install"] is None
    assert shown["url_path"].endswith("/shoulders/mcp")
    (token,) = shown["tokens"]
    assert token["last_used_at"] is not None
    assert {**token, "last_used_at": None} == listed

    file = Path.home() / ".shoulders" / "mcp_tokens.json"
    assert secret not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    (session,) = (await api.get("sessions")).body["sessions"]
    assert session["model"] == "client:Claude Code"

    assert (await api.delete(f"access-tokens/{token['id']}")).status == 204
    assert (await ask(mcp_url, {"Authorization": f"Bearer {secret}"})).status_code == 401
    assert (await api.delete(f"access-tokens/{token['id']}")).status == 404


@pytest.mark.parametrize(
    "body",
    [
        {"name": "", "scopes": ["read"]},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["all"]},
        {"name": "Taken", "scopes": ["read"]},
    ],
    ids=["no name", "no scope", "unknown scope", "name taken"],
)
async def test_a_wrong_token_is_not_made(api: Api, body: dict[str, Any]) -> None:
    await new_token(api, "read", name="Taken")

    assert (await api.post("access-tokens", body)).status == 400


@pytest.mark.parametrize(
    ("scopes", "offered", "missing"),
    [
        (["read"], {"read_notebook", "list_files"}, {"edit_cell", "run_cell", "read_file"}),
        (["edit"], {"edit_cell", "add_cell"}, {"read_notebook", "run_cell", "write_file"}),
        (["run"], {"run_cell", "run_code"}, {"edit_cell", "read_file"}),
        (["files"], {"read_file", "list_files"}, {"write_file", "delete_file", "edit_cell"}),
        (["files", "edit"], {"write_file", "delete_file"}, {"run_cell", "run_command"}),
    ],
    ids=["read", "edit", "run", "files", "files and edit"],
)
async def test_a_token_covers_its_scopes_only(
    connect: Connect, api: Api, scopes: list[str], offered: set[str], missing: set[str]
) -> None:
    token = await new_token(api, *scopes)
    async with connect(token=token["secret"]) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        refused = [await client.call_tool(name, {"path": "x.ipynb"}) for name in sorted(missing)]

    assert offered <= names
    assert missing.isdisjoint(names)
    assert all(result.is_error for result in refused)
    assert (await api.get("sessions")).body["sessions"] == []


async def test_an_access_token_opens_no_other_route(api: Api, mcp_url: str) -> None:
    token = await new_token(api, "read", "edit", "run", "files")
    root = mcp_url.removesuffix("shoulders/mcp")
    headers = {"Authorization": f"Bearer {token['secret']}"}
    paths = ["api/contents", "shoulders/api/v1/access-tokens", "shoulders/proxy/v1/models"]
    statuses = [(await ask(f"{root}{path}", headers, "GET")).status_code for path in paths]

    assert all(status in {401, 403} for status in statuses), statuses


async def test_a_session_belongs_to_the_credential_that_began_it(
    api: Api, mcp_url: str, jp_auth_header: dict[str, str]
) -> None:
    opened = await ask(mcp_url, jp_auth_header)
    token = await new_token(api, "read")
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}

    answer = await ask(mcp_url, {**session, "Authorization": f"Bearer {token['secret']}"})

    assert answer.status_code == 404


@pytest.mark.usefixtures("switched_off")
async def test_the_server_can_be_switched_off(
    mcp_url: str, jp_auth_header: dict[str, str], api: Api
) -> None:
    answer = await ask(mcp_url, jp_auth_header)

    assert answer.status_code == 404
    assert "Shoulders.mcp_server" in answer.text
    assert (await api.get("access-tokens")).body["enabled"] is False


async def test_a_missing_sdk_names_the_command_that_installs_it(
    mcp_url: str, jp_auth_header: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def missing() -> None:
        raise endpoint.McpNotInstalled

    monkeypatch.setattr(endpoint, "_import_sdk", missing)
    answer = await ask(mcp_url, jp_auth_header)

    assert answer.status_code == 501
    assert 'pip install \\"jupyter-ai-shoulders[mcp]\\"' in answer.text


async def test_a_body_that_is_too_large_is_refused(
    mcp_url: str, jp_auth_header: dict[str, str]
) -> None:
    async with httpx.AsyncClient() as http:
        answer = await http.post(
            mcp_url, headers={**jp_auth_header, **ACCEPT}, content=b'"' + b"x" * (9 << 20) + b'"'
        )

    assert answer.status_code == 413
