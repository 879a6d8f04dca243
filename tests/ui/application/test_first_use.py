"""A user without a key gets help in the tour notebook, by mouse or by keyboard.

Actions are counted in human time (a click with its movement 1.5 s, a key half a second, a letter a
quarter), without the machine's own.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.lab_server import Lab, StartLab
from tests.ui.page_objects.lab_page import OpenNotebook, Panel

TOUR = Path(__file__).parents[3] / "examples" / "tour.ipynb"
CLICK_SECONDS = 1.5
KEY_SECONDS = 0.5
LETTER_SECONDS = 0.25
TWO_MINUTES = 120
TOUR_REQUESTS = [
    "Why does cell 8 fail? Please fix it and run it again.",
    "Plot flavanoids against colour intensity, one colour per variety, in a new cell.",
    "Profile the measurements, then tell me what is left to do.",
]


@dataclass
class Person:
    """A user's actions on a page and the time they take."""

    page: Page
    seconds: float = field(default=0, init=False)

    def click(self, target: Locator) -> None:
        """Move the mouse to a visible element and click it."""
        expect(target).to_be_in_viewport()
        target.click()
        self.seconds += CLICK_SECONDS

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
            self.seconds += KEY_SECONDS

    def type(self, text: str) -> None:
        """Type at the cursor."""
        self.page.keyboard.type(text)
        self.seconds += LETTER_SECONDS * len(text)

    def walk_to(self, name: str, key: str = "Tab") -> None:
        """Press a key until the element with this name has the focus."""
        for _ in range(40):
            if self.page.evaluate(_FOCUSED) == name:
                return
            self.press(key)
        raise AssertionError(f"{key} does not lead to {name!r}: {self.page.evaluate(_FOCUSED)!r}")


_FOCUSED = """() => {
    const element = document.activeElement;
    return element.getAttribute('aria-label') ?? element.textContent.trim();
}"""


@pytest.fixture
def tour(start_lab: StartLab, tmp_path: Path, page: Page) -> OpenNotebook:
    """The tour on an unconfigured server; only JupyterLab's own notifications are dismissed."""
    shutil.copy(TOUR, tmp_path)
    lab: Lab = start_lab(tmp_path)
    page.goto(lab.document_url("tour.ipynb"))
    return OpenNotebook(page).ready()


def fixed(tour: OpenNotebook) -> None:
    """Wait until the failing cell of the tour shows its table, and the change can be undone."""
    expect(tour.output("count-mistakes").locator("table")).to_be_visible()
    expect(tour.page.get_by_role("button", name="Undo").first).to_be_visible()


@pytest.mark.full
@pytest.mark.shows("empty.2")
def test_with_the_mouse_alone(tour: OpenNotebook, page: Page) -> None:
    person = Person(page)
    person.click(page.get_by_role("menuitem", name="Run", exact=True))
    person.click(page.get_by_role("menuitem", name="Run All Cells", exact=True))
    expect(tour.output("count-mistakes")).to_contain_text("NameError")
    fix = tour.cell("count-mistakes").get_by_role("button", name="Fix & run")
    fix.scroll_into_view_if_needed()
    person.click(fix)
    fixed(tour)
    assert person.seconds < TWO_MINUTES


@pytest.mark.full
@pytest.mark.shows("panel.4")
def test_with_the_keyboard_alone(tour: OpenNotebook, page: Page) -> None:
    person = Person(page)
    # JupyterLab focuses a notebook when it opens.
    page.wait_for_function("() => document.activeElement.closest('.jp-Notebook') !== null")
    for cell in ("load-wines", "count-wines", "train-model", "count-mistakes"):
        while tour.active != cell:
            person.press("ArrowDown")
        person.press("Control+Enter")
    expect(tour.output("count-mistakes")).to_contain_text("NameError")
    person.press("Control+Shift+C")
    expect(page.locator(".lm-CommandPalette-input")).to_be_focused()
    person.type("fix the error")
    expect(page.locator(".lm-CommandPalette-item")).to_have_count(1)
    person.press("Enter")
    fixed(tour)
    assert person.seconds < TWO_MINUTES


@pytest.mark.full
@pytest.mark.shows("empty.2")
def test_panel_opens_beside_the_tour_with_requests_the_demo_can_answer(
    tour: OpenNotebook, page: Page
) -> None:
    panel = Panel(page)
    expect(panel.input).to_be_visible()
    box = panel.root.bounding_box()
    assert box is not None
    assert 370 <= box["width"] <= 390
    ideas = panel.root.locator(".shoulders-Idea")
    expect(ideas).to_have_text(TOUR_REQUESTS)
    ideas.last.click()
    expect(panel.input).to_have_value(TOUR_REQUESTS[-1])
    panel.input.fill("Translate this to French")
    panel.input.press("Enter")
    panel.finished()
    expect(panel.answers.last).to_contain_text("have no rule for that")
    panel.root.get_by_role("button", name="Connect a model").click()
    expect(page.get_by_role("heading", name="Providers")).to_be_visible()
