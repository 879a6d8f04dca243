"""The locations of the chat panel, moving it, and its restoration after a reload."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.notebook_scenario import NotebookScenario

WHERE = """() => {
    const {shell} = window.jupyterapp;
    const has = area => [...shell.widgets(area)].some(w => w.id === 'jupyter-ai-shoulders-chat');
    const found = ['left', 'right', 'main'].filter(has);
    return found[0] ?? (document.querySelector('.shoulders-Bubble') === null ? null : 'bubble');
}"""
SETTINGS = {
    "place": Path("jupyter-ai-shoulders", "chat.jupyterlab-settings"),
    "shortcuts": Path("@jupyterlab", "shortcuts-extension", "shortcuts.jupyterlab-settings"),
}
DOCK = {
    "left": ("l", "Move AI Chat to the Left Side Bar"),
    "main": ("m", "Open AI Chat as a Tab in the Main Area"),
    "bubble": ("p", "Float AI Chat as a Bubble"),
    "right": ("r", "Move AI Chat to the Right Side Bar"),
}
ACTIONS = (
    "Show or Hide AI Chat",
    "Go to AI Chat",
    "New AI Conversation",
    "Next AI Conversation",
    "Previous AI Conversation",
    "Close AI Conversation",
    "Rename AI Conversation",
    "Fork AI Conversation",
    "Export AI Conversation",
    "Delete AI Conversation",
    "Show AI Conversations",
    "Ask AI…",
    "Stop the AI Agent",
    "Allow the Waiting AI Call Once",
    "Deny the Waiting AI Call",
)


class Anywhere(Panel):
    """The panel, a region in every location except a tab."""

    @property
    def root(self) -> Locator:
        """The panel itself."""
        return self.page.locator("#jupyter-ai-shoulders-chat")


@pytest.fixture
def settings(scenario: NotebookScenario) -> Iterator[Path]:
    """The user's settings files; removes a test's changes afterwards."""
    folder = scenario.lab.state / "settings"
    yield folder
    for path in SETTINGS.values():
        (folder / path).unlink(missing_ok=True)


def is_at(page: Page, place: str) -> None:
    """Wait until the panel is at a location."""
    page.wait_for_function(f"() => ({WHERE})() === {json.dumps(place)}")


def launched(page: Page) -> None:
    """Wait for JupyterLab's launcher: it takes the focus when it opens."""
    page.wait_for_function("() => window.jupyterapp?.restored !== undefined")
    page.evaluate("() => window.jupyterapp.restored")
    page.wait_for_function("() => document.querySelector('.jp-Launcher-content') !== null")


def opened(scenario: NotebookScenario, page: Page) -> Anywhere:
    """Open the panel beside the launcher."""
    page.goto(scenario.lab.url("lab", reset=""))
    launched(page)
    panel = Anywhere(page)
    panel.open()
    return panel


def reload(page: Page, scenario: NotebookScenario) -> None:
    """Reload the page with its layout."""
    page.goto(scenario.lab.url("lab"))
    page.wait_for_function("() => window.jupyterapp?.restored !== undefined")
    page.evaluate("() => window.jupyterapp.restored")


@pytest.mark.full
@pytest.mark.shows("places.1", "places.2", "places.3", "places.4", "places.5", "speed.5")
def test_shortcuts_dock_the_panel_anywhere_and_a_reload_finds_it_there(
    scenario: NotebookScenario, page: Page, settings: Path
) -> None:
    chosen = settings / SETTINGS["place"]
    panel = opened(scenario, page)
    is_at(page, "right")
    assert box(panel)["x"] > 1280 / 2
    panel.input.fill("half a thought")
    for place in ("left", "main", "bubble"):
        page.keyboard.press("Control+;")
        page.keyboard.press(DOCK[place][0])
        is_at(page, place)
        expect(panel.input).to_have_value("half a thought")
        reload(page, scenario)
        expect(panel.input).to_have_value("half a thought")
        is_at(page, place)
        if place == "left":
            assert box(panel)["x"] < 1280 / 4
    scenario.wait(
        lambda: chosen.exists() and "bubble" in chosen.read_text(), "the settings have it"
    )
    window = box(panel)
    assert window["x"] + window["width"] > 1280 - 24
    assert window["y"] + window["height"] > 800 - 48


def box(panel: Panel) -> dict[str, float]:
    """Position of the panel in the window."""
    found = panel.root.bounding_box()
    assert found is not None
    return {"x": found["x"], "y": found["y"], "width": found["width"], "height": found["height"]}


@pytest.mark.full
@pytest.mark.shows("places.4", "places.5")
def test_the_bubble_opens_closes_and_grows_by_keyboard_and_remembers_it(
    scenario: NotebookScenario, page: Page, settings: Path
) -> None:
    del settings  # only for the clean-up
    panel = opened(scenario, page)
    panel.root.get_by_role("button", name="More", exact=True).click()
    panel.root.get_by_role("menuitemradio", name="Floating bubble").click()
    is_at(page, "bubble")
    expect(panel.input).to_be_focused()
    narrow = box(panel)
    handle = page.get_by_role("button", name="Resize the chat")
    handle.press("ArrowLeft")
    handle.press("ArrowLeft")
    assert box(panel)["width"] == narrow["width"] + 64
    panel.input.focus()
    page.keyboard.press("Escape")
    button = page.get_by_role("button", name="AI chat", exact=True)
    expect(button).to_be_focused()
    expect(panel.root).to_be_hidden()
    page.keyboard.press("Enter")
    expect(panel.input).to_be_focused()
    panel.root.get_by_role("button", name="Minimise").click()
    expect(button).to_be_focused()
    reload(page, scenario)
    launched(page)
    expect(button).to_be_visible()
    expect(panel.root).to_be_hidden()
    page.keyboard.press("Control+Shift+A")
    expect(panel.input).to_be_focused()
    assert box(panel)["width"] == narrow["width"] + 64
    page.keyboard.press("Control+Shift+A")
    expect(button).to_be_focused()


@pytest.mark.full
def test_a_tab_that_is_closed_stays_closed_and_the_lab_s_own_move_is_kept(
    scenario: NotebookScenario, page: Page, settings: Path
) -> None:
    chosen = settings / SETTINGS["place"]
    panel = opened(scenario, page)
    command(page, "dock-main")
    is_at(page, "main")
    page.locator("#jp-main-dock-panel .lm-TabBar-tab", has_text="AI chat").locator(
        ".lm-TabBar-tabCloseIcon"
    ).click()
    expect(panel.root).to_have_count(0)
    reload(page, scenario)
    page.wait_for_function(f"() => ({WHERE})() === null")
    command(page, "focus-chat")
    is_at(page, "main")
    expect(panel.input).to_be_focused()
    command(page, "dock-right")
    is_at(page, "right")
    page.locator(".jp-SideBar [data-id='jupyter-ai-shoulders-chat']").click(button="right")
    page.locator(".lm-Menu").get_by_text("Switch Sidebar Side").click()
    is_at(page, "left")
    scenario.wait(lambda: "left" in chosen.read_text(), "the lab's own move is kept")
    command(page, "focus-chat")
    expect(panel.input).to_be_focused()
    command(page, "toggle-chat")
    expect(panel.root).to_be_hidden()


def command(page: Page, name: str) -> None:
    """Run a command of this extension."""
    page.evaluate(
        "(name) => window.jupyterapp.commands.execute(`jupyter-ai-shoulders:${name}`)", name
    )


@pytest.mark.full
@pytest.mark.shows("places.5", "places.6")
def test_the_palette_has_every_action_and_shortcuts_can_be_rebound(
    scenario: NotebookScenario, page: Page, settings: Path
) -> None:
    rebound = {
        "command": "jupyter-ai-shoulders:toggle-chat",
        "keys": ["Accel Shift Y"],
        "selector": "body",
    }
    usual = {**rebound, "keys": ["Accel Shift A"], "disabled": True}
    path = settings / SETTINGS["shortcuts"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"shortcuts": [usual, rebound]}))
    page.goto(scenario.lab.url("lab", reset=""))
    panel = Anywhere(page)
    launched(page)
    page.keyboard.press("Control+Shift+A")
    expect(panel.root).to_be_hidden()
    page.keyboard.press("Control+Shift+Y")
    expect(panel.input).to_be_focused()

    page.keyboard.press("Control+Shift+C")
    palette = page.locator("#modal-command-palette")
    expect(palette).to_be_visible()
    labels = palette.locator(".lm-CommandPalette-itemLabel")
    expect(labels.filter(has_text="Ask AI…")).to_have_count(1)
    found = labels.all_text_contents()
    wanted = (*ACTIONS, *(label for _, label in DOCK.values()))
    assert [label for label in wanted if label not in found] == []
    page.keyboard.type("Move AI Chat to the Left")
    page.keyboard.press("Enter")
    is_at(page, "left")
