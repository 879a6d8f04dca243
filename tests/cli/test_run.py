"""``run`` on notebooks: without a server, with the demo provider, and the choice of the engine."""

from __future__ import annotations

import io
import json
import shutil
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.cli.backend_selection import find_server, resolve_document
from jupyter_ai_shoulders.cli.errors import UsageError
from jupyter_ai_shoulders.cli.main import main
from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.server_discovery import RunningServer
from tests.cli.conftest import Terminal
from tests.simulator_process import notebook, says, texts

EXAMPLES = Path(__file__).parents[2] / "examples"


def cells_of(path: Path) -> Any:
    return json.loads(path.read_text())["cells"]


def test_the_tour_is_fixed_without_a_server_by_the_demo(alone: Terminal) -> None:
    shutil.rmtree(alone.root / ".shoulders")
    shutil.copytree(EXAMPLES, alone.root / "tour")

    said = alone.says(
        "run",
        "Please fix the error in the notebook.",
        *("--notebook", "tour/tour.ipynb", "--mode", "bypass"),
    )

    cells = cells_of(alone.root / "tour" / "tour.ipynb")
    fixed = next(cell for cell in cells if cell["id"] == "count-mistakes")
    assert said.code == 0
    assert "it works now" in said.out
    assert "This is the demo, not an AI model." in said.err
    assert "".join(fixed["source"]).startswith("import pandas as pd")
    assert [output["output_type"] for output in fixed["outputs"]].count("error") == 0
    assert fixed["execution_count"] is not None
    assert "IPKernelApp" not in said.err


def test_the_tour_is_not_run_where_that_needs_approval(alone: Terminal) -> None:
    shutil.rmtree(alone.root / ".shoulders")
    shutil.copytree(EXAMPLES, alone.root / "tour")
    before = (alone.root / "tour" / "tour.ipynb").read_bytes()

    said = alone.says("run", "Please fix the error.", "--notebook", "tour/tour.ipynb")

    assert said.code == 3
    assert (alone.root / "tour" / "tour.ipynb").read_bytes() == before


def test_a_run_on_a_server_uses_its_kernel_and_its_conversations(
    attached: Terminal, client: Client
) -> None:
    (attached.root / "sub").mkdir(exist_ok=True)
    path = attached.root / "sub" / "cells.ipynb"
    path.write_text(notebook(("a", "print(6 * 7)")))
    attached.plays(
        {"parts": [{"kind": "tool", "name": "run_cell", "arguments": cell(path)}]}, says("Ran.")
    )

    said = attached.says("run", "Run it.", "--notebook", "sub/cells.ipynb", "--mode", "bypass")

    assert (said.code, said.out) == (0, "Ran.\n")
    assert texts(cells_of(path), "a") == "42\n"
    assert "Run cell 1" in said.err
    assert client.list(kind="run")[0].title == "Run it."
    asked = json.dumps(attached.upstream.requests()[0]["body"]["messages"])
    assert "sub/cells.ipynb" in asked


def cell(path: Path) -> dict[str, str]:
    return {"path": f"sub/{path.name}", "cell_id": "a"}


def test_no_second_engine_works_on_a_server_s_workspace(attached: Terminal) -> None:
    said = attached.says("sessions", "--no-server")

    assert (said.code, said.out) == (1, "")
    assert "server" in said.err.lower()


def test_a_prompt_is_read_from_standard_input(
    alone: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("From a pipe."))
    alone.plays(says("Read."))

    said = alone.says("run", "-")

    assert said.out == "Read.\n"
    assert "From a pipe." in json.dumps(alone.upstream.requests()[-1]["body"])


def server(root: str) -> RunningServer:
    return RunningServer(f"http://127.0.0.1{root}/", "", Path(root), 1, "")


@pytest.mark.parametrize(
    ("workspace", "chosen"),
    [("/a/b/c", "/a/b"), ("/a/b", "/a/b"), ("/a/x", "/a"), ("/b", None), ("/a/bb", "/a")],
)
def test_the_nearest_server_above_is_taken(workspace: str, chosen: str | None) -> None:
    found = find_server(Path(workspace), [server("/a"), server("/a/b"), server("/z")])

    assert (found and str(found.root)) == chosen


def test_a_document_is_named_from_the_root_of_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.ipynb").touch()
    monkeypatch.chdir(tmp_path / "sub")

    assert resolve_document(tmp_path, "a.ipynb") == "sub/a.ipynb"
    with pytest.raises(UsageError, match="not in the workspace"):
        resolve_document(tmp_path / "other", "a.ipynb")


def test_jupyter_finds_the_command() -> None:
    pyproject = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, function = pyproject["project"]["scripts"]["jupyter-shoulders"].partition(":")

    assert getattr(import_module(module), function) is main
