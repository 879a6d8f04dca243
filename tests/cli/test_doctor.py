"""The doctor on a healthy installation, and on broken ones, whose defects it names."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.cli.doctor import dependencies, imports
from jupyter_ai_shoulders.cli.doctor.finding import Finding
from tests.cli.conftest import Terminal
from tests.client.conftest import ClientServer
from tests.support.fake_distribution import install_distribution
from tests.support.lab_server import free_port

PAGE = "labextensions/jupyter-ai-shoulders"
ENABLED = {
    "ServerApp": {"jpserver_extensions": {"jupyter_ai_shoulders": True}},
    "Shoulders": {"folder_trust": "always"},
}


@dataclass
class Installed:
    """An installation in separate folders, which precede all others."""

    terminal: Terminal
    config: Path
    data: Path

    @property
    def page(self) -> Path:
        """Folder of the lab extension."""
        return self.data / PAGE

    @property
    def state(self) -> Path:
        """The workspace's state directory."""
        return self.terminal.root / ".shoulders"

    def write(self, path: Path, value: object) -> None:
        """Write a JSON or text file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))

    def package(self, version: str) -> None:
        """Write the lab extension's description."""
        build = {"load": "static/remoteEntry.js"}
        self.write(
            self.page / "package.json", {"version": version, "jupyterlab": {"_build": build}}
        )

    def findings(self) -> dict[str, dict[str, str]]:
        """The doctor's failures and warnings; its exit code agrees."""
        said = self.terminal.says("doctor", "--json")
        found: list[Any] = said.json
        assert said.code == any(each["state"] == "failure" for each in found)
        return {each["about"]: each for each in found if each["state"] != "ok"}


@pytest.fixture(scope="module")
def importable() -> Finding:
    """The result of the check of imports, which takes two seconds; nothing here changes it."""
    return imports.check_imports()


@pytest.fixture
def installed(
    alone: Terminal,
    isolated_home: Path,
    importable: Finding,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Installed:
    """A healthy installation with an available model."""
    monkeypatch.setattr(imports, "check_imports", lambda: importable)
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
    """A server that was killed: its file exists, and its process id belongs to another program."""
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
        (break_config, "server extension", "failure", "is not JSON", "Repair"),
        (disable_page, "browser side", "failure", "page_config.json", "labextension enable"),
        (lose_bundle, "browser side", "failure", "program is missing", "pip install"),
        (older_bundle, "browser side", "failure", "version 0.0.9", "reload the page"),
        (block_state, "state directory", "failure", ".shoulders", "Shoulders.state_dir"),
        (break_models, "settings", "failure", "models.json, line 2", "Correct"),
        (break_settings, "settings", "failure", "data_values", "Correct"),
        (break_rules, "permissions", "failure", "rules", "tools.json"),
        (forget_key, "models", "warning", "the default is simulated", "SIMULATOR_KEY"),
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
    monkeypatch.setenv("SIMULATOR_KEY", os.environ["SIMULATOR_KEY"])  # restored at the end
    harm(installed)

    found = installed.findings()

    assert about in found, found
    assert found[about]["state"] == state
    assert text in found[about]["text"]
    assert advice in found[about]["advice"]


def test_findings_are_lines_with_what_to_do_below(installed: Installed) -> None:
    lose_bundle(installed)

    said = installed.terminal.says("doctor")

    assert said.code == 1
    assert re.search(r"^FAIL  browser side .*\n +→ .*pip install", said.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("module", "source", "text", "advice"),
    [
        (
            "pathspec",
            "raise ModuleNotFoundError('No module named pathspec', name='pathspec')",
            "No module named pathspec",
            "pip install pathspec",
        ),
        ("jupyter_server", "", "server.app cannot be imported: ", "--force-reinstall"),
        ("pydantic", "", "ImportError: cannot import", "--force-reinstall"),
        ("httpx", "import os; os._exit(7)", "Python ended with code 7", "--force-reinstall"),
    ],
    ids=["missing", "another package of that name", "too old", "crashes"],
)
def test_what_cannot_be_imported_is_named(  # noqa: PLR0917 the columns of the table
    module: str,
    source: str,
    text: str,
    advice: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    found = imports.check_imports()

    assert (found.about, found.state) == ("imports", "failure")
    assert text in found.text
    assert advice in found.advice


@pytest.mark.parametrize(
    ("version", "said"),
    [("2.5", 'pydantic: 2.5 is too old → pip install "pydantic>='), ("2.99", "Reinstall it: pip")],
)
def test_commands_that_cannot_be_imported_say_what_to_do(
    version: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "pydantic.py").write_text("")
    facts = tmp_path / f"pydantic-{version}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pydantic\nVersion: {version}\n")

    ran = subprocess.run(
        [sys.executable, "-m", "jupyter_ai_shoulders.cli", "doctor"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("jupyter shoulders cannot start: ImportError: ")
    assert said in ran.stderr


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        ({"jupyterlab": "4.5.9"}, "4.5.9 is too old"),
        ({"jupyter-server": "2.20.0", "jupyterlab": "5.0.0a1"}, None),
        ({"jupyterlab": ""}, "not installed"),
        ({"pydantic": "2.10.6"}, "2.10.6 is too old"),
        ({"nbclient": "0.10.1"}, "0.10.1 is too old"),
    ],
)
def test_what_is_needed_is_compared(versions: dict[str, str], text: str | None) -> None:
    def version_of(name: str) -> str:
        found = versions.get(name, metadata.version(name))
        if not found:
            raise metadata.PackageNotFoundError(name)
        return found

    found = [
        each
        for each in dependencies.check_dependencies(version_of=version_of)
        if each.about in {*versions}
    ]

    assert [each.text for each in found if each.state == "failure"] == ([text] if text else [])


def test_a_package_whose_tools_are_broken_is_named(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    install_distribution(
        folder, monkeypatch, name="broken-tools", source="import no_such_module_of_acme\n"
    )

    found = installed.findings()["tools of packages"]

    assert found["state"] == "failure"
    assert "broken-tools 1.0" in found["text"]
    assert "Shoulders.tool_packages" in found["advice"]


def test_a_running_server_is_looked_at(attached: Terminal, place: ClientServer) -> None:
    found: list[Any] = attached.says("doctor", "--json").json

    engine = next(each for each in found if each["about"] == "engine")
    assert engine["state"] == "ok"
    assert place.url in engine["text"]
