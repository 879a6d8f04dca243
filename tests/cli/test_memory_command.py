"""``jupyter shoulders memory``: add, list and forget, without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_ai_shoulders.cli.dispatch import run_command_line


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The beginning of each command, in a workspace and a home of this test."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return ["memory", "--no-server", "--workspace", str(workspace)]


def test_a_statement_is_added_listed_and_forgotten(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*command, "add", "Plates are in raw/", "--scope", "workspace"]) == 0
    assert capsys.readouterr().out.startswith("Remembered w-")
    assert run_command_line([*command, "add", "Prefers seaborn for plots."]) == 0
    assert run_command_line([*command, "add", "Prefers plotly for plots."]) == 0
    assert "(instead of: Prefers seaborn for plots.)" in capsys.readouterr().out
    assert run_command_line([*command, "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    (statement,) = files[1]["statements"]
    assert run_command_line([*command, "forget", statement["id"]]) == 0
    assert run_command_line(command) == 0

    shown = capsys.readouterr().out
    assert "Prefers plotly for plots." in shown
    assert "Plates" not in shown.splitlines()[-1]
    assert (tmp_path / "home" / ".shoulders" / "memory.md").is_file()


def test_what_is_missing_is_a_usage_error(command: list[str]) -> None:
    for arguments in (["add"], ["forget"], ["list", "p-00000000"]):
        with pytest.raises(SystemExit) as caught:
            run_command_line([*command, *arguments])
        assert caught.value.code == 2
