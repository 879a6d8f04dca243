"""The marks of task threads: their appearance, and opening a thread from them."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.thread_marks import (
    Marks,
    anchor_of,
    begin,
    list_of,
    of_cell,
    put,
    say,
    status,
)
from tests.ui.screenshots.capture import THEMES
from tests.ui.support.notebook_scenario import NotebookScenario

TEXT = "alpha = 1\nbeta = alpha + 2\ngamma = beta * alpha\n"
STATES = ("idle", "running", "waiting", "error", "interrupted")
STREAM = says("one two three " * 30_000, tokens_per_second=30)
"""An answer longer than the test."""
LEAST_CONTRAST = 3.0
"""Minimum contrast of graphics in WCAG 2.2 (success criterion 1.4.11)."""

# The colours of a mark's edge and its background, as [r, g, b] from 0 to 255.
_COLOURS = """dot => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const read = (...colours) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
        }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const grounds = [];
    for (let node = dot.parentElement; node !== null; node = node.parentElement) {
        grounds.unshift(getComputedStyle(node).backgroundColor);
    }
    return [read(getComputedStyle(dot).borderTopColor), read(...grounds)];
}"""


def luminance(colour: list[int]) -> float:
    """The relative luminance of a colour by WCAG 2.2."""
    parts = [part / 255 for part in colour]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[int], other: list[int]) -> float:
    """The contrast of two colours by WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def set_theme(page: Page, theme: str) -> None:
    """Change JupyterLab's theme."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
    )
    page.wait_for_function(f"() => document.body.dataset.jpThemeName === {json.dumps(theme)}")


def with_status(page: Page, session_id: str, shown: str) -> None:
    """Replace the status of a thread in the server's answers, for one that only a crash causes."""

    def answer(route: Route) -> None:
        response = route.fetch()
        body: Any = response.json()
        for session in body["sessions"]:
            if session["id"] == session_id:
                session["status"] = shown
        route.fulfill(response=response, json=body)

    page.route("**/shoulders/api/v1/sessions?*", answer)


def in_file(scenario: NotebookScenario, **cells: str) -> dict[str, str]:
    """Write a notebook with a thread in each cell; return their ids by cell."""
    scenario.write(*((cell, f"{cell} = 'this is {cell}'\n") for cell in cells))
    return {
        cell: begin(
            scenario,
            title,
            anchor_of(scenario.path, cell, f"{cell} = 'this is {cell}'\n", f"this is {cell}"),
        )
        for cell, title in cells.items()
    }


@contextmanager
def each_status(scenario: NotebookScenario) -> Generator[OpenNotebook]:
    """A notebook with a thread of every status, each in the cell of that name."""
    names = {state: f"A thread that is {state}" for state in (*STATES, "resolved")}
    threads = in_file(scenario, **names)
    scenario.play(
        STREAM,
        calls("clarify", {"question": "Which one?", "options": ["this", "that"]}),
        {"failure": {"status": 400, "type": "invalid_request_error", "message": "No."}},
        says("A model that has failed last is no default of other tests."),
    )
    for state in ("running", "waiting", "error"):
        say(scenario, threads[state], "Go on.")
        scenario.wait(lambda state=state: status(scenario, threads[state]) == state, state)
    put(scenario, threads["resolved"], "resolved")
    with_status(scenario.page, threads["interrupted"], "interrupted")
    opened = scenario.show(scenario.page)
    yield opened
    say(scenario, threads["error"], "Try again.")
    scenario.wait(lambda: status(scenario, threads["error"]) == "idle", "the model is well again")
    expect(of_cell(opened, "error").text("idle")).to_have_count(1)  # the page has the event


@pytest.mark.full
@pytest.mark.shows("threads.marks.1", "threads.marks.2", "threads.marks.4", "threads.panel.11")
def test_each_status_has_a_mark_of_its_own_shape(scenario: NotebookScenario) -> None:
    with each_status(scenario) as opened:
        for state in STATES:
            marks = of_cell(opened, state)
            expect(marks.text(state)).to_have_text(f"this is {state}")
            expect(marks.dots).to_have_count(1)
        resolved = of_cell(opened, "resolved").place
        expect(resolved.locator(".shoulders-ThreadText, .shoulders-ThreadDot")).to_have_count(0)
        shapes = {
            state: of_cell(opened, state)
            .text(state)
            .first.evaluate("text => getComputedStyle(text).textDecorationStyle")
            for state in STATES
        }
        assert shapes == {
            "idle": "dotted",
            "running": "solid",
            "waiting": "double",
            "error": "solid",
            "interrupted": "dashed",
        }


@pytest.mark.full
@pytest.mark.shows("threads.marks.1", "threads.marks.3")
def test_marks_are_seen_in_every_theme(scenario: NotebookScenario) -> None:
    with each_status(scenario) as opened:
        for state in STATES:
            expect(of_cell(opened, state).text(state)).to_have_count(1)
        for name in THEMES.values():
            set_theme(scenario.page, name)
            for state in STATES:
                edge, ground = of_cell(opened, state).dots.evaluate(_COLOURS)
                assert contrast(edge, ground) >= LEAST_CONTRAST, (name, state, edge, ground)
                is_reddish = edge[0] > edge[2] + 60
                assert is_reddish == (state in {"error", "waiting"}), (name, state, edge)


@pytest.mark.full
@pytest.mark.shows("threads.marks.2")
def test_the_mark_of_a_thread_at_work_pulses_unless_motion_is_reduced(
    scenario: NotebookScenario,
) -> None:
    threads = in_file(scenario, running="A thread that is running")
    scenario.play(STREAM)
    say(scenario, threads["running"], "Go on.")
    running = of_cell(scenario.show(scenario.page), "running")
    expect(running.text("running")).to_have_count(1)
    faint = running.text("running").evaluate("text => getComputedStyle(text).backgroundColor")
    assert faint != "rgba(0, 0, 0, 0)"
    assert running.dots.evaluate("dot => dot.getAnimations().length") == 1
    scenario.page.emulate_media(reduced_motion="reduce")
    assert running.dots.evaluate("dot => dot.getAnimations().length") == 0


@pytest.mark.full
@pytest.mark.shows("threads.marks.1", "threads.marks.5")
def test_a_place_that_is_not_sure_has_a_dashed_outline(scenario: NotebookScenario) -> None:
    known, changed = "x = 1\nx = 1\nx = 1\n", "x = 1\nx = 1\nx = 1\nx = 1\n"
    scenario.write(("sure", TEXT), ("unsure", changed))
    middle = {"range": {"from": 6, "to": 11}, "prefix": "x = 1\n", "suffix": "\nx = 1\n"}
    begin(scenario, "Which?", {**anchor_of(scenario.path, "unsure", known, "x = 1"), **middle})
    begin(scenario, "Sure", anchor_of(scenario.path, "sure", TEXT, "alpha"))
    opened = scenario.show(scenario.page)
    unsure, sure = of_cell(opened, "unsure"), of_cell(opened, "sure")
    expect(unsure.text("approximate")).to_have_text("x = 1")
    expect(unsure.dots).to_have_attribute("title", "Which? (most likely place)")
    outline = "text => getComputedStyle(text).outlineStyle"
    assert unsure.text("approximate").evaluate(outline) == "dashed"
    assert sure.text("idle").evaluate(outline) == "none"


def three_on_two_lines(scenario: NotebookScenario) -> OpenNotebook:
    """A cell with a thread on one line and two on the next, and another cell with a thread."""
    scenario.write(("one", TEXT), ("two", "delta = 4"))
    quotes = {"Why one?": "alpha = 1", "Why two?": "alpha + 2", "And beta?": "beta ="}
    for title, quote in quotes.items():
        begin(scenario, title, anchor_of(scenario.path, "one", TEXT, quote))
    begin(scenario, "What is delta?", anchor_of(scenario.path, "two", "delta = 4", ""))
    opened = scenario.show(scenario.page)
    expect(of_cell(opened, "one").dots).to_have_text(["", "2"])
    return opened


def opened_thread(panel: Panel) -> Locator:
    """The tab of the shown conversation."""
    return panel.root.get_by_role("tab", selected=True)


@pytest.mark.kept_page
@pytest.mark.shows("threads.marks.7", "threads.marks.8")
def test_a_mark_opens_its_thread_and_several_on_a_line_a_list(scenario: NotebookScenario) -> None:
    page, panel = scenario.page, Panel(scenario.page)
    one = of_cell(three_on_two_lines(scenario), "one")
    title = opened_thread(panel)
    one.dots.first.click()
    expect(title).to_contain_text("Why one?")
    expect(panel.input).to_be_focused()
    one.dots.last.click()
    expect(list_of(page).get_by_role("menuitem")).to_have_text(["And beta?", "Why two?"])
    page.keyboard.press("Escape")
    expect(list_of(page)).to_have_count(0)
    one.dots.last.click()
    list_of(page).get_by_role("menuitem", name="And beta?").click()
    expect(title).to_contain_text("And beta?")
    expect(panel.input).to_be_focused()


@pytest.mark.full
@pytest.mark.shows("threads.marks.7", "threads.marks.9")
def test_the_keyboard_opens_threads_by_the_badge_the_prompt_and_the_cursor(
    scenario: NotebookScenario,
) -> None:
    page, panel = scenario.page, Panel(scenario.page)
    opened = three_on_two_lines(scenario)
    one, two = of_cell(opened, "one"), of_cell(opened, "two")
    title = opened_thread(panel)
    opened.editor("one").click()
    expect(one.badge).to_have_text("3")
    one.badge.click()
    expect(list_of(page)).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(title).to_contain_text("Why two?")
    two.button.focus()
    page.keyboard.press("Enter")
    expect(title).to_contain_text("What is delta?")
    assert opened.source("two") == "delta = 4"
    opened.editor("one").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+;")
    page.keyboard.press("g")
    expect(title).to_contain_text("Why one?")
    expect(panel.input).to_be_focused()


@pytest.mark.full
def test_the_keyboard_goes_from_thread_to_thread(scenario: NotebookScenario) -> None:
    page = scenario.page
    scenario.write(("one", TEXT), ("two", "delta = 4"))
    begin(scenario, "First", anchor_of(scenario.path, "one", TEXT, "alpha + 2"))
    begin(scenario, "Second", anchor_of(scenario.path, "one", TEXT, "gamma"))
    begin(scenario, "Third", anchor_of(scenario.path, "two", "delta = 4", ""))
    opened = scenario.show(page)
    expect(Marks(page).dots).to_have_count(2)
    opened.editor("one").click()
    page.keyboard.press("Control+Home")
    heard = page.locator("body > .shoulders-Announcer", has_text="Thread")

    def step(key: str, said: str) -> None:
        page.keyboard.press("Control+;")
        page.keyboard.press(key)
        expect(heard).to_have_text(said)

    step(".", "Thread 1 of 3: First")
    assert selected(opened) == "alpha + 2"
    step(".", "Thread 2 of 3: Second")
    assert selected(opened) == "gamma"
    step(".", "Thread 3 of 3: Third")
    assert opened.active == "two"
    step(".", "Thread 1 of 3: First")
    step(",", "Thread 3 of 3: Third")
    step(",", "Thread 2 of 3: Second")
    assert opened.active == "one"
    assert selected(opened) == "gamma"


def selected(opened: OpenNotebook) -> str:
    """The selection in the active cell."""
    return opened.page.evaluate("""() => {
        const {editor} = window.jupyterapp.shell.currentWidget.content.activeCell;
        const {from, to} = editor.editor.state.selection.main;
        return editor.editor.state.sliceDoc(from, to);
    }""")


@pytest.mark.full
@pytest.mark.shows("threads.marks.4", "threads.end.1")
def test_marks_come_and_go_where_the_user_looks(scenario: NotebookScenario) -> None:
    page = scenario.page
    cells = [(f"c{number}", f"value = {number}\n" * 12) for number in range(40)]
    scenario.write(*cells)
    threads = {
        cell: begin(scenario, f"In {cell}", anchor_of(scenario.path, cell, text, text[:9]))
        for cell, text in (cells[0], cells[-1])
    }
    opened = scenario.show(page)
    first = of_cell(opened, "c0")
    expect(first.text()).to_have_count(1)
    # The last cell is far outside the viewport.
    page.evaluate("""async () => {
        const {content} = window.jupyterapp.shell.currentWidget;
        await content.scrollToItem(content.widgets.length - 1);
    }""")
    expect(of_cell(opened, "c39").text()).to_have_text("value = 3")
    for thread in threads.values():
        put(scenario, thread, "resolved")
    expect(of_cell(opened, "c39").text()).to_have_count(0)
    opened.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.scrollToItem(0)")
    expect(first.text()).to_have_count(0)
    expect(first.dots).to_have_count(0)
    put(scenario, threads["c0"], "idle")
    expect(first.text()).to_have_count(1)
