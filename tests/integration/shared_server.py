"""One server that many tests share, with a provider that plays each test's replies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.client import Api
from tests.simulator_process import SimulatorProcess
from tests.support import event_loop_probe
from tests.support.lab_server import Lab

PRICED = "priced"
"""A model that costs a dollar for a thousand tokens; the default one has no price."""


@dataclass
class SharedServer:
    """A server, the provider behind it, and the workspace."""

    lab: Lab
    upstream: SimulatorProcess

    @property
    def root(self) -> Path:
        """The served directory."""
        return self.lab.root

    @property
    def api(self) -> Api:
        """A plain client."""
        return Api(self.lab)

    def restart(self, end: str) -> None:
        """Stop the server and start it; such an early first request imports on the event loop."""
        event_loop_probe.assert_no_stall(self.lab)
        self.lab.kill() if end == "kill" else self.lab.stop()
        self.lab.start()
        self.api.get("status")
        event_loop_probe.read_probe(self.lab)


def log_of(place: SharedServer, session: str) -> list[dict[str, Any]]:
    """The whole log of a conversation."""
    events: list[dict[str, Any]] = []
    while True:
        after = events[-1]["seq"] if events else 0
        page = place.api.get(f"sessions/{session}/events?after={after}&limit=5000")
        events += page["events"]
        if not page["has_more"]:
            return events


def until(api: Api, session: str, kind: str) -> dict[str, Any]:
    """Wait for the first event of this type and return it."""
    return next(event for event in api.stream(session) if event["type"] == kind)


def add_priced_model(root: Path) -> None:
    """Add the priced model to the models of a workspace."""
    path = root / ".shoulders" / "models.json"
    models = json.loads(path.read_text())
    prices = {"input": 1_000_000_000, "output": 1_000_000_000}
    models["models"].append({**models["models"][0], "id": PRICED, "prices": prices})
    path.write_text(json.dumps(models))
