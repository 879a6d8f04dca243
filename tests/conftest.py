"""What every test finds in place: a home directory of its own, no keys, and a strict server."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from tests.upstream import StartUpstream, Upstream


@pytest.fixture(autouse=True)
def isolated_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An empty home directory and no provider keys, so that no test meets the developer's own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    for name in os.environ:
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    return home


@pytest.fixture
def jp_server_config() -> Config:
    """The server that pytest-jupyter starts: our extension on, nothing open without a token."""
    return Config(
        {
            "ServerApp": {
                "jpserver_extensions": {"jupyter_ai_shoulders": True},
                "allow_unauthenticated_access": False,
            }
        }
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder to serve."""
    root = tmp_path / "workspace"
    root.mkdir()
    return root


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[StartUpstream]:
    """A factory of simulators that play a script."""
    started: list[Upstream] = []

    def start(script: Mapping[str, Any]) -> Upstream:
        folder = tmp_path / f"upstream{len(started)}"
        folder.mkdir()
        started.append(Upstream(script, folder))
        return started[-1].start()

    yield start
    for each in started:
        each.stop()
