"""The settings of MCP servers: entries, trust, values, states, and locks by the administrator."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from tests.mcp_client.probes import HOSTILE_SERVER, RAW_SERVER
from tests.server.client import Api

SECRET = "sk-canary-0123456789abcdef"


@pytest.fixture
def user_file(jp_home_dir: Path) -> Path:
    """``~/.shoulders/mcp.json``, in a folder that exists."""
    folder = jp_home_dir / ".shoulders"
    folder.mkdir(exist_ok=True)
    return folder / "mcp.json"


def write(file: Path, content: object) -> None:
    file.write_text(content if isinstance(content, str) else json.dumps(content))


def read(file: Path) -> str:
    return file.read_text()


def files_with(secret: str, *folders: Path) -> list[Path]:
    return [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]


def mode_of(file: Path) -> int:
    return file.stat().st_mode & 0o777


def raw(*arguments: str, **fields: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(RAW_SERVER), *arguments], **fields}


async def listed(api: Api) -> dict[str, Any]:
    answer = await api.get("mcp/servers")
    assert answer.status == 200, answer
    return {server["name"]: server for server in answer.body["servers"]}


async def test_variables_that_a_change_leaves_out_stay(api: Api, user_file: Path) -> None:
    body = {"transport": "stdio", "command": "x", "env": {"KEY": "value"}}
    await api.put("mcp/servers/a", body)
    await api.put("mcp/servers/a", {"transport": "stdio", "command": "y"})
    kept: dict[str, Any] = {"command": "y", "args": [], "env": {"KEY": "value"}}
    assert json.loads(read(user_file))["mcpServers"] == {"a": kept}
    await api.put("mcp/servers/a", {"transport": "stdio", "command": "y", "env": {}})
    assert "env" not in json.loads(read(user_file))["mcpServers"]["a"]


async def test_asking_for_a_model_is_switched_on_and_off_and_kept(
    api: Api, user_file: Path
) -> None:
    body: dict[str, Any] = {"transport": "stdio", "command": "x"}
    assert (await api.put("mcp/servers/a", body)).body["sampling"] is False
    for given, kept in (({"sampling": True}, True), ({}, True), ({"sampling": False}, False)):
        assert (await api.put("mcp/servers/a", {**body, **given})).body["sampling"] is kept
    assert "sampling" not in json.loads(read(user_file))["mcpServers"]["a"]


async def test_a_user_adds_tests_switches_and_removes_a_server(api: Api, user_file: Path) -> None:
    write(user_file, {"theme": "mine", "mcpServers": {"a": {"note": 1, **raw()}}})
    body = {"transport": "stdio", "command": sys.executable, "args": [str(RAW_SERVER)]}
    assert (await api.put("mcp/servers/a", body)).body["status"] == "stopped"
    tested = (await api.post("mcp/servers/a/test")).body
    assert (tested["ok"], tested["message"]) == (
        True,
        "It answers: tools: 4, resources: 0, prompts: 0.",
    )
    assert (tested["server"]["status"], tested["server"]["tool_count"]) == ("running", 4)
    assert tested["server"]["instructions"] == "Be careful."
    assert (await api.post("mcp/servers/a/stop")).body["status"] == "stopped"
    assert (await api.post("mcp/servers/a/restart")).body["status"] == "running"
    off = (await api.put("mcp/servers/a/enabled", {"enabled": False})).body
    assert (off["enabled"], off["status"]) == (False, "stopped")
    refused = (await api.post("mcp/servers/a/test")).body
    assert (refused["ok"], "switched off" in refused["message"]) == (False, True)
    written = json.loads(read(user_file))
    assert written["theme"] == "mine"
    assert written["mcpServers"]["a"]["note"] == 1
    assert mode_of(user_file) == 0o600
    assert (await api.delete("mcp/servers/a")).status == 204
    assert await listed(api) == {}
    assert (await api.post("mcp/servers/a/test")).status == 404


async def test_tools_that_are_left_out_are_shown_with_their_reasons(
    api: Api, user_file: Path
) -> None:
    arguments = ["-IS", str(HOSTILE_SERVER), "many_tools"]
    write(user_file, {"mcpServers": {"a": {"command": sys.executable, "args": arguments}}})
    assert (await api.post("mcp/servers/a/test")).body["ok"]
    async with asyncio.timeout(20):
        while not (server := (await listed(api))["a"])["left_out"]:  # noqa: ASYNC110 read by requests
            await asyncio.sleep(0.05)
    reason = "only the first 200 tools of a server are offered"
    assert server["left_out"][0] == {"tool": "t200", "reason": reason}
    assert len(server["left_out"]) + server["more_left_out"] == 4_800
    assert server["unread"].startswith("Only the first 5,000 were read")


async def test_broken_files_and_entries_are_reported_with_their_lines(
    api: Api, user_file: Path, jp_root_dir: Path
) -> None:
    write(user_file, '{"mcpServers":\n {"a": {"command": 5},\n "b": {"type": "odd"}}}')
    write(jp_root_dir / ".mcp.json", '{"mcpServers":\n {"a" 1}}')
    problems = (await api.get("mcp/servers")).body["problems"]
    assert [(one["file"], one["line"], one["server"]) for one in problems] == [
        ("~/.shoulders/mcp.json", 2, "a"),
        ("~/.shoulders/mcp.json", 3, "b"),
        (".mcp.json", 2, None),
    ]
    body = {"transport": "stdio", "command": "x"}
    assert (await api.put("mcp/servers/new", body)).status == 200
    write(user_file, "{")
    assert (await api.put("mcp/servers/new", body)).status == 409
    assert read(user_file) == "{"


async def warnings_of(api: Api, server: dict[str, Any]) -> list[str]:
    """Return what the review of an entry warns of."""
    items = {item["id"]: item for item in (await api.get("trust")).body["items"]}
    return items[server["trust_id"]]["warnings"]


async def test_a_server_of_the_folder_waits_for_an_answer_about_exactly_this_entry(
    api: Api, jp_root_dir: Path
) -> None:
    file = jp_root_dir / ".mcp.json"
    write(file, {"mcpServers": {"a": raw(env={"X": "1"})}})
    server = (await listed(api))["a"]
    assert (server["trust"], server["source"]) == ("new", "workspace")
    refused = (await api.post("mcp/servers/a/test")).body
    assert (refused["ok"], refused["server"]["status"]) == (False, "stopped")
    items = {item["id"]: item for item in (await api.get("trust")).body["items"]}
    assert items[server["trust_id"]]["name"] == "a"
    assert (await api.put("trust", {"trust": [server["trust_id"]]})).status == 200
    assert (await api.post("mcp/servers/a/test")).body["ok"]
    write(file, {"mcpServers": {"a": raw(env={"X": "2"})}})
    changed = (await listed(api))["a"]
    assert (changed["trust"], changed["status"]) == ("changed", "stopped")
    assert (await warnings_of(api, changed)) == [
        "Changed since your answer: values of variables or headers, or other fields."
    ]
    write(file, {"mcpServers": {"a": {"url": "https://evil.example/", "headers": {"Y": "2"}}}})
    command = shlex.join([sys.executable, str(RAW_SERVER)])
    assert (await warnings_of(api, (await listed(api))["a"])) == [
        f"Changed since your answer: the command was {command}, and is none.",
        "Changed since your answer: the address was none, and is https://evil.example/.",
        "Changed since your answer: variables were removed: X.",
        "Changed since your answer: headers were added: Y.",
    ]
    assert not (await api.post("mcp/servers/a/test")).body["ok"]


async def test_a_missing_value_is_asked_for_and_shown_nowhere(
    api: Api, user_file: Path, jp_root_dir: Path
) -> None:
    entry = raw(env={"KEY": "${PROBE_KEY}", "LEVEL": "${PROBE_LEVEL:-low}"})
    write(user_file, {"mcpServers": {"a": entry}})
    server = (await listed(api))["a"]
    assert server["missing_values"] == [{"name": "PROBE_KEY", "used_in": ["env.KEY"]}]
    assert "PROBE_KEY" in server["blocked"]
    stored = await api.put("mcp/servers/a/values/PROBE_KEY", {"value": SECRET})
    assert (stored.body["missing_values"], stored.body["stored_values"]) == ([], ["PROBE_KEY"])
    assert (await api.put("mcp/servers/a/values/OTHER", {"value": SECRET})).status == 404
    assert (await api.post("mcp/servers/a/test")).body["ok"]
    assert SECRET not in json.dumps((await api.get("mcp/servers")).body)
    assert files_with(SECRET, user_file.parent, jp_root_dir) == [user_file.with_name("keys.env")]
    removed = await api.put("mcp/servers/a/values/PROBE_KEY", {"value": None})
    assert [value["name"] for value in removed.body["missing_values"]] == ["PROBE_KEY"]


class TestLocked:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        """Only the administrator's servers exist."""
        jp_server_config.Shoulders.mcp_servers = {"given": raw()}
        jp_server_config.Shoulders.mcp_servers_locked = True
        return jp_server_config

    async def test_only_the_administrators_servers_exist(
        self, api: Api, jp_root_dir: Path, user_file: Path
    ) -> None:
        text = json.dumps({"mcpServers": {"a": raw()}})
        write(user_file, text)
        write(jp_root_dir / ".mcp.json", text)
        body = (await api.get("mcp/servers")).body
        assert [server["name"] for server in body["servers"]] == ["given"]
        assert "administrator" in body["lock_reason"]
        put = await api.put("mcp/servers/a", {"transport": "stdio", "command": "x"})
        off = await api.put("mcp/servers/given/enabled", {"enabled": False})
        assert (put.code, off.code) == ("disabled", "disabled")
        assert (await api.post("mcp/servers/given/test")).body["ok"]
