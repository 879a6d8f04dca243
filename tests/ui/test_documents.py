"""Notebooks open in a real browser while the agent works in them: what a person does meanwhile.

Pages reload, close, come twice and lose their connection; notebooks are renamed, edited and run by
hand. Nothing typed, edited or printed is lost, and nothing happens behind the user's back.
"""

from __future__ import annotations

import json
import re
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.lab import Lab
from tests.ui.panel import OpenNotebook, Panel
from tests.upstream import Upstream, calls, in_order, notebook, says, texts

LONG_GRACE_SECONDS = 3_600.0
"""However slow the machine is, a page is back in time."""
SHORT_GRACE_SECONDS = 1.0
TICKS = 15
SLOW = f"""\
import time
for tick in range({TICKS}):
    time.sleep(0.2)
    print("tick", tick, flush=True)
"""
SLOW_TEXT = "".join(f"tick {tick}\n" for tick in range(TICKS))
FLOOD = "n = 0\nwhile True:\n    print('line', n)\n    n += 1"
SOCKET = re.compile(r".*/shoulders/api/v1/socket(\?.*)?$")


@dataclass
class Served:
    """One server and one simulator for the tests of this file."""

    lab: Lab
    upstream: Upstream

    def api(self, path: str, **query: str) -> Any:
        """GET one route of the API."""
        address = self.lab.url(f"shoulders/api/v1/{path}", **query)
        with urllib.request.urlopen(address, timeout=30) as answer:
            return json.load(answer)

    def sessions(self) -> list[str]:
        """The ids of all conversations."""
        return [session["id"] for session in self.api("sessions", limit="200")["sessions"]]


@dataclass
class Desk:
    """What one test works with: a notebook of its own, a page, a conversation."""

    served: Served
    page: Page
    file: Path
    earlier: list[str] = field(default_factory=list[str])

    @property
    def path(self) -> str:
        """The notebook's path in the workspace."""
        return self.file.relative_to(self.served.lab.root).as_posix()

    def open(self, *cells: tuple[str, str], replies: Sequence[Mapping[str, Any]]) -> OpenNotebook:
        """Write the notebook, show it in the page, let the model answer so."""
        self.file.write_text(notebook(*cells), encoding="utf-8")
        self.served.upstream.play(in_order(*replies))
        return self.show(self.page)

    def show(self, page: Page) -> OpenNotebook:
        """Open the notebook in a page and save what the lab itself changes in it."""
        page.goto(self.served.lab.document_url(self.path))
        return OpenNotebook(page).ready().save_as_the_lab_has_it()

    def ask(self, text: str = "Go on.", *, allow: bool = False) -> Panel:
        """Ask the agent, and allow the first thing it asks for."""
        panel = Panel(self.page).open()
        panel.ask(text)
        if allow:
            panel.allow()
        return panel

    def log(self) -> list[dict[str, Any]]:
        """The events of this test's conversation, none before there is one."""
        own = [session for session in self.served.sessions() if session not in self.earlier]
        return self.served.api(f"sessions/{own[0]}/events", limit="5000")["events"] if own else []

    def wait(self, condition: Callable[[], Any], what: str, seconds: float = 30) -> None:
        """Wait until a condition holds that no element of the page shows."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
            # The server's files and log: there is nothing to wait on. The page's routes go on.
            time.sleep(0.1) if self.page.is_closed() else self.page.wait_for_timeout(100)

    def ended(self, turns: int = 1) -> None:
        """Wait until so many turns have ended."""
        self.wait(lambda: self.kinds().count("turn-end") >= turns, f"{turns} turns ended", 60)

    def kinds(self) -> list[str]:
        """The types of the events in order."""
        return [event["type"] for event in self.log()]

    def allow_unseen(self) -> None:
        """Allow the waiting call without a click, which would take the focus."""
        asked = [event for event in self.log() if event["type"] == "approval-request"][-1]
        path = f"sessions/{asked['session_id']}/approvals/{asked['call_id']}"
        request = urllib.request.Request(
            self.served.lab.url(f"shoulders/api/v1/{path}"),
            json.dumps({"decision": "allow", "scope": "once"}).encode(),
            {"content-type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=10).close()

    def results(self) -> list[str]:
        """How the agent's calls ended."""
        return [event["status"] for event in self.log() if event["type"] == "tool-result"]

    def on_disk(self) -> dict[str, str]:
        """The sources in the file."""
        cells = json.loads(self.file.read_text(encoding="utf-8"))["cells"]
        return {cell["id"]: "".join(cell["source"]) for cell in cells}

    def text_on_disk(self, cell_id: str) -> str:
        """What a cell printed, in the file."""
        return texts(json.loads(self.file.read_text(encoding="utf-8"))["cells"], cell_id)


@contextmanager
def serve(paths: pytest.TempPathFactory, grace_seconds: float) -> Generator[Served]:
    """Run a server whose only model is a simulator that plays what each test tells it."""
    root = paths.mktemp("workspace")
    upstream = Upstream(in_order(), paths.mktemp("upstream")).start()
    grace = f"--Shoulders.page_grace={grace_seconds}"
    lab = Lab(root, paths.mktemp("lab"), args=[grace], env=upstream.configure(root))
    lab.start()
    yield Served(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that never gives a page up."""
    with serve(tmp_path_factory, LONG_GRACE_SECONDS) as served:
        yield served


@pytest.fixture(scope="module")
def served_hastily(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that writes the agent's edits to the file soon after the page has gone."""
    with serve(tmp_path_factory, SHORT_GRACE_SECONDS) as served:
        yield served


def place(served: Served, page: Page, request: pytest.FixtureRequest) -> Desk:
    """Put a notebook named after the test on a desk."""
    file = served.lab.root / f"{request.node.name.removeprefix('test_')}.ipynb"
    return Desk(served, page, file, served.sessions())


@pytest.fixture
def desk(served: Served, page: Page, request: pytest.FixtureRequest) -> Desk:
    """The page, and a notebook that waits for its page for ever."""
    return place(served, page, request)


@pytest.fixture
def desk_soon_left(served_hastily: Served, page: Page, request: pytest.FixtureRequest) -> Desk:
    """The page, and a notebook that is given up soon after its page has gone."""
    return place(served_hastily, page, request)


@pytest.fixture
def other_page(browser: Browser) -> Iterator[Page]:
    """A page of another browser."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


def no_dialog(*pages: Page) -> None:
    """Check that the lab asks nothing, "File Changed" above all."""
    for page in pages:
        expect(page.locator(".jp-Dialog")).to_have_count(0)


# pages that reload, close and lose their connection


def test_reload_during_a_run_shows_all_of_it_once(desk: Desk) -> None:
    run = calls("run_cell", {"path": desk.path, "cell_id": "slow"})
    opened = desk.open(("slow", SLOW), replies=[run, says("Done.")])
    desk.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1", timeout=30_000)
    desk.page.reload()
    opened.shown()
    expect(opened.output("slow")).to_contain_text("tick 2", timeout=30_000)
    expect(opened.prompt("slow")).to_have_text("[*]:")
    expect(opened.prompt("slow")).to_have_text("[1]:", timeout=30_000)
    assert texts(opened.cells, "slow") == SLOW_TEXT
    opened.save()
    assert desk.text_on_disk("slow") == SLOW_TEXT


def test_reload_right_after_an_edit_does_it_again_once(desk: Desk) -> None:
    edit = calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"})
    read = calls("read_notebook", {"path": desk.path})
    opened = desk.open(("one", "x = 1"), ("two", "y = 1"), replies=[read, edit, says("Done.")])
    desk.ask()
    opened.wait_for_source("one", "x = 2")
    desk.page.reload()
    opened.shown().wait_for_source("one", "x = 2")
    assert desk.on_disk()["one"] == "x = 1"
    opened.editor("one").click()
    desk.page.keyboard.press("Control+z")
    opened.wait_for_source("one", "x = 1")


def test_edits_and_outputs_reach_the_file_when_the_page_is_gone(desk_soon_left: Desk) -> None:
    desk = desk_soon_left
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "print('new')"}),
        calls("run_cell", {"path": desk.path, "cell_id": "one"}),
        says("Done."),
    ]
    opened = desk.open(("one", "print('old')"), ("mine", "y = 1"), replies=replies)
    desk.ask(allow=True)
    desk.ended()
    opened.type_at_end("mine", "  # typed")
    assert desk.on_disk()["one"] == "print('old')"
    desk.page.close()
    desk.wait(lambda: desk.text_on_disk("one") == "new\n", "the outputs are on disk")
    assert desk.on_disk() == {"one": "print('new')", "mine": "y = 1"}


def test_page_that_was_away_for_long_saves_without_a_question(desk_soon_left: Desk) -> None:
    desk = desk_soon_left
    sockets = Sockets(desk.page)
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        says("Done."),
    ]
    opened = desk.open(("one", "x = 1"), ("mine", "y = 1"), replies=replies)
    panel = desk.ask()
    opened.wait_for_source("one", "x = 2")
    sockets.cut()
    panel.disconnected()
    opened.type_at_end("mine", "  # typed")
    desk.wait(lambda: desk.on_disk()["one"] == "x = 2", "the edit is on disk")
    sockets.mend()
    panel.reconnected()
    opened.knows_its_file()
    opened.save()
    no_dialog(desk.page)
    assert desk.on_disk() == {"one": "x = 2", "mine": "y = 1  # typed"}


def test_run_goes_on_through_a_lost_connection(desk: Desk) -> None:
    sockets = Sockets(desk.page)
    run = calls("run_cell", {"path": desk.path, "cell_id": "slow"})
    opened = desk.open(("slow", SLOW), replies=[run, says("Done.")])
    panel = desk.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2", timeout=30_000)
    sockets.cut()
    panel.disconnected()
    sockets.mend()
    panel.reconnected()
    expect(opened.prompt("slow")).to_have_text("[1]:", timeout=30_000)
    assert texts(opened.cells, "slow") == SLOW_TEXT


def test_discarding_a_notebook_in_a_run_drops_what_the_user_typed_alone(desk: Desk) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        calls("run_cell", {"path": desk.path, "cell_id": "slow"}),
        says("Done."),
    ]
    opened = desk.open(("one", "x = 1"), ("mine", "y = 1"), ("slow", SLOW), replies=replies)
    opened.type_at_end("mine", "  # typed")
    desk.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1", timeout=30_000)
    opened.command("application:close", wait=False)
    desk.page.locator(".jp-Dialog").get_by_role("button", name="Discard").click()
    desk.ended()
    assert desk.text_on_disk("slow") == SLOW_TEXT
    assert desk.on_disk() == {"one": "x = 2", "mine": "y = 1", "slow": SLOW}


def test_open_page_finds_the_server_that_was_restarted(desk: Desk) -> None:
    edit = calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"})
    opened = desk.open(
        ("one", "x = 1"),
        ("mine", "y = 1"),
        replies=[calls("read_notebook", {"path": desk.path}), edit, says("Done.")],
    )
    panel = Panel(desk.page).open()
    opened.type_at_end("mine", "  # typed")
    desk.served.lab.stop()
    panel.disconnected()
    opened.type_at_end("mine", " on")
    desk.served.lab.start()
    panel.reconnected()
    desk.ask()
    opened.wait_for_source("one", "x = 2")
    assert opened.source("mine") == "y = 1  # typed on"
    opened.save()
    assert desk.on_disk() == {"one": "x = 2", "mine": "y = 1  # typed on"}


# the same notebook twice


def test_two_pages_show_the_same_edits_and_save_without_a_question(
    desk: Desk, other_page: Page
) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        calls("add_cell", {"path": desk.path, "source": "print(x)", "after": "one"}),
        calls("run_all_cells", {"path": desk.path}),
        says("Done."),
    ]
    first = desk.open(("one", "x = 1"), ("mine", "y = 1"), ("hers", "z = 1"), replies=replies)
    second = desk.show(other_page)
    first.knows_its_file()
    second.type_at_end("hers", "  # in the second")
    first.type_at_end("mine", "  # in the first")
    desk.ask(allow=True)
    desk.ended()
    added = first.ids[1]
    assert second.ids == first.ids == ["one", added, "mine", "hers"]
    for each in (first, second):
        assert each.source("one") == "x = 2"
        expect(each.output(added)).to_have_text("2")
    first.save()
    second.knows_its_file()
    assert second.source("mine") == "y = 1  # in the first"
    assert second.source("hers") == "z = 1  # in the second"
    assert second.dirty
    second.save()
    first.knows_its_file()
    assert first.source("hers") == "z = 1  # in the second"
    assert not first.dirty
    no_dialog(desk.page, other_page)
    assert first.cells == second.cells


def test_two_views_of_a_notebook_are_one_until_both_are_closed(desk: Desk) -> None:
    read = calls("read_notebook", {"path": desk.path})
    edit = calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"})
    again = calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 3"})
    opened = desk.open(("one", "x = 1"), replies=[read, edit, says("A"), again, says("B")])
    opened.command("docmanager:clone")
    expect(desk.page.locator(".jp-NotebookPanel")).to_have_count(2)
    panel = desk.ask()
    opened.wait_for_source("one", "x = 2")
    expect(panel.answers.last).to_contain_text("A")
    desk.page.evaluate("() => { window.jupyterapp.shell.currentWidget.dispose() }")
    expect(desk.page.locator(".jp-NotebookPanel")).to_have_count(1)
    desk.ask()
    opened.wait_for_source("one", "x = 3")
    assert desk.on_disk() == {"one": "x = 1"}


def test_approval_answered_in_one_page_is_answered_in_the_other(
    desk: Desk, other_page: Page
) -> None:
    run = calls("run_cell", {"path": desk.path, "cell_id": "one"})
    desk.open(("one", "print('ran')"), replies=[run, says("Done.")])
    first = desk.ask("Run it.")
    expect(first.approval).to_be_visible(timeout=30_000)
    desk.show(other_page)
    second = Panel(other_page).open()
    second.root.get_by_role("button", name="History").click()
    second.root.get_by_role("button", name="Run it.").first.click()
    expect(second.approval).to_be_visible()
    second.allow()
    expect(first.approval).to_have_count(0)
    expect(first.answers.last).to_contain_text("Done.")
    answers = [event for event in desk.log() if event["type"] == "approval-answer"]
    assert len(answers) == 1


# the user works on


def test_typing_loses_nothing_while_the_agent_edits_and_runs(desk: Desk) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        calls("add_cell", {"path": desk.path, "source": "new = 1", "after": "one"}),
        calls("delete_cell", {"path": desk.path, "cell_id": "gone"}),
        calls("run_cell", {"path": desk.path, "cell_id": "slow"}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 3"}),
        says("Done."),
    ]
    opened = desk.open(
        *(("one", "x = 1"), ("gone", "old = 1"), ("mine", "y = 1"), ("slow", SLOW)),
        replies=replies,
    )
    panel = desk.ask()
    opened.editor("mine").click()
    desk.page.keyboard.press("Control+End")
    typed, allowed = "", False
    while opened.source("one") != "x = 3":
        word = f" {len(typed)}"
        desk.page.keyboard.type(word, delay=10)
        typed += word
        if not allowed and panel.approval.count():
            desk.allow_unseen()
            allowed = True
        assert len(typed) < 5_000
    assert opened.source("mine") == f"y = 1{typed}"
    assert texts(opened.cells, "slow") == SLOW_TEXT
    assert [opened.ids[0], *opened.ids[2:]] == ["one", "mine", "slow"]
    # Each cell's undo takes back what was done to that cell.
    opened.editor("one").click()
    for before in ("x = 2", "x = 1", "x = 1"):
        desk.page.keyboard.press("Control+z")
        assert opened.source("one") == before
    assert opened.source("mine") == f"y = 1{typed}"


def test_structural_edits_are_undone_one_by_one_and_saved_valid(desk: Desk) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("add_cell", {"path": desk.path, "source": "new = 1", "after": "one"}),
        calls("delete_cell", {"path": desk.path, "cell_id": "three"}),
        calls("edit_cell", {"path": desk.path, "cell_id": "two", "source": "two = 22"}),
        says("Done."),
    ]
    opened = desk.open(
        *(("one", "one = 1"), ("two", "two = 2"), ("three", "three = 3")), replies=replies
    )
    opened.type_at_end("one", "  # typed")
    desk.ask()
    opened.wait_for_source("two", "two = 22")
    added = opened.ids[1]
    assert opened.ids == ["one", added, "two"]
    opened.command("notebook:undo-cell-action")
    assert opened.ids == ["one", added, "two", "three"]
    opened.command("notebook:undo-cell-action")
    assert opened.ids == ["one", "two", "three"]
    opened.command("notebook:redo-cell-action")
    opened.save()
    nbformat.validate(json.loads(desk.file.read_text(encoding="utf-8")))
    assert desk.on_disk() == {
        "one": "one = 1  # typed",
        added: "new = 1",
        "two": "two = 22",
        "three": "three = 3",
    }
    desk.page.reload()
    assert opened.ready().ids == ["one", added, "two", "three"]


def test_notebook_renamed_in_a_run_keeps_its_outputs(desk: Desk) -> None:
    replies = [
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 2"}),
        calls("run_cell", {"path": desk.path, "cell_id": "slow"}),
        calls("read_notebook", {"path": desk.path}),
        calls("edit_cell", {"path": desk.path, "cell_id": "one", "source": "x = 3"}),
        says("Done."),
    ]
    opened = desk.open(("one", "x = 1"), ("slow", SLOW), replies=replies)
    desk.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1", timeout=30_000)
    old, desk.file = desk.path, desk.file.with_name("another name.ipynb")
    desk.page.evaluate(
        "([old, path]) => window.jupyterapp.serviceManager.contents.rename(old, path)",
        [old, desk.path],
    )
    expect(opened.prompt("slow")).to_have_text("[1]:", timeout=30_000)
    opened.wait_for_source("one", "x = 3")
    assert texts(opened.cells, "slow") == SLOW_TEXT
    assert desk.on_disk()["one"] == "x = 1"
    opened.save()
    assert desk.on_disk()["one"] == "x = 3"
    assert not (desk.served.lab.root / old).exists()


def test_cell_the_user_runs_again_is_theirs(desk: Desk) -> None:
    run = calls("run_cell", {"path": desk.path, "cell_id": "slow"})
    opened = desk.open(("slow", SLOW), replies=[run, says("Done.")])
    desk.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1", timeout=30_000)
    opened.editor("slow").click()
    desk.page.keyboard.press("Control+Enter")
    expect(opened.prompt("slow")).to_have_text("[2]:", timeout=30_000)
    assert texts(opened.cells, "slow") == SLOW_TEXT
    assert desk.results() == ["ok"]


def test_flood_leaves_the_page_usable_and_is_stopped(desk: Desk) -> None:
    run = calls("run_cell", {"path": desk.path, "cell_id": "flood"})
    after = calls("run_cell", {"path": desk.path, "cell_id": "after"})
    opened = desk.open(("flood", FLOOD), ("after", "n > 1000"), replies=[run, after, says("Done.")])
    panel = desk.ask(allow=True)
    expect(opened.output("flood").first).to_contain_text("⋯", timeout=30_000)
    opened.type_at_end("after", "  # still here")
    began = time.monotonic()
    panel.input.press("Escape")
    panel.finished()
    stopped = time.monotonic() - began
    assert opened.source("after") == "n > 1000  # still here"
    assert desk.results() == ["cancelled"]
    expect(opened.output("flood").last).to_contain_text("KeyboardInterrupt")
    assert "⋯" not in texts(opened.cells, "flood")
    desk.ask(allow=True)
    expect(opened.output("after")).to_have_text("True")
    # Two seconds are promised; this machine does other things as well.
    assert stopped < 5


def test_kernel_that_the_agent_started_is_the_pages_too(desk: Desk) -> None:
    run = calls("run_cell", {"path": desk.path, "cell_id": "one"})
    opened = desk.open(("one", "x = 41"), ("mine", "x + 1"), replies=[run, says("Done.")])
    desk.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    desk.ask(allow=True)
    expect(opened.prompt("one")).to_have_text("[1]:", timeout=30_000)
    opened.ready().run("mine")
    expect(opened.output("mine")).to_have_text("42")


# the conversation


def test_queued_messages_are_changed_and_removed_until_they_are_read(desk: Desk) -> None:
    run = calls("run_cell", {"path": desk.path, "cell_id": "slow"})
    desk.open(("slow", SLOW), replies=[run, says("Read."), says("?")])
    panel = desk.ask(allow=True)
    for text in ("first", "second", "third"):
        panel.ask(text)
    expect(panel.queued).to_have_count(3)
    panel.queued.nth(0).get_by_role("button", name="Edit").click()
    panel.queued.nth(0).get_by_role("textbox").fill("first, changed")
    panel.queued.nth(0).get_by_role("textbox").press("Enter")
    panel.queued.nth(1).get_by_role("button", name="Remove").click()
    expect(panel.queued).to_have_count(2)
    expect(panel.queued.nth(0)).to_contain_text("first, changed")
    desk.ended()
    request = json.dumps(desk.served.upstream.requests()[-1]["body"])
    assert "first, changed" in request
    assert "third" in request
    assert "second" not in request


def test_stop_takes_a_waiting_approval_away_and_runs_nothing(desk: Desk) -> None:
    run = calls("run_cell", {"path": desk.path, "cell_id": "one"})
    opened = desk.open(("one", "print('ran')"), replies=[run, says("Nothing was run.")])
    panel = desk.ask()
    expect(panel.approval).to_be_visible(timeout=30_000)
    panel.input.press("Escape")
    expect(panel.approval).to_have_count(0)
    desk.ended()
    assert desk.results() == ["cancelled"]
    desk.ask("And now?")
    expect(panel.answers.last).to_contain_text("Nothing was run.")
    expect(opened.output("one")).to_have_count(0)


# where it is served


def test_notebook_with_a_difficult_path_below_a_prefix(
    start_lab: Any, workspace: Path, page: Page, served: Served
) -> None:
    path = "sub folder é/a b.ipynb"
    (workspace / "sub folder é").mkdir()
    (workspace / path).write_text(notebook(("one", "x = 1"), ("two", "x")), encoding="utf-8")
    replies = [
        calls("read_notebook", {"path": path}),
        calls("edit_cell", {"path": path, "cell_id": "one", "source": "x = 2"}),
        calls("run_all_cells", {"path": path}),
        says("Done."),
    ]
    served.upstream.play(in_order(*replies))
    env = served.upstream.configure(workspace)
    lab = start_lab(workspace, env=env, base_url="/user/x/")
    page.goto(lab.document_url(path))
    opened = OpenNotebook(page).ready()
    panel = Panel(page).open()
    panel.ask("Go on.")
    panel.allow()
    expect(panel.answers.last).to_contain_text("Done.", timeout=30_000)
    expect(opened.output("two")).to_have_text("2")
    assert opened.source("one") == "x = 2"


class Sockets:
    """The page's connections to us, which a test can cut; the rest of the lab stays connected."""

    def __init__(self, page: Page) -> None:
        self._open: list[tuple[WebSocketRoute, WebSocketRoute]] = []
        self._is_cut = False
        page.route_web_socket(SOCKET, self._route)

    def cut(self) -> None:
        """Close what is open and let nothing through."""
        self._is_cut = True
        for page, server in self._open:
            page.close()
            server.close()
        self._open.clear()

    def mend(self) -> None:
        """Let the page connect again."""
        self._is_cut = False

    def _route(self, page: WebSocketRoute) -> None:
        if self._is_cut:
            page.close()
        else:
            self._open.append((page, page.connect_to_server()))
