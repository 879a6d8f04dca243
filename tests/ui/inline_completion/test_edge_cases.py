"""Suggestions right after start-up, in long lines, far up in a file, and in Notebook 7."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.ui.page_objects.inline_completion import InlineCompletion, asked_of, stalls, suggests
from tests.ui.page_objects.lab_page import TWO_FRAMES, OpenNotebook
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.page_objects.text_editor import TextEditor
from tests.ui.support.notebook_scenario import NotebookScenario

GOOD = suggests("one()", "two()", "three()")
SETTINGS = re.compile(r"/shoulders/api/v1/settings(\?|$)")


class Held:
    """Holds the settings of a page back until they are released."""

    def __init__(self, page: Page) -> None:
        self._routes: list[Route] = []
        self._is_held = True
        page.route(SETTINGS, self._hold)

    def _hold(self, route: Route) -> None:
        if self._is_held:
            self._routes.append(route)
        else:
            route.continue_()

    def let_go(self) -> None:
        """Release them."""
        self._is_held = False
        for route in self._routes:
            route.continue_()


def at_end(notebook: OpenNotebook, cell: str = "code") -> None:
    """Put the caret at the end of a cell."""
    notebook.editor(cell).click()
    notebook.page.keyboard.press("Control+End")


@pytest.fixture
def switched_off(scenario: NotebookScenario) -> Iterator[None]:
    """`++` is literal."""
    scenario.talks.send("PUT", "settings", {"ghost": {"enabled_plus": False}})
    yield
    scenario.talks.send("PUT", "settings", {"ghost": {"enabled_plus": None}})


@pytest.mark.full
@pytest.mark.shows("inline.plus.8")
def test_in_the_first_moment_the_signs_stay_until_it_is_known_that_they_ask(
    scenario: NotebookScenario,
) -> None:
    held = Held(scenario.page)
    notebook = scenario.open(("code", "a = "), ("other", "b = "), replies=[GOOD])
    ghost = InlineCompletion(scenario.page)
    at_end(notebook, "other")
    ghost.strokes()
    scenario.page.keyboard.type("c")
    notebook.wait_for_source("other", "b = ++c")
    at_end(notebook)
    ghost.strokes()
    notebook.wait_for_source("code", "a = ++")

    held.let_go()

    ghost.shows("one()")
    assert notebook.source("code") == "a = "
    assert notebook.source("other") == "b = ++c"
    scenario.page.keyboard.press("Tab")
    notebook.wait_for_source("code", "a = one()")
    assert len(asked_of(scenario)) == 1


@pytest.mark.full
@pytest.mark.shows("inline.plus.4", "inline.plus.8")
@pytest.mark.usefixtures("switched_off")
def test_in_the_first_moment_no_sign_is_lost_where_it_is_switched_off(
    scenario: NotebookScenario,
) -> None:
    held = Held(scenario.page)
    notebook = scenario.open(("code", "a = "), replies=[GOOD])
    ghost = InlineCompletion(scenario.page)
    at_end(notebook)
    ghost.strokes()
    notebook.wait_for_source("code", "a = ++")

    held.let_go()

    ghost.ready()
    ghost.gone()
    assert notebook.source("code") == "a = ++"
    assert asked_of(scenario) == []


# JupyterLab has started and passed the settings to its completer and the providers.
_STARTED = """async () => {
    const {started, restored, serviceManager} = window.jupyterapp;
    await Promise.all([started, restored]);
    await serviceManager.settings.fetch('@jupyterlab/completer-extension:inline-completer');
}"""


@pytest.mark.full
def test_the_start_of_the_lab_does_not_load_suggestions_and_a_document_does(
    scenario: NotebookScenario,
) -> None:
    scenario.write(("code", "a = "))
    page = scenario.page
    page.goto(scenario.lab.url("lab", reset=""))
    page.wait_for_function("() => window.jupyterapp")
    page.evaluate(_STARTED)
    page.evaluate(TWO_FRAMES)
    ghost = InlineCompletion(page)
    assert not ghost.is_loaded()

    page.goto(scenario.lab.document_url(scenario.path))
    ghost.ready()

    assert ghost.is_loaded()


# The right ends of the suggestion's rows, and of the editor.
ROWS = """text => {
    const edge = text.closest('.cm-scroller').getBoundingClientRect().right;
    return [...text.getClientRects()].map(({right}) => Math.ceil(right - edge));
}"""


@pytest.mark.full
@pytest.mark.shows("inline.ghost.6")
def test_a_long_line_is_wrapped_at_the_edge_of_the_editor(scenario: NotebookScenario) -> None:
    long = " + ".join(f"price(rows[{number}])" for number in range(30))
    notebook = scenario.open(("code", "x = 1\ny = "), replies=[suggests(long, "b", "c")])
    ghost = InlineCompletion(scenario.page)
    at_end(notebook)
    ghost.ask()
    ghost.shows(long)

    beyond = ghost.text.evaluate(ROWS)

    assert len(beyond) > 2
    assert max(beyond) <= 1, f"rows end so many px beyond the edge: {beyond}"
    assert ghost.badge.evaluate(ROWS)[0] <= 1
    scenario.page.keyboard.press("Tab")
    notebook.wait_for_source("code", f"x = 1\ny = {long}")
    assert (
        len(
            notebook.editor("code")
            .locator(".cm-line")
            .last.evaluate("l => [...l.getClientRects()]")
        )
        == 1
    )


# The animated properties of an element, in order.
MOVING = """dots => dots.getAnimations({subtree: true}).map(each => [...new Set(
    each.effect.getKeyframes().flatMap(frame => Object.keys(frame))
)].filter(name => !['offset', 'computedOffset', 'easing', 'composite'].includes(name)))"""


@pytest.mark.full
@pytest.mark.shows("inline.speed.1")
def test_the_dots_are_one_animation_that_the_page_need_not_draw(scenario: NotebookScenario) -> None:
    notebook = scenario.open(("code", "a = "), replies=[stalls()])
    ghost = InlineCompletion(scenario.page)
    at_end(notebook)
    ghost.plus()

    expect(ghost.dots).to_be_visible()
    assert ghost.dots.evaluate(MOVING) == [["opacity"]], "each one more costs keys a millisecond"


@pytest.mark.full
@pytest.mark.shows("inline.ghost.2", "inline.request.3")
def test_what_stands_far_up_in_a_file_unsaved_makes_other_suggestions(
    scenario: NotebookScenario,
) -> None:
    file = scenario.file.with_suffix(".py")
    filler = "".join(f"part_{number} = {number}  # nothing\n" for number in range(300))
    file.write_text(f"{filler}value = rate", encoding="utf-8")
    scenario.play(GOOD, suggests("new()", "b", "c"))
    page = scenario.page
    page.goto(scenario.lab.url("lab", reset=""))
    editor = TextEditor(page).open(file.relative_to(scenario.lab.root).as_posix())
    editor.content.click()
    ghost = InlineCompletion(page)
    page.keyboard.press("Control+End")
    ghost.ask()
    ghost.shows("one()")
    page.keyboard.press("Escape")

    page.keyboard.press("Control+Home")
    page.keyboard.type("def rate(day): return day\n")
    page.keyboard.press("Control+End")
    ghost.ask()

    ghost.shows("new()")
    before, after = (json.dumps(request["body"]) for request in asked_of(scenario))
    assert "def rate(day)" not in before
    assert "def rate(day)" in after


@pytest.mark.full
@pytest.mark.shows("inline.manners.5")
def test_what_was_sent_can_be_read_in_the_settings(scenario: NotebookScenario) -> None:
    notebook = scenario.open(
        ("defs", "def price(row): return row"), ("here", "y = "), replies=[GOOD]
    )
    ghost = InlineCompletion(scenario.page)
    at_end(notebook, "here")
    ghost.ask()

    settings = SettingsPage(scenario.page).open("suggestions")

    sent = settings.root.get_by_role("region", name="Sent requests")
    sent.get_by_role("button", name=re.compile(re.escape(scenario.path))).first.click()
    sent.get_by_role("button", name="1. To the model").click()
    (request,) = asked_of(scenario)
    told: str = request["body"]["messages"][0]["content"][0]["text"]
    assert "def price(row)" in told
    expect(sent.locator("pre")).to_have_text(told)


@pytest.mark.full
@pytest.mark.shows("inline.ghost.5")
def test_cells_and_files_of_notebook_7_get_them_too(scenario: NotebookScenario) -> None:
    scenario.write(("defs", "def price(row): return row"), ("here", "y = "))
    (scenario.lab.root / "seven.py").write_text("z = ", encoding="utf-8")
    scenario.play(GOOD, suggests("four()", "five()", "six()"))
    page = scenario.page
    for place, text, key, taken in (
        (f"notebooks/{scenario.path}", "y = ", "ArrowDown", "two()"),
        ("edit/seven.py", "z = ", "ArrowUp", "six()"),
    ):
        page.goto(scenario.lab.url(place))
        editor = page.locator(".cm-content:visible").last
        expect(editor).to_contain_text(text.strip())
        editor.click()
        page.keyboard.press("Control+End")
        ghost = InlineCompletion(page)
        ghost.strokes()
        ghost.shows()
        expect(ghost.badge).to_have_text("1/3")

        page.keyboard.press(key)
        page.keyboard.press("Tab")

        ghost.gone()
        expect(editor).to_have_text(f"{text}{taken}")
    cell, _ = (json.dumps(request["body"]) for request in asked_of(scenario))
    assert "def price(row)" in cell
