"""Where threads are outlives the page, the server and the file's changes outside of the lab."""

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

# Writes at the beginning of a cell, as one who types does.
_TYPE = """([id, text]) => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells
    .find(cell => cell.id === id).updateSource(0, 0, text)"""


def started(desk: NotebookScenario) -> str:
    """A thread about a line of the first cell; the notebook is in front."""
    desk.write(("one", SOURCE), ("two", "two = 2\n"))
    thread = begin(desk, "Reading", anchor_of(desk.path, "one", SOURCE, QUOTE))
    show(desk)
    return thread


def show(desk: NotebookScenario) -> None:
    """Open the notebook and wait for its threads."""
    desk.page.goto(desk.lab.document_url(desk.path))
    OpenNotebook(desk.page).ready()
    desk.page.wait_for_function(f"() => Object.keys(({LOOK})().places).length > 0")


def place(desk: NotebookScenario, thread: str) -> list[Any]:
    """Where the page has a thread: certainty, cell, from, to."""
    return desk.page.evaluate(LOOK)["places"][thread]


def logged(desk: NotebookScenario, thread: str) -> dict[str, Any]:
    """Where the server has it."""
    return desk.talks.api(f"sessions/{thread}")["anchor"]


def after(text: str) -> list[Any]:
    """The place of the quote in the first cell when this was put before it."""
    start = len(text) + SOURCE.index(QUOTE)
    return ["exact", "one", start, start + len(QUOTE)]


@pytest.mark.shows("09.anchor.8")
def test_places_are_logged_once_for_many_keys_and_when_the_notebook_is_saved(
    desk: NotebookScenario,
) -> None:
    thread = started(desk)
    sent: list[Any] = []
    desk.page.on(
        "request",
        lambda request: (
            sent.append(request.post_data_json) if "/api/v1/anchors" in request.url else None
        ),
    )
    for letter in "# many keys\n"[::-1]:
        desk.page.evaluate(_TYPE, ["one", letter])
    moved = SOURCE.index(QUOTE) + len("# many keys\n")
    desk.wait(lambda: logged(desk, thread)["range"]["from"] == moved, "the place is logged")
    assert len(sent) == 1
    before = desk.talks.api(f"sessions/{thread}")["updated_at"]

    desk.page.evaluate(_TYPE, ["two", "# elsewhere\n"])
    desk.page.evaluate(_TYPE, ["one", "# more\n"])
    with desk.page.expect_request("**/api/v1/anchors*"):
        desk.page.keyboard.press("Control+s")
    desk.wait(lambda: logged(desk, thread)["range"]["from"] == moved + 7, "logged at save")
    assert desk.talks.api(f"sessions/{thread}")["updated_at"] == before

    show(desk)
    assert place(desk, thread) == after("# more\n# many keys\n")


@pytest.mark.shows("09.anchor.4", "09.anchor.5", "09.anchor.6")
def test_a_notebook_that_was_changed_while_closed_has_its_threads_or_says_so(
    desk: NotebookScenario,
) -> None:
    thread = started(desk)
    desk.page.goto(desk.lab.url("lab", reset=""))

    new = "# of another branch\n" + SOURCE.replace("'a.csv'", '"a.csv"')
    desk.write(("one", new), ("two", "two = 2\n"))
    show(desk)
    assert place(desk, thread) == after("# of another branch\n")
    quote = QUOTE.replace("'", '"')
    desk.wait(lambda: logged(desk, thread)["quote"] == quote, "the place is logged")

    desk.page.goto(desk.lab.url("lab", reset=""))
    desk.write(("other", new), ("two", "two = 2\n"))
    show(desk)
    assert place(desk, thread)[:2] == ["approximate", "other"]

    desk.page.goto(desk.lab.url("lab", reset=""))
    desk.write(("two", "two = 2\n"))
    show(desk)
    assert place(desk, thread)[0] == "orphaned"
    desk.wait(lambda: logged(desk, thread)["certainty"] == "orphaned", "the loss is logged")
    assert "read_csv" in logged(desk, thread)["quote"]

    desk.page.goto(desk.lab.url("lab", reset=""))
    desk.write(("one", new), ("two", "two = 2\n"))
    show(desk)
    # It has been in another cell meanwhile.
    assert place(desk, thread) == ["approximate", *after("# of another branch\n")[1:]]


@pytest.mark.shows("09.travel.1")
def test_places_are_there_after_a_reload_and_a_restart(desk: NotebookScenario) -> None:
    thread = started(desk)
    desk.page.evaluate(_TYPE, ["one", "# before\n"])
    desk.page.keyboard.press("Control+s")
    desk.wait(lambda: "# before" in desk.file.read_text(), "saved")
    desk.wait(lambda: logged(desk, thread)["quote"] == QUOTE, "logged")

    show(desk)
    assert place(desk, thread) == after("# before\n")

    desk.lab.kill()
    # What is typed while the server is away is told once it is there again.
    desk.page.evaluate(_TYPE, ["one", "# away\n"])
    desk.lab.restart()
    moved = after("# away\n# before\n")
    assert place(desk, thread) == moved
    desk.wait(lambda: logged(desk, thread)["range"]["from"] == moved[2], "told after the restart")

    desk.page.keyboard.press("Control+s")
    desk.wait(lambda: "# away" in desk.file.read_text(), "saved again")
    show(desk)
    assert place(desk, thread) == moved


@pytest.mark.shows("09.travel.2", "09.travel.3")
def test_a_copied_notebook_brings_its_threads_along_where_that_is_wanted(
    desk: NotebookScenario,
) -> None:
    settings = desk.talks.api("settings")
    put = {"revision": settings["revision"], "threads": {"keep_in_notebook": True}}
    desk.talks.send("PUT", "settings", put)
    try:
        thread = started(desk)
        desk.page.evaluate(_TYPE, ["one", "# moved\n"])
        key = "window.jupyterapp.shell.currentWidget.content.model.sharedModel"
        desk.page.wait_for_function(
            f"() => {key}.getMetadata('jupyter_ai_shoulders')?.threads?.length === 1"
        )
        desk.page.keyboard.press("Control+s")
        desk.wait(lambda: "jupyter_ai_shoulders" in metadata(desk), "the list is in the file")
        (kept,) = metadata(desk)["jupyter_ai_shoulders"]["threads"]
        assert (kept["id"], kept["quote"]) == (thread, QUOTE)
        assert "Reading" not in desk.file.read_text()

        copy = desk.file.with_name(f"copy-of-{desk.file.name}")
        copy.write_text(desk.file.read_text())
        desk.page.goto(desk.lab.document_url(copy.relative_to(desk.lab.root).as_posix()))
        OpenNotebook(desk.page).ready()
        desk.page.wait_for_function(f"() => Object.keys(({LOOK})().places).length > 0")
        ((fork, where),) = desk.page.evaluate(LOOK)["places"].items()
        assert fork != thread
        assert where == after("# moved\n")
        copy.unlink()
    finally:
        revision = desk.talks.api("settings")["revision"]
        put = {"revision": revision, "threads": {"keep_in_notebook": False}}
        desk.talks.send("PUT", "settings", put)


def metadata(desk: NotebookScenario) -> dict[str, Any]:
    """The metadata in the file, once it is whole: the lab writes it in place."""
    try:
        return json.loads(desk.file.read_text())["metadata"]
    except json.JSONDecodeError:
        return {}
