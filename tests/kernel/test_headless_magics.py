"""The magics in a notebook run by nbclient: no page, no user to ask."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from jupyter_ai_shoulders.client import Client
from tests.client.conftest import ClientServer
from tests.simulator_process import calls, says


@pytest.fixture
def headless(place: ClientServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs cells in a kernel that finds the server by variables."""
    monkeypatch.setenv("SHOULDERS_URL", place.url)
    monkeypatch.setenv("SHOULDERS_TOKEN", place.lab.token)

    async def run(*cells: str) -> Any:
        form: Any = nbformat.v4
        sources = ["%load_ext jupyter_ai_shoulders", *cells]
        notebook = form.new_notebook(cells=[form.new_code_cell(each) for each in sources])
        await NotebookClient(notebook, timeout=60, kernel_name="python3").async_execute()
        return notebook

    return run


async def test_a_magic_answers(headless: Any, place: ClientServer) -> None:
    place.plays(says("word " * 20, event_delay=0.02))

    notebook = await headless("%%ai\nCount.")

    (output,) = notebook.cells[1].outputs
    assert output.output_type == "display_data"
    assert output.data["text/markdown"].split() == ["word"] * 20


async def test_what_would_ask_is_refused_and_the_model_goes_on(
    headless: Any, place: ClientServer, client: Client
) -> None:
    place.plays(calls("write_file", {"path": "h.txt", "content": "H"}), says("I may not."))

    notebook = await headless("%ai -t Write.")

    assert notebook.cells[1].outputs[-1].data["text/plain"] == "I may not."
    assert not (place.lab.root / "h.txt").exists()
    assert not client.list(kind="kernel")[0].interactive


async def test_a_failure_fails_the_notebook(headless: Any) -> None:
    with pytest.raises(CellExecutionError, match="nothing"):
        await headless("%ai -m nothing Hi")


async def test_the_sdks_are_helped_there_too(headless: Any, place: ClientServer) -> None:
    place.plays(says("Hello."))
    code = (
        "from jupyter_ai_shoulders import Client\n"
        "sdk = Client().openai(max_retries=0)\n"
        "print(sdk.responses.create(model='simulated', input='Hi').output_text)"
    )

    notebook = await headless(code)

    assert notebook.cells[1].outputs[0].text == "Hello.\n"
