"""Stale cells: the mark beside the cell, and the model's view of it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.support.notebook_scenario import NotebookScenario

GONE = (
    "uses `counts`, which no cell defines any more: the kernel still has it from cell 1 as it was"
)


def mark(opened: OpenNotebook, cell_id: str) -> Locator:
    """The mark of a stale cell."""
    return opened.cell(cell_id).locator(".shoulders-mod-stale")


def policy(opened: OpenNotebook, cell_id: str) -> Locator:
    """The badge of a cell that the agent never runs."""
    return opened.cell(cell_id).locator(".shoulders-mod-never")


def set_policy(page: Page, opened: OpenNotebook, cell_id: str, chosen: str) -> None:
    """Set a cell's run policy through the palette."""
    opened.editor(cell_id).click()
    page.evaluate(
        "policy => window.jupyterapp.commands.execute(`jupyter-ai-shoulders:run-policy-${policy}`)",
        chosen,
    )


@pytest.mark.kept_page
def test_rename_that_leaves_a_later_cell_stale_is_marked_and_told(
    scenario: NotebookScenario,
) -> None:
    read = calls("read_notebook", {"path": scenario.path})
    opened = scenario.open(
        ("load", "counts = [1, 2]"),
        ("total", "print(sum(counts))"),
        ("last", "1 + 1"),
        replies=[read, says("Cell 2 is stale.")],
    )
    opened.run("load")
    opened.run("total")
    expect(mark(opened, "total")).to_have_count(0)
    opened.type_at_end("total", "  # a look")
    expect(mark(opened, "total")).to_have_attribute("aria-label", "Stale: edited since it ran")
    opened.run("total")
    expect(mark(opened, "total")).to_have_count(0)
    opened.editor("load").click()
    scenario.page.keyboard.press("Control+Home")
    scenario.page.keyboard.type("bike_")
    opened.run("load")
    opened.run("total")  # it can still be run
    expect(mark(opened, "total")).to_have_attribute("aria-label", f"Stale: {GONE}")
    expect(mark(opened, "load")).to_have_count(0)
    set_policy(scenario.page, opened, "total", "never")
    expect(policy(opened, "total")).to_have_attribute("title", "The agent never runs this cell")
    opened.command("notebook:move-cell-down")
    expect(mark(opened, "total")).to_have_attribute("aria-label", f"Stale: {GONE}")
    expect(policy(opened, "total")).to_have_count(1)
    set_policy(scenario.page, opened, "total", "free")
    expect(policy(opened, "total")).to_have_count(0)
    opened.command("notebook:move-cell-up")
    scenario.ask("Does it run from the top?")
    scenario.ended()
    told = json.dumps(scenario.upstream.requests()[-1], ensure_ascii=False)
    assert f"In[5] · stale: {GONE}" in told
