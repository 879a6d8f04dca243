"""Pages that come, go, sleep and lag in a real browser (chapter 12, group "client")."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.lab import Lab, StartLab
from tests.ui import reload_storm
from tests.ui.panel import TURN_MS, Panel
from tests.ui.test_promises import events, only_session, spoken, wait_for_event
from tests.ui.test_questions import open_first, open_panel
from tests.upstream import StartUpstream, calls, in_order, notebook, says

RELOADS = 20
PROSE = " ".join(f"word{number}" for number in range(150))
RUN = calls("run_cell", {"path": "a.ipynb", "cell_id": "first"})
SOCKET = "**/shoulders/api/v1/socket*"


@pytest.fixture
def one_cell(workspace: Path) -> Path:
    """A workspace with a notebook of one cell."""
    (workspace / "a.ipynb").write_text(notebook(("first", "total = 1")))
    return workspace


def test_twenty_reloads_at_random_moments_of_a_stream_show_what_the_log_holds(
    start_lab: StartLab, workspace: Path, upstream: StartUpstream, page: Page
) -> None:
    text = reload_storm.prose(RELOADS)
    lab = start_lab(workspace, env=upstream(reload_storm.script(text)).configure(workspace))
    tally = reload_storm.storm(lab, page, RELOADS, seed=7)
    reload_storm.check(lab, page, tally, text)
    assert tally.texts


def test_approval_and_queued_message_survive_kill_9_and_are_answered_from_another_page(
    start_lab: StartLab,
    one_cell: Path,
    upstream: StartUpstream,
    context: BrowserContext,
    page: Page,
) -> None:
    script = in_order(RUN, says("It is one."), says("It is one."))
    lab = start_lab(one_cell, env=upstream(script).configure(one_cell))
    panel = open_panel(lab, page)
    panel.ask("Run it.")
    expect(panel.approval).to_be_visible(timeout=TURN_MS)
    panel.ask("And tell me more.")
    expect(panel.queued).to_contain_text("And tell me more.")

    lab.kill()
    lab.start()
    page.reload()
    panel = Panel(page).open()
    expect(panel.approval).to_be_visible(timeout=TURN_MS)
    expect(panel.queued).to_contain_text("And tell me more.")

    elsewhere = open_first(open_panel(lab, context.new_page(), "other"))
    expect(elsewhere.queued).to_contain_text("And tell me more.")
    elsewhere.allow()
    for each in (elsewhere, panel):
        each.finished()
        expect(each.approval).to_have_count(0)
        expect(each.queued).to_have_count(0)
        expect(each.answers.last).to_contain_text("It is one.")
    log = events(lab)
    assert [e["decision"] for e in log if e["type"] == "approval-answer"] == ["allow"]
    added = [e["text"] for e in log if e["type"] == "message-add"]
    assert added == ["Run it.", "And tell me more."]


def test_the_second_answer_to_an_approval_is_told_so(
    start_lab: StartLab,
    one_cell: Path,
    upstream: StartUpstream,
    context: BrowserContext,
    page: Page,
) -> None:
    script = in_order(RUN, says("It is one."))
    lab = start_lab(one_cell, env=upstream(script).configure(one_cell))
    panel = open_panel(lab, page)
    panel.ask("Run it.")
    expect(panel.approval).to_be_visible(timeout=TURN_MS)
    other = context.new_page()
    holding: list[bool] = []

    def delay(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        route.on_message(server.send)
        server.on_message(lambda text: None if holding else route.send(text))

    other.route_web_socket(SOCKET, delay)
    elsewhere = open_first(open_panel(lab, other, "other"))
    expect(elsewhere.approval).to_be_visible()
    holding.append(True)
    panel.allow()
    panel.finished()
    elsewhere.approval.get_by_role("button", name="Deny").first.click()
    other.keyboard.press("Enter")
    expect(elsewhere.approval).to_contain_text("This was answered already.")
    answers = [e["decision"] for e in events(lab) if e["type"] == "approval-answer"]
    assert answers == ["allow"]


def test_a_proposal_waits_for_a_page_that_was_closed_and_a_server_that_was_killed(
    start_lab: StartLab,
    one_cell: Path,
    upstream: StartUpstream,
    context: BrowserContext,
    page: Page,
) -> None:
    path = one_cell / "a.ipynb"
    edit = {"path": "a.ipynb", "cell_id": "first", "source": "total = 2"}
    script = in_order(
        calls("read_notebook", {"path": "a.ipynb"}),
        calls("edit_cell", edit, first_byte_delay=3),
        says("Your own change stands."),
    )
    lab = start_lab(one_cell, env=upstream(script).configure(one_cell))
    panel = open_panel(lab, page)
    panel.ask("Make it two.")
    wait_for_event(lab, "tool-result")
    path.write_text(notebook(("first", "total = 1000")))
    panel.allow()  # a file that no page shows is asked about
    expect(panel.proposal).to_be_visible(timeout=TURN_MS)
    panel.finished()
    page.close()
    lab.kill()
    lab.start()

    again = open_first(open_panel(lab, context.new_page(), "other"))
    expect(again.proposal).to_contain_text("total = 2")
    again.proposal.get_by_role("button", name="Apply").click()
    expect(again.proposal).to_contain_text("applied")
    cells: list[dict[str, Any]] = json.loads(path.read_text())["cells"]
    assert "".join(cells[0]["source"]) == "total = 2"


def test_a_page_opened_after_the_end_shows_the_whole_turn(
    start_lab: StartLab,
    workspace: Path,
    upstream: StartUpstream,
    context: BrowserContext,
    page: Page,
) -> None:
    script = in_order(says(PROSE, tokens_per_second=60))
    lab = start_lab(workspace, env=upstream(script).configure(workspace))
    panel = open_panel(lab, page)
    panel.ask("Write a lot.")
    expect(panel.answers.last).to_contain_text("word9", timeout=TURN_MS)
    page.close()
    wait_for_event(lab, "turn-end")
    again = context.new_page()
    again.goto(lab.url("lab"))
    panel = Panel(again).open()
    expect(panel.answers.last).to_have_text(re.compile(rf"^\s*{PROSE}\s*$"), timeout=TURN_MS)
    panel.finished()
    assert only_session(lab)["status"] == "idle"


def test_a_page_that_was_offline_shows_all_it_missed(
    start_lab: StartLab,
    workspace: Path,
    upstream: StartUpstream,
    context: BrowserContext,
    page: Page,
) -> None:
    script = in_order(says(PROSE, tokens_per_second=60))
    lab = start_lab(workspace, env=upstream(script).configure(workspace))
    panel = open_panel(lab, page)
    panel.ask("Write a lot.")
    expect(panel.answers.last).to_contain_text("word9", timeout=TURN_MS)
    context.set_offline(True)
    wait_for_event(lab, "turn-end")
    context.set_offline(False)
    expect(panel.answers.last).to_have_text(re.compile(rf"^\s*{PROSE}\s*$"), timeout=30_000)
    panel.finished()
    assert spoken(events(lab)) == PROSE


class Wire:
    """A way to the server that can go dead without a word, as one does while a laptop sleeps."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._dead = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def die(self) -> None:
        """Carry nothing more of the connections there are, and tell nobody."""
        self._dead.set()
        self._dead = threading.Event()

    def close(self) -> None:
        """End."""
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                page, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                self._open += [page, server]
                for source, target in ((page, server), (server, page)):
                    arguments = (source, target, self._dead)
                    threading.Thread(target=_carry, args=arguments, daemon=True).start()


def _carry(source: socket.socket, target: socket.socket, dead: threading.Event) -> None:
    with suppress(OSError):  # the other side went away
        while data := source.recv(1 << 16):
            if dead.is_set():
                return
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def wire(
    start_lab: StartLab, workspace: Path, upstream: StartUpstream
) -> Iterator[tuple[Lab, Wire]]:
    """A server and a way to it."""
    script = in_order(says("Before."), says("Meanwhile."))
    lab = start_lab(workspace, env=upstream(script).configure(workspace))
    made = Wire(lab.port)
    yield lab, made
    made.close()


def test_a_page_whose_connection_died_in_silence_shows_all_once_it_wakes(
    wire: tuple[Lab, Wire], context: BrowserContext, page: Page
) -> None:
    lab, way = wire
    page.goto(lab.url("lab", reset="").replace(f":{lab.port}/", f":{way.port}/"))
    panel = Panel(page).open()
    panel.ask("Begin.")
    expect(panel.answers.last).to_contain_text("Before.", timeout=TURN_MS)
    panel.finished()
    way.die()
    elsewhere = open_first(open_panel(lab, context.new_page(), "other"))
    elsewhere.ask("Go on.")
    expect(elsewhere.answers.last).to_contain_text("Meanwhile.", timeout=TURN_MS)
    expect(panel.answers.last).to_contain_text("Before.")
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    expect(panel.answers.last).to_contain_text("Meanwhile.", timeout=20_000)
    panel.finished()


def test_a_page_from_before_an_update_asks_to_be_reloaded(
    start_lab: StartLab, workspace: Path, page: Page
) -> None:
    lab = start_lab(workspace)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    newer: list[bool] = [True]

    def update(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        route.on_message(server.send)

        def told(text: str | bytes) -> None:
            frame = json.loads(text)
            if newer and frame["type"] == "welcome":
                frame["wire_version"] += 1
                route.send(json.dumps({"type": "of-the-future", "content": [frame]}))
            route.send(json.dumps(frame))

        server.on_message(told)

    page.route_web_socket(SOCKET, update)
    panel = open_panel(lab, page)
    banner = panel.root.locator(".shoulders-Banner")
    expect(banner).to_contain_text("reload", ignore_case=True)
    newer.clear()
    banner.get_by_role("button", name="Reload").click()
    page.wait_for_load_state()
    panel = Panel(page).open()
    expect(panel.root.locator(".shoulders-Banner")).to_have_count(0)
    panel.ask("Hello")
    panel.finished()
    expect(panel.answers.last).not_to_be_empty()
    assert problems == []
