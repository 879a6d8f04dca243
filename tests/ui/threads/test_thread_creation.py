"""Starting task threads: the position and the resulting anchor."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.review import OpenFile
from tests.ui.page_objects.thread_marks import Marks, of_cell
from tests.ui.support.notebook_scenario import NotebookScenario

CELLS = (("data", "rows = 42\nprint('rows:', rows)\nrows + 1"), ("end", "y = 1"))
FILE = "import math\n\n\ndef area(r):\n    return math.pi * r ** 2\n"


def start(page: Page) -> None:
    """Start a thread by keyboard."""
    page.keyboard.press("Control+;")
    page.keyboard.press("t")


def about(panel: Panel, quote: str) -> None:
    """Wait until the panel shows a thread with this quote."""
    expect(panel.input).to_be_focused()
    expect(panel.root.get_by_role("group", name="Thread", exact=True)).to_contain_text(quote)


def anchors(scenario: NotebookScenario) -> list[dict[str, Any]]:
    """The anchors of this test's threads, the oldest first."""
    return [session["anchor"] for session in reversed(scenario.talks.all())]


def asked(scenario: NotebookScenario, panel: Panel, text: str) -> None:
    """Send a message in the shown thread, and wait for the end of its turn."""
    count = len(scenario.talks.all())
    panel.ask(text)
    scenario.wait(lambda: len(scenario.talks.all()) == count + 1, "the thread has begun")
    panel.finished()


def choose(page: Page, clicked: Locator, item: str) -> None:
    """Choose from the context menu."""
    clicked.click(button="right")
    page.get_by_role("menuitem", name=item).click()


@pytest.mark.kept_page
@pytest.mark.shows(
    "threads.kind.1", "threads.kind.2", "threads.start.1", "threads.start.4", "threads.marks.1"
)
def test_selected_text_and_its_cell_are_what_threads_are_about(scenario: NotebookScenario) -> None:
    page = scenario.page
    opened = scenario.open(*CELLS, replies=[says("Forty-two."), says("One.")])
    opened.editor("data").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+End")
    start(page)
    panel = Panel(page)
    about(panel, "print('rows:', rows)")
    assert scenario.talks.all() == []  # no message was sent
    asked(scenario, panel, "How many?")
    expect(panel.answers).to_have_text(["Forty-two."])
    marks = of_cell(opened, "data")
    expect(marks.text()).to_have_text("print('rows:', rows)")
    expect(marks.dots).to_have_count(1)
    expect(marks.dots).to_have_attribute("title", "How many?")
    (anchor,) = anchors(scenario)
    assert anchor == {
        "document": scenario.path,
        "cell_id": "data",
        "target": "source",
        "range": {"from": 10, "to": 30},
        "quote": "print('rows:', rows)",
        "prefix": "rows = 42\n",
        "suffix": "\nrows + 1",
        "version": anchor["version"],
        "certainty": "exact",
        "output": None,
    }

    # Without a selection the anchor is the cell.
    opened.editor("end").click()
    start(page)
    about(panel, "y = 1")
    asked(scenario, panel, "Why?")
    expect(of_cell(opened, "end").button).to_have_attribute("aria-label", "Why?")
    assert [each["target"] for each in anchors(scenario)] == ["source", "cell"]
    expect(marks.text()).to_have_count(1)


@pytest.mark.full
@pytest.mark.shows("threads.start.2", "threads.start.3", "threads.marks.6", "threads.marks.9")
def test_menus_and_the_cell_toolbar_begin_threads_about_cells_and_outputs(
    scenario: NotebookScenario,
) -> None:
    page = scenario.page
    opened = scenario.open(*CELLS, replies=[says(f"Answer {number}.") for number in range(3)])
    opened.run("data")
    panel = Panel(page)
    choose(page, opened.output("data").last, "Start an AI Thread About This Output")
    about(panel, "43")
    asked(scenario, panel, "Why 43?")
    output = Marks(opened.cell("data").locator(".jp-OutputArea-child").last)
    expect(output.button).to_have_attribute("aria-label", "Why 43?")
    expect(of_cell(opened, "data").button).to_have_count(1)

    choose(page, opened.prompt("end"), "Start an AI Thread Here")
    about(panel, "y = 1")
    asked(scenario, panel, "What is y?")

    opened.editor("end").click()
    badge = of_cell(opened, "end").badge
    expect(badge).to_have_text("1")
    opened.editor("data").click()
    badge = of_cell(opened, "data").badge
    expect(badge).to_have_text("1")
    badge.click()
    page.get_by_role("menuitem", name="Start an AI Thread Here").click()
    about(panel, "rows = 42")
    asked(scenario, panel, "Explain.")
    opened.editor("data").click()
    expect(badge).to_have_text("2")
    told = [(each["cell_id"], each["target"], each["quote"]) for each in anchors(scenario)]
    assert told == [
        ("data", "output", "43"),
        ("end", "cell", "y = 1"),
        ("data", "cell", CELLS[0][1]),
    ]

    # The output that replaces the old one has its mark.
    opened.run("data")
    expect(output.button).to_have_attribute("aria-label", "Why 43?")
    opened.command("notebook:clear-cell-output")
    expect(of_cell(opened, "data").button).to_have_attribute("aria-label", "2 task threads")


@pytest.mark.full
@pytest.mark.shows("threads.anchor.5", "threads.marks.6")
def test_a_thread_about_one_of_two_outputs_that_read_the_same_is_marked_there(
    scenario: NotebookScenario,
) -> None:
    page = scenario.page
    twice = ("twice", "times = 2\nfor _ in range(times):\n    display(42)")
    opened = scenario.open(twice, replies=[says("By chance.")])
    opened.run("twice")
    outputs = opened.cell("twice").locator(".jp-OutputArea-child")
    expect(outputs).to_have_count(2)
    choose(page, outputs.last, "Start an AI Thread About This Output")
    panel = Panel(page)
    about(panel, "42")
    asked(scenario, panel, "Why this one?")
    expect(Marks(outputs.last).button).to_have_attribute("aria-label", "Why this one?")
    expect(Marks(outputs.first).button).to_have_count(0)
    assert [each["output"] for each in anchors(scenario)] == [{"index": 1, "nth": 1, "alike": 2}]

    # The same number of outputs: the second has the mark again.
    opened.run("twice")
    expect(Marks(outputs.last).button).to_have_attribute("aria-label", "Why this one?")

    # Of three equal outputs the right one is unknown.
    opened.editor("twice").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    page.keyboard.type("3")
    opened.run("twice")
    expect(outputs).to_have_count(3)
    likeliest = Marks(outputs.nth(1)).button
    expect(likeliest).to_have_attribute("aria-label", "Why this one? (most likely place)")
    expect(Marks(opened.cell("twice")).button).to_have_count(1)


@pytest.mark.full
@pytest.mark.shows("threads.travel.5")
@pytest.mark.parametrize("name", ["area.py", "notes.md", "plain.txt"])
def test_threads_are_about_text_of_files_too(scenario: NotebookScenario, name: str) -> None:
    page = scenario.page
    (scenario.lab.root / name).write_text(FILE)
    scenario.open(*CELLS, replies=[says("A circle.")])
    file = OpenFile(page, name).open()
    file.editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.press("ArrowUp")  # the line of the cursor
    start(page)
    panel = Panel(page)
    about(panel, "return math.pi * r ** 2")
    asked(scenario, panel, "Of what?")
    marks = Marks(page.locator(".jp-FileEditor:visible"))
    expect(marks.text()).to_have_text("return math.pi * r ** 2")
    expect(marks.dots).to_have_count(1)
    (anchor,) = anchors(scenario)
    assert (anchor["document"], anchor["cell_id"]) == (name, None)
    assert anchor["range"] == {"from": 31, "to": 54}
