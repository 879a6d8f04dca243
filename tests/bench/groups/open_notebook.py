"""Reading, editing and running one cell of a notebook that is open in a page, at three sizes.

Times are those of whole calls of the tools, from the logged call to its logged result: what the
user is shown of it, the page's answers, the record of the change. The floor is the lab alone: one
change of the same cell in its model until the page has painted it, which is what JupyterLab spends
on laying out a notebook of this size. Bytes are all frames of the page's socket, both ways, from
the question until the page and the server are quiet again, for each call. The lab makes cells that
are not seen long after it shows the first ones: all is measured once it has made them. That work
of the lab grows with the square of the number of cells (40 s of CPU for 800, minutes for 2 000), so
the largest notebook here has 800.
"""

from __future__ import annotations

import json
import tempfile
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, cast

from playwright.sync_api import Browser, Page, WebSocket, sync_playwright

from tests.bench.figures import Figure, Goal, spread
from tests.bench.notebook_files import PASS, write_notebook
from tests.simulator_process import SimulatorProcess, calls, in_order, says
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.lab_page import OpenNotebook

SIZES = (10, 200, 800)
ROUNDS = 7
QUIET_MS = 1_000
"""Time without a frame after which page and server are quiet: longer than their delays."""
LAYOUT_MS = 2_000
"""Time after a change in which the lab lays out what is not seen."""
LOOK_MS = 500
LOOKS = 1_200
QUIET_LOOKS = 4
IDLE_MS = 25
"""CPU time between two looks up to which a page is quiet: a caret blinks."""
KILOBYTES = 20.0
READ_MS = 20.0

# Changes a cell as the lab does; returns the ms until the page has painted it.
_CHANGE = """async ([id, source]) => {
    const {sharedModel} = window.jupyterapp.shell.currentWidget.context.model;
    const cell = sharedModel.cells.find(each => each.id === id);
    const began = performance.now();
    cell.setSource(source);
    await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - began;
}"""


def measure() -> list[Figure]:
    """Measure all sizes."""
    with (
        tempfile.TemporaryDirectory() as name,
        _lab(Path(name)) as (lab, upstream),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        figures = [
            figure
            for cells in SIZES
            for figure in _figures(cells, _measured(browser, lab, upstream, cells))
        ]
        browser.close()
    return figures


@dataclass
class Taken:
    """Milliseconds and kilobytes of each call, by tool, and of the lab's own change."""

    ms: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    kilobytes: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def add(self, name: str, ms: float, kilobytes: float) -> None:
        self.ms.setdefault(name, []).append(ms)
        self.kilobytes.setdefault(name, []).append(kilobytes)


def _figures(cells: int, taken: Taken) -> list[Figure]:
    floor = spread(taken.ms["change"])
    layout = Goal("times", 1.15) if cells == max(SIZES) else None
    goals = {
        "read_notebook": (None, Goal("at most", READ_MS)),
        "edit_cell": (floor, layout),
        "run_cell": (floor, layout),
    }
    times = [
        Figure(f"`{tool}`, {cells} cells", "ms", spread(taken.ms[tool]), beside, goal)
        for tool, (beside, goal) in goals.items()
    ]
    sizes = [
        Figure(
            f"`{tool}`, {cells} cells",
            "KB",
            spread(taken.kilobytes[tool]),
            goal=Goal("at most", KILOBYTES),
        )
        for tool in goals
    ]
    return [*times, *sizes]


@contextmanager
def _lab(folder: Path) -> Generator[tuple[Lab, SimulatorProcess]]:
    root = folder / "root"
    root.mkdir()
    for cells in SIZES:
        write_notebook(root, cells)
    upstream = SimulatorProcess(in_order(), folder).start()
    lab = Lab(root, folder / "state", env=upstream.configure(root))
    lab.start()
    try:
        yield lab, upstream
    finally:
        lab.stop()
        upstream.stop()


def _measured(browser: Browser, lab: Lab, upstream: SimulatorProcess, cells: int) -> Taken:
    taken, numbers = Taken(), count()
    path = f"cells-{cells}.ipynb"
    with browser.new_context() as context:
        page = context.new_page()
        traffic = Traffic(page)
        page.goto(lab.document_url(path))
        OpenNotebook(page).ready()
        _wait_until_rendered(page)
        traffic.quiet()
        talk = Conversation(lab, upstream, traffic)
        for number in range(ROUNDS + 1):
            into = taken if number else Taken()  # the first round warms all
            cell = {"path": path, "cell_id": PASS}
            talk.call(into, "read_notebook", {"path": path, "cells": [PASS]})
            talk.call(into, "edit_cell", {**cell, "source": f"pass  # {next(numbers)}"})
            talk.call(into, "run_cell", cell)
            ms: float = page.evaluate(_CHANGE, [PASS, f"pass  # {next(numbers)}"])
            into.add("change", ms, traffic.quiet())
            talk.call(Taken(), "read_notebook", {"path": path, "cells": [PASS]})
    return taken


def _wait_until_rendered(page: Page) -> None:
    """Wait until the page does next to nothing: the lab makes cells that are not seen later on."""
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    quiet, last = 0, 0.0
    for _ in range(LOOKS):
        page.wait_for_timeout(LOOK_MS)
        found = cast("dict[str, list[dict[str, Any]]]", tools.send("Performance.getMetrics"))
        now = 1_000 * next(m["value"] for m in found["metrics"] if m["name"] == "TaskDuration")
        quiet = quiet + 1 if now - last <= IDLE_MS else 0
        if quiet == QUIET_LOOKS:
            return
        last = now
    raise AssertionError("the lab does not finish the notebook")


class Traffic:
    """Counts the frames of a page's socket."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.frames: list[tuple[str, int]] = []
        page.on("websocket", self._opened)

    def quiet(self) -> float:
        """Wait until there are no more frames; return the kilobytes since the last time."""
        self._page.wait_for_timeout(LAYOUT_MS)
        seen = -1
        while seen != len(self.frames):
            seen = len(self.frames)
            self._page.wait_for_timeout(QUIET_MS)
        self.last, self.frames = self.frames, []
        return sum(size for _, size in self.last) / 1_000

    def _opened(self, socket: WebSocket) -> None:
        if "/shoulders/" in socket.url:
            socket.on("framesent", lambda text: self._note(">", text))
            socket.on("framereceived", lambda text: self._note("<", text))

    def _note(self, way: str, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        self.frames.append((f"{way} {json.loads(data)['type']}", len(data)))


class Conversation:
    """A conversation whose model calls one tool in each turn."""

    def __init__(self, lab: Lab, upstream: SimulatorProcess, traffic: Traffic) -> None:
        self._lab = lab
        self._upstream = upstream
        self._traffic = traffic
        self._session = self._api("POST", "sessions", {"title": "Cells", "mode": "bypass"})["id"]
        self._turns = 0

    def call(self, into: Taken, tool: str, arguments: Mapping[str, Any]) -> None:
        """Let the model call the tool; note what it took."""
        self._upstream.play(in_order(calls(tool, arguments), says("Done.")))
        message = {"id": f"m-{self._turns}", "text": "Go on."}
        self._api("POST", f"sessions/{self._session}/messages", message)
        self._turns += 1
        kilobytes = self._traffic.quiet()
        log = self._api("GET", f"sessions/{self._session}/events?limit=5000")["events"]
        ends = [event for event in log if event["type"] == "turn-end"]
        assert len(ends) == self._turns, "the turn has not ended"
        called = [event for event in log if event["type"] == "tool-call"][-1]
        result = [event for event in log if event["type"] == "tool-result"][-1]
        assert result["status"] == "ok", result
        into.add(tool, 1_000 * (_at(result) - _at(called)), kilobytes)

    def _api(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        route, _, query = path.partition("?")
        url = self._lab.url(f"shoulders/api/v1/{route}") + (f"&{query}" if query else "")
        headers = {"Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or "null")


def _at(event: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(event["at"]).timestamp()
