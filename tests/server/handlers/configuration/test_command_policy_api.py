"""Commands on shared machines: off unless the administrator allows them."""

from __future__ import annotations

import pytest
from traitlets.config import Config

from tests.server.client import Api


@pytest.fixture(params=["BINDER_SERVICE_HOST", "JUPYTERHUB_API_TOKEN"])
def shared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A variable that identifies a shared machine; requested before the server starts."""
    monkeypatch.setenv(request.param, "x")
    return request.param


@pytest.fixture
def allowed(jp_server_config: Config) -> None:
    jp_server_config.Shoulders.allow_commands = True


async def mode(api: Api) -> tuple[str, str]:
    found = (await api.get("settings")).body
    return found["values"]["commands"]["mode"], found["sources"]["commands.mode"]


async def offered(api: Api) -> bool:
    tools = (await api.get("tools")).body["tools"]
    return {tool["name"]: tool["enabled"] for tool in tools}["run_command"]


async def test_commands_are_on_on_ones_own_machine(api: Api) -> None:
    assert await mode(api) == ("sandbox", "default")
    assert await offered(api)


async def test_commands_are_off_on_a_shared_machine(shared: str, api: Api) -> None:
    put = await api.put("settings", {"commands": {"mode": "host"}})

    assert (put.status, put.code) == (422, "denied")
    assert await mode(api) == ("none", "administrator")
    assert not await offered(api)


async def test_an_administrator_may_allow_them(shared: str, allowed: None, api: Api) -> None:
    assert await mode(api) == ("sandbox", "default")
    assert await offered(api)
    put = await api.request(
        "PUT", "settings", {"commands": {"mode": "sandbox_read_only"}}, params={"scope": "user"}
    )
    assert put.status == 200
    assert await mode(api) == ("sandbox_read_only", "user")
