"""Tools, resources and prompts of a real MCP server over HTTP, with scripted models."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from jupyter_ai_shoulders.wire.base import JsonObject
from tests.mcp_client import sdk_server
from tests.mcp_client.probes import RAW_SERVER
from tests.server.client import Api
from tests.server.handlers.test_web_tools import Conversation, of_type, use
from tests.simulator import Simulator
from tests.simulator.script import ToolUse

ADD = "mcp__probe__add"
LOAD = use("load_tools", category="mcp__probe")
ADDS = ToolUse(name="call_tool", arguments={"name": ADD, "arguments": {"a": 2, "b": 40}})


@pytest.fixture
def jp_server_config(jp_server_config: Config) -> Config:
    entry = {"command": sys.executable, "args": [str(Path(sdk_server.__file__)), "stdio"]}
    jp_server_config.merge(Config({"Shoulders": {"mcp_servers": {"probe": entry}}}))
    return jp_server_config


@pytest.fixture
def conversation(api: Api, upstream: Simulator) -> Conversation:
    return Conversation(api, upstream)


async def test_a_tool_is_loaded_asked_about_and_called(conversation: Conversation):
    events = await conversation.play(LOAD, ADDS)
    [asked] = of_type(events, "approval-request")
    assert asked["tool"] == ADD
    assert asked["preview"] == '{\n  "a": 2,\n  "b": 40\n}'
    assert "always" not in asked["scopes"]  # what the server says about its tools was read
    assert "mcp__probe" in asked["reason"]["text"]
    loaded, added = of_type(events, "tool-result")
    assert "Add two numbers." in loaded["content"][0]["text"]
    assert (added["status"], added["content"][0]["text"]) == ("ok", "42")
    assert added["result"]["data"]["structured"] == {"result": 42}


async def test_a_denied_call_is_not_made(conversation: Conversation):
    events = await conversation.play(LOAD, ADDS, answer="deny")
    assert [each["status"] for each in of_type(events, "tool-result")] == ["ok", "denied"]


async def test_plan_mode_offers_none(conversation: Conversation):
    events = await conversation.play(LOAD, ADDS, mode="plan")
    assert of_type(events, "approval-request") == []
    assert [each["status"] for each in of_type(events, "tool-result")] == ["error", "error"]


SWITCHES: dict[str, dict[str, Any]] = {
    "external tools": {"rules": [], "disabled": [], "disable_external": True},
    "a denying rule": {
        "rules": [{"action": "deny", "tool": "mcp__probe__*", "match": None, "examples": None}],
        "disabled": [],
        "disable_external": False,
    },
}


@pytest.mark.parametrize("permissions", SWITCHES.values(), ids=SWITCHES)
async def test_rules_and_switches_hold(
    api: Api, conversation: Conversation, permissions: dict[str, Any]
):
    assert (await api.request("PUT", "tools/permissions", permissions)).status < 300
    events = await conversation.play(LOAD, ADDS)
    assert of_type(events, "approval-request") == []
    assert of_type(events, "tool-result")[-1]["status"] in {"denied", "error"}


async def test_resources_and_prompts_are_listed_and_read(
    api: Api, conversation: Conversation, upstream: Simulator
):
    assert (await api.get("mcp/resources", query="note")).body["resources"] == []  # starts nothing
    await conversation.play(LOAD)
    [note] = (await api.get("mcp/resources", query="note")).body["resources"]
    assert (note["server"], note["uri"]) == ("probe", "note://one")
    names = [each["name"] for each in (await api.get("mcp/prompts")).body["prompts"]]
    assert names == ["greet"]
    text = (await api.post("mcp/prompts/probe/greet", {"arguments": {"name": "Ada"}})).body
    assert text["text"] == "Say hello to Ada."
    attachment = {"kind": "mcp_resource", **{key: note[key] for key in ("server", "uri", "name")}}
    await conversation.play(text="See this.", attachments=[attachment])
    assert "a note" in json.dumps(upstream.requests[-1].body)


class TestChanges:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        """A server whose tools change when one is called."""
        entry = {"command": sys.executable, "args": [str(RAW_SERVER), "changing"]}
        jp_server_config.merge(Config({"Shoulders": {"mcp_servers": {"raw": entry}}}))
        return jp_server_config

    async def test_a_conversation_is_told_what_its_server_changed(
        self, api: Api, conversation: Conversation
    ):
        load = use("load_tools", category="mcp__raw")
        replace = ToolUse(
            name="call_tool", arguments={"name": "mcp__raw__replace", "arguments": {}}
        )
        events = await conversation.play(load, replace)
        path, after = f"sessions/{events[0]['session_id']}/events", events[-1]["seq"]
        async with asyncio.timeout(10):
            while not (found := (await api.get(path, after=after)).body["events"]):  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # the pace of a script that polls
        [notice] = of_type(found, "notice")
        assert (notice["level"], notice["code"]) == ("info", "server_tools_changed")
        assert notice["text"] == (
            "The MCP server raw changed its tools: new new; changed echo; removed replace."
        )


LIMITS = {
    "in all": ("mcp_call_timeout", "did not finish the tool hang within 1 s"),
    "silence": ("mcp_silence_timeout", "did not answer within 1 s"),
}


class TestLimits:
    @pytest.fixture
    def limit(self, request: pytest.FixtureRequest) -> str:
        """The trait that is set to a second."""
        return request.param[0]

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config, limit: str) -> Config:
        """Calls may take a second."""
        jp_server_config.merge(Config({"Shoulders": {limit: 1.0}}))
        return jp_server_config

    @pytest.mark.parametrize(
        ("limit", "said"),
        [(each, each[1]) for each in LIMITS.values()],
        ids=LIMITS,
        indirect=["limit"],
    )
    async def test_a_call_that_takes_too_long_ends_at_both_sides(
        self, conversation: Conversation, said: str, tmp_path: Path
    ):
        file = tmp_path / "hung"
        arguments: JsonObject = {"name": "mcp__probe__hang", "arguments": {"file": str(file)}}
        events = await conversation.play(LOAD, ToolUse(name="call_tool", arguments=arguments))
        error = of_type(events, "tool-result")[-1]["result"]["error"]
        assert (error["code"], said in error["message"]) == ("timeout", True)
        async with asyncio.timeout(10):
            while not file.exists():  # noqa: ASYNC110 another process writes it
                await asyncio.sleep(0.02)
