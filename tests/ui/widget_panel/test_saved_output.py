"""The saved output of a panel, in pages that did not run its cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import says
from tests.ui.conftest import working
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.widget_panel import SHOW, answered, panel_in
from tests.ui.support.collaboration_server import serve_rooms
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def served_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabWithModel]:
    """A server with jupyter-collaboration."""
    with serve_rooms(tmp_path_factory) as served:
        yield served


@pytest.fixture
def shared_scenario(
    served_shared: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[NotebookScenario]:
    """The page, and a notebook in a room."""
    with working(served_shared, page, request) as scenario:
        yield scenario


def transcripts(cells: list[dict[str, Any]]) -> list[str]:
    """The transcripts in the outputs of a notebook, as HTML."""
    outputs = [output for cell in cells for output in cell["outputs"]]
    pages = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    return [page for page in pages if "shoulders-transcript" in page]


def hold(opened: OpenNotebook, *answers: str) -> bool:
    """Whether the notebook in a page has one transcript with these answers."""
    found = transcripts(opened.cells)
    assert len(found) == 1, found
    return all(answer in found[0] for answer in answers)


def saved(scenario: NotebookScenario) -> list[str]:
    """The transcripts in the file; none while a room writes it, which is not atomic."""
    try:
        return transcripts(scenario.cells_on_disk())
    except json.JSONDecodeError:
        return []


def test_after_a_reload_later_answers_are_in_the_notebook_and_nothing_else_is_new(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = scenario.open(SHOW, ("two", "1 + 1"), replies=[says("Water."), says("Fish.")])
    opened.run("show")
    panel = panel_in(page)
    panel.ask("Why do penguins swim?")
    answered(panel, "Water.")
    scenario.wait(lambda: hold(opened, "Water."), "the output holds the transcript")
    opened.save()

    page.goto(scenario.lab.document_url(scenario.path))
    opened.ready()
    panel = panel_in(page)
    answered(panel, "Water.")
    assert not opened.dirty
    panel.ask("What do they eat?")
    answered(panel, "Fish.")
    scenario.wait(lambda: hold(opened, "Water.", "Fish."), "the output holds both answers")
    assert opened.dirty
    opened.save()
    (kept,) = transcripts(scenario.cells_on_disk())
    assert "Fish." in kept


def test_an_answer_that_was_not_saved_is_in_the_notebook_once_the_page_is_back(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = scenario.open(SHOW, replies=[says("Water.")])
    opened.run("show")
    panel = panel_in(page)
    opened.save()
    before = scenario.file.read_text(encoding="utf-8")
    panel.ask("Why do penguins swim?")
    answered(panel, "Water.")
    scenario.wait(lambda: hold(opened, "Water."), "the output holds the transcript")

    page.goto("about:blank")
    scenario.file.write_text(before, encoding="utf-8")  # even if JupyterLab has saved it
    page.goto(scenario.lab.document_url(scenario.path))
    opened.ready()
    panel_in(page)
    scenario.wait(lambda: hold(opened, "Water."), "the output holds the transcript again")


def test_pages_that_share_a_notebook_keep_one_transcript(
    shared_scenario: NotebookScenario, other_page: Page
) -> None:
    scenario, page = shared_scenario, shared_scenario.page
    replies = [says("Water."), says("Fish."), says("Ice.")]
    opened = scenario.open(SHOW, ("two", "1 + 1"), replies=replies)
    opened.run("show")
    panel = panel_in(page)
    other_page.goto(scenario.lab.document_url(scenario.path))
    other = OpenNotebook(other_page).ready()
    panel_in(other_page)
    panel.ask("Why do penguins swim?")
    answered(panel, "Water.")
    for each in (opened, other):
        scenario.wait(lambda each=each: hold(each, "Water."), "both hold the transcript")

    page.goto(scenario.lab.document_url(scenario.path))  # now neither page has run the cell
    opened.ready()
    panel = panel_in(page)
    for question, answer in (("What do they eat?", "Fish."), ("Where?", "Ice.")):
        panel.ask(question)
        answered(panel, answer)
        for each in (opened, other):
            scenario.wait(lambda each=each, answer=answer: hold(each, answer), "both hold it")
    scenario.wait(
        lambda: ["Ice." in text for text in saved(scenario)] == [True], "the room has saved one"
    )
    expect(page.locator(".jp-Dialog")).to_have_count(0)
