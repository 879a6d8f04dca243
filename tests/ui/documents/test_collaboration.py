"""The agent works in notebooks shared through jupyter-collaboration."""

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
"""How long an empty room stays open."""
SHOW = "from IPython.display import HTML, display\ndisplay(HTML('<b onclick=\"1\">rich</b>'))"


@pytest.fixture(scope="module")
def served_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabWithModel]:
    """A server with jupyter-collaboration."""
    cleanup = f"--YDocExtension.document_cleanup_delay={CLEANUP_SECONDS}"
    with serve_rooms(tmp_path_factory, cleanup) as served:
        yield served


@pytest.fixture
def scenario(
    served_shared: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[NotebookScenario]:
    """The page, and a notebook in a room."""
    with working(served_shared, page, request) as scenario:
        yield scenario


@pytest.fixture
def other_page(browser: Browser) -> Iterator[Page]:
    """A page of another browser."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


def show(scenario: NotebookScenario, page: Page) -> OpenNotebook:
    """Open the notebook in a page."""
    page.goto(scenario.lab.document_url(scenario.path))
    return OpenNotebook(page).ready()


def open_room(
    scenario: NotebookScenario, *cells: tuple[str, str], replies: Sequence[Mapping[str, Any]]
) -> OpenNotebook:
    """Like ``NotebookScenario.open``, without the save.

    The room saves, and JupyterLab asks when both save at once.
    """
    scenario.write(*cells)
    scenario.play(*replies)
    return show(scenario, scenario.page)


def wait_for_file(
    scenario: NotebookScenario, sources: Mapping[str, str], outputs: Mapping[str, str]
) -> None:
    """Wait until the room has saved these sources and output texts."""

    def is_saved() -> bool:
        try:
            cells = scenario.cells_on_disk()
        except json.JSONDecodeError:
            return False  # being written, which Jupyter does not do atomically
        found = {cell["id"]: "".join(cell["source"]) for cell in cells}
        return found == sources and all(texts(cells, cell) == outputs[cell] for cell in outputs)

    scenario.wait(is_saved, "the room has saved")


def no_dialog(*pages: Page) -> None:
    """Check that JupyterLab shows no dialog."""
    for page in pages:
        expect(page.locator(".jp-Dialog")).to_have_count(0)


@pytest.mark.full
def test_status_says_that_collaboration_is_there(scenario: NotebookScenario) -> None:
    status = scenario.talks.api("status")
    assert (status["collaboration"], status["document_server"]) == (True, None)


def test_two_people_type_while_the_agent_edits_and_runs(
    scenario: NotebookScenario, other_page: Page
) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        calls("add_cell", {"path": scenario.path, "source": SHOW, "after": "one"}),
        calls("delete_cell", {"path": scenario.path, "cell_id": "gone"}),
        calls("run_all_cells", {"path": scenario.path}),
        says("Done."),
    ]
    first = open_room(
        scenario,
        *(("one", "x = 1"), ("gone", "z = 1"), ("slow", scenario.held), ("both", "y = 1")),
        replies=replies,
    )
    second = show(scenario, other_page)
    scenario.ask(allow=True)
    for opened in (first, second):
        expect(opened.prompt("slow")).to_have_text("[*]:")
        expect(opened.output("slow")).to_contain_text("tick 2")
    first.type_at_end("both", "  # first")
    second.wait_for_source("both", "y = 1  # first")
    second.type_at_end("both", ", second")
    first.wait_for_source("both", "y = 1  # first, second")
    first.type_at_end("one", "  # mine")
    scenario.let_go()
    scenario.ended()
    added = first.ids[1]
    expected = {"one": "x = 2  # mine", added: SHOW, "slow": scenario.held}
    expected["both"] = "y = 1  # first, second"
    for opened in (first, second):
        expect(opened.prompt("slow")).not_to_have_text("[*]:")
        assert {cell["id"]: cell["source"] for cell in opened.cells} == expected
        assert texts(opened.cells, "slow") == SLOW_TEXT
        expect(opened.output("slow")).to_have_count(1)
        # JupyterLab's sanitiser removes this attribute from untrusted outputs.
        expect(opened.output(added).locator("b")).to_have_attribute("onclick", "1")
    wait_for_file(scenario, expected, {"slow": SLOW_TEXT})
    no_dialog(scenario.page, other_page)
    assert scenario.results() == ["ok"] * 5


@pytest.mark.full
def test_a_run_outlasts_the_pages_and_their_room(scenario: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        calls("run_cell", {"path": scenario.path, "cell_id": "slow"}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 3"}),
        says("Done."),
    ]
    opened = open_room(
        scenario, ("one", "x = 1"), ("mine", "y = 1"), ("slow", scenario.held), replies=replies
    )
    scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2")
    opened.type_at_end("mine", "  # typed")
    scenario.page.goto("about:blank")
    scenario.wait(
        lambda: "deleted" in scenario.lab.log.partition(scenario.path)[2], "the room is closed"
    )
    scenario.let_go()
    # An edit of a notebook that no page shows needs approval.
    scenario.wait(lambda: len(scenario.talks.of_type("approval-request")) == 2, "the edit asks")
    scenario.allow_unseen()
    scenario.ended()
    assert scenario.on_disk() == {"one": "x = 3", "mine": "y = 1  # typed", "slow": scenario.held}
    assert scenario.text_on_disk("slow") == SLOW_TEXT
    show(scenario, scenario.page)
    assert opened.source("mine") == "y = 1  # typed"
    assert texts(opened.cells, "slow") == SLOW_TEXT
    no_dialog(scenario.page)


@pytest.mark.full
def test_a_cell_the_user_runs_again_is_theirs(scenario: NotebookScenario, other_page: Page) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "slow"})
    opened = open_room(scenario, ("slow", scenario.held), replies=[run, says("Done.")])
    other = show(scenario, other_page)
    scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2")
    opened.editor("slow").click()
    scenario.page.keyboard.press("Control+Enter")
    scenario.let_go()
    for each in (opened, other):
        expect(each.prompt("slow")).to_have_text("[2]:")
        assert texts(each.cells, "slow") == SLOW_TEXT
    assert scenario.results() == ["ok"]


@pytest.mark.full
def test_a_notebook_renamed_in_a_run_keeps_its_outputs(scenario: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("run_cell", {"path": scenario.path, "cell_id": "slow"}),
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        says("Done."),
    ]
    opened = open_room(scenario, ("one", "x = 1"), ("slow", scenario.held), replies=replies)
    scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2")
    old, scenario.file = scenario.path, scenario.file.with_name("another name.ipynb")
    scenario.page.evaluate(
        "name => window.jupyterapp.shell.currentWidget.context.rename(name)", scenario.file.name
    )
    scenario.let_go()
    opened.wait_for_source("one", "x = 2")
    scenario.ended()
    assert texts(opened.cells, "slow") == SLOW_TEXT
    wait_for_file(scenario, {"one": "x = 2", "slow": scenario.held}, {"slow": SLOW_TEXT})
    assert not (scenario.lab.root / old).exists()


@pytest.mark.full
def test_undo_leaves_what_the_agent_did(scenario: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        says("Done."),
    ]
    opened = open_room(scenario, ("one", "x = 1"), replies=replies)
    scenario.ask()
    opened.wait_for_source("one", "x = 2")
    opened.type_at_end("one", "  # typed")
    for _ in range(20):
        scenario.page.keyboard.press("Control+z")
    assert opened.source("one") == "x = 2"


@pytest.mark.full
def test_nothing_typed_is_lost_in_a_short_storm(browser: Browser) -> None:
    tally = collaborative_typing.play(browser, edits=12, seed=7, pages=2)
    assert tally.edits
    assert tally.typed


@pytest.mark.full
def test_the_caret_goes_with_a_cell_that_is_moved(scenario: NotebookScenario) -> None:
    move = calls("move_cell", {"path": scenario.path, "cell_id": "mine", "after": "two"})
    cells = (("one", "x = 1"), ("mine", "y = "), ("two", "z = 3"))
    scenario.write(*cells)
    scenario.play(move, says("Done."))
    opened = show(scenario, scenario.page)
    opened.editor("mine").click()
    session = scenario.talks.send("POST", "sessions", {})["id"]
    scenario.talks.send("POST", f"sessions/{session}/messages", {"id": "m", "text": "Go on."})
    scenario.ended()
    scenario.wait(lambda: opened.ids == ["one", "two", "mine"], "the page has moved the cell")
    scenario.page.keyboard.type("abc", delay=20)
    opened.wait_for_source("mine", "y = abc")
    assert [opened.source(cell) for cell in opened.ids] == ["x = 1", "z = 3", "y = abc"]
