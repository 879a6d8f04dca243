"""Two users who share a notebook see its threads move together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.ui.conftest import working
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.thread_marks import anchor_of, begin
from tests.ui.stress.thread_anchors import LOOK
from tests.ui.support.collaboration_server import serve_rooms
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

pytestmark = pytest.mark.full

SOURCE = "first = 1\nsecond = load('data.csv')\nthird = 3\n"
QUOTE = "second = load('data.csv')"

_EDIT = """([from, to, text]) => window.jupyterapp.shell.currentWidget.content.model.sharedModel
    .cells.find(cell => cell.id === 'one').updateSource(from, to, text)"""


@pytest.fixture(scope="module")
def served_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabWithModel]:
    """A server with jupyter-collaboration."""
    with serve_rooms(tmp_path_factory) as served:
        yield served


@pytest.fixture
def scenario(
    served_shared: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[NotebookScenario]:
    """The page, and a notebook in a room."""
    with working(served_shared, page, request) as scenario:
        yield scenario


def show(scenario: NotebookScenario, page: Page) -> None:
    """Open the notebook in a page and wait for its thread."""
    page.goto(scenario.lab.document_url(scenario.path))
    OpenNotebook(page).ready()
    page.wait_for_function(f"() => Object.keys(({LOOK})().places).length > 0")


def wait_for_place(pages: tuple[Page, ...], wanted: list[Any]) -> None:
    """Wait until the thread is at this position in all pages."""
    for page in pages:
        page.wait_for_function(
            f"wanted => JSON.stringify(Object.values(({LOOK})().places)[0]) === wanted",
            arg=str(wanted).replace("'", '"').replace(" ", ""),
        )


@pytest.mark.shows("threads.travel.4")
def test_two_people_see_a_thread_move_with_what_either_of_them_does(
    scenario: NotebookScenario, other_page: Page
) -> None:
    scenario.write(("one", SOURCE), ("two", "two = 2\n"))
    thread = begin(scenario, "Loading", anchor_of(scenario.path, "one", SOURCE, QUOTE))
    pages = (scenario.page, other_page)
    for page in pages:
        show(scenario, page)
    start, size = SOURCE.index(QUOTE), len(QUOTE)
    reports: list[str] = []
    other_page.on(
        "request",
        lambda request: reports.append(request.url) if "/v1/anchors" in request.url else None,
    )

    scenario.page.evaluate(_EDIT, [0, 0, "# typed here\n"])
    start += len("# typed here\n")
    wait_for_place(pages, ["exact", "one", start, start + size])
    scenario.wait(
        lambda: scenario.talks.api(f"sessions/{thread}")["anchor"]["range"]["from"] == start,
        "the page that typed has told",
    )
    assert reports == []  # the other page only received the update

    other_page.evaluate(_EDIT, [start + 3, start + 6, ""])
    wait_for_place(pages, ["exact", "one", start, start + size - 3])
    scenario.page.evaluate("() => window.jupyterapp.commands.execute('notebook:move-cell-down')")
    wait_for_place(pages, ["exact", "one", start, start + size - 3])
    cells = other_page.evaluate(LOOK)["cells"]
    assert [cell for cell, _ in cells] == ["two", "one"]
