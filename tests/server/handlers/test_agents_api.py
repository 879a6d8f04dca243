"""``agents``: what the picker of agents shows."""

from __future__ import annotations

import json
from pathlib import Path

from tests.server.client import Api


async def test_agents_are_listed_with_those_of_the_user_but_none_of_the_folder(
    api: Api, jp_home_dir: Path, jp_root_dir: Path
) -> None:
    for folder, name in ((jp_home_dir, "mine"), (jp_root_dir, "theirs")):
        (folder / ".shoulders").mkdir(exist_ok=True)
        entries = {"acp_agents": {name: {"command": ["no-such-program"]}}}
        (folder / ".shoulders" / "settings.json").write_text(json.dumps(entries))

    agents = {agent["id"]: agent for agent in (await api.get("agents")).body["agents"]}

    assert agents["agent:mine"]["source"] == "user"
    assert not agents["agent:mine"]["installed"]
    assert agents["agent:codex"]["install"] == "npm install -g @agentclientprotocol/codex-acp"
    assert "agent:theirs" not in agents
