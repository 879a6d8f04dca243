"""Following the agent through the notebook: scrolling, flashes, the return button."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.notebook_scenario import NotebookScenario

NOTES_FLASHES = """() => {
    window.flashed = [];
    const look = element => {
        for (const marked of element.querySelectorAll(
            '.shoulders-Flash-line, .shoulders-mod-flash'
        )) {
            const text = marked.textContent.trim();
            if (text !== window.flashed.at(-1)) {
                window.flashed.push(text);
            }
        }
    };
    new MutationObserver(() => look(document.body)).observe(document.body, {
        attributes: true, attributeFilter: ['class'], childList: true, subtree: true
    });
}"""


def many(*, last: str) -> tuple[tuple[str, str], ...]:
    """More cells than a page shows, with a slow one near the end."""
    cells = [(f"c{number}", f"a = {number}\nb = {number}") for number in range(1, 41)]
    return (*cells[:-2], ("late", last), cells[-1])


def edit(scenario: NotebookScenario, cell_id: str, old: str, new: str) -> dict[str, Any]:
    """A reply that changes a part of a cell."""
    arguments = {"path": scenario.path, "cell_id": cell_id, "old_string": old, "new_string": new}
    return calls("edit_cell", arguments)


def flashed(page: Page) -> list[str]:
    """The flashed cells, in order."""
    return page.evaluate("() => window.flashed")


def pill(page: Page) -> Any:
    """The button that returns to the agent."""
    return page.get_by_role("button", name="Back to the agent")


@pytest.mark.full
def test_the_page_scrolls_to_the_cell_at_work_and_marks_what_changed(
    scenario: NotebookScenario,
) -> None:
    cells = many(last="print('ran', 6 * 7)")
    opened = scenario.open(
        *cells,
        replies=[
            calls("read_notebook", {"path": scenario.path}),
            edit(scenario, "c30", "b = 30", "b = 31"),
            calls("run_cell", {"path": scenario.path, "cell_id": "late"}),
            edit(scenario, "c2", "a = 2", "a = 3"),
            says("Done."),
        ],
    )
    page = scenario.page
    active = opened.active
    expect(opened.cell("c30")).not_to_be_in_viewport()
    page.evaluate(NOTES_FLASHES)
    panel = scenario.ask()
    # The cell of the pending run is in view.
    expect(panel.approval).to_be_visible()
    expect(opened.cell("late")).to_be_in_viewport()
    scenario.wait(
        lambda: "b = 31" in flashed(page), "the changed line is marked, not its neighbour"
    )
    assert not any("a = 30" in text for text in flashed(page))
    panel.allow()
    panel.finished()
    expect(opened.cell("c2")).to_be_in_viewport()
    scenario.wait(lambda: "a = 3" in flashed(page), "the last change is marked")
    # The flashes end; neither caret nor focus moved.
    expect(page.locator(".shoulders-Flash-line, .shoulders-mod-flash")).to_have_count(0)
    assert opened.active == active
    expect(panel.input).to_be_focused()
    expect(pill(page)).to_have_count(0)


@pytest.mark.full
def test_scrolling_or_typing_pauses_and_the_button_leads_back(scenario: NotebookScenario) -> None:
    cells = many(last=scenario.held)
    opened = scenario.open(
        *cells,
        replies=[
            calls("read_notebook", {"path": scenario.path}),
            calls("run_cell", {"path": scenario.path, "cell_id": "late"}),
            edit(scenario, "c30", "b = 30", "b = 31"),
            calls("run_cell", {"path": scenario.path, "cell_id": "late"}),
            says("Done."),
        ],
    )
    page = scenario.page
    panel = scenario.ask(allow=True)
    expect(opened.cell("late")).to_be_in_viewport()
    expect(pill(page)).to_have_count(0)
    # The user scrolls up: the page stays there while the agent works.
    notebook = page.locator(".jp-Notebook:visible")
    notebook.hover()
    page.mouse.wheel(0, -20_000)
    expect(pill(page)).to_be_visible()
    expect(opened.cell("c1")).to_be_in_viewport()
    scenario.let_go()
    expect(panel.approval).to_be_visible()
    opened.wait_for_source("c30", "a = 30\nb = 31")
    expect(opened.cell("c1")).to_be_in_viewport()
    # By keyboard: the button is focusable, and the command does the same.
    pill(page).press("Enter")
    expect(opened.cell("late")).to_be_in_viewport()
    expect(pill(page)).to_have_count(0)
    # Typing in a cell pauses too; a new message resumes following.
    opened.type_at_end("late", "  # mine")
    expect(pill(page)).to_be_visible()
    scenario.allow_unseen()
    panel.finished()
    expect(pill(page)).to_have_count(0)


@pytest.mark.full
def test_following_is_a_preference(scenario: NotebookScenario) -> None:
    opened = scenario.open(
        *many(last="1"),
        replies=[
            calls("read_notebook", {"path": scenario.path}),
            edit(scenario, "c30", "b = 30", "b = 31"),
            says("Done."),
        ],
    )
    toggle = "jupyter-ai-shoulders:toggle-follow"
    opened.command(toggle)
    try:
        panel: Panel = scenario.ask()
        panel.finished()
        opened.wait_for_source("c30", "a = 30\nb = 31")
        expect(opened.cell("c30")).not_to_be_in_viewport()
    finally:
        opened.command(toggle)
