"""The page of schedules and watchers: made, previewed, run, paused and deleted by a person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import says
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.notebook_scenario import NotebookScenario

SHOTS = os.environ.get("SCHEDULE_SHOTS")
"""A folder for pictures of the page; none are taken without it."""


@pytest.fixture(autouse=True)
def no_schedules(scenario: NotebookScenario) -> Iterator[None]:
    """Delete what a test made."""
    yield
    for status in scenario.talks.api("schedules")["schedules"]:
        scenario.talks.send("DELETE", f"schedules/{status['schedule']['id']}", {})


def opened(scenario: NotebookScenario, page: Page) -> Locator:
    page.goto(scenario.lab.url("lab", reset=""))
    page.get_by_role("menuitem", name="View").click()
    page.get_by_role("menuitem", name="Schedules and Watchers").click()
    root = page.get_by_role("region", name="Schedules and watchers")
    expect(root.get_by_role("heading", name="Schedules and watchers")).to_be_focused()
    return root


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.set_viewport_size({"width": 1440, "height": 900})
        for theme in THEMES:
            show_theme(page, theme)
            page.screenshot(path=Path(SHOTS, f"{name}-{theme.replace(' ', '-')}.png"))
        show_theme(page, THEMES[0])


def test_schedule_is_made_with_a_preview_run_paused_and_deleted(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(says("All is well."))
    root = opened(scenario, page)
    root.get_by_role("button", name="New schedule…").click()
    form = root.get_by_role("region", name="New schedule")
    expect(form.get_by_label("Prompt")).to_be_focused()
    page.keyboard.type("Check the data for gaps")
    form.get_by_label("Cron expression").fill("30 8 * * 1-5")
    form.get_by_label("Time zone").fill("Europe/Berlin")
    preview = form.get_by_role("list", name="Next runs").get_by_role("listitem")
    expect(preview).to_have_count(3)
    expect(form.get_by_role("status")).to_contain_text("Every weekday at 08:30, Europe/Berlin")
    shoot(page, "form")

    form.get_by_label("Cron expression").fill("* * * * *")
    form.get_by_role("button", name="Create").click()
    expect(form.get_by_role("alert")).to_contain_text("15 min apart")
    form.get_by_label("Cron expression").fill("30 8 * * 1-5")
    form.get_by_role("button", name="Create").click()
    row = root.get_by_role("listitem", name="Check the data for gaps")
    expect(row).to_contain_text("Every weekday at 08:30, Europe/Berlin")
    expect(row).to_contain_text("Next:")

    row.get_by_role("button", name="Run “Check the data for gaps” now").click()
    expect(row).to_contain_text("Done")
    expect(page.locator(".Toastify__toast")).to_contain_text("Check the data for gaps is done")
    shoot(page, "list")
    row.get_by_role("button", name="Show conversation").first.click()
    expect(Panel(page).answers).to_contain_text("All is well.")

    row.get_by_role("button", name="Pause “Check the data for gaps”").click()
    expect(row).to_contain_text("Paused")
    expect(row).not_to_contain_text("Next:")
    row.get_by_role("button", name="Delete “Check the data for gaps”").click()
    page.locator(".jp-Dialog").get_by_role("button", name="Delete").click()
    expect(root).to_contain_text("No schedules yet.")


def test_watcher_runs_after_a_file_changed_and_the_person_learns_of_it(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(says("Two rows more."))
    folder = scenario.lab.root / "watched"
    folder.mkdir(exist_ok=True)
    (folder / "day.csv").write_text("1,2\n")
    root = opened(scenario, page)
    root.get_by_role("button", name="New schedule…").click()
    form = root.get_by_role("region", name="New schedule")
    form.get_by_label("Prompt").fill("Look at the new rows")
    form.get_by_role("radio", name="When files change").check()
    form.get_by_label("Files, one pattern on each line").fill("watched/*.csv")
    form.get_by_label("Seconds without another change").fill("1")
    expect(form.get_by_role("status")).to_contain_text("1 file matches now.")
    shoot(page, "watcher-form")
    form.get_by_role("button", name="Create").click()
    row = root.get_by_role("listitem", name="Look at the new rows")
    expect(row).to_contain_text("When watched/*.csv changes")
    expect(row).to_contain_text("1 file matches.")
    page.wait_for_timeout(1_500)  # the first look is over

    (folder / "day.csv").write_text("1,2\n3,4\n")

    expect(row).to_contain_text("modified: watched/day.csv")
    expect(row).to_contain_text("Done")
    toast = page.locator(".Toastify__toast")
    expect(toast).to_contain_text("Look at the new rows is done")
    shoot(page, "watcher")
    toast.get_by_role("button", name="Show conversation").click()
    expect(Panel(page).answers).to_contain_text("Two rows more.")


def test_page_fits_a_narrow_panel_and_the_settings_offer_notifications(
    scenario: NotebookScenario, page: Page
) -> None:
    root = opened(scenario, page)
    root.get_by_role("button", name="New schedule…").click()
    page.set_viewport_size({"width": 620, "height": 800})
    scroll = root.locator(".shoulders-Schedules-scroll")
    assert scroll.evaluate("node => node.scrollWidth <= node.clientWidth")
    page.keyboard.press("Escape")
    expect(root.get_by_role("button", name="New schedule…")).to_be_focused()

    root.get_by_role("button", name="Limits…").click()
    settings = page.get_by_role("region", name="AI settings")
    expect(settings.get_by_role("textbox", name="Runs per day")).to_have_value("48")
    shoot(page, "limits")
    settings.get_by_role("combobox", name="Settings section").select_option("notifications")
    expect(settings.get_by_role("heading", name="Webhook")).to_be_visible()
    shoot(page, "notifications")
    settings.get_by_role("button", name="Send a test notification").click()
    expect(page.locator(".Toastify__toast")).to_contain_text("Test notification")
