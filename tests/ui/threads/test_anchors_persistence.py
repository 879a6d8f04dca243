"""Thread positions survive reloads, server restarts and changes of the file outside JupyterLab."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.thread_marks import anchor_of, begin
from tests.ui.stress.thread_anchors import LOOK
from tests.ui.support.notebook_scenario import NotebookScenario

pytestmark = pytest.mark.full

SOURCE = "import pandas\nframe = pandas.read_csv('a.csv')\nframe.describe()\n"
QUOTE = "frame = pandas.read_csv('a.csv')"

# Inserts at the beginning of a cell, like a user typing.
_TYPE = """([id, text]) => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells
    .find(cell => cell.id === id).updateSource(0, 0, text)"""


def started(scenario: NotebookScenario) -> str:
    """A thread about a line of the first cell; the notebook is in front."""
    scenario.write(("one", SOURCE), ("two", "two = 2\n"))
    thread = begin(scenario, "Reading", anchor_of(scenario.path, "one", SOURCE, QUOTE))
    show(scenario)
    return thread


def show(scenario: NotebookScenario) -> None:
    """Open the notebook and wait for its threads."""
    scenario.page.goto(scenario.lab.document_url(scenario.path))
    OpenNotebook(scenario.page).ready()
    scenario.page.wait_for_function(f"() => Object.keys(({LOOK})().places).length > 0")


def place(scenario: NotebookScenario, thread: str) -> list[Any]:
    """Where the page has a thread: certainty, cell, from, to."""
    return scenario.page.evaluate(LOOK)["places"][thread]


def logged(scenario: NotebookScenario, thread: str) -> dict[str, Any]:
    """Where the server has it."""
    return scenario.talks.api(f"sessions/{thread}")["anchor"]


def after(text: str) -> list[Any]:
    """The place of the quote in the first cell when this was put before it."""
    start = len(text) + SOURCE.index(QUOTE)
    return ["exact", "one", start, start + len(QUOTE)]


@pytest.mark.shows("threads.anchor.8")
def test_places_are_logged_once_for_many_keys_and_when_the_notebook_is_saved(
    scenario: NotebookScenario,
) -> None:
    thread = started(scenario)
    sent: list[Any] = []
    scenario.page.on(
        "request",
        lambda request: (
            sent.append(request.post_data_json) if "/api/v1/anchors" in request.url else None
        ),
    )
    for letter in "# many keys\n"[::-1]:
        scenario.page.evaluate(_TYPE, ["one", letter])
    moved = SOURCE.index(QUOTE) + len("# many keys\n")
    scenario.wait(lambda: logged(scenario, thread)["range"]["from"] == moved, "the place is logged")
    assert len(sent) == 1
    before = scenario.talks.api(f"sessions/{thread}")["updated_at"]

    scenario.page.evaluate(_TYPE, ["two", "# elsewhere\n"])
    scenario.page.evaluate(_TYPE, ["one", "# more\n"])
    with scenario.page.expect_request("**/api/v1/anchors*"):
        scenario.page.keyboard.press("Control+s")
    scenario.wait(lambda: logged(scenario, thread)["range"]["from"] == moved + 7, "logged at save")
    assert scenario.talks.api(f"sessions/{thread}")["updated_at"] == before

    show(scenario)
    assert place(scenario, thread) == after("# more\n# many keys\n")


@pytest.mark.shows("threads.anchor.4", "threads.anchor.5", "threads.anchor.6")
def test_a_notebook_that_was_changed_while_closed_has_its_threads_or_says_so(
    scenario: NotebookScenario,
) -> None:
    thread = started(scenario)
    scenario.page.goto(scenario.lab.url("lab", reset=""))

    new = "# of another branch\n" + SOURCE.replace("'a.csv'", '"a.csv"')
    scenario.write(("one", new), ("two", "two = 2\n"))
    show(scenario)
    assert place(scenario, thread) == after("# of another branch\n")
    quote = QUOTE.replace("'", '"')
    scenario.wait(lambda: logged(scenario, thread)["quote"] == quote, "the place is logged")

    scenario.page.goto(scenario.lab.url("lab", reset=""))
    scenario.write(("other", new), ("two", "two = 2\n"))
    show(scenario)
    assert place(scenario, thread)[:2] == ["approximate", "other"]

    scenario.page.goto(scenario.lab.url("lab", reset=""))
    scenario.write(("two", "two = 2\n"))
    show(scenario)
    assert place(scenario, thread)[0] == "orphaned"
    scenario.wait(lambda: logged(scenario, thread)["certainty"] == "orphaned", "the loss is logged")
    assert "read_csv" in logged(scenario, thread)["quote"]

    scenario.page.goto(scenario.lab.url("lab", reset=""))
    scenario.write(("one", new), ("two", "two = 2\n"))
    show(scenario)
    # It was in another cell in between.
    assert place(scenario, thread) == ["approximate", *after("# of another branch\n")[1:]]


@pytest.mark.shows("threads.travel.1")
def test_places_are_there_after_a_reload_and_a_restart(scenario: NotebookScenario) -> None:
    thread = started(scenario)
    scenario.page.evaluate(_TYPE, ["one", "# before\n"])
    scenario.page.keyboard.press("Control+s")
    scenario.wait(lambda: "# before" in scenario.file.read_text(), "saved")
    scenario.wait(lambda: logged(scenario, thread)["quote"] == QUOTE, "logged")

    show(scenario)
    assert place(scenario, thread) == after("# before\n")

    scenario.lab.kill()
    # Typing while the server is down is reported once the server is back.
    scenario.page.evaluate(_TYPE, ["one", "# away\n"])
    scenario.lab.restart()
    moved = after("# away\n# before\n")
    assert place(scenario, thread) == moved
    scenario.wait(
        lambda: logged(scenario, thread)["range"]["from"] == moved[2], "told after the restart"
    )

    scenario.page.keyboard.press("Control+s")
    scenario.wait(lambda: "# away" in scenario.file.read_text(), "saved again")
    show(scenario)
    assert place(scenario, thread) == moved


@pytest.mark.shows("threads.travel.2", "threads.travel.3")
def test_a_copied_notebook_brings_its_threads_along_where_that_is_wanted(
    scenario: NotebookScenario,
) -> None:
    settings = scenario.talks.api("settings")
    put = {"revision": settings["revision"], "threads": {"keep_in_notebook": True}}
    scenario.talks.send("PUT", "settings", put)
    try:
        thread = started(scenario)
        scenario.page.evaluate(_TYPE, ["one", "# moved\n"])
        key = "window.jupyterapp.shell.currentWidget.content.model.sharedModel"
        scenario.page.wait_for_function(
            f"() => {key}.getMetadata('jupyter_ai_shoulders')?.threads?.length === 1"
        )
        scenario.page.keyboard.press("Control+s")
        scenario.wait(
            lambda: "jupyter_ai_shoulders" in metadata(scenario), "the list is in the file"
        )
        (kept,) = metadata(scenario)["jupyter_ai_shoulders"]["threads"]
        assert (kept["id"], kept["quote"]) == (thread, QUOTE)
        assert "Reading" not in scenario.file.read_text()

        copy = scenario.file.with_name(f"copy-of-{scenario.file.name}")
        copy.write_text(scenario.file.read_text())
        scenario.page.goto(
            scenario.lab.document_url(copy.relative_to(scenario.lab.root).as_posix())
        )
        OpenNotebook(scenario.page).ready()
        scenario.page.wait_for_function(f"() => Object.keys(({LOOK})().places).length > 0")
        ((fork, where),) = scenario.page.evaluate(LOOK)["places"].items()
        assert fork != thread
        assert where == after("# moved\n")
        copy.unlink()
    finally:
        revision = scenario.talks.api("settings")["revision"]
        put = {"revision": revision, "threads": {"keep_in_notebook": False}}
        scenario.talks.send("PUT", "settings", put)


def metadata(scenario: NotebookScenario) -> dict[str, Any]:
    """The metadata in the file, once it is whole: the lab writes it in place."""
    try:
        return json.loads(scenario.file.read_text())["metadata"]
    except json.JSONDecodeError:
        return {}
