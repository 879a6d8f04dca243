"""The memory: the line in the conversation, and the page that lists, edits and switches it off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.support.accessibility_audit import COLOURS, audit
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario
from tests.ui.support.pseudo_locale import CUT

SEABORN = "Prefers seaborn for plots."
PLOTLY = "Prefers plotly for plots."
RAW = "Plates are in raw/."


@pytest.fixture(autouse=True)
def person(served: LabWithModel) -> Iterator[Path]:
    """The person's file, which a test leaves empty."""
    home = served.lab.state / "home" / ".shoulders"
    places = (home / "memory.md", served.lab.root / ".shoulders" / "memory.md")
    yield places[0]
    for place in (*places, home / "settings.json"):
        place.unlink(missing_ok=True)


def test_a_statement_is_remembered_undone_added_edited_and_forgotten(
    scenario: NotebookScenario, page: Page, person: Path
) -> None:
    remember = {"text": SEABORN, "scope": "person"}
    call = calls("remember", remember)
    scenario.play(call, says("Noted."), call, says("Ok."))
    panel = Panel(page)
    page.goto(scenario.lab.url("lab", reset=""))
    panel.open().ask("Remember that.")
    line = panel.root.locator(".shoulders-CallRow").filter(has_text=f"Remembered: {SEABORN}")
    expect(line).to_have_count(1)
    expect(panel.answers.last).to_contain_text("Noted.")
    line.get_by_role("button", name=f"Undo: Remembered: {SEABORN}").press("Enter")
    expect(line.get_by_role("status")).to_have_text("undone")
    assert SEABORN not in person.read_text(encoding="utf-8")
    panel.ask("Again.")
    expect(panel.answers.last).to_contain_text("Ok.")
    assert audit(line.last) == []

    shown = SettingsPage(page).open("memory")
    statement = shown.root.get_by_role("listitem", name=SEABORN)
    expect(statement).to_contain_text("Conversation")
    add = shown.root.get_by_role("button", name="Add a statement about this folder")
    add.click()
    shown.root.get_by_label("New statement").fill(RAW)
    page.keyboard.press("Enter")
    expect(shown.root.get_by_role("listitem", name=RAW)).to_be_visible()
    expect(add).to_be_focused()
    shown.root.get_by_label("Plotting library").fill("plotly")
    shown.root.get_by_role("button", name="Save", exact=True).click()
    expect(shown.root.get_by_role("listitem", name="Plotting library: plotly")).to_be_visible()

    shown.root.get_by_role("button", name=f"Edit: {SEABORN}").click()
    expect(shown.root.get_by_label("Statement", exact=True)).to_be_focused()
    shown.root.get_by_label("Statement", exact=True).fill(PLOTLY)
    page.keyboard.press("Enter")
    expect(shown.root.get_by_role("listitem", name=PLOTLY)).to_be_visible()
    expect(shown.root.get_by_role("button", name=f"Edit: {PLOTLY}")).to_be_focused()
    page.set_viewport_size({"width": 1440, "height": 900})
    assert audit(shown.root) == []
    assert shown.root.evaluate(CUT) == []
    for theme in THEMES:
        show_theme(page, theme)
        assert audit(shown.root, COLOURS) == []

    shown.root.get_by_role("button", name=f"Delete: {PLOTLY}").press("Enter")
    expect(shown.root.get_by_role("listitem", name=PLOTLY)).to_have_count(0)
    following = shown.root.get_by_role("button", name="Delete: Plotting library: plotly")
    expect(following).to_be_focused()
    shown.root.get_by_role("button", name="Undo", exact=True).click()
    expect(shown.root.get_by_role("listitem", name=PLOTLY)).to_be_visible()
    assert PLOTLY in person.read_text(encoding="utf-8")

    person.write_text("- Written by hand.\n", encoding="utf-8")
    shown.go("Instructions").go("Memory")
    expect(shown.root.get_by_role("listitem", name="Written by hand.")).to_be_visible()
    shown.switch("Remember across conversations").click()
    expect(shown.root).to_contain_text("The memory is switched off")
    assert person.read_text(encoding="utf-8") == "- Written by hand.\n"
