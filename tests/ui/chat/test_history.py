"""The history: search, filter, rename, export, copy, delete, restore."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import says
from tests.ui.page_objects.lab_page import WIDE, Panel
from tests.ui.support.notebook_scenario import NotebookScenario

HIDING = "invoice\u202etxt.py"


def more(panel: Panel, title: str, item: str) -> None:
    """Choose from the menu of a conversation in the history."""
    panel.root.get_by_role("button", name=f"More actions for {title}").click()
    panel.root.get_by_role("menuitem", name=item).click()


def drag(page: Page, tab: Locator, other: Locator, share: float) -> None:
    """Drag a tab to a position within another, as a share of its width."""
    start, end = tab.bounding_box(), other.bounding_box()
    assert start is not None
    assert end is not None
    middle = start["y"] + start["height"] / 2
    page.mouse.move(start["x"] + start["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] * share, middle, steps=6)
    page.mouse.up()


@pytest.mark.full
@pytest.mark.shows("places.8", "places.9")
def test_the_history_finds_by_words_kind_and_source_and_manages_what_it_finds(
    scenario: NotebookScenario, page: Page, tmp_path: Path
) -> None:
    scenario.play(*[says("Penguins swim.")] * 3)
    scenario.talks.send("POST", "runs", {"prompt": "Penguins by script"})
    panel = scenario.open_panel()
    panel.ask("Penguins in the panel")
    expect(panel.answers.last).to_contain_text("Penguins swim.")
    panel.finished()
    page.keyboard.press("Control+;")
    page.keyboard.press("h")
    search = panel.root.get_by_label("Search conversations")
    expect(search).to_be_focused()
    page.keyboard.type("penguins")
    rows = panel.root.locator(".shoulders-History-row")
    expect(rows).to_have_count(2)

    panel.root.get_by_label("Kind").select_option("Runs")
    expect(rows).to_contain_text(["Penguins by script"])
    panel.root.get_by_label("Kind").select_option("All kinds")
    panel.root.get_by_label("Source").select_option("Chat panel")
    expect(rows).to_contain_text(["Penguins in the panel"])
    panel.root.get_by_label("Source").select_option("Schedule")
    expect(panel.root.get_by_text("No matching conversations.")).to_be_visible()
    panel.root.get_by_label("Source").select_option("All sources")
    expect(rows).to_have_count(2)

    row = panel.root.get_by_role("button", name="Penguins in the panel", exact=False).first
    row.focus()
    page.keyboard.press("F2")
    page.keyboard.type(HIDING)
    page.keyboard.press("Enter")
    shown = "invoice⟨U+202E⟩txt.py"
    expect(rows.filter(has_text=shown)).to_have_count(1)
    for item, suffix in (("Markdown", "md"), ("JSON lines", "jsonl"), ("notebook", "ipynb")):
        with page.expect_download() as begun:
            more(panel, shown, f"Export as {item}")
        saved = begun.value
        assert saved.suggested_filename == f"{shown}.{suffix}"
        path = tmp_path / f"exported.{suffix}"
        saved.save_as(path)
        assert "Penguins in the panel" in path.read_text(encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8"))["nbformat"] == 4

    more(panel, shown, "Fork")
    expect(panel.root.get_by_role("tab", selected=True)).to_have_text(f"{shown} (fork)")
    expect(panel.answers.last).to_contain_text("Penguins swim.")

    panel.root.get_by_role("button", name="More", exact=True).click()
    panel.root.get_by_role("menuitem", name="Delete").click()
    undo = panel.root.get_by_role("button", name="Undo", exact=True)
    expect(undo).to_be_focused()
    expect(panel.root.get_by_role("tab", selected=True)).to_have_text(shown)
    page.keyboard.press("Enter")
    expect(panel.root.get_by_role("tab", selected=True)).to_have_text(f"{shown} (fork)")
    expect(panel.input).to_be_focused()


@pytest.mark.full
@pytest.mark.shows("places.7", "panel.4")
def test_tabs_are_chosen_named_moved_and_closed_by_keyboard(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(says("Auk."), says("Bee."))
    panel = scenario.open_panel()
    tabs = panel.root.get_by_role("tab")
    panel.resize(WIDE)
    for title, answer in (("Auks", "Auk."), ("Bees", "Bee.")):
        panel.ask(title)
        expect(panel.answers.last).to_contain_text(answer)
        panel.finished()
        page.keyboard.press("Control+;")
        page.keyboard.press("n")
        expect(panel.root.get_by_text("What shall we work on?")).to_be_visible()
    expect(tabs).to_have_text(["Auks", "Bees", "New conversation"])
    tabs.last.focus()
    page.keyboard.press("Home")
    expect(tabs.first).to_be_focused()
    expect(panel.answers.last).to_contain_text("Auk.")
    page.keyboard.press("Control+Shift+ArrowRight")
    expect(tabs).to_have_text(["Bees", "Auks", "New conversation"])
    drag(page, tabs.nth(1), tabs.nth(0), 0.2)
    expect(tabs).to_have_text(["Auks", "Bees", "New conversation"])
    drag(page, tabs.nth(0), tabs.nth(1), 0.8)
    expect(tabs).to_have_text(["Bees", "Auks", "New conversation"])
    tabs.nth(1).focus()
    page.keyboard.press("F2")
    page.keyboard.type("Great auks")
    page.keyboard.press("Enter")
    expect(tabs).to_have_text(["Bees", "Great auks", "New conversation"])
    expect(tabs.nth(1)).to_be_focused()
    page.keyboard.press("Delete")
    expect(tabs).to_have_text(["Bees", "New conversation"])
    expect(tabs.last).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Delete")
    expect(tabs).to_have_text(["New conversation"])
    page.reload()
    panel = Panel(page).open()
    expect(tabs).to_have_text(["New conversation"])
    panel.root.get_by_role("button", name="History").click()
    expect(panel.root.locator(".shoulders-History-row", has_text="Great auks")).to_be_visible()
