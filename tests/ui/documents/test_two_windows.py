"""One notebook in two windows without collaboration: edits go to the window that asked."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.review import Review
from tests.ui.support.notebook_scenario import NotebookScenario

BEFORE = "a = 1\n\nb = 2\n\nc = 3"
AFTER = "a = 700\n\nb = 2\n\nc = 3"


def agent(scenario: NotebookScenario, *edits: dict[str, str]) -> None:
    """Script the agent: read the notebook, change cells, answer."""
    calls_ = [calls("edit_cell", {"path": scenario.path, **edit}) for edit in edits]
    scenario.play(calls("read_notebook", {"path": scenario.path}), *calls_, says("Done."))


@pytest.fixture
def other(scenario: NotebookScenario, context: BrowserContext) -> Page:
    """The other window."""
    del scenario
    return context.new_page()


def both(
    scenario: NotebookScenario, other: Page, *cells: tuple[str, str]
) -> tuple[OpenNotebook, OpenNotebook]:
    """Open the notebook in both windows; the first was focused last."""
    scenario.write(*cells)
    scenario.show(scenario.page)
    other.goto(scenario.lab.document_url(scenario.path))
    second = OpenNotebook(other).ready()
    return OpenNotebook(scenario.page), second


@pytest.mark.full
def test_the_window_that_sends_the_message_has_the_edits(
    scenario: NotebookScenario, other: Page
) -> None:
    first, second = both(scenario, other, ("cell", BEFORE))
    agent(scenario, {"cell_id": "cell", "source": AFTER})
    panel = Panel(other).open()
    first.type_at_end("cell", "  # mine")
    panel.ask("Make it 700.")
    panel.finished()
    second.wait_for_source("cell", AFTER)
    # The first window has the edit beside the unsaved text, and no other mark.
    first.wait_for_source("cell", f"{AFTER}  # mine")
    marked = Review(scenario.page).hunks(first.editor("cell"))
    expect(marked).to_have_count(1)
    expect(first.editor("cell").locator(".shoulders-Hunk-added")).to_have_text("a = 700")

    Review(scenario.page).undo(marked)
    first.wait_for_source("cell", f"{BEFORE}  # mine")
    expect(marked).to_have_count(0)
    first.save()
    second.wait_for_source("cell", f"{BEFORE}  # mine")
    for page in (scenario.page, other):
        expect(page.locator(".jp-Dialog")).to_have_count(0)
    second.type_at_end("cell", "!")
    second.knows_its_file()
    second.save()
    assert scenario.on_disk() == {"cell": f"{BEFORE}  # mine!"}


@pytest.mark.full
def test_where_both_changed_a_line_the_other_window_keeps_it_and_says_so(
    scenario: NotebookScenario, other: Page
) -> None:
    first, second = both(scenario, other, ("cell", "a = 1"))
    agent(scenario, {"cell_id": "cell", "source": "a = 700"})
    panel = Panel(other).open()
    first.type_at_end("cell", "0  # mine")
    panel.ask("Make it 700.")
    panel.finished()
    second.wait_for_source("cell", "a = 700")
    notice = scenario.page.get_by_text("is also open in another window")
    expect(notice.first).to_be_visible()
    assert first.source("cell") == "a = 10  # mine"
    expect(Review(scenario.page).hunks(first.editor("cell"))).to_have_count(0)

    second.save()
    expect(notice).to_have_count(0)
    first.knows_its_file()
    assert first.source("cell") == "a = 10  # mine"
    assert "a = 700" in [cell["source"] for cell in first.cells]
    expect(scenario.page.locator(".jp-Dialog")).to_have_count(0)
