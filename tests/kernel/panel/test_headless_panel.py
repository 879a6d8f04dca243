"""The panel in a notebook run by nbclient: no page, and perhaps no server."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from tests.client.conftest import ClientServer
from tests.simulator_process import calls, says
from tests.support.lab_server import free_port

Headless = Callable[..., Awaitable[Any]]
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
MAKE = "from jupyter_ai_shoulders import ChatPanel\npanel = ChatPanel()\npanel"
SAID = "Because <script>alert(1)</script> ![it](https://evil.example/x.png) rains."


@pytest.fixture
def headless(place: ClientServer, monkeypatch: pytest.MonkeyPatch) -> Headless:
    """Runs cells in a kernel that finds the server by variables, and keeps the notebook."""
    monkeypatch.setenv("SHOULDERS_URL", place.url)
    monkeypatch.setenv("SHOULDERS_TOKEN", place.lab.token)

    async def run(*sources: str) -> Any:
        form: Any = nbformat.v4
        notebook = form.new_notebook(cells=[form.new_code_cell(each) for each in sources])
        await NotebookClient(notebook, timeout=60, kernel_name="python3").async_execute()
        nbformat.validate(notebook)
        return notebook

    return run


async def test_a_notebook_with_a_panel_runs_and_says_where_the_conversation_will_be(
    headless: Headless,
) -> None:
    notebook = await headless(MAKE)

    view, transcript = notebook.cells[0].outputs
    assert view.data.keys() == {VIEW, "text/plain"}
    assert "No conversation yet" in transcript.data["text/html"]
    assert transcript.data["text/markdown"].startswith("*No conversation yet")


async def test_a_conversation_is_in_the_saved_notebook_for_those_without_a_kernel(
    headless: Headless, place: ClientServer
) -> None:
    place.plays(says(SAID))

    notebook = await headless(MAKE, "print(panel.ask('Why does it rain?'))")

    transcript = notebook.cells[0].outputs[1].data
    assert notebook.cells[1].outputs[0].text.strip() == SAID
    assert "Why does it rain?" in transcript["text/html"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in transcript["text/html"]
    assert "<img" not in transcript["text/html"]
    assert "<script" not in transcript["text/html"]
    assert "Why does it rain?" in transcript["text/plain"]
    notebook.metadata.pop("widgets")  # as saved by a front end that drops widgets
    shown: Any = HTMLExporter(template_name="basic")
    body = shown.from_notebook_node(notebook)[0]
    assert "Why does it rain?" in body
    assert "Because &lt;script&gt;" in body


async def test_a_saved_notebook_holds_neither_the_token_nor_the_panel_s_code(
    headless: Headless, place: ClientServer
) -> None:
    place.plays(says("Hello."))

    notebook = await headless(MAKE, "answer = panel.ask('Hi')")

    (state,) = (
        each["state"]
        for each in notebook.metadata["widgets"][STATE]["state"].values()
        if "transcript" in each["state"]
    )
    assert len(state["_esm"]) < 8000
    assert "Hello." in state["transcript"]
    assert place.lab.token not in json.dumps(notebook)


async def test_a_panel_that_is_to_keep_nothing_leaves_nothing_in_the_notebook(
    headless: Headless, place: ClientServer
) -> None:
    place.plays(says("Only between us."))

    notebook = await headless(MAKE.replace("()", "(keep=False)"), "answer = panel.ask('Hush')")

    assert [output.data.keys() for output in notebook.cells[0].outputs] == [{VIEW, "text/plain"}]
    assert "Only between us" not in json.dumps(notebook)


async def test_without_a_server_the_notebook_runs_and_says_why_there_is_no_panel(
    headless: Headless, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOULDERS_URL", f"http://127.0.0.1:{free_port()}/")

    notebook = await headless(MAKE)

    shown = notebook.cells[0].outputs[1].data["text/plain"]
    assert "The AI panel has no server" in shown
    assert "does not answer" in shown
    assert "Is the Jupyter server running there?" in shown


async def test_without_an_address_it_is_said_what_to_do(
    headless: Headless, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.delenv("SHOULDERS_URL")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))

    notebook = await headless(MAKE)

    shown = notebook.cells[0].outputs[1].data["text/plain"]
    assert "No Jupyter server of yours is running on this machine." in shown
    assert "set SHOULDERS_URL and SHOULDERS_TOKEN" in shown


async def test_what_waits_for_the_user_fails_the_cell_and_says_where_to_answer(
    headless: Headless, place: ClientServer
) -> None:
    place.plays(calls("write_file", {"path": "p.txt", "content": "P"}))

    notebook = await headless(
        MAKE,
        "try:\n    panel.ask('Write.', tools='enabled')\n"
        "except Exception as error:\n    print('Failed:', error)",
    )

    printed = "".join(each.get("text", "") for each in notebook.cells[1].outputs)
    assert "Failed: Allow write_file?" in printed
    assert "the turn waits for the answer there" in printed
    assert not (place.lab.root / "p.txt").exists()
    assert "Write." in notebook.cells[0].outputs[1].data["text/html"]


async def test_without_anywidget_it_is_said_how_to_install_it(headless: Headless) -> None:
    code = (
        "import sys\nsys.modules['anywidget'] = None\n"
        "try:\n    from jupyter_ai_shoulders import ChatPanel\n"
        "except ImportError as error:\n    print(error)"
    )

    notebook = await headless(code)

    assert notebook.cells[0].outputs[0].text.strip() == (
        'ChatPanel needs anywidget. Install it: pip install "jupyter-ai-shoulders[kernel]"'
    )
