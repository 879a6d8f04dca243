"""Threads stay at their text through JupyterLab's find and replace."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.page_objects.thread_marks import anchor_of, begin
from tests.ui.support.notebook_scenario import NotebookScenario
from tests.ui.threads.test_anchors_agent_edits import show, where
from tests.ui.threads.test_anchors_in_files import look, opened

pytestmark = pytest.mark.full

FIRST = "rows = load()\nprint(rows)\nrows.plot(rows)\nsave()\n"
SECOND = "other = rows\nrows.sum()\n"
THIRD = "nothing.like_it()\n"
FOUND = {"exact", "approximate"}
"""JupyterLab replaces whole texts: a thread whose text changed much may become approximate."""


def replace_all(page: Page, old: str, new: str, count: int) -> None:
    """Replace every occurrence in the current document with JupyterLab's search dialog."""
    page.keyboard.press("Control+f")
    search = page.locator(".jp-DocumentSearch-overlay:visible")
    _field(search, "Find").fill(old)
    expect(search.locator(".jp-DocumentSearch-index-counter")).to_have_text(f"1/{count}")
    search.locator(".jp-DocumentSearch-toggle-wrapper").click()
    _field(search, "Replace").fill(new)
    search.get_by_role("button", name="Replace All").click()


def _field(search: Locator, name: str) -> Locator:
    return search.get_by_placeholder(name, exact=True)


@pytest.mark.shows("threads.anchor.3")
def test_find_and_replace_in_a_notebook_takes_threads_along(scenario: NotebookScenario) -> None:
    page = scenario.page
    scenario.write(("one", FIRST), ("two", SECOND), ("three", THIRD))
    inside = begin(scenario, "Inside", anchor_of(scenario.path, "one", FIRST, "rows.plot(rows)"))
    before = begin(scenario, "Before", anchor_of(scenario.path, "one", FIRST, "save()"))
    whole = begin(scenario, "Whole", anchor_of(scenario.path, "two", SECOND, "rows.sum()"))
    other = begin(scenario, "Other", anchor_of(scenario.path, "three", THIRD, "like_it()"))
    notebook = show(scenario, 4)
    notebook.editor("three").click()
    replace_all(page, "rows", "table", 6)
    notebook.wait_for_source("two", SECOND.replace("rows", "table"))
    notebook.wait_for_source("one", FIRST.replace("rows", "table"))
    found = {each: where(page, each) for each in (inside, before, whole, other)}
    assert found[before] == ["exact", "one", "save()"]
    assert found[other] == ["exact", "three", "like_it()"]
    for thread, cell, text in (
        (inside, "one", "table.plot(table)"),
        (whole, "two", "table.sum()"),
    ):
        certainty, *place = found[thread]
        assert place == [cell, text]
        assert certainty in FOUND


@pytest.mark.shows("threads.anchor.3", "threads.travel.5")
def test_find_and_replace_in_a_file_takes_threads_along(scenario: NotebookScenario) -> None:
    name = "replaced.py"
    (scenario.lab.root / name).write_text(FIRST)
    inside = begin(scenario, "Inside", anchor_of(name, None, FIRST, "rows.plot(rows)"))
    below = begin(scenario, "Below", anchor_of(name, None, FIRST, "save()"))
    editor = opened(scenario, name, 2)
    editor.content.click()
    replace_all(scenario.page, "rows", "table", 4)
    editor.wait_for_text(FIRST.replace("rows", "table"))
    seen = look(scenario.page)
    for thread, text, known in (
        (inside, "table.plot(table)", FOUND),
        (below, "save()", {"exact"}),
    ):
        certainty, start, end = seen["places"][thread]
        assert seen["text"][start:end] == text
        assert certainty in known
