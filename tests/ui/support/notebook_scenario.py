"""Shared parts of the browser tests: servers, and for each test a scenario with its own notebook.

``conftest`` makes the fixtures; ``reload_storm`` reads its own server's conversations.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.simulator_process import SimulatorProcess, in_order, notebook, texts
from tests.support.lab_server import Lab
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.kept_page import open_document

WAIT_SECONDS = 60.0
"""Time limit of a condition on a slow, busy machine."""
TICKS = 15
HOLD_AT = 3
"""The tick before which a held program waits for its release."""
SLOW_TEXT = "".join(f"tick {tick}\n" for tick in range(TICKS))


@dataclass
class ConversationApi:
    """The API of one server, and the conversations started since this object was made."""

    lab: Lab
    earlier: frozenset[str] = frozenset()

    def api(self, path: str, **query: str) -> Any:
        """GET one route of the API."""
        return self._send("GET", path, None, query)

    def send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request to one route of the API."""
        return self._send(method, path, json.dumps(body).encode(), {})

    def _send(self, method: str, path: str, data: bytes | None, query: Mapping[str, str]) -> Any:
        url = self.lab.url(f"shoulders/api/v1/{path}", **query)
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
            return json.loads(answer.read() or "null")

    def all(self) -> list[dict[str, Any]]:
        """The conversations of this test."""
        listed = self.api("sessions", limit="200")["sessions"]
        return [session for session in listed if session["id"] not in self.earlier]

    def only(self) -> dict[str, Any]:
        """The one conversation of this test."""
        (session,) = self.all()
        return session

    def log(self) -> list[dict[str, Any]]:
        """The events of the one conversation; none before there is one."""
        if not self.all():
            return []
        page = self.api(f"sessions/{self.only()['id']}/events", limit="5000")
        assert not page["has_more"]
        return page["events"]

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """The events of one type."""
        return [event for event in self.log() if event["type"] == kind]

    def wait_for_event(self, kind: str) -> dict[str, Any]:
        """Wait until the log has an event of this type; return the last one."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not (found := self.of_type(kind)):
            assert time.monotonic() < deadline, f"no {kind} within {WAIT_SECONDS} s"
            time.sleep(0.2)  # another process: only its answers can be observed
        return found[-1]

    def end(self) -> None:
        """Clean up for other tests and for a second run of this one.

        Ends turns and kernels, keeps edits, deletes conversations.
        """
        deadline = time.monotonic() + WAIT_SECONDS
        while busy := [each for each in self.all() if each["status"] in {"running", "waiting"}]:
            assert time.monotonic() < deadline, f"does not stop: {busy}"
            for session in busy:
                self.send("POST", f"sessions/{session['id']}/cancel", {})
            time.sleep(0.1)  # another process, as above
        self._end_kernels()
        self._end_review()
        for session in self.all():
            self._send("DELETE", f"sessions/{session['id']}", None, {})

    def _end_review(self) -> None:
        """Keep all pending edits: the next test's page would count them."""
        for edit in self.api("edits", status="pending")["edits"]:
            self.send("POST", f"edits/{edit['id']}", {"decision": "keep"})

    def _end_kernels(self) -> None:
        with urllib.request.urlopen(self.lab.url("api/sessions"), timeout=WAIT_SECONDS) as answer:
            kernels = {session["kernel"]["id"] for session in json.load(answer)}
        for kernel in kernels:
            url = self.lab.url(f"api/kernels/{kernel}")
            request = urllib.request.Request(url, method="DELETE")
            urllib.request.urlopen(request, timeout=WAIT_SECONDS).close()


def streamed_text(log: Sequence[Mapping[str, Any]]) -> str:
    """All text that the agent streamed."""
    return "".join(event["text"] for event in log if event["type"] == "text-delta")


@dataclass
class LabWithModel:
    """A server and the simulator that is its only model; None for the demo."""

    lab: Lab
    upstream: SimulatorProcess | None = None


@dataclass
class NotebookScenario:
    """The environment of one test: a shared server, a page, its own notebook."""

    served: LabWithModel
    page: Page
    file: Path
    kept: bool = False
    """Whether the page is the one of earlier tests: see `kept_page`."""
    talks: ConversationApi = field(init=False)
    _gate: Path = field(init=False)

    def __post_init__(self) -> None:
        self._gate = self.lab.root.with_name(f"{self.file.stem}.go")
        self._gate.unlink(missing_ok=True)  # left by an earlier run of this test
        everything = ConversationApi(self.served.lab).all()
        self.talks = ConversationApi(self.lab, frozenset(session["id"] for session in everything))

    @property
    def lab(self) -> Lab:
        """The server."""
        return self.served.lab

    @property
    def path(self) -> str:
        """The notebook's path in the workspace."""
        return self.file.relative_to(self.lab.root).as_posix()

    @property
    def upstream(self) -> SimulatorProcess:
        """The simulator."""
        assert self.served.upstream is not None, "this scenario has no model but the demo"
        return self.served.upstream

    # the scene

    def play(self, *replies: Mapping[str, Any]) -> None:
        """Script the model's next replies."""
        self.upstream.play(in_order(*replies))

    def write(self, *cells: tuple[str, str]) -> None:
        """Write the notebook."""
        self.file.write_text(notebook(*cells), encoding="utf-8")

    def open(self, *cells: tuple[str, str], replies: Sequence[Mapping[str, Any]]) -> OpenNotebook:
        """Write the notebook, show it in the page, and script the model's replies."""
        self.write(*cells)
        self.play(*replies)
        return self.show(self.page)

    def show(self, page: Page) -> OpenNotebook:
        """Open the notebook in a page and save JupyterLab's own changes to it."""
        if self.kept:
            open_document(page, self.lab, self.path)
        else:
            page.goto(self.lab.document_url(self.path))
        return OpenNotebook(page).ready().save_as_the_lab_has_it()

    def open_panel(self, page: Page | None = None, workspace: str = "") -> Panel:
        """Open the panel; another JupyterLab workspace is another page with its own tabs."""
        page = page or self.page
        page.goto(self.lab.url(f"lab/workspaces/{workspace}" if workspace else "lab", reset=""))
        return Panel(page).open()

    def elsewhere(self, page: Page) -> Panel:
        """Open this test's conversation in another page."""
        panel = self.open_panel(page, "other")
        panel.root.get_by_role("button", name="History").click()
        panel.root.locator(".shoulders-History-open").first.click()
        return panel

    def ask(self, text: str = "Go on.", *, allow: bool = False) -> Panel:
        """Ask the agent, and optionally allow its first request."""
        panel = Panel(self.page).open()
        panel.ask(text)
        if allow:
            panel.allow()
        return panel

    # a program that waits in the middle

    @property
    def held(self) -> str:
        """A program that prints its first ticks, and the others once it is released."""
        return f"""\
import pathlib, time
for tick in range({TICKS}):
    while tick == {HOLD_AT} and not pathlib.Path({str(self._gate)!r}).exists():
        time.sleep(0.02)
    time.sleep(0.05)
    print("tick", tick, flush=True)
"""

    def let_go(self) -> None:
        """Release the held program, for later runs too."""
        self._gate.touch()

    # what came of it

    def wait(self, condition: Callable[[], Any], what: str) -> None:
        """Wait for a condition that no element of the page shows."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"not within {WAIT_SECONDS} s: {what}"
            # The server's files and log can only be polled. The page's routes go on.
            time.sleep(0.1) if self.page.is_closed() else self.page.wait_for_timeout(100)

    def ended(self, turns: int = 1) -> None:
        """Wait until this many turns have ended."""
        self.wait(lambda: len(self.talks.of_type("turn-end")) >= turns, f"{turns} turns ended")

    def allow_unseen(self) -> None:
        """Allow the waiting call without a click, which would take the focus."""
        asked = self.talks.of_type("approval-request")[-1]
        path = f"sessions/{asked['session_id']}/approvals/{asked['call_id']}"
        self.talks.send("POST", path, {"decision": "allow", "scope": "once"})

    def results(self) -> list[str]:
        """Outcomes of the agent's calls."""
        return [event["status"] for event in self.talks.of_type("tool-result")]

    def cells_on_disk(self) -> list[dict[str, Any]]:
        """The cells in the file."""
        return json.loads(self.file.read_text(encoding="utf-8"))["cells"]

    def on_disk(self) -> dict[str, str]:
        """The sources in the file."""
        return {cell["id"]: "".join(cell["source"]) for cell in self.cells_on_disk()}

    def text_on_disk(self, cell_id: str) -> str:
        """The printed text of a cell in the file."""
        return texts(self.cells_on_disk(), cell_id)
