import json
from pathlib import Path

import pytest

from tests.server.client import Api


async def test_tools_are_listed_with_their_schema(api: Api) -> None:
    answer = await api.get("tools")

    assert answer.status == 200
    tools = {tool["name"]: tool for tool in answer.body["tools"]}
    assert tools["complete"]["category"] == "loop"
    assert tools["complete"]["parameters"]["required"] == ["summary"]
    assert (answer.body["disabled"], answer.body["rules"]) == ([], [])


async def test_permissions_are_stored_and_take_effect(api: Api, state_dir: Path) -> None:
    rule = {"action": "allow", "tool": "run_cell", "match": {"path": "a.ipynb"}}

    answer = await api.put("tools/permissions", {"disabled": ["complete"], "rules": [rule]})

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
    answer = await api.put("tools/permissions", body)

    assert (answer.status, answer.code) == (400, "invalid_request")
    assert where in answer.error["message"]
    assert (await api.get("tools")).body["rules"] == []
