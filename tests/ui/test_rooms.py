"""Notebooks that pages share through jupyter-collaboration while the agent works in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.collab import collab_environment
from tests.lab import Lab
from tests.ui.conftest import working
from tests.ui.desk import Desk, Served
from tests.upstream import Upstream, calls, in_order, says


@pytest.fixture(scope="module")
def served_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with jupyter-collaboration."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = Upstream(in_order(), tmp_path_factory.mktemp("upstream")).start()
    env = {**upstream.configure(root), **collab_environment()}
    lab = Lab(root, tmp_path_factory.mktemp("lab"), env=env)
    lab.start()
    yield Served(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture
def desk(served_shared: Served, page: Page, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """The page, and a notebook in a room."""
    with working(served_shared, page, request) as desk:
        yield desk


def test_status_says_that_collaboration_is_there(desk: Desk) -> None:
    status = desk.talks.api("status")
    assert (status["collaboration"], status["document_server"]) == (True, None)


def test_edits_and_runs_are_shown_once_and_saved(desk: Desk) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        calls("add_cell", {"path": desk.path, "source": "print(x)", "after": "one"}),
        calls("run_all_cells", {"path": desk.path}),
        says("Done."),
    ]
    opened = desk.open(("one", "x = 1"), ("mine", "y = 1"), replies=replies)
    desk.ask(allow=True)
    desk.ended()
    added = opened.ids[1]
    assert opened.ids == ["one", added, "mine"]
    expect(opened.output(added)).to_have_text("2")
    sources = {"one": "x = 2", added: "print(x)", "mine": "y = 1"}
    desk.wait(lambda: desk.on_disk() == sources, "the room has saved")
    desk.wait(lambda: desk.text_on_disk(added) == "2\n", "the room has saved the outputs")
    assert desk.results() == ["ok"] * 4
