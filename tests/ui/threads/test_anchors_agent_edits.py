"""Threads are where their text is after the agent's edits."""

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


def show(desk: NotebookScenario, threads: int) -> OpenNotebook:
    """The notebook in front, with its threads."""
    notebook = desk.show(desk.page)
    desk.page.wait_for_function(
        f"count => Object.keys(({LOOK})().places).length === count", arg=threads
    )
    return notebook


def where(page: Page, thread: str) -> list[Any]:
    """Where the notebook in front has a thread: certainty, cell, text."""
    seen = page.evaluate(LOOK)
    certainty, cell_id, start, end = seen["places"][thread]
    return [certainty, cell_id, dict(seen["cells"])[cell_id][start:end]]


@pytest.mark.shows("09.anchor.3")
def test_edits_of_the_agent_take_the_threads_of_a_cell_along(desk: NotebookScenario) -> None:
    page = desk.page
    desk.write(("one", FIRST), ("two", SECOND))
    quote = anchor_of(desk.path, "one", FIRST, "print(rows)")
    changed = begin(desk, "Changed", quote)
    below = begin(desk, "Below", anchor_of(desk.path, "one", FIRST, "rows.plot(rows)"))
    source = f"import tables\n\n{FIRST.replace('print(rows)', 'print(rows.head())')}"
    desk.play(
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": source}),
        says("Done."),
    )
    notebook = show(desk, 2)
    panel = desk.ask("Show the head of it only.")
    panel.finished()
    notebook.wait_for_source("one", source)
    assert where(page, changed) == ["exact", "one", "print(rows.head())"]
    assert where(page, below) == ["exact", "one", "rows.plot(rows)"]
