"""A client of the protocol that no one here wrote (acpx) drives the agent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Terminal
from tests.simulator_process import notebook
from tests.support.npm_programs import put_on_path

pytestmark = [pytest.mark.full, pytest.mark.timeout(120)]
SECONDS = 60
AGENT = f"{sys.executable} -m jupyter_ai_shoulders.cli acp"


def use(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"parts": [{"kind": "tool", "name": tool, "arguments": arguments}]}


def acpx(folder: Path, *arguments: str) -> str:
    """Run the client in a folder; return what it printed."""
    words = [put_on_path("acpx"), "--agent", AGENT, "--cwd", str(folder), "--ttl", "5", *arguments]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    return f"{done.stdout}\n{done.stderr}"


def test_it_reads_edits_runs_and_remembers(terminal: Terminal) -> None:
    (terminal.root / "data.txt").write_text("one\ntwo\n")
    (terminal.root / "sum.ipynb").write_text(notebook(("a", "print(6 * 7)")))
    terminal.plays(
        use("read_file", path="data.txt"),
        use("edit_file", path="data.txt", old_string="two", new_string="TWO"),
        use("run_cell", path="sum.ipynb", cell_id="a"),
        {"parts": [{"kind": "text", "text": "All done."}]},
        {"parts": [{"kind": "text", "text": "Still here."}]},
    )
    acpx(terminal.root, "sessions", "new")
    try:
        told = acpx(terminal.root, "--approve-all", "prompt", "Do it")
        again = acpx(terminal.root, "prompt", "Again")
    finally:
        acpx(terminal.root, "sessions", "close")  # ends the process that keeps the agent
    assert "fs/write_text_file" in told
    assert "[tool] Edit file (completed)" in told
    assert "42" in told
    assert "All done." in told
    assert (terminal.root / "data.txt").read_text() == "one\nTWO\n"
    assert "Still here." in again


def test_what_it_denies_is_not_done(terminal: Terminal) -> None:
    (terminal.root / "data.txt").write_text("one\n")
    terminal.plays(
        use("write_file", path="data.txt", content="gone\n"),
        use("run_command", command="echo gone > data.txt"),
    )
    told = acpx(terminal.root, "--deny-all", "exec", "Do it")
    assert "Permission denied for fs/read_text_file" in told
    assert "[tool] Run a command (failed)" in told
    assert (terminal.root / "data.txt").read_text() == "one\n"
