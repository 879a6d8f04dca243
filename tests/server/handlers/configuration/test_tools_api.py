import json
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from tests.server.client import NO_RULES, Api


async def test_tools_are_listed_with_their_schema(api: Api) -> None:
    answer = await api.get("tools")

    assert answer.status == 200
    tools = {tool["name"]: tool for tool in answer.body["tools"]}
    assert tools["complete"]["category"] == "loop"
    assert tools["complete"]["parameters"]["required"] == ["summary"]
    assert (answer.body["disabled"], answer.body["rules"]) == ([], [])


async def test_permissions_are_stored_and_take_effect(api: Api, state_dir: Path) -> None:
    rule = {"action": "allow", "tool": "run_cell", "match": {"path": "a.ipynb"}}

    answer = await api.put(
        "tools/permissions", NO_RULES | {"disabled": ["complete"], "rules": [rule]}
    )

    assert answer.status == 200
    assert answer.body == (await api.get("tools")).body
    assert answer.body["disabled"] == ["complete"]
    assert [r["action"] for r in answer.body["rules"]] == ["allow"]
    (complete,) = [tool for tool in answer.body["tools"] if tool["name"] == "complete"]
    assert complete["enabled"] is False
    assert json.loads((state_dir / "tools.json").read_text())["disabled"] == ["complete"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"rules": [{"action": "maybe", "tool": "run_cell"}]}, "rules.0.action"),
        ({"version": 2}, "version"),
        ({"rules": [{"action": "deny", "tool": "x", "match": {"colour": "red"}}]}, "Rule 1"),
    ],
    ids=["action", "version", "match"],
)
async def test_permissions_that_make_no_sense_change_nothing(
    api: Api, state_dir: Path, body: dict[str, object], where: str
) -> None:
    answer = await api.put("tools/permissions", NO_RULES | body)

    assert (answer.status, answer.code) == (400, "invalid_request")
    assert where in answer.error["message"]
    assert (await api.get("tools")).body["rules"] == []


async def test_examples_and_the_switch_for_external_tools_come_back(api: Api) -> None:
    examples = {"match": ["git diff HEAD"], "not_match": ["git push"]}
    rule = {"action": "ask", "tool": "todo", "match": {"command": "git diff"}}
    body = {"rules": [{**rule, "examples": examples}], "disable_external": True}

    answer = (await api.put("tools/permissions", NO_RULES | body)).body

    assert answer["disable_external"] is True
    assert answer["rules"] == [
        {
            **rule,
            "examples": examples,
            "problem": None,
            "line": 5,
            "locked": False,
            "applies": True,
            "note": None,
        }
    ]
    assert all(
        tool["enabled"] != tool["external"]
        for tool in answer["tools"]
        if tool["off_because"] != "settings"
    )


def store(state_dir: Path, text: str) -> None:
    """Edit the file as the user."""
    state_dir.mkdir(mode=0o700)
    (state_dir / "tools.json").write_text(text)


async def test_unknown_names_and_invalid_rules_are_reported(api: Api, state_dir: Path) -> None:
    store(
        state_dir,
        '{"version": 1, "rules": [{"action": "deny", "tool": "no_such_tool"},\n{"action": "x"}]}',
    )

    problems = (await api.get("tools")).body["problems"]

    assert len(problems) == 2
    assert "line 2" in problems[0]
    assert "no_such_tool" in problems[1]


async def test_file_of_a_newer_version_is_not_overwritten(api: Api, state_dir: Path) -> None:
    store(state_dir, '{"version": 9}')

    answer = await api.put("tools/permissions", NO_RULES | {"disabled": ["todo"]})

    assert (answer.status, answer.code) == (409, "conflict")
    assert (state_dir / "tools.json").read_text() == '{"version": 9}'
    assert "version 9" in (await api.get("tools")).body["problems"][0]


class TestLockedByTheAdministrator:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.rules = [{"action": "deny", "tool": "todo"}]
        return jp_server_config

    async def test_rules_of_the_trait_stay_whatever_is_put(self, api: Api) -> None:
        await api.put(
            "tools/permissions", NO_RULES | {"rules": [{"action": "allow", "tool": "todo"}]}
        )

        rules = (await api.get("tools")).body["rules"]

        assert [(rule["action"], rule["locked"]) for rule in rules] == [
            ("deny", True),
            ("allow", False),
        ]


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        (None, "disabled"),
        ({}, "disabled"),
        ({"disabled": []}, "rules"),
        ({"disabled": [], "rules": []}, "disable_external"),
    ],
    ids=["no body", "empty", "no rules", "no switch"],
)
async def test_a_list_of_permissions_with_a_part_missing_changes_nothing(
    api: Api, body: dict[str, Any] | None, missing: str
) -> None:
    await api.put("tools/permissions", NO_RULES | {"disabled": ["todo"], "disable_external": True})

    refused = await api.put("tools/permissions", body)

    assert (refused.status, refused.code) == (400, "invalid_request")
    assert refused.error["message"] == f"{missing}: Field required."
    listed = (await api.get("tools")).body
    assert (listed["disabled"], listed["disable_external"]) == (["todo"], True)
