"""A thread's proposals: word diffs, apply, edit, dismiss, undo, run."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.threads import Threads
from tests.ui.support.notebook_scenario import NotebookScenario

TWICE = "a = load()\nb = load()\nprint(a, b)"


def propose(old: str, new: str) -> dict[str, object]:
    """A reply that proposes a change at the thread's location."""
    return calls("propose_edit", {"old_string": old, "new_string": new})


def begin(scenario: NotebookScenario, opened: OpenNotebook, quote: str, nth: int = 0) -> Panel:
    """Start a thread at a text of the first cell, and let it propose a change."""
    threads, panel = Threads(scenario.page), Panel(scenario.page).open()
    threads.select(opened, "first", quote, nth)
    threads.start()
    panel.ask("Change it.")
    expect(panel.proposal).to_be_visible()
    panel.finished()
    return panel


def press(panel: Panel, name: str) -> None:
    """Press a button of the newest proposal."""
    panel.proposal.last.get_by_role("button", name=name, exact=True).click()


@pytest.mark.kept_page
@pytest.mark.shows(
    "threads.propose.1",
    "threads.propose.2",
    "threads.propose.5",
    "threads.anchor.9",
    "threads.end.3",
)
def test_a_proposal_is_seen_by_word_applied_at_its_place_kept_and_the_thread_resolved(
    scenario: NotebookScenario, page: Page
) -> None:
    replies = [propose("load()", "load(2)"), says("Look at it.")]
    opened = scenario.open(("first", TWICE), replies=replies)
    panel = begin(scenario, opened, "load()", 1)
    expect(panel.answers.last).to_contain_text("Look at it.")
    result = scenario.talks.of_type("tool-result")[-1]
    assert result["status"] == "ok"
    assert opened.source("first") == TWICE
    expect(panel.proposal.locator("ins.shoulders-Diff-word")).to_have_text("2")
    expect(panel.proposal.locator("del.shoulders-Diff-word")).to_have_count(0)
    press(panel, "Apply")
    opened.wait_for_source("first", "a = load()\nb = load(2)\nprint(a, b)")
    expect(panel.proposal).to_contain_text("applied")
    hint = panel.root.locator(".shoulders-ResolveHint")
    press(panel, "Keep")
    expect(hint).to_be_visible()
    expect(panel.input).to_be_focused()
    hint.get_by_role("button", name="Resolve").click()
    expect(hint).to_have_count(0)
    expect(Threads(page).bar).to_contain_text("Resolved")
    assert scenario.talks.only()["status"] == "resolved"


@pytest.mark.full
@pytest.mark.shows("threads.propose.3", "threads.propose.4")
def test_a_proposal_is_undone_changed_merged_dismissed_and_never_written_over_other_words(
    scenario: NotebookScenario, page: Page
) -> None:
    replies = [
        *(propose("load()", "load(2)"), says("One.")),
        *(propose("load()", "load(3)"), says("Two.")),
        *(propose("load(4)", "load(5)"), says("Three.")),
    ]
    opened = scenario.open(("first", TWICE), ("second", "print(1)"), replies=replies)
    panel = begin(scenario, opened, "load()")
    press(panel, "Apply")
    opened.wait_for_source("first", "a = load(2)\nb = load()\nprint(a, b)")
    press(panel, "Undo")
    opened.wait_for_source("first", TWICE)
    expect(panel.proposal).to_contain_text("undone")

    # Edited by the user before, while other lines of the cell changed.
    panel.ask("Again.")
    expect(panel.proposal).to_have_count(2)
    panel.finished()
    opened.type_at_end("first", "  # both")
    press(panel, "Edit…")
    field = panel.proposal.last.get_by_role("textbox", name="The text to apply")
    field.fill((field.input_value()).replace("load(3)", "load(4)"))
    expect(panel.proposal.last.locator("ins.shoulders-Diff-word")).to_have_text("4")
    press(panel, "Apply")
    opened.wait_for_source("first", "a = load(4)\nb = load()\nprint(a, b)  # both")
    expect(panel.proposal.last).to_contain_text("applied with changes")

    # The user changes the same words: nothing is written without a choice.
    panel.ask("Once more.")
    expect(panel.proposal).to_have_count(3)
    panel.finished()
    threads = Threads(page)
    threads.select(opened, "first", "load(4)")
    page.keyboard.type("load(mine)")
    mine = "a = load(mine)\nb = load()\nprint(a, b)  # both"
    opened.wait_for_source("first", mine)
    expect(panel.proposal.last).to_contain_text("You changed the same lines")
    expect(panel.proposal.last.get_by_role("button", name="Apply", exact=True)).to_have_count(0)
    expect(panel.proposal.last).to_contain_text("load(mine)")
    press(panel, "Keep mine")
    expect(panel.proposal.last).to_contain_text("dismissed")
    assert opened.source("first") == mine


@pytest.mark.full
@pytest.mark.shows("threads.propose.6")
def test_a_proposal_is_applied_and_run_and_the_agent_sees_the_output(
    scenario: NotebookScenario, page: Page
) -> None:
    replies = [
        *(propose("6 * 7", "6 * 7 + 1"), says("Run it.")),
        says("Forty-three it is."),
    ]
    opened = scenario.open(("first", "print(6 * 7)"), replies=replies)
    panel = begin(scenario, opened, "6 * 7")
    press(panel, "Apply and run")
    expect(opened.output("first")).to_contain_text("43")
    expect(panel.root.locator(".shoulders-User").last).to_contain_text("ran cell 1")
    expect(panel.answers.last).to_contain_text("Forty-three it is.")
    panel.finished()
    asked = scenario.talks.of_type("message-add")
    assert [message["attachments"][:1] for message in asked][1:] == [
        [{"kind": "output", "path": scenario.path, "cell_id": "first", "index": 0}]
    ]


@pytest.mark.full
@pytest.mark.shows("threads.propose.3")
def test_a_proposal_for_a_cell_that_is_gone_is_out_of_date(
    scenario: NotebookScenario, page: Page
) -> None:
    replies = [propose("load()", "load(2)"), says("One.")]
    opened = scenario.open(("first", TWICE), ("second", "print(1)"), replies=replies)
    panel = begin(scenario, opened, "load()")
    opened.prompt("first").click()
    opened.command("notebook:delete-cell")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.length === 1"
    )
    press(panel, "Apply")
    expect(panel.proposal).to_contain_text("out of date")
    expect(panel.proposal).to_contain_text("The cell is gone")
    expect(Threads(page).bar).to_contain_text("Not in document")
    expect(Threads(page).bar).to_contain_text("load()")
