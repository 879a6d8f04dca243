"""Data of the settings page: revisions, frames to other pages, reasons, health."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities
from jupyter_ai_shoulders.host.tools.command_execution import CommandExecution
from tests.server.client import NO_RULES, Api
from tests.server.conftest import OpenPage

RULE = {"action": "ask", "tool": "run_cell", "match": None}


def store(file: Path, text: str) -> None:
    """Edit a file as the user."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.write_text(text)


def content(file: Path) -> str:
    return file.read_text()


async def tool(api: Api, name: str) -> dict[str, Any]:
    tools = (await api.get("tools")).body["tools"]
    return next(each for each in tools if each["name"] == name)


async def test_permissions_made_from_an_older_list_are_not_stored(
    api: Api, state_dir: Path
) -> None:
    seen = (await api.get("tools")).body["revision"]
    await api.put("tools/permissions", NO_RULES | {"disabled": ["todo"], "revision": seen})

    refused = await api.put("tools/permissions", NO_RULES | {"rules": [RULE], "revision": seen})

    assert (refused.status, refused.code) == (409, "stale")
    held = (await api.get("tools")).body
    assert (held["disabled"], held["rules"]) == (["todo"], [])
    body = {"disabled": ["todo"], "rules": [RULE], "revision": held["revision"]}
    assert (await api.put("tools/permissions", NO_RULES | body)).status == 200
    store(state_dir / "tools.json", '{"version": 1}')
    assert (await api.put("tools/permissions", NO_RULES | body)).code == "stale"


async def test_a_rule_that_is_invalid_in_the_file_stays_until_it_is_removed(
    api: Api, state_dir: Path
) -> None:
    typo = {"action": "alow", "tool": "run_cell", "why": "for the demo"}
    store(state_dir / "tools.json", json.dumps({"version": 1, "rules": [typo, {"tool": 3}]}))
    shown = (await api.get("tools")).body["rules"]
    rules = [
        {name: each[name] for name in ("action", "tool", "match", "examples")} for each in shown
    ]

    kept = await api.put(
        "tools/permissions", NO_RULES | {"disabled": ["todo"], "rules": [*rules, RULE]}
    )

    assert kept.status == 200, kept
    held = json.loads(content(state_dir / "tools.json"))
    assert held["rules"][:2] == [typo, {"tool": 3}]
    assert [each["problem"] is None for each in kept.body["rules"]] == [False, False, True]
    assert (await api.put("tools/permissions", NO_RULES | {"rules": [RULE]})).body["problems"] == []


async def test_settings_made_from_older_ones_are_not_stored(api: Api) -> None:
    seen = (await api.get("settings")).body["revision"]
    stored = await api.put("settings", {"models": {"mode": "local"}, "revision": seen})

    refused = await api.put("settings", {"models": {"mode": "remote"}, "revision": seen})

    assert (refused.status, refused.code) == (409, "stale")
    held = (await api.get("settings")).body
    assert held == stored.body
    assert held["values"]["models"]["mode"] == "local"


async def test_limits_made_from_older_ones_are_not_stored(api: Api) -> None:
    seen = (await api.get("usage")).body["budget"]["revision"]
    await api.put("budget", {"month_micro_usd": 5_000_000, "revision": seen})

    refused = await api.put("budget", {"day_micro_usd": 1_000_000, "revision": seen})

    assert (refused.status, refused.code) == (409, "stale")
    month, day, *_ = (await api.get("usage")).body["budget"]["limits"]
    assert (month["user_micro_usd"], day["user_micro_usd"]) == (5_000_000, None)


@pytest.mark.parametrize(
    ("path", "body", "part"),
    [
        ("settings", {"models": {"mode": "local"}}, "settings"),
        ("budget", {"month_micro_usd": 1}, "budget"),
        ("providers/openai/key", {"key": "a-key-of-somebody-0123"}, "providers"),
    ],
    ids=["settings", "budget", "key"],
)
async def test_every_page_learns_of_other_settings(
    api: Api, open_page: OpenPage, path: str, body: Any, part: str
) -> None:
    page = await open_page()
    page.hello()
    await page.until("welcome")

    assert (await api.put(path, body)).status == 200

    assert await page.until("settings-update") == {"type": "settings-update", "part": part}


async def test_tools_say_why_they_are_off_and_what_holds_them(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def landlock(_self: CommandExecution) -> SandboxCapabilities:
        return SandboxCapabilities("landlock")

    monkeypatch.setattr(CommandExecution, "facts", landlock)
    await api.put("tools/permissions", NO_RULES | {"disabled": ["todo"]})

    assert (await tool(api, "todo"))["off_because"] == "disabled"
    assert (await tool(api, "read_file"))["sandboxed"] is None
    assert (await tool(api, "run_cell"))["sandboxed"] is False
    command = await tool(api, "run_command")
    assert (command["sandboxed"], command["off_because"]) == (True, None)

    await api.put("settings", {"commands": {"mode": "host"}})
    assert (await tool(api, "run_command"))["sandboxed"] is False
    await api.put("settings", {"commands": {"mode": "none"}})
    assert (await tool(api, "run_command"))["off_because"] == "settings"


class TestCommandsTheAdministratorForbids:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.allow_commands = False
        return jp_server_config

    async def test_say_which_trait_forbids_them(self, api: Api) -> None:
        locks = (await api.get("settings")).body["locks"]

        assert list(locks) == ["commands.mode"]
        assert "Shoulders.allow_commands" in locks["commands.mode"]
        refused = await api.put("settings", {"commands": {"mode": "host"}})
        assert (refused.status, refused.error["hint"]) == (422, locks["commands.mode"])


async def test_models_tell_where_requests_go_and_what_is_wrong_in_the_files(
    api: Api, state_dir: Path
) -> None:
    store(
        state_dir / "models.json",
        '{"providers": {"lab": {"kind": "openai_chat", "auth": "none",\n'
        '"url": "http://ada:secret@127.0.0.1:8000/v1?key=secret"}},\n'
        '"models": [{"id": "odd", "no_such_key": 1}]}',
    )
    await api.trust_folder()

    listing = (await api.get("models")).body

    lab = next(each for each in listing["providers"] if each["id"] == "lab")
    assert (lab["host"], lab["local"], lab["key_name"]) == ("127.0.0.1:8000", True, None)
    assert {each["line"] for each in listing["problems"]} == {3}
    assert [each["purpose"] for each in listing["single_calls"]] == ["ghost", "cheapest"]


async def test_the_model_of_new_conversations_is_the_one_the_settings_name(api: Api) -> None:
    await api.put("providers/anthropic/key", {"key": "a-key-of-somebody-0123"})
    before = (await api.get("models")).body
    assert before["default_set"] is False
    usable = [each["id"] for each in before["models"] if each["provider"] == "anthropic"]
    named = next(model for model in usable if model != before["default"])

    stored = await api.put("settings", {"models": {"mode": "remote", "default": named}})

    assert stored.status == 200, stored
    after = (await api.get("models")).body
    assert (after["default"], after["default_set"]) == (named, True)
    await api.put("settings", {"models": {"default": "gone"}})
    assert (await api.get("models")).body["default_set"] is False


async def test_a_check_costs_nothing_and_says_what_fails(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-that-is-wrong")

    found = await api.post("providers/anthropic/check")

    assert found.status == 200, found
    assert (found.body["state"], found.body["error"]["code"]) == ("failing", "authentication")
    listing = (await api.get("models")).body
    (anthropic,) = [each for each in listing["providers"] if each["id"] == "anthropic"]
    assert anthropic["state"] == "failing"
    assert (await api.get("usage")).body["total"]["calls"] == 0
    assert (await api.post("providers/none/check")).status == 404


async def test_files_of_instructions_are_named_with_what_is_wrong_in_them(
    api: Api, jp_root_dir: Path, state_dir: Path
) -> None:
    assert (await api.get("instructions")).body["files"] == []
    own = "Use polars.\n\n---\nglobs: 3\n---\nNever.\n\n---\nglobs: '*.md'\n---\nBe short.\n"
    store(jp_root_dir / "_instructions.md", own)
    store(jp_root_dir / "AGENTS.md", "Test first.")
    store(state_dir / "system.md", "Be kind.")
    await api.trust_folder()

    told = (await api.get("instructions")).body

    found = [(each["path"], each["role"], each["rules"]) for each in told["files"]]
    assert found == [
        (".shoulders/system.md", "system", 0),
        ("_instructions.md", "instructions", 1),
        ("AGENTS.md", "other", 0),
    ]
    assert told["files"][1]["characters"] == len(own)
    assert told["files"][1]["problems"][0].startswith("_instructions.md, line 3")
    assert (told["skills"], told["problems"]) == (1, [])
