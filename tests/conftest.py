"""What every test finds in place: a home directory of its own, no keys, and a strict server."""

import os
from pathlib import Path

import pytest
from traitlets.config import Config


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
