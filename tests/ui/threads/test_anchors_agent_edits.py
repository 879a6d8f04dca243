"""Threads stay at their text through the agent's edits."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.thread_marks import anchor_of, begin
from tests.ui.stress.thread_anchors import LOOK
from tests.ui.support.notebook_scenario import NotebookScenario

FIRST = "rows = load()\nprint(rows)\nrows.plot(rows)\n"
SECOND = "other = rows\nrows.sum()\n"


def show(scenario: NotebookScenario, threads: int) -> OpenNotebook:
    """The open notebook with its threads."""
    notebook = scenario.show(scenario.page)
    scenario.page.wait_for_function(
        f"count => Object.keys(({LOOK})().places).length === count", arg=threads
    )
    return notebook


def where(page: Page, thread: str) -> list[Any]:
    """Position of a thread in the current notebook: certainty, cell, text."""
    seen = page.evaluate(LOOK)
    certainty, cell_id, start, end = seen["places"][thread]
    return [certainty, cell_id, dict(seen["cells"])[cell_id][start:end]]


@pytest.mark.kept_page
@pytest.mark.shows("threads.anchor.3")
def test_edits_of_the_agent_take_the_threads_of_a_cell_along(scenario: NotebookScenario) -> None:
    page = scenario.page
    scenario.write(("one", FIRST), ("two", SECOND))
    quote = anchor_of(scenario.path, "one", FIRST, "print(rows)")
    changed = begin(scenario, "Changed", quote)
    below = begin(scenario, "Below", anchor_of(scenario.path, "one", FIRST, "rows.plot(rows)"))
    source = f"import tables\n\n{FIRST.replace('print(rows)', 'print(rows.head())')}"
    scenario.play(
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": source}),
        says("Done."),
    )
    notebook = show(scenario, 2)
    panel = scenario.ask("Show the head of it only.")
    panel.finished()
    notebook.wait_for_source("one", source)
    assert where(page, changed) == ["exact", "one", "print(rows.head())"]
    assert where(page, below) == ["exact", "one", "rows.plot(rows)"]
