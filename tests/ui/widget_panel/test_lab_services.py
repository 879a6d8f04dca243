"""Services of JupyterLab in the output's panel: its typesetter and its language."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.simulator_process import says
from tests.ui.page_objects.widget_panel import NAME, SHOW, answered, panel_in
from tests.ui.support.notebook_scenario import NotebookScenario
from tests.ui.support.pseudo_locale import RAW, catalogue, longer

pytestmark = pytest.mark.full

ROOT = r"It is $\sqrt{x^2}$:" "\n\n" r"$$\int_0^1 x\,dx$$"
MATRIX = r"Or $\begin{pmatrix}1 & \aleph\end{pmatrix}$."
BEYOND = r"Not \(\href{https://evil.example}{x}\)."


def test_formulas_are_typeset_and_look_as_in_the_lab(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = scenario.open(SHOW, replies=[says(ROOT), says(MATRIX), says(BEYOND)])
    opened.run("show")
    panel = panel_in(page)
    formulas = panel.answers.locator("mjx-container")
    panel.ask("What is the root?")
    answered(panel, "It is")
    expect(formulas).to_have_count(2)
    expect(formulas.nth(1)).to_have_attribute("display", "true")
    panel.ask("And a matrix?")
    answered(panel, "Or")
    expect(formulas).to_have_count(3)
    # With the styles: they draw the characters and hide the text for screen readers.
    signs = formulas.locator("mjx-c").all()
    assert len(signs) > 5
    drawn = "element => getComputedStyle(element, '::before').content"
    assert "none" not in {each.evaluate(drawn) for each in signs}
    place = "elements => elements.map(each => getComputedStyle(each).position)"
    assert set(formulas.locator("mjx-assistive-mml").evaluate_all(place)) == {"absolute"}

    panel.ask("And a link?")
    answered(panel, "Not")
    expect(panel.answers.last).to_contain_text(r"\href")
    expect(formulas).to_have_count(3)


def test_its_words_are_in_the_language_of_the_lab(scenario: NotebookScenario, page: Page) -> None:
    pack = json.dumps({"data": {"jupyter_ai_shoulders": catalogue()}, "message": ""})

    def answer(route: Route) -> None:
        route.fulfill(body=pack, content_type="application/json")

    page.route("**/api/translations/**", answer)
    opened = scenario.open(SHOW, replies=[says("Because **water**.")])
    opened.run("show")
    panel = panel_in(page, longer(NAME))
    panel.ask("Why do penguins swim?")
    answered(panel, "Because water.")
    assert panel.root.evaluate(RAW) == []
