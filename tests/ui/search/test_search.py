"""Search in the workspace: the quick-pick by keyboard, attaching places, the settings of search."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import notebook, says
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab
from tests.ui.chat.test_attachments import attached
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.support.accessibility_audit import COLOURS, audit
from tests.ui.support.notebook_scenario import NotebookScenario
from tests.ui.support.pseudo_locale import CUT

ABOVE = [(f"c{number}", "tick = 0\n" * 8) for number in range(30)]
FILES = {
    "fish.ipynb": notebook(*ABOVE, ("deep", "lagoon = 1\nzebrafish = load('fish.csv')")),
    "tools.py": "import os\n" * 60 + "\n\ndef feed_lanternfish(zebrafish):\n    return zebrafish\n",
}


TYPES_ELSEWHERE = """text => {
    const field = document.querySelector('.shoulders-Search input');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text);
    field.dispatchEvent(new Event('input', {bubbles: true}));
}"""
"""Changes the text of the quick-pick while something else has the focus: an answer that is late."""


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server on a folder with a notebook and a code file."""
    root = tmp_path_factory.mktemp("searched")
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    lab = ForkedLab(root, tmp_path_factory.mktemp("lab"))
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def field(searched: Lab, page: Page) -> Locator:
    """The field of the quick-pick, opened by its shortcut beside an open chat."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(searched.url("lab", reset=""))
    Panel(page).open()
    return open_quick_pick(page)


def open_quick_pick(page: Page) -> Locator:
    page.keyboard.press("Control+;")
    page.keyboard.press("k")
    field = page.get_by_role("combobox", name="Search the workspace")
    expect(field).to_be_focused()
    return field


def places(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Places found").get_by_role("option")


def test_a_place_is_found_while_typing_and_opened_by_keyboard(page: Page, field: Locator) -> None:
    page.keyboard.type("zebraf")
    expect(places(page)).to_have_count(2)
    expect(places(page).first.locator("mark").first).to_have_text("zebrafish")
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(Panel(page).input).to_be_focused()

    open_quick_pick(page)
    expect(field).to_have_value("zebraf")
    page.keyboard.type("lagoon zeb")
    expect(places(page).first).to_contain_text("lagoon = 1")
    page.keyboard.press("Enter")
    cell = OpenNotebook(page).shown().cell("deep")
    expect(cell.locator(".shoulders-mod-flash")).to_be_visible()
    expect(cell).to_be_in_viewport()
    expect(field).to_have_count(0)

    open_quick_pick(page)
    page.keyboard.type("lanternfish")
    expect(places(page)).to_have_count(1)
    expect(places(page)).to_contain_text("line 63")
    page.keyboard.press("Enter")
    line = page.locator(".shoulders-Flash-line").first
    expect(line).to_have_text("def feed_lanternfish(zebrafish):")
    expect(line).to_be_in_viewport()


def test_a_conversation_is_opened_at_the_message(scenario: NotebookScenario) -> None:
    page = scenario.page
    rest = "\n\n".join(["A paragraph of an answer."] * 12)
    texts = ["Answer 0: a marabou is a stork."]
    texts += [f"Answer {number}.\n\n{rest}" for number in range(1, 10)]
    scenario.play(*map(says, texts), says("Something else."))
    scenario.write(("one", "x = 1"))
    page.goto(scenario.lab.document_url(scenario.path))
    chat = Panel(page).open()
    for number in range(10):
        chat.ask(f"Question {number} about birds")
        expect(chat.answers.last).to_contain_text(f"Answer {number}")
        chat.finished()
    OpenNotebook(page).command("jupyter-ai-shoulders:new-conversation")
    chat.ask("Another conversation")
    expect(chat.answers).to_contain_text("Something else.")

    open_quick_pick(page)
    page.keyboard.type("marabou stork")
    expect(places(page)).to_have_count(1)
    page.keyboard.press("Enter")
    question = chat.root.locator(".shoulders-Message", has_text="Question 0 about birds")
    expect(question).to_be_focused()
    expect(question).to_be_in_viewport()
    expect(chat.answers.first).to_contain_text("a marabou is a stork.")


def test_places_are_attached_to_the_chat(page: Page, field: Locator) -> None:
    page.keyboard.type("lanternfish")
    expect(places(page)).to_have_count(1)
    page.keyboard.press("Alt+Enter")
    chat = Panel(page)
    expect(attached(chat)).to_have_text(["2 lines of tools.py"])
    expect(chat.input).to_be_focused()
    expect(field).to_have_count(0)

    open_quick_pick(page).fill("zebrafish")
    expect(places(page)).to_have_count(2)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Ask about these")).to_be_focused()
    page.keyboard.press("Enter")
    expect(attached(chat)).to_have_text(["2 lines of tools.py", "Cell"])
    expect(chat.input).to_be_focused()


@pytest.mark.full
def test_the_quick_pick_is_readable_in_every_theme_and_width(page: Page, field: Locator) -> None:
    page.keyboard.type("zebrafish")
    expect(places(page)).to_have_count(2)
    root = page.get_by_role("dialog", name="Search the workspace")
    assert audit(root) == []
    for theme in THEMES:
        show_theme(page, theme)
        assert audit(root, COLOURS) == []
    page.set_viewport_size({"width": 296, "height": 700})
    expect(root).to_have_css("width", "280px")
    assert root.evaluate(CUT) == []


def test_the_settings_show_and_control_the_index(page: Page, field: Locator) -> None:
    page.keyboard.type("zebrafish")
    expect(places(page)).to_have_count(2)
    page.keyboard.press("Tab")
    expect(page.get_by_role("listbox", name="Places found")).to_be_focused()
    page.evaluate(TYPES_ELSEWHERE, "quokka")  # no beginning of it is found either
    expect(places(page)).to_have_count(0)
    expect(field).to_be_focused()
    expect(page.get_by_text("Nothing found. Try")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    root = SettingsPage(page).shown("Search").root
    expect(root).to_contain_text("Up to date · 2 files")
    root.get_by_role("button", name="Pause").press("Enter")
    expect(root).to_contain_text("Paused · 2 files")
    root.get_by_role("button", name="Resume").press("Enter")
    expect(root).to_contain_text("Up to date · 2 files")
    check = root.get_by_label("Why is this file not found?")
    check.fill("missing.py")
    check.press("Enter")
    expect(root).to_contain_text("There is no such file.")

    root.get_by_role("switch", name="Search in the workspace").press("Space")
    expect(root.get_by_role("heading", name="Index")).to_have_count(0)
    open_quick_pick(page).fill("zebrafish")
    expect(page.get_by_text("Search in the workspace is switched off.")).to_be_visible()
    page.keyboard.press("Escape")
    root.get_by_role("switch", name="Search in the workspace").press("Space")
    expect(root.get_by_role("heading", name="Index")).to_be_visible()
