"""The magics in JupyterLab and Notebook 7."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import calls, says
from tests.ui.support.notebook_scenario import NotebookScenario

LOAD = ("load", "%load_ext jupyter_ai_shoulders")


@pytest.mark.full
def test_an_answer_is_rendered_in_the_cell_and_its_conversation_is_in_the_panel(
    scenario: NotebookScenario, page: Page
) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    hostile = "It is *so*.\n\n![x](https://evil.example/p.png) <img src=https://evil.example/q>"
    opened = scenario.open(
        LOAD,
        ("ask", "%%ai\nWhy do penguins swim?"),
        ("hostile", "%ai Show me."),
        replies=[says("Because **water**."), says(hostile)],
    )
    opened.ready()
    for cell in ("load", "ask", "hostile"):
        opened.run(cell)

    expect(opened.output("ask").locator("strong")).to_have_text("water")
    expect(opened.output("hostile").locator("em")).to_have_text("so")
    expect(opened.output("hostile").locator("img")).to_have_count(0)
    expect(opened.output("hostile")).to_contain_text("<img src=https://evil.example/q>")
    assert not [url for url in requested if "evil.example" in url]
    panel = scenario.open_panel()
    page.keyboard.press("Control+;")
    page.keyboard.press("h")
    expect(panel.root.locator(".shoulders-History-row")).to_contain_text(["Why do penguins swim?"])
    assert scenario.talks.only()["source"] == "kernel"


@pytest.mark.full
def test_an_error_is_fixed_in_a_cell_below_and_tools_ask_in_the_cell(
    scenario: NotebookScenario, page: Page
) -> None:
    write = calls("write_file", {"path": f"{scenario.file.stem}.txt", "content": "Yes."})
    opened = scenario.open(
        LOAD,
        ("broken", "half = 1 / 0"),
        ("fix", "%ai fix"),
        ("write", "%ai -t Write it down."),
        replies=[says("Zero.\n\n```python\nhalf = 1 / 2\n```"), write, says("Written.")],
    )
    opened.ready()
    for cell in ("load", "broken", "fix"):
        opened.run(cell)
    cells = page.locator(".jp-Notebook:visible .jp-CodeCell")
    expect(cells).to_have_count(5)
    expect(cells.nth(3).locator(".cm-content")).to_have_text("half = 1 / 2")

    opened.editor("write").click()
    page.keyboard.press("Control+Enter")
    answer = opened.cell("write").locator(".jp-Stdin-input")
    answer.fill("y")
    answer.press("Enter")
    expect(opened.output("write").last).to_have_text("Written.")
    assert (scenario.lab.root / f"{scenario.file.stem}.txt").read_text() == "Yes."


def run(cell: Locator) -> None:
    """Run a cell; again if the key went to a node that was being rendered again."""
    for _ in range(3):
        cell.locator(".cm-content").click()
        cell.page.keyboard.press("Control+Enter")
        with suppress(AssertionError):
            expect(cell.locator(".jp-InputPrompt")).not_to_have_text("[ ]:", timeout=15_000)
            return


@pytest.mark.full
def test_the_magics_work_in_notebook_7(scenario: NotebookScenario, page: Page) -> None:
    scenario.write(LOAD, ("ask", "%ai -f html Draw."), ("plain", "%ai Who are you?"))
    scenario.play(says("```html\n<h1>Framed</h1>\n```"), says("A **colleague**."))
    # Without a kernel, Notebook would ask for one; it shows an idle kernel before it is connected.
    with page.expect_websocket(lambda socket: "/api/kernels/" in socket.url):
        page.goto(scenario.lab.url(f"notebooks/{scenario.path}"))
    cells = page.locator(".jp-CodeCell")
    expect(cells).to_have_count(3)
    kernel = page.locator(".jp-Notebook-ExecutionIndicator")
    expect(kernel).to_have_attribute("data-status", "idle")
    for number in range(3):
        run(cells.nth(number))
        expect(cells.nth(number).locator(".jp-InputPrompt")).to_have_text(f"[{number + 1}]:")

    framed = cells.nth(1).locator("iframe")
    expect(framed).to_have_attribute("sandbox", "")
    expect(framed.content_frame.locator("h1")).to_have_text("Framed")
    expect(cells.nth(2).locator(".jp-OutputArea-output strong")).to_have_text("colleague")
