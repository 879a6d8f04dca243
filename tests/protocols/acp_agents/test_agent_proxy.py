"""A real agent calls its models through our proxy, booked to the conversation in the panel."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.protocols.mcp_clients.simulated_model import refusals, simulated_model
from tests.simulator.script import reply
from tests.support.lab_server import Lab
from tests.support.npm_programs import put_on_path
from tests.ui.support.notebook_scenario import ConversationApi

pytestmark = [pytest.mark.full, pytest.mark.timeout(180), pytest.mark.malformed_requests]
SECONDS = 100
MODEL = "claude-opus-5-5"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
}


def test_what_claude_code_spends_counts_for_the_conversation(tmp_path: Path) -> None:
    program = put_on_path("claude-agent-acp")
    with simulated_model() as simulator:
        root = tmp_path / "root"
        root.mkdir()
        lab = Lab(root, tmp_path / "state")
        own = lab.home / ".shoulders"
        own.mkdir(parents=True)
        providers = {"anthropic": {"url": simulator.url}}
        (own / "models.json").write_text(json.dumps({"providers": providers}))
        models = {"ANTHROPIC_MODEL": MODEL, "ANTHROPIC_DEFAULT_HAIKU_MODEL": MODEL}
        entry = {"claude-code": {"command": [program], "proxy": True, "env": {**QUIET, **models}}}
        lab.args = [f"--Shoulders.acp_agents={entry!r}"]
        lab.env = {"ANTHROPIC_API_KEY": simulator.key}
        simulator.default(reply("Hello from the model."))
        try:
            lab.start()
            api = ConversationApi(lab)
            made = api.send("POST", "sessions", {"model": "agent:claude-code"})
            path = f"sessions/{made['id']}"
            api.send("POST", f"{path}/messages", {"id": "m1", "text": "Hello"})
            deadline = time.monotonic() + SECONDS
            events: list[dict[str, object]] = []
            while not any(event["type"] == "turn-end" for event in events):
                assert time.monotonic() < deadline, (events[-5:], refusals(simulator))
                time.sleep(0.1)  # another process: only its answers can be observed
                events = api.api(f"{path}/events", limit="5000")["events"]
            rows = api.api("usage", by="session")["rows"]
        finally:
            lab.stop()

    said = "".join(str(event["text"]) for event in events if event["type"] == "text-delta")
    assert said == "Hello from the model.", (events[-3:], refusals(simulator))
    [row] = [row for row in rows if row["key"] == made["id"]]
    assert row["input_tokens"] > 0
    assert row["known_cost_micro_usd"] > 0
    assert simulator.requests
