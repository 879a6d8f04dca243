"""*Fix & run* at a traceback: the cause, the change in the cell, the run, the next step."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.simulator_process import says
from tests.ui.page_objects.inline_actions import new_lines, stalls, writes
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.review import Review
from tests.ui.support.notebook_scenario import NotebookScenario

pytestmark = pytest.mark.full

BAD = "rate = 3\ntotal = price * rate"
WORSE = "rate = 3\nprice = 7\ntotal = price * rates"
GOOD = "rate = 3\nprice = 7\ntotal = price * rate\nprint('total', total)"


def button(bar: Locator, name: str) -> Locator:
    return bar.get_by_role("button", name=name, exact=True)


def test_an_error_is_fixed_and_run_where_it_is(scenario: NotebookScenario) -> None:
    page = scenario.page
    opened = scenario.open(
        ("bad", BAD),
        ("end", "1"),
        replies=[stalls("rate = 3\nprice = 5\ntot"), writes(WORSE), writes(GOOD)],
    )
    opened.run("bad")
    bar = opened.cell("bad").get_by_role("group", name="Error")
    expect(bar).to_contain_text("NameError: name 'price' is not defined")
    expect(bar).to_contain_text("Line 2: total = price * rate")
    below = opened.output("bad").first.bounding_box()

    # Esc leaves the cell unchanged and stops the answer at the provider.
    button(bar, "Fix & run").click()
    expect(bar).to_contain_text("Writing the fix…")
    expect(new_lines(opened.cell("bad"))).to_contain_text(["price = 5"])
    page.keyboard.press("Escape")
    expect(button(bar, "Fix & run")).to_be_focused()
    scenario.ended()
    assert scenario.talks.of_type("turn-end")[-1]["exit"] == "cancelled"
    assert opened.source("bad") == BAD
    expect(new_lines(opened.cell("bad"))).to_have_count(0)
    assert opened.output("bad").first.bounding_box() == below, "the bar moved the page"

    # By keyboard: the cell is changed and run; its new error offers the next step.
    page.keyboard.press("Enter")
    expect(bar).to_contain_text("NameError: name 'rates' is not defined")
    assert opened.source("bad") == WORSE
    review = Review(page)
    expect(review.hunks(opened.editor("bad"))).not_to_have_count(0)

    button(bar, "Fix & run").click()
    expect(opened.output("bad")).to_have_text("total 21")
    expect(bar).to_have_count(0)
    assert opened.source("bad") == GOOD
    expect(Panel(page).root).to_have_count(0)
    assert scenario.talks.of_type("approval-request") == []

    # It waits for review like any change of the agent.
    review.pill.get_by_role("button", name="All changes").click()
    review.bar.get_by_role("button", name="Undo all").click()
    review.is_over()
    opened.wait_for_source("bad", BAD)


def test_what_no_change_of_the_cell_fixes_is_said(scenario: NotebookScenario) -> None:
    opened = scenario.open(("bad", BAD), replies=[says("Run the cell that sets price first.")])
    opened.run("bad")
    bar = opened.cell("bad").get_by_role("group", name="Error")
    button(bar, "Fix & run").click()
    expect(bar.get_by_role("alert")).to_have_text("Run the cell that sets price first.")
    expect(button(bar, "Try again")).to_be_visible()
    assert opened.source("bad") == BAD
    button(bar, "Show in chat").click()
    expect(Panel(scenario.page).answers).to_have_text(["Run the cell that sets price first."])
