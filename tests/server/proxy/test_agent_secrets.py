"""Agents of others in the panel call models through the proxy, booked to their conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.host.external_agents.proxy_access import ModelProxy, ProxyAccess
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.server.client import Api
from tests.server.proxy.conftest import CLAUDE
from tests.simulator import Simulator, reply

BODY = {"model": CLAUDE, "max_tokens": 50, "messages": [{"role": "user", "content": "Hi"}]}


async def host_of(server: Any) -> Host:
    (app,) = server.extension_manager.extension_apps["jupyter_ai_shoulders"]
    return await app.service().host()


async def ask(url: str, headers: Mapping[str, str]) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.post(f"{url}/v1/messages", json=BODY, headers=dict(headers))


@pytest.mark.parametrize("header", ["x-api-key", "Authorization"])
async def test_calls_count_for_the_conversation_until_the_agent_ends(
    proxy_url: str, jp_serverapp: Any, api: Api, upstream: Simulator, header: str
) -> None:
    session = (await api.post("sessions", {})).body["id"]
    access = (await host_of(jp_serverapp)).protocols.proxy_access
    secret = access.issue(SessionId(session), None)
    headers = {header: secret if header == "x-api-key" else f"Bearer {secret}"}
    upstream.default(reply("Hello"))

    answer = await ask(proxy_url, headers)

    assert answer.json()["content"][0]["text"] == "Hello"
    [request] = upstream.requests
    assert secret not in str(request.headers)
    by_session: Any = (await api.get("usage", by="session")).body
    assert session in str(by_session)

    access.revoke(secret)
    assert (await ask(proxy_url, headers)).status_code == 401
    assert (await ask(proxy_url, {header: "shoulders-agent.x"})).status_code == 401
    assert len(upstream.requests) == 1


async def test_a_secret_opens_the_proxy_only(api: Api, jp_serverapp: Any, proxy_url: str) -> None:
    session = (await api.post("sessions", {})).body["id"]
    access = (await host_of(jp_serverapp)).protocols.proxy_access
    secret = access.issue(SessionId(session), None)
    url = proxy_url.removesuffix("proxy") + "api/v1/sessions"
    async with httpx.AsyncClient() as client:
        answer = await client.get(url, headers={"Authorization": f"token {secret}"})
    assert answer.status_code == 403


def test_the_variables_point_three_vendors_at_the_proxy() -> None:
    proxy = ModelProxy(ProxyAccess(), lambda: "http://127.0.0.1:8888/shoulders/proxy/")
    key = proxy.open("Codex", SessionId("s"), None)
    variables = key.variables()

    assert variables["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8888/shoulders/proxy"
    assert variables["OPENAI_BASE_URL"] == "http://127.0.0.1:8888/shoulders/proxy/v1"
    assert variables["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:8888/shoulders/proxy"
    assert {value for name, value in variables.items() if name.endswith("KEY")} == {key.secret}
