"""A returning user sees the agent's work in any browser, and its outputs in the file."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.notebook_scenario import NotebookScenario


@pytest.mark.full
def test_what_happened_without_a_page_is_told_once_in_a_new_browser(
    scenario: NotebookScenario, other_page: Page
) -> None:
    path = scenario.path
    opened = scenario.open(
        ("slow", scenario.held),
        ("one", "x = 1"),
        ("mine", "y = 1"),
        replies=[
            calls("read_notebook", {"path": path}),
            calls("run_cell", {"path": path, "cell_id": "slow"}),
            calls("edit_cell", {"path": path, "cell_id": "one", "source": "x = 2"}),
            says("Done."),
        ],
    )
    opened.type_at_end("mine", "  # typed, not saved")
    scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2")
    scenario.page.close()
    scenario.let_go()
    # No page shows the notebook any more, so the edit needs approval.
    scenario.wait(lambda: len(scenario.talks.of_type("approval-request")) == 2, "the agent asks")
    scenario.wait(lambda: scenario.talks.api("away")["report"], "long enough to be told of")

    # Outputs of runs without a page are in the file; typed text is not lost (test_sleep_and_crash).
    scenario.wait(lambda: "tick 14" in scenario.text_on_disk("slow"), "the outputs are in the file")
    assert scenario.on_disk()["mine"] == "y = 1"

    other_page.goto(scenario.lab.document_url(path))
    OpenNotebook(other_page).ready()
    card = other_page.get_by_role("region", name="While you were away")
    expect(card).to_contain_text("Run cell 1")
    expect(card).to_contain_text("Waiting for your approval: Edit cell 2")
    assert scenario.talks.only()["title"] in Panel(other_page).root.inner_text()
    other_page.reload()
    expect(card).to_be_visible()
    with other_page.expect_response("**/shoulders/api/v1/away*"):
        card.get_by_role("button", name="Dismiss").click()
    expect(card).to_have_count(0)
    assert scenario.talks.api("away")["report"] is None
