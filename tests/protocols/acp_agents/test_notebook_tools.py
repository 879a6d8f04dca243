"""A real agent in the panel edits and runs a cell through our MCP server, in a real JupyterLab.

The agent gets the server in ``session/new``. Tried with claude-agent-acp 0.101,
codex-acp 2.6, Gemini CLI 0.61 and OpenCode 1.18.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.protocols.acp_agents.real_agents import AGENTS, RealAgent
from tests.protocols.mcp_clients.simulated_model import (
    DONE,
    make_calls,
    refusals,
    sent,
    simulated_model,
)
from tests.simulator.server import Simulator
from tests.simulator_process import notebook
from tests.support.lab_server import Lab
from tests.support.npm_programs import put_on_path
from tests.ui.support.notebook_scenario import ConversationApi

pytestmark = [pytest.mark.full, pytest.mark.timeout(180), pytest.mark.malformed_requests]
SECONDS = 100
CALLS = (
    ("read_notebook", {"path": "live.ipynb"}),
    ("edit_cell", {"path": "live.ipynb", "cell_id": "a", "source": "print(6 * 7)"}),
    ("run_cell", {"path": "live.ipynb", "cell_id": "a"}),
)


@contextmanager
def lab_with(agent: RealAgent, folder: Path, simulator: Simulator) -> Generator[Lab]:
    """A JupyterLab with a notebook and one agent."""
    program = put_on_path(agent.program)
    root, state = folder / "root", folder / "state"
    root.mkdir()
    (root / "live.ipynb").write_text(notebook(("a", "x = 1")))
    lab = Lab(root, state)
    lab.home.mkdir(parents=True)
    env = agent.prepare(lab.home, simulator)
    entry = {agent.name: {"command": [program, *agent.arguments], "env": env}}
    lab.args = [f"--Shoulders.acp_agents={entry!r}"]
    try:
        lab.start()
        yield lab
    finally:
        lab.stop()


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_edits_and_runs_a_cell_with_our_tools(agent: RealAgent, tmp_path: Path) -> None:
    with simulated_model() as simulator, lab_with(agent, tmp_path, simulator) as lab:
        simulator.default(make_calls(CALLS, thinks=True))
        api = ConversationApi(lab)
        made = api.send("POST", "sessions", {"model": f"agent:{agent.name}", "mode": "ask"})
        message = {"id": "m1", "text": "Work on the notebook"}
        api.send("POST", f"sessions/{made['id']}/messages", message)

        events = _allow_until_the_end(api, made["id"], simulator)

        assert "42" in sent(simulator)
        said = "".join(event["text"] for event in events if event["type"] == "text-delta")
        assert DONE in said
        [cell] = json.loads((lab.root / "live.ipynb").read_text())["cells"]
        assert "".join(cell["source"]) == "print(6 * 7)"
        assert cell["outputs"][0]["text"] in ("42\n", ["42\n"])
        [client] = [each for each in api.all() if each["id"] != made["id"]]
        tools = [e["tool"] for e in _events(api, client["id"]) if e["type"] == "tool-call"]
        assert tools == [name for name, _ in CALLS]


def _allow_until_the_end(
    api: ConversationApi, session: str, simulator: Simulator
) -> list[dict[str, Any]]:
    """Allow what is asked in any conversation until the agent's turn ends; return its events."""
    answered = set[str]()
    deadline = time.monotonic() + SECONDS
    while True:
        events = _events(api, session)
        ends = [event for event in events if event["type"] == "turn-end"]
        if ends:
            assert ends[0]["error"] is None, ends
            return events
        assert time.monotonic() < deadline, (events[-5:], refusals(simulator))
        for each in api.all():
            for event in _events(api, each["id"]):
                if event["type"] == "approval-request" and event["call_id"] not in answered:
                    answered.add(event["call_id"])
                    path = f"sessions/{each['id']}/approvals/{event['call_id']}"
                    api.send("POST", path, {"decision": "allow"})
        time.sleep(0.1)  # another process: only its answers can be observed


def _events(api: ConversationApi, session: str) -> list[dict[str, Any]]:
    return api.api(f"sessions/{session}/events", limit="5000")["events"]
