"""Notebooks that pages share through jupyter-collaboration while the agent works in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.simulator_process import calls, says, texts
from tests.ui.conftest import working
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.stress import collaborative_typing
from tests.ui.support.collaboration_server import serve_rooms
from tests.ui.support.notebook_scenario import SLOW_TEXT, LabWithModel, NotebookScenario

CLEANUP_SECONDS = 1
"""So long a room that everyone has left stays open."""
SHOW = "from IPython.display import HTML, display\ndisplay(HTML('<b onclick=\"1\">rich</b>'))"


@pytest.fixture(scope="module")
def served_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabWithModel]:
    """A server with jupyter-collaboration."""
    cleanup = f"--YDocExtension.document_cleanup_delay={CLEANUP_SECONDS}"
    with serve_rooms(tmp_path_factory, cleanup) as served:
        yield served


@pytest.fixture
def desk(
    served_shared: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[NotebookScenario]:
    """The page, and a notebook in a room."""
    with working(served_shared, page, request) as desk:
        yield desk


@pytest.fixture
def other_page(browser: Browser) -> Iterator[Page]:
    """A page of another browser."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


def show(desk: NotebookScenario, page: Page) -> OpenNotebook:
    """Open the notebook in a page."""
    page.goto(desk.lab.document_url(desk.path))
    return OpenNotebook(page).ready()


def open_room(
    desk: NotebookScenario, *cells: tuple[str, str], replies: Sequence[Mapping[str, Any]]
) -> OpenNotebook:
    """As ``NotebookScenario.open`` but for the save.

    The room saves, and the lab asks when both do at once.
    """
    desk.write(*cells)
    desk.play(*replies)
    return show(desk, desk.page)


def wait_for_file(
    desk: NotebookScenario, sources: Mapping[str, str], outputs: Mapping[str, str]
) -> None:
    """Wait until the room has saved these sources and texts of outputs."""

    def is_saved() -> bool:
        try:
            cells = desk.cells_on_disk()
        except json.JSONDecodeError:
            return False  # being written, which Jupyter does not do at once
        found = {cell["id"]: "".join(cell["source"]) for cell in cells}
        return found == sources and all(texts(cells, cell) == outputs[cell] for cell in outputs)

    desk.wait(is_saved, "the room has saved")


def no_dialog(*pages: Page) -> None:
    """Check that the lab asks nothing."""
    for page in pages:
        expect(page.locator(".jp-Dialog")).to_have_count(0)


@pytest.mark.full
def test_status_says_that_collaboration_is_there(desk: NotebookScenario) -> None:
    status = desk.talks.api("status")
    assert (status["collaboration"], status["document_server"]) == (True, None)


def test_two_people_type_while_the_agent_edits_and_runs(
    desk: NotebookScenario, other_page: Page
) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        calls("add_cell", {"path": desk.path, "source": SHOW, "after": "one"}),
        calls("delete_cell", {"path": desk.path, "cell_id": "gone"}),
        calls("run_all_cells", {"path": desk.path}),
        says("Done."),
    ]
    first = open_room(
        desk,
        *(("one", "x = 1"), ("gone", "z = 1"), ("slow", desk.held), ("both", "y = 1")),
        replies=replies,
    )
    second = show(desk, other_page)
    desk.ask(allow=True)
    for opened in (first, second):
        expect(opened.prompt("slow")).to_have_text("[*]:")
        expect(opened.output("slow")).to_contain_text("tick 2")
    first.type_at_end("both", "  # first")
    second.wait_for_source("both", "y = 1  # first")
    second.type_at_end("both", ", second")
    first.wait_for_source("both", "y = 1  # first, second")
    first.type_at_end("one", "  # mine")
    desk.let_go()
    desk.ended()
    added = first.ids[1]
    expected = {"one": "x = 2  # mine", added: SHOW, "slow": desk.held}
    expected["both"] = "y = 1  # first, second"
    for opened in (first, second):
        expect(opened.prompt("slow")).not_to_have_text("[*]:")
        assert {cell["id"]: cell["source"] for cell in opened.cells} == expected
        assert texts(opened.cells, "slow") == SLOW_TEXT
        expect(opened.output("slow")).to_have_count(1)
        # What the lab takes out of outputs that are not trusted.
        expect(opened.output(added).locator("b")).to_have_attribute("onclick", "1")
    wait_for_file(desk, expected, {"slow": SLOW_TEXT})
    no_dialog(desk.page, other_page)
    assert desk.results() == ["ok"] * 5


@pytest.mark.full
def test_a_run_outlasts_the_pages_and_their_room(desk: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        calls("run_cell", {"path": desk.path, "cell_id": "slow"}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 3"}),
        says("Done."),
    ]
    opened = open_room(
        desk, ("one", "x = 1"), ("mine", "y = 1"), ("slow", desk.held), replies=replies
    )
    desk.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2")
    opened.type_at_end("mine", "  # typed")
    desk.page.goto("about:blank")
    desk.wait(lambda: "deleted" in desk.lab.log.partition(desk.path)[2], "the room is closed")
    desk.let_go()
    # An edit of a notebook that nobody has open asks.
    desk.wait(lambda: len(desk.talks.of_type("approval-request")) == 2, "the edit asks")
    desk.allow_unseen()
    desk.ended()
    assert desk.on_disk() == {"one": "x = 3", "mine": "y = 1  # typed", "slow": desk.held}
    assert desk.text_on_disk("slow") == SLOW_TEXT
    show(desk, desk.page)
    assert opened.source("mine") == "y = 1  # typed"
    assert texts(opened.cells, "slow") == SLOW_TEXT
    no_dialog(desk.page)


@pytest.mark.full
def test_a_cell_the_user_runs_again_is_theirs(desk: NotebookScenario, other_page: Page) -> None:
    run = calls("run_cell", {"path": desk.path, "cell_id": "slow"})
    opened = open_room(desk, ("slow", desk.held), replies=[run, says("Done.")])
    other = show(desk, other_page)
    desk.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2")
    opened.editor("slow").click()
    desk.page.keyboard.press("Control+Enter")
    desk.let_go()
    for each in (opened, other):
        expect(each.prompt("slow")).to_have_text("[2]:")
        assert texts(each.cells, "slow") == SLOW_TEXT
    assert desk.results() == ["ok"]


@pytest.mark.full
def test_a_notebook_renamed_in_a_run_keeps_its_outputs(desk: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("run_cell", {"path": desk.path, "cell_id": "slow"}),
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        says("Done."),
    ]
    opened = open_room(desk, ("one", "x = 1"), ("slow", desk.held), replies=replies)
    desk.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2")
    old, desk.file = desk.path, desk.file.with_name("another name.ipynb")
    desk.page.evaluate(
        "name => window.jupyterapp.shell.currentWidget.context.rename(name)", desk.file.name
    )
    desk.let_go()
    opened.wait_for_source("one", "x = 2")
    desk.ended()
    assert texts(opened.cells, "slow") == SLOW_TEXT
    wait_for_file(desk, {"one": "x = 2", "slow": desk.held}, {"slow": SLOW_TEXT})
    assert not (desk.lab.root / old).exists()


@pytest.mark.full
def test_undo_leaves_what_the_agent_did(desk: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        says("Done."),
    ]
    opened = open_room(desk, ("one", "x = 1"), replies=replies)
    desk.ask()
    opened.wait_for_source("one", "x = 2")
    opened.type_at_end("one", "  # typed")
    for _ in range(20):
        desk.page.keyboard.press("Control+z")
    assert opened.source("one") == "x = 2"


@pytest.mark.full
def test_nothing_typed_is_lost_in_a_short_storm(browser: Browser) -> None:
    tally = collaborative_typing.play(browser, edits=12, seed=7, pages=2)
    assert tally.edits
    assert tally.typed


@pytest.mark.full
def test_the_caret_goes_with_a_cell_that_is_moved(desk: NotebookScenario) -> None:
    move = calls("move_cell", {"path": desk.path, "cell_id": "mine", "after": "two"})
    cells = (("one", "x = 1"), ("mine", "y = "), ("two", "z = 3"))
    desk.write(*cells)
    desk.play(move, says("Done."))
    opened = show(desk, desk.page)
    opened.editor("mine").click()
    session = desk.talks.send("POST", "sessions", {})["id"]
    desk.talks.send("POST", f"sessions/{session}/messages", {"id": "m", "text": "Go on."})
    desk.ended()
    desk.wait(lambda: opened.ids == ["one", "two", "mine"], "the page has moved the cell")
    desk.page.keyboard.type("abc", delay=20)
    opened.wait_for_source("mine", "y = abc")
    assert [opened.source(cell) for cell in opened.ids] == ["x = 1", "z = 3", "y = abc"]
