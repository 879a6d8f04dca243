"""Messages queued while a turn is stopped: returned to the input or sent, never stuck."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.notebook_scenario import NotebookScenario

pytestmark = pytest.mark.full


def held_turn(scenario: NotebookScenario) -> Panel:
    """A turn that runs a cell until it is stopped."""
    run = calls("run_cell", {"path": scenario.path, "cell_id": "slow"})
    scenario.open(("slow", scenario.held), replies=[run, says("Read."), says("Read again.")])
    return scenario.ask(allow=True)


def test_a_stopped_turn_leaves_no_message_stuck_in_the_queue(
    scenario: NotebookScenario, other_page: Page
) -> None:
    panel = held_turn(scenario)
    panel.ask("and plot it")
    expect(panel.queued).to_have_count(1)
    there = scenario.elsewhere(other_page)
    expect(there.queued).to_have_count(1)

    # It returns to the input of the page that stopped the turn, and leaves the other page.
    panel.input.press("Escape")
    panel.finished()
    expect(panel.input).to_have_value("and plot it")
    expect(panel.input).to_be_focused()
    for each in (panel, there):
        expect(each.queued).to_have_count(0)
    panel.input.press("Enter")
    expect(panel.answers.last).to_contain_text("Read.")
    panel.finished()


def test_a_message_beside_a_draft_stays_and_is_sent_after_a_reload(
    scenario: NotebookScenario, other_page: Page
) -> None:
    panel = held_turn(scenario)
    panel.ask("and plot it")
    expect(panel.queued).to_have_count(1)
    panel.input.fill("a draft")
    panel.input.press("Escape")
    panel.finished()
    expect(panel.queued).to_contain_text("Not sent")
    expect(panel.input).to_have_value("a draft")

    scenario.page.reload()
    panel = Panel(scenario.page).open()
    there = scenario.elsewhere(other_page)
    for each in (panel, there):
        expect(each.queued).to_contain_text("and plot it")
    panel.queued.get_by_role("button", name="Edit").click()
    panel.queued.get_by_role("textbox").fill("and plot it in red")
    panel.queued.get_by_role("textbox").press("Enter")
    expect(there.queued).to_contain_text("in red")
    there.root.get_by_role("button", name="Send now").click()
    for each in (panel, there):
        expect(each.queued).to_have_count(0)
        expect(each.answers.last).to_contain_text("Read.")
        each.finished()
    expect(panel.input).to_have_value("a draft")
