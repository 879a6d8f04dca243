"""Suggestions in JupyterLab's own inline completer, and the hint about missing ones."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import LONG_GRACE_SECONDS, serve
from tests.ui.page_objects.inline_completion import (
    InlineCompletion,
    asked_of,
    outcomes,
    stalls,
    suggests,
)
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.support.notebook_scenario import NotebookScenario

GOOD = suggests("one()", "two()", "three()")


@pytest.fixture
def automatic(scenario: NotebookScenario) -> Iterator[None]:
    """Suggestions come while typing."""
    scenario.talks.send("PUT", "settings", {"ghost": {"automatic": True}})
    yield
    scenario.talks.send("PUT", "settings", {"ghost": {"automatic": None}})


def at_end(notebook: OpenNotebook, cell: str = "code") -> None:
    """Put the caret at the end of a cell."""
    notebook.editor(cell).click()
    notebook.page.keyboard.press("Control+End")


@pytest.mark.full
@pytest.mark.shows("inline.lab.1", "inline.model.1", "inline.states.3")
def test_the_labs_own_key_asks_shows_the_first_at_once_and_then_the_others(
    scenario: NotebookScenario,
) -> None:
    notebook = scenario.open(("code", "a = "), replies=[stalls("first()"), GOOD])
    page = scenario.page
    ghost = InlineCompletion(page)
    at_end(notebook)
    page.keyboard.press("Alt+\\")
    expect(ghost.labs).to_contain_text("first()")
    assert outcomes(scenario) == [None], "the others have not come yet"

    page.keyboard.press("Backspace")
    expect(ghost.labs).to_have_count(0)
    scenario.wait(lambda: outcomes(scenario) == ["client-left"], "what is late is let go")
    page.keyboard.type(" ")
    page.keyboard.press("Alt+\\")
    expect(ghost.labs).to_contain_text("one()")
    counter = page.locator(".jp-InlineCompleter")
    expect(counter).to_contain_text("1/3")
    page.keyboard.press("Alt+]")
    expect(ghost.labs).to_contain_text("two()")
    page.keyboard.press("Tab")
    notebook.wait_for_source("code", "a = two()")
    assert len(asked_of(scenario)) == 2


@pytest.mark.full
@pytest.mark.shows("inline.lab.2")
@pytest.mark.usefixtures("automatic")
def test_while_one_types_the_lab_asks_if_the_settings_say_so(scenario: NotebookScenario) -> None:
    notebook = scenario.open(("code", ""), replies=[])
    scenario.upstream.play({"replies": [], "default": GOOD})  # a slow typist pauses often
    ghost = InlineCompletion(scenario.page)
    at_end(notebook)
    ghost.ready()

    scenario.page.keyboard.type("total = ")
    expect(ghost.labs).to_contain_text("one()")
    scenario.page.keyboard.press("Tab")

    notebook.wait_for_source("code", "total = one()")


@pytest.mark.kept_page
@pytest.mark.shows("inline.lab.3", "inline.speed.1", "inline.states.4")
@pytest.mark.usefixtures("automatic")
def test_no_key_is_lost_while_requests_come_and_go_and_each_is_left_at_the_provider(
    scenario: NotebookScenario,
) -> None:
    notebook = scenario.open(("code", ""), replies=[])
    scenario.upstream.play({"replies": [], "default": stalls()})
    at_end(notebook)
    InlineCompletion(scenario.page).ready()
    typed = ""
    for count in range(1, 5):
        words = f"value_{count} = value_{count - 1} + {count}; "
        scenario.page.keyboard.type(words)
        typed += words
        # A pause: JupyterLab requests suggestions a while after the last key.
        scenario.wait(lambda least=count: len(asked_of(scenario)) >= least, "the pause is noticed")
    scenario.page.keyboard.type("end")

    notebook.wait_for_source("code", f"{typed}end")
    scenario.page.keyboard.press("Home")
    scenario.wait(lambda: set(outcomes(scenario)) == {"client-left"}, "every request is left")
    assert len(asked_of(scenario)) >= 4


@pytest.mark.full
@pytest.mark.shows("inline.lab.2")
def test_while_one_types_nothing_is_asked_otherwise(scenario: NotebookScenario) -> None:
    notebook = scenario.open(("code", ""), replies=[GOOD])
    at_end(notebook)
    InlineCompletion(scenario.page).ready()
    scenario.page.keyboard.type("total = ")
    notebook.wait_for_source("code", "total = ")
    # JupyterLab sends its requests in order: this one comes after the earlier ones.
    scenario.page.keyboard.press("Alt+\\")
    expect(InlineCompletion(scenario.page).labs).to_contain_text("one()")
    assert len(asked_of(scenario)) == 1


@pytest.fixture
def own_scenario(
    tmp_path_factory: pytest.TempPathFactory, page: Page
) -> Iterator[NotebookScenario]:
    """A separate server with a priced model: a server remembers that its provider was down."""
    with serve(tmp_path_factory, LONG_GRACE_SECONDS) as served:
        models = served.lab.root / ".shoulders" / "models.json"
        told = json.loads(models.read_text(encoding="utf-8"))
        told["models"][0]["prices"] = {"input": 10_000_000, "output": 10_000_000}
        models.write_text(json.dumps(told), encoding="utf-8")
        yield NotebookScenario(served, page, served.lab.root / "own.ipynb")


@pytest.mark.full
@pytest.mark.shows("inline.manners.2", "inline.manners.3")
def test_a_used_up_budget_and_a_provider_that_is_down_are_silent_but_for_a_hint(
    own_scenario: NotebookScenario,
) -> None:
    scenario = own_scenario
    notebook = scenario.open(("code", "a = "), replies=[GOOD])
    ghost = InlineCompletion(scenario.page)
    at_end(notebook)
    ghost.ask()
    scenario.talks.send("PUT", "budget", {"month_micro_usd": 1})
    scenario.page.keyboard.type("b")
    ghost.plus()
    expect(ghost.hint).to_have_text("No AI suggestions: budget used up")
    ghost.gone()
    scenario.talks.send("PUT", "budget", {"month_micro_usd": None})
    scenario.play(GOOD)
    ghost.ask()
    expect(ghost.hint).to_have_count(0)

    scenario.page.keyboard.type("c")
    scenario.upstream.play({"replies": [], "default": {"failure": {"status": 500}}})
    ghost.plus()
    expect(ghost.hint).to_have_text("No AI suggestions: provider not responding")
    ghost.gone()
    ghost.hint.click()
    expect(ghost.hint).to_have_count(0)
    SettingsPage(scenario.page).shown("Providers")
    scenario.page.get_by_role("tab", name=".ipynb").first.click()
    at_end(notebook)
    with scenario.page.expect_response("**/completions*"):
        ghost.plus()
    expect(ghost.dots).to_have_count(0)
    expect(ghost.hint).to_have_count(0)
    expect(scenario.page.locator(".Toastify__toast", has_text="uggestion")).to_have_count(0)
    assert notebook.source("code") == "a = bc"


@pytest.mark.full
@pytest.mark.shows("inline.manners.1")
def test_without_a_key_there_is_silence_and_one_hint(demo_scenario: NotebookScenario) -> None:
    demo_scenario.write(("code", "a = "))
    notebook = demo_scenario.show(demo_scenario.page)
    ghost = InlineCompletion(demo_scenario.page)
    at_end(notebook)
    ghost.plus()
    expect(ghost.hint).to_contain_text("No AI suggestions: no ")
    ghost.gone()
    assert notebook.source("code") == "a = "
    assert demo_scenario.talks.all() == []
