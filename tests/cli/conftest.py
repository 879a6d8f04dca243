"""Runs commands in this process, with a server or without one, and a scripted provider."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from jupyter_ai_shoulders.cli.main import main
from tests.cli.chat.pseudo_terminal import start
from tests.client.conftest import ClientServer, client, place
from tests.integration.shared_server import add_priced_model
from tests.simulator_process import SimulatorProcess, StartSimulator, in_order

__all__ = ["client", "place", "start"]

Where = Literal["attached", "alone"]
TINY = "tiny"
"""A model with a tiny context window."""


@dataclass(frozen=True)
class CommandResult:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)


@dataclass
class Terminal:
    """A terminal in a workspace."""

    root: Path
    upstream: SimulatorProcess
    where: list[str]
    """Arguments that select the engine."""
    capture: pytest.CaptureFixture[str]
    configure: Callable[[Mapping[str, Any]], None]
    """Writes ``c.Shoulders`` for engines started from now on."""

    def plays(self, *replies: Mapping[str, Any]) -> None:
        """Queue replies of the model."""
        self.upstream.play(in_order(*replies))

    def says(self, command: str, *arguments: str) -> CommandResult:
        """Run a command."""
        self.capture.readouterr()
        try:
            code = main([command, *self.where, *arguments])
        except SystemExit as ended:  # argparse
            code = int(ended.code or 0)
        told = self.capture.readouterr()
        return CommandResult(code, told.out, told.err)


def add_tiny_model(root: Path) -> None:
    """Add the tiny model to the models of a workspace."""
    path = root / ".shoulders" / "models.json"
    models = json.loads(path.read_text())
    models["models"].append({**models["models"][0], "id": TINY, "context_window": 3_000})
    path.write_text(json.dumps(models))


@pytest.fixture
def alone(
    workspace: Path,
    upstream: StartSimulator,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    isolated_home: Path,
) -> Terminal:
    """A workspace that no server serves."""
    started = upstream(in_order())
    for name, value in started.configure(workspace).items():
        monkeypatch.setenv(name, value)
    add_priced_model(workspace)
    add_tiny_model(workspace)
    config = isolated_home / "config"
    config.mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(config))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(isolated_home / "runtime"))
    monkeypatch.chdir(workspace)

    def configure(values: Mapping[str, Any]) -> None:
        text = json.dumps({"Shoulders": {"folder_trust": "always", **values}})
        (config / "jupyter_server_config.json").write_text(text)

    configure({})
    return Terminal(workspace, started, [], capsys, configure)


@pytest.fixture
def attached(
    place: ClientServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Terminal:
    """The workspace of a running server, found by its information file."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(place.lab.state / "runtime"))
    monkeypatch.chdir(place.lab.root)

    def configure(values: Mapping[str, Any]) -> None:
        raise AssertionError(f"the server runs already: {values}")

    return Terminal(place.lab.root, place.upstream, [], capsys, configure)


@pytest.fixture(params=["alone", "attached"])
def terminal(request: pytest.FixtureRequest) -> Terminal:
    """Both kinds of engine."""
    return request.getfixturevalue(request.param)
