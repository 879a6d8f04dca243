"""The chat panel in an output outside JupyterLab: in Notebook 7 and in Voilà."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.support.lab_server import free_port
from tests.support.voila_environment import voila_environment
from tests.ui.chat.test_chat_panel import CONTRAST
from tests.ui.page_objects.widget_panel import SHOW, answered, note_in, panel_in
from tests.ui.support.notebook_scenario import WAIT_SECONDS, NotebookScenario

pytestmark = pytest.mark.full

StartVoila = Callable[[NotebookScenario], str]
"""Starts Voilà on a scenario's notebook and returns the address of its page."""


@pytest.fixture
def start_voila(tmp_path: Path) -> Iterator[StartVoila]:
    """A factory of Voilà servers whose kernels use the scenario's server."""
    started: list[subprocess.Popen[bytes]] = []

    def start(scenario: NotebookScenario) -> str:
        port = free_port()
        found = {"SHOULDERS_URL": scenario.lab.url().partition("?")[0]}
        secret = {"SHOULDERS_TOKEN": scenario.lab.token}
        home = {"HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
        with (tmp_path / "voila.log").open("wb") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "voila", str(scenario.file), "--no-browser"),
                    *(f"--port={port}", "--Voila.ip=127.0.0.1"),
                ],
                env={**os.environ, **voila_environment(), **found, **secret, **home},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        started.append(process)
        address = f"http://127.0.0.1:{port}/"
        deadline = time.monotonic() + WAIT_SECONDS
        while not _answers(f"{address}voila/static/"):
            assert process.poll() is None, (tmp_path / "voila.log").read_text()
            assert time.monotonic() < deadline, (tmp_path / "voila.log").read_text()
            time.sleep(0.2)  # another process: only its answers can be observed
        return address

    yield start
    for process in started:
        process.terminate()
        process.wait(WAIT_SECONDS)


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=WAIT_SECONDS).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def test_the_panel_works_in_notebook_7(scenario: NotebookScenario, page: Page) -> None:
    name = f"{scenario.file.stem}.txt"
    scenario.write(SHOW, ("two", "1 + 1"))
    write = calls("write_file", {"path": name, "content": "Yes."})
    scenario.play(says("Because **water**. $x^2$"), write)
    # Without a kernel, Notebook would ask for one.
    with page.expect_websocket(lambda socket: "/api/kernels/" in socket.url):
        page.goto(scenario.lab.url(f"notebooks/{scenario.path}"))
    cells = page.locator(".jp-CodeCell")
    expect(cells).to_have_count(2)
    prompt = cells.first.locator(".jp-InputPrompt")
    deadline = time.monotonic() + WAIT_SECONDS
    while prompt.inner_text().strip() == "[ ]:":  # a cell run before Notebook is ready is lost
        assert time.monotonic() < deadline, "the cell does not run"
        cells.first.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        with contextlib.suppress(AssertionError):
            expect(prompt).not_to_have_text("[ ]:", timeout=5_000)

    panel = panel_in(page)
    panel.ask("Why do penguins swim?")
    answered(panel, "Because water.")
    expect(panel.answers.locator("mjx-container")).to_have_count(1)
    panel.root.get_by_role("tab").first.press("d")
    page.keyboard.press("d")
    expect(cells).to_have_count(2)
    panel.ask("Write it down.")
    panel.approval.get_by_role("button", name="No, do this instead…").press("Enter")
    panel.approval.get_by_role("textbox").press("Enter")
    panel.finished()
    assert not (scenario.lab.root / name).exists()


def test_a_page_that_has_widgets_only_streams_asks_and_says_when_the_server_is_gone(
    scenario: NotebookScenario, page: Page, start_voila: StartVoila
) -> None:
    name = f"{scenario.file.stem}.txt"
    write = calls("write_file", {"path": name, "content": "Yes."})
    scenario.write(SHOW)
    scenario.play(says("Because **water**."), write, says("Written."), says("Here again."))
    address = start_voila(scenario)
    page.goto(address)
    panel = panel_in(page)
    panel.ask("Why do penguins swim?")
    answered(panel, "Because water.")
    panel.ask("Write it down.")
    panel.allow()
    answered(panel, "Written.")
    assert (scenario.lab.root / name).read_text(encoding="utf-8") == "Yes."
    assert panel.root.evaluate(CONTRAST) == []
    light = panel.root.evaluate("root => getComputedStyle(root).backgroundColor")

    scenario.lab.kill()
    expect(note_in(page).get_by_role("button", name="Try again")).to_be_visible()
    scenario.lab.start()
    expect(note_in(page)).to_have_count(0)
    panel.ask("Are you there?")
    answered(panel, "Here again.")

    page.goto(f"{address}?theme=dark")
    panel_in(page)
    assert panel.root.evaluate("root => getComputedStyle(root).backgroundColor") != light
    assert panel.root.evaluate(CONTRAST) == []
