"""A named pipe in place of any configuration file: the server answers, and names it."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import Api

WORKSPACE = (
    *(".shoulders/models.json", ".shoulders/settings.json", ".shoulders/tools.json"),
    *(".shoulders/system.md", ".shoulders/_instructions.md", ".shoulders/skills/skills.json"),
    *(".shoulders/skills/one/SKILL.md", ".shoulders/times.json", ".shoulders/recoveries.json"),
    *(".shoulders/recovery/x.json", "AGENTS.md", "CLAUDE.md", ".git/config"),
)
HOME = (
    *(".shoulders/models.json", ".shoulders/settings.json", ".shoulders/keys.env"),
    ".shoulders/budget.json",
)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no named pipes in folders")
async def test_pipes_in_place_of_configuration_files_are_named_and_wait_for_nobody(
    api: Api, jp_root_dir: Path, jp_home_dir: Path
) -> None:
    for root, names in ((jp_root_dir, WORKSPACE), (jp_home_dir, HOME)):
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            os.mkfifo(root / name)

    assert (await api.get("status")).status == 200
    settings = (await api.get("settings")).body["problems"]
    models = (await api.get("models")).body["problems"]
    skills = (await api.get("skills")).body
    tools = await api.get("tools")
    usage = await api.get("usage")

    for where in (settings, models):
        assert [problem["message"].count("named pipe") for problem in where] == [1, 1], where
    assert "named pipe" in _text_of(tools)
    assert "named pipe" in _text_of(usage)
    assert skills is not None
    session_id = await api.new_session()
    assert (await api.send(session_id, "hi")).status in {202, 422, 503}


def _text_of(answer: Any) -> str:
    return str(answer.body)
