"""`++` in cells: suggestions, every key, one undo step, and the end of a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.ui.page_objects.inline_completion import (
    InlineCompletion,
    asked_of,
    caret,
    outcomes,
    stalls,
    suggests,
)
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.support.notebook_scenario import NotebookScenario

LINES = "total(rows):\n    return sum(rows)"
CELLS = (("defs", "def price(row): return row"), ("here", "x = 1\ny = "))
END = len("x = 1\ny = ")


def at_end(
    scenario: NotebookScenario, *replies: Mapping[str, Any]
) -> tuple[OpenNotebook, InlineCompletion]:
    """The notebook with the caret at the end of the cell `here`."""
    notebook = scenario.open(*CELLS, replies=replies)
    go_to_end(notebook)
    return notebook, InlineCompletion(scenario.page)


def go_to_end(notebook: OpenNotebook) -> None:
    notebook.editor("here").click()
    notebook.page.keyboard.press("Control+End")


@pytest.mark.full
@pytest.mark.shows(
    "inline.ghost.1",
    "inline.ghost.3",
    "inline.ghost.4",
    "inline.plus.1",
    "inline.plus.3",
    "inline.keys.2",
    "inline.keys.10",
    "inline.request.1",
)
def test_two_quick_plus_signs_go_and_suggestions_stand_at_the_caret(
    scenario: NotebookScenario,
) -> None:
    notebook, ghost = at_end(scenario, suggests("price(x)", "x - 1", "x + 1", "x * 2"))

    ghost.ask()

    assert notebook.source("here") == "x = 1\ny = "
    assert caret(scenario.page) == END
    ghost.shows("price(x)")
    expect(ghost.text).to_have_css("font-style", "italic")
    expect(scenario.page.locator(".shoulders-mod-ghostActive")).to_have_count(1)
    expect(ghost.badge).to_have_text("1/4")
    expect(ghost.spoken).to_have_text("4 suggestions")
    (request,) = asked_of(scenario)
    assert "def price(row)" in json.dumps(request["body"])
    keyboard = scenario.page.keyboard
    seen: list[str] = []
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"):
        keyboard.press(key)
        seen.append(ghost.badge.inner_text())
    expect(ghost.spoken).to_have_text("Suggestion 3 of 4: x + 1")
    assert seen == ["2/4", "3/4", "4/4", "1/4", "4/4", "3/4"]
    assert notebook.source("here") == "x = 1\ny = "


@pytest.mark.kept_page
@pytest.mark.shows("inline.keys.1", "inline.keys.8", "inline.states.1")
@pytest.mark.parametrize(
    "key",
    [
        "Tab",
        pytest.param("Enter", marks=pytest.mark.full),
        pytest.param("ArrowRight", marks=pytest.mark.full),
    ],
)
def test_a_suggestion_is_taken_in_one_step_of_undo(scenario: NotebookScenario, key: str) -> None:
    notebook, ghost = at_end(scenario, suggests("a", LINES, "b"))
    scenario.page.keyboard.type("z = ")
    ghost.ask()
    text = notebook.source("here")
    while ghost.text.inner_text() != LINES:
        scenario.page.keyboard.press("ArrowDown")

    scenario.page.keyboard.press(key)

    ghost.gone()
    notebook.wait_for_source("here", text + LINES)
    assert caret(scenario.page) == len(text + LINES)
    scenario.page.keyboard.press("Control+z")
    notebook.wait_for_source("here", text)
    scenario.page.keyboard.press("Control+Shift+z")
    notebook.wait_for_source("here", text + LINES)
    scenario.page.keyboard.type("!")
    notebook.wait_for_source("here", text + LINES + "!")


@pytest.mark.full
@pytest.mark.shows("inline.keys.7")
def test_the_command_asks_too_and_the_caret_comes_behind_what_is_left_of_a_suggestion(
    scenario: NotebookScenario,
) -> None:
    notebook = scenario.open(("here", "print()\nend"), replies=[suggests("x)  ", "y", "z")])
    ghost = InlineCompletion(scenario.page)
    notebook.editor("here").click()
    scenario.page.keyboard.press("Control+Home")
    for _ in "print(":
        scenario.page.keyboard.press("ArrowRight")

    notebook.command("jupyter-ai-shoulders:suggest")

    ghost.shows("x")
    scenario.page.keyboard.press("Tab")
    notebook.wait_for_source("here", "print(x)\nend")
    assert caret(scenario.page) == len("print(x")


@pytest.mark.full
@pytest.mark.shows("inline.keys.4")
def test_words_are_taken_one_by_one_each_in_a_step_of_its_own(scenario: NotebookScenario) -> None:
    notebook, ghost = at_end(scenario, suggests("other", "price(x) + 1", "price(y)"))
    ghost.ask()
    scenario.page.keyboard.press("ArrowDown")
    ghost.shows("price(x) + 1")

    scenario.page.keyboard.press("Control+ArrowRight")

    notebook.wait_for_source("here", "x = 1\ny = price")
    ghost.shows("(x) + 1")
    expect(ghost.badge).to_have_text("1/2")
    scenario.page.keyboard.press("Control+ArrowRight")
    scenario.page.keyboard.press("Control+ArrowRight")
    notebook.wait_for_source("here", "x = 1\ny = price(x")
    ghost.shows(") + 1")
    scenario.page.keyboard.press("Tab")
    notebook.wait_for_source("here", "x = 1\ny = price(x) + 1")
    ghost.gone()
    scenario.page.keyboard.press("Control+z")
    scenario.page.keyboard.press("Control+z")
    notebook.wait_for_source("here", "x = 1\ny = price(")


@pytest.mark.full
@pytest.mark.shows(
    "inline.keys.3", "inline.keys.5", "inline.keys.6", "inline.states.1", "inline.manners.4"
)
def test_other_keys_and_a_click_send_it_away_and_do_what_they_do(
    scenario: NotebookScenario,
) -> None:
    notebook, ghost = at_end(scenario, suggests("a", "b", "c"))
    keyboard = scenario.page.keyboard
    before = "x = 1\ny = "
    for key in ("Escape", "ArrowLeft"):
        ghost.ask()
        keyboard.press(key)
        ghost.gone()
        assert caret(scenario.page) == END
        expect(scenario.page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
    ghost.ask()
    keyboard.press("Home")
    ghost.gone()
    assert caret(scenario.page) == len("x = 1\n")
    keyboard.press("End")
    ghost.ask()
    keyboard.press("1")
    ghost.gone()
    notebook.wait_for_source("here", before + "1")
    keyboard.press("Backspace")
    notebook.wait_for_source("here", before)
    ghost.ask()
    notebook.editor("here").locator(".cm-line").first.click(position={"x": 4, "y": 4})
    ghost.gone()
    assert caret(scenario.page) == 0
    go_to_end(notebook)
    ghost.ask()
    keyboard.press("Shift+Enter")
    ghost.gone()
    assert notebook.source("here") == before
    assert len(asked_of(scenario)) == 1, "what was suggested at the caret before is known"


@pytest.mark.full
@pytest.mark.shows("inline.states.1", "inline.states.2", "inline.states.4")
def test_esc_an_edit_and_a_move_end_what_is_awaited_and_its_request(
    scenario: NotebookScenario,
) -> None:
    notebook, ghost = at_end(scenario, stalls())
    scenario.upstream.play({"replies": [], "default": stalls()})
    keyboard = scenario.page.keyboard
    ways = [("Escape", "x = 1\ny = "), ("Home", "x = 1\ny = "), ("2", "x = 1\n2y = ")]
    for asked, (key, source) in enumerate(ways, start=1):
        ghost.plus()
        expect(ghost.dots).to_be_visible()
        scenario.wait(lambda count=asked: len(asked_of(scenario)) == count, "it is asked")
        keyboard.press(key)
        ghost.gone()
        notebook.wait_for_source("here", source)
        expect(scenario.page.locator(".jp-Notebook.jp-mod-editMode")).to_be_visible()
        scenario.wait(lambda: outcomes(scenario)[-1] == "client-left", "the provider is left")
    assert outcomes(scenario) == ["client-left"] * 3


@pytest.mark.full
@pytest.mark.shows("inline.states.3", "inline.states.4", "inline.model.1")
def test_a_newer_request_ends_the_older_and_only_its_answer_is_shown(
    scenario: NotebookScenario,
) -> None:
    notebook, ghost = at_end(scenario, stalls("late"), suggests("new", "newer", "newest"))
    ghost.plus()
    expect(ghost.text).to_have_text("late")
    expect(ghost.badge).to_have_text("1/1…")

    scenario.page.keyboard.type("(")
    ghost.gone()
    ghost.ask()

    ghost.shows("new")
    expect(ghost.badge).to_have_text("1/3")
    scenario.wait(lambda: "client-left" in outcomes(scenario), "the older is left")
    assert outcomes(scenario) == ["client-left", "sent"]
    assert notebook.source("here").startswith("x = 1\ny = (")
