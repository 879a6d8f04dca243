"""The agent moves and deletes the cell with the user's caret: no keystroke goes anywhere else."""

import pytest

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.support.notebook_scenario import NotebookScenario

CELLS = (("one", "x = 1"), ("mine", "y = "), ("two", "z = 3"))
# Presses a key right after the cell is moved, before its new editor may exist.
_PRESS_AT_ONCE = """() => {
    const {sharedModel} = window.jupyterapp.shell.currentWidget.context.model;
    const press = () => {
        sharedModel.changed.disconnect(press);
        setTimeout(() => document.execCommand('insertText', false, 'a'), 0);
    };
    sharedModel.changed.connect(press);
}"""


def ask(scenario: NotebookScenario) -> None:
    """Send a message without the panel, which would take the focus."""
    session = scenario.talks.send("POST", "sessions", {})["id"]
    scenario.talks.send("POST", f"sessions/{session}/messages", {"id": "m", "text": "Go on."})


def open_with_caret(scenario: NotebookScenario, *tools: dict[str, object]) -> OpenNotebook:
    """Show the notebook with the caret at the end of a cell, and script these calls."""
    opened = scenario.open(*CELLS, replies=[*tools, says("Done.")])
    opened.editor("mine").click()
    return opened


def sources(opened: OpenNotebook) -> list[tuple[str, str]]:
    return [(cell["id"], opened.source(cell["id"])) for cell in opened.cells]


@pytest.mark.full
def test_the_caret_goes_with_a_cell_that_is_moved(scenario: NotebookScenario) -> None:
    move = calls("move_cell", {"path": scenario.path, "cell_id": "mine", "after": "two"})
    opened = open_with_caret(scenario, move)
    scenario.page.evaluate(_PRESS_AT_ONCE)
    ask(scenario)
    scenario.ended()
    opened.wait_for_source("mine", "y = a")
    scenario.page.keyboard.type("bc", delay=20)
    assert sources(opened) == [("one", "x = 1"), ("two", "z = 3"), ("mine", "y = abc")]


@pytest.mark.kept_page
def test_keys_go_nowhere_once_their_cell_is_deleted(scenario: NotebookScenario) -> None:
    read = calls("read_notebook", {"path": scenario.path})
    opened = open_with_caret(
        scenario, read, calls("delete_cell", {"path": scenario.path, "cell_id": "mine"})
    )
    ask(scenario)
    scenario.ended()
    # In command mode these keys would delete a cell; in another editor they would be typed.
    scenario.page.keyboard.type("ddbx", delay=20)
    assert scenario.results() == ["ok", "ok"]
    assert sources(opened) == [("one", "x = 1"), ("two", "z = 3")]


@pytest.mark.full
def test_a_cell_somebody_types_in_stays_where_it_is(scenario: NotebookScenario) -> None:
    move = calls("move_cell", {"path": scenario.path, "cell_id": "mine", "after": "two"})
    opened = open_with_caret(scenario, move)
    typed = "1"
    scenario.page.keyboard.press("1")
    ask(scenario)
    while not scenario.talks.of_type("turn-end"):
        scenario.page.keyboard.press("2")
        typed += "2"
    (result,) = scenario.talks.of_type("tool-result")
    assert result["result"]["error"]["code"] == "conflict"
    assert sources(opened) == [("one", "x = 1"), ("mine", f"y = {typed}"), ("two", "z = 3")]
