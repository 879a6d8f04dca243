"""Agents of others: which are found, who may name them, and what they are started with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.host.external_agents.agent_catalogue import (
    AgentCatalogue,
    AgentVariables,
)
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.api.agents import AgentInfo
from jupyter_ai_shoulders.wire.ids import ModelId

GEMINI = ModelId("agent:gemini")
MINE = ModelId("agent:mine")
SECRETS = {"ANTHROPIC_API_KEY": "sk-ant-secret", "JUPYTERHUB_API_TOKEN": "hub-secret"}


def catalogue(
    folder: Path,
    *,
    user: object = None,
    fixed: Mapping[str, Any] | None = None,
    is_locked: bool = False,
    keys: Mapping[str, str] | None = None,
) -> AgentCatalogue:
    """A catalogue of a machine on which only Gemini CLI is installed."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "gemini").write_text("#!/bin/sh\nexit 1\n")
    (programs / "gemini").chmod(0o755)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    if user is not None:
        (home / "settings.json").write_text(json.dumps({"acp_agents": user}))
    environ = {"PATH": str(programs), "HOME": str(home), "LC_ALL": "C.UTF-8", **SECRETS}
    return AgentCatalogue(
        fixed or {},
        StateFile(StateDirectory(home), "settings.json"),
        AgentVariables(environ, {**environ, **(keys or {})}.get),
        is_locked=is_locked,
    )


async def listed(agents: AgentCatalogue) -> dict[str, AgentInfo]:
    return {info.id: info for info in (await agents.listing()).agents}


async def test_known_agents_are_listed_with_their_install_command(tmp_path: Path) -> None:
    agents = await catalogue(tmp_path).listing()

    assert agents.problem is None
    assert [(info.id, info.installed, info.command) for info in agents.agents] == [
        ("agent:gemini", True, "gemini --acp"),
        ("agent:claude-code", False, "claude-agent-acp"),
        ("agent:codex", False, "codex-acp"),
        ("agent:opencode", False, "opencode acp"),
        ("agent:goose", False, "goose acp"),
    ]
    assert all(info.install and info.source == "known" for info in agents.agents)


async def test_an_entry_of_the_user_adds_an_agent(tmp_path: Path) -> None:
    agents = catalogue(tmp_path, user={"mine": {"command": "gemini --acp 'x y'", "title": "Mine"}})

    assert (await listed(agents))[MINE] == AgentInfo(
        id=MINE,
        title="Mine",
        command="gemini --acp 'x y'",
        installed=True,
        install=None,
        source="user",
        problem=None,
    )
    assert agents.agent(MINE).arguments == ("--acp", "x y")


def test_only_given_fields_change_a_known_agent_and_the_administrator_wins(tmp_path: Path) -> None:
    agents = catalogue(
        tmp_path,
        user={"gemini": {"install": "get gemini", "title": "My Gemini", "env": {"A": "1"}}},
        fixed={"gemini": {"title": "Gemini of the lab", "env": {"B": "2"}}},
    )

    agent = agents.agent(GEMINI)

    assert (agent.title, agent.program, agent.arguments) == (
        "Gemini of the lab",
        "gemini",
        ("--acp",),
    )
    assert (agent.install, agent.env, agent.source) == ("get gemini", {"B": "2"}, "administrator")


@pytest.mark.parametrize(
    ("user", "fixed", "is_locked", "model", "said"),
    [
        pytest.param({}, {}, False, MINE, "There is no agent", id="unknown"),
        pytest.param(
            {"gemini": {"disabled": True}}, {}, False, GEMINI, "in your settings", id="switched off"
        ),
        pytest.param(
            {"gemini": {"disabled": False}},
            {"gemini": {"disabled": True}},
            False,
            GEMINI,
            "by your administrator",
            id="switched off by the administrator",
        ),
        pytest.param({}, {}, True, GEMINI, "administrator has limited", id="locked: known"),
        pytest.param(
            {"mine": {"command": ["gemini"]}}, {}, True, MINE, "no agent", id="locked: own"
        ),
        pytest.param({"mine": {"title": "Mine"}}, {}, False, MINE, "no command", id="no command"),
        pytest.param(
            {"mine": {"command": []}}, {}, False, MINE, "acp_agents.mine: command", id="wrong value"
        ),
        pytest.param(
            {"mine": {"comand": "x"}}, {}, False, MINE, "acp_agents.mine: comand", id="wrong field"
        ),
    ],
)
def test_an_agent_that_may_not_be_used_says_why(
    tmp_path: Path,
    user: Mapping[str, Any],
    fixed: Mapping[str, Any],
    *,
    is_locked: bool,
    model: ModelId,
    said: str,
) -> None:
    agents = catalogue(tmp_path, user=user, fixed=fixed, is_locked=is_locked)

    with pytest.raises((PolicyRefusal, InvalidRequest), match=said):
        agents.agent(model)


def test_a_locked_list_has_the_agents_of_the_administrator(tmp_path: Path) -> None:
    agents = catalogue(tmp_path, fixed={"mine": {"command": ["mine"]}}, is_locked=True)

    assert agents.agent(MINE).program == "mine"


@pytest.mark.parametrize("user", [None, [], "x", {"": 1}, {"A b": {"command": ["x"]}}])
async def test_faulty_entries_leave_the_known_agents(tmp_path: Path, user: object) -> None:
    assert GEMINI in await listed(catalogue(tmp_path, user=user))


def test_an_agent_gets_no_key_but_those_of_its_entry(tmp_path: Path) -> None:
    agents = catalogue(
        tmp_path,
        user={"mine": {"command": ["gemini"], "env": {"MY_KEY": "${GEMINI_API_KEY}", "N": "1"}}},
        keys={"GEMINI_API_KEY": "AIza"},
    )

    environment = agents.environment(agents.agent(MINE))

    assert environment == {
        "PATH": str(tmp_path / "bin"),
        "HOME": str(tmp_path / "home"),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "MY_KEY": "AIza",
        "N": "1",
    }
    assert not set(SECRETS.values()) & set(agents.environment(agents.agent(GEMINI)).values())


def test_a_missing_variable_is_named(tmp_path: Path) -> None:
    agents = catalogue(tmp_path, user={"mine": {"command": ["x"], "env": {"A": "${NOT_THERE}"}}})

    with pytest.raises(ShouldersError, match="needs the variable NOT_THERE"):
        agents.environment(agents.agent(MINE))
