"""Visual details: dots, amounts, narrow windows, blinking, editors that take keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.simulator_process import says
from tests.ui.page_objects.inline_completion import InlineCompletion, suggests
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.page_objects.thread_marks import anchor_of, begin, of_cell, put
from tests.ui.support.notebook_scenario import NotebookScenario

pytestmark = pytest.mark.full

ZOOMED: ViewportSize = {"width": 720, "height": 450}
"""The viewport of 1440 x 900 at a zoom of 200 %."""

_TEXT_EDGE = """line => {
    const range = document.createRange();
    range.selectNodeContents(line);
    return range.getBoundingClientRect().left;
}"""

# Like an editor with its own keys, such as Vim in normal mode.
_TAKES_KEYS = """() => document.querySelectorAll('.jp-Notebook .cm-content').forEach(each =>
    each.addEventListener('keydown', event => {
        event.preventDefault();
        event.stopPropagation();
    }, true))"""


def text_edge(line: Locator) -> float:
    """The left edge of a line's text, in px."""
    return line.evaluate(_TEXT_EDGE)


def test_dot_of_a_thread_leaves_the_text_where_it_is(scenario: NotebookScenario) -> None:
    text = "alpha = 1"
    opened = scenario.open(("here", text), replies=[])
    line = opened.cell("here").locator(".cm-line").first
    before = text_edge(line)

    session = begin(scenario, "About alpha", anchor_of(scenario.path, "here", text, "alpha"))

    marks = of_cell(opened, "here")
    expect(marks.dots).to_be_visible()
    assert text_edge(line) == before
    marks.dots.click()
    expect(Panel(scenario.page).root).to_contain_text("About alpha")
    put(scenario, session, "resolved")
    expect(marks.dots).to_have_count(0)
    assert text_edge(line) == before


def test_axis_of_costs_has_plain_amounts(scenario: NotebookScenario, page: Page) -> None:
    scenario.open(("here", "1"), replies=[])
    SettingsPage(page).open("usage")
    axis = page.locator(".shoulders-Chart-axis span")
    expect(axis.last).to_have_text("$0")
    assert not [text for text in axis.all_inner_texts() if "e" in text]


def test_zoom_of_200_percent_leaves_room_for_the_notebook(
    scenario: NotebookScenario, page: Page
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    scenario.open(("here", "1"), replies=[])
    page.evaluate("() => window.jupyterapp.shell.activateById('filebrowser')")
    panel = Panel(page).open()
    page.set_viewport_size(ZOOMED)
    main = page.locator("#jp-main-dock-panel")
    page.wait_for_function(
        "() => document.querySelector('#jp-main-dock-panel').clientWidth >= 320", timeout=5_000
    )
    assert main.evaluate("main => main.clientWidth") >= 320
    expect(panel.input).to_be_visible()


def test_shortcuts_of_two_keys_work_where_an_editor_takes_keys(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = scenario.open(("here", "x = 1"), replies=[])
    opened.editor("here").click()
    page.evaluate(_TAKES_KEYS)
    page.keyboard.press("Control+;")
    page.keyboard.press("e")
    expect(opened.prompt("here")).to_be_visible()
    assert opened.source("here") == "x = 1"


def test_plus_plus_with_nothing_to_suggest_blinks(scenario: NotebookScenario, page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    opened = scenario.open(("here", "x = "), replies=[suggests()])
    opened.editor("here").click()
    page.keyboard.press("Control+End")
    ghost = InlineCompletion(page)
    ghost.ready()
    page.evaluate(
        "() => { window.blinks = 0; new MutationObserver(() => {"
        " window.blinks += document.querySelectorAll('.shoulders-GhostNothing').length;"
        "}).observe(document.body, {childList: true, subtree: true}); }"
    )
    ghost.plus()
    page.wait_for_function("() => window.blinks > 0")
    expect(page.locator(".shoulders-GhostNothing")).to_have_count(0)
    expect(ghost.spoken).to_have_text("No suggestions.")
    assert opened.source("here") == "x = "


def test_messages_are_reached_from_the_input_by_keyboard(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.open(("here", "1"), replies=[says("An answer.")])
    panel = scenario.ask("A question.")
    expect(panel.answers).to_contain_text(["An answer."])
    panel.finished()
    panel.input.press("PageUp")
    messages = panel.root.locator(".shoulders-Message")
    expect(messages.last).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(messages.first).to_be_focused()
    panel.input.focus()
    log = panel.root.get_by_role("log", name="Conversation")
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if log.evaluate("list => list.contains(document.activeElement)"):
            break
    assert log.evaluate("list => list.contains(document.activeElement)")
