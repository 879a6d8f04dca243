"""The doctor on a healthy installation, and on broken ones, each of which it names."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.cli.doctor.install import Install, look
from tests.cli.conftest import Terminal
from tests.client.conftest import Place
from tests.distribution import install
from tests.lab import free_port

PAGE = "labextensions/jupyter-ai-shoulders"
ENABLED = {"ServerApp": {"jpserver_extensions": {"jupyter_ai_shoulders": True}}}


@dataclass
class Installed:
    """An installation in folders of its own, before whatever else is installed."""

    terminal: Terminal
    config: Path
    data: Path

    @property
    def page(self) -> Path:
        """The page half."""
        return self.data / PAGE

    @property
    def state(self) -> Path:
        """The workspace's state directory."""
        return self.terminal.root / ".shoulders"

    def write(self, path: Path, value: object) -> None:
        """Write a file of JSON, or of text."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))

    def package(self, version: str) -> None:
        """Write the page half's description."""
        build = {"load": "static/remoteEntry.js"}
        self.write(
            self.page / "package.json", {"version": version, "jupyterlab": {"_build": build}}
        )

    def findings(self) -> dict[str, dict[str, str]]:
        """What the doctor finds wrong or worth a warning."""
        found: list[Any] = self.terminal.says("doctor", "--json").json
        return {each["about"]: each for each in found if each["state"] != "ok"}


@pytest.fixture
def installed(
    alone: Terminal, isolated_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Installed:
    """A healthy one, with a model that can answer."""
    made = Installed(alone, isolated_home / "config", tmp_path / "data")
    monkeypatch.setenv("JUPYTER_PATH", str(made.data))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(made.config))
    made.write(made.config / "jupyter_server_config.json", ENABLED)
    made.package(__version__)
    made.write(made.page / "static" / "remoteEntry.js", "")
    return made


def test_a_healthy_installation_has_no_failure(installed: Installed) -> None:
    said = installed.terminal.says("doctor")

    assert said.code == 0
    assert "FAIL" not in said.out
    lines = [re.split(r"\s{2,}", line) for line in said.out.splitlines()]
    about = {line[1] for line in lines if line[0] == "ok"}
    assert about >= {"package", "server extension", "browser side", "state directory", "models"}
    assert set(installed.findings()) <= {"sandbox", "search"}


def disable_server(made: Installed) -> None:
    off = {"ServerApp": {"jpserver_extensions": {"jupyter_ai_shoulders": False}}}
    made.write(made.config / "jupyter_server_config.d" / "x.json", off)
    (made.config / "jupyter_server_config.json").unlink()


def break_config(made: Installed) -> None:
    made.write(made.config / "jupyter_server_config.json", "{")


def disable_page(made: Installed) -> None:
    off = {"disabledExtensions": {"jupyter-ai-shoulders": True}}
    made.write(made.config / "labconfig" / "page_config.json", off)


def lose_bundle(made: Installed) -> None:
    shutil.rmtree(made.page / "static")


def older_bundle(made: Installed) -> None:
    made.package("0.0.9")


def block_state(made: Installed) -> None:
    shutil.rmtree(made.state)
    made.state.write_text("a file")


def break_models(made: Installed) -> None:
    made.write(made.state / "models.json", '{"models": [\n  {,\n]}')


def break_settings(made: Installed) -> None:
    made.write(made.state / "settings.json", '{"egress": {"data_values": "all"}}')


def break_rules(made: Installed) -> None:
    made.write(made.state / "tools.json", '{"version": 1, "rules": 3}')


def forget_key(made: Installed) -> None:
    os.environ.pop("SIMULATOR_KEY")


def lose_server(made: Installed) -> None:
    """A server that was killed: its file is there, and its process id is another program's."""
    made.write(
        Path(os.environ["JUPYTER_RUNTIME_DIR"]) / "jpserver-1.json",
        {
            "url": f"http://127.0.0.1:{free_port()}/",
            "base_url": "/",
            "token": "t",
            "root_dir": str(made.terminal.root),
            "pid": os.getpid(),
            "sock": "",
        },
    )


@pytest.mark.parametrize(
    ("harm", "about", "state", "text", "advice"),
    [
        (
            disable_server,
            "server extension",
            "failure",
            "x.json",
            "jupyter server extension enable",
        ),
        (break_config, "server extension", "failure", "is not JSON", "Mend"),
        (disable_page, "browser side", "failure", "page_config.json", "labextension enable"),
        (lose_bundle, "browser side", "failure", "program is missing", "pip install"),
        (older_bundle, "browser side", "failure", "version 0.0.9", "reload the page"),
        (block_state, "state directory", "failure", ".shoulders", "Shoulders.state_dir"),
        (break_models, "settings", "failure", "models.json, line 2", "Mend"),
        (break_settings, "settings", "failure", "data_values", "Mend"),
        (break_rules, "permissions", "failure", "rules", "tools.json"),
        (forget_key, "models", "warning", "only the demo", "keys set"),
        (lose_server, "engine", "failure", "does not answer", "--no-server"),
    ],
)
def test_what_is_broken_is_named(  # noqa: PLR0917 the columns of the table
    installed: Installed,
    harm: Callable[[Installed], None],
    about: str,
    state: str,
    text: str,
    advice: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SIMULATOR_KEY", os.environ["SIMULATOR_KEY"])  # put back at the end
    harm(installed)

    found = installed.findings()
    said = installed.terminal.says("doctor")

    assert about in found, found
    assert found[about]["state"] == state
    assert text in found[about]["text"]
    assert advice in found[about]["advice"]
    assert said.code == (1 if state == "failure" else 0)
    assert ("FAIL" if state == "failure" else "WARN") in said.out


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        ({"jupyterlab": "4.5.9"}, "4.5.9 is too old"),
        ({"jupyter-server": "2.20.0", "jupyterlab": "5.0.0a1"}, None),
        ({"jupyterlab": ""}, "not installed"),
    ],
)
def test_what_is_needed_is_compared(versions: dict[str, str], text: str | None) -> None:
    def version_of(name: str) -> str:
        found = versions.get(name, metadata.version(name))
        if not found:
            raise metadata.PackageNotFoundError(name)
        return found

    found = [each for each in look(Install([], [], version_of)) if each.about in {*versions}]

    assert [each.text for each in found if each.state == "failure"] == ([text] if text else [])


def test_a_package_whose_tools_are_broken_is_named(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    install(folder, monkeypatch, name="broken-tools", source="import no_such_module_of_acme\n")

    found = installed.findings()["tools of packages"]

    assert found["state"] == "failure"
    assert "broken-tools 1.0" in found["text"]
    assert "Shoulders.tool_packages" in found["advice"]


def test_a_running_server_is_looked_at(attached: Terminal, place: Place) -> None:
    found: list[Any] = attached.says("doctor", "--json").json

    engine = next(each for each in found if each["about"] == "engine")
    assert engine["state"] == "ok"
    assert place.url in engine["text"]
