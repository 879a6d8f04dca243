"""A notebook of 500 cells with 200 task threads: opening it, and typing into it.

Opening is the CPU time of the page's main thread from the command until the page is quiet: the lab
makes cells that are not seen long after it shows the first ones, which is what the second row is
about. Keys are pressed in a cell that has a thread, before its text, so that each moves a mark:
what one costs is the CPU time of the main thread; how long it takes counts until the frame that
shows it is painted, which is a matter of the frames more than of us. The floor is the same notebook
without threads. Both are opened in turn in separate pages, where another notebook was open before,
so that the code is loaded. The last row is another notebook: ten threads stream in it, each shown
in a tab of the panel, while somebody types; the floor is the same typing without running threads.
"""

from __future__ import annotations

import json
import tempfile
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.bench.figures import Figure, Goal, single, spread
from tests.simulator_process import notebook
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.thread_marks import anchor_of
from tests.ui.stress.concurrent_threads import Played, play
from tests.ui.stress.streaming import NOTE_KEYS

CELLS = 500
THREADS = 200
TEXT = "frame = read(path)\ntotal = frame.sum()\nprint(total)\n"
QUOTE = "frame.sum()"
WITH, WITHOUT, OTHER = "with.ipynb", "without.ipynb", "other.ipynb"
ROUNDS = 3
KEYS = 40
KEY_MS = 40
TYPED_CELL = 2
LOOK_MS = 200
QUIET_LOOKS = 4
QUIET_MS = 8
"""CPU time between two looks up to which a page is quiet: a caret blinks."""
LOOKS = 150
STREAMED_KEYS = 300

# Opens a notebook; returns how many ms it takes until its first cells are painted.
_OPEN = """async path => {
    const began = performance.now();
    const panel = await window.jupyterapp.commands.execute('docmanager:open', {path});
    await panel.context.ready;
    while (panel.node.querySelector('.cm-content') === null) {
        await new Promise(resolve => requestAnimationFrame(resolve));
    }
    await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - began;
}"""


@dataclass
class Opened:
    """What opening and typing took, in ms."""

    cpu: list[float] = field(default_factory=list[float])
    painted: list[float] = field(default_factory=list[float])
    keys: list[float] = field(default_factory=list[float])
    key_cpu: list[float] = field(default_factory=list[float])


def measure() -> list[Figure]:
    """Open both notebooks in turn, and type into each; then type while threads answer."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        try:
            found = _opened(browser, Path(name))
            played = play(Path(name, "storm"), browser, STREAMED_KEYS)
        finally:
            browser.close()
    assert played.is_whole, "characters were lost"
    return [*_figures(found[WITH], found[WITHOUT]), _longest(played)]


def _opened(browser: Browser, folder: Path) -> dict[str, Opened]:
    root = folder / "root"
    root.mkdir()
    cells = [(f"cell{number}", TEXT) for number in range(CELLS)]
    for path, written in ((WITH, cells), (WITHOUT, cells), (OTHER, cells[:3])):
        (root / path).write_text(notebook(*written), encoding="utf-8")
    found = {WITH: Opened(), WITHOUT: Opened()}
    lab = Lab(root, folder / "state")
    lab.start()
    try:
        _begin_threads(lab)
        # One profile: its cache has the lab from the first page on.
        with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
            _open(context, lab, WITH, Opened())
            for number in range(ROUNDS):
                for path in (WITHOUT, WITH) if number % 2 else (WITH, WITHOUT):
                    _open(context, lab, path, found[path])
    finally:
        lab.stop()
    return found


def _begin_threads(lab: Lab) -> None:
    for number in range(THREADS):
        cell = f"cell{number * CELLS // THREADS}"
        anchor = anchor_of(WITH, cell, TEXT, QUOTE)
        _post(lab, "sessions", {"kind": "task", "title": f"Thread {number}", "anchor": anchor})


def _post(lab: Lab, path: str, body: Mapping[str, Any]) -> None:
    url = lab.url(f"shoulders/api/v1/{path}")
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
    urllib.request.urlopen(request, timeout=60).close()


class _Cpu:
    """What the main thread of a page has worked, in ms."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._tools = page.context.new_cdp_session(page)
        self._tools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent(self) -> float:
        found = cast("dict[str, list[dict[str, Any]]]", self._tools.send("Performance.getMetrics"))
        return 1000 * next(m["value"] for m in found["metrics"] if m["name"] == "TaskDuration")

    def quiet(self) -> float:
        """Wait until the page does next to nothing; return what it has worked until then."""
        quiet, last = 0, self.spent()
        for _ in range(LOOKS):
            self._page.wait_for_timeout(LOOK_MS)
            now = self.spent()
            quiet = quiet + 1 if now - last <= QUIET_MS else 0
            if quiet == QUIET_LOOKS:
                return now
            last = now
        raise TimeoutError(f"The page did not come to rest within {LOOKS * LOOK_MS / 1000:g} s")


def _open(context: BrowserContext, lab: Lab, path: str, opened: Opened) -> None:
    page = context.new_page()
    page.goto(lab.document_url(OTHER))
    OpenNotebook(page).ready()
    cpu = _Cpu(page)
    before = cpu.quiet()
    opened.painted.append(page.evaluate(_OPEN, path))
    OpenNotebook(page).ready()
    opened.cpu.append(cpu.quiet() - before)
    marks = page.locator(".shoulders-ThreadText").count()
    assert (marks > 0) == (path == WITH), f"{marks} marks in {path}"
    _type(page, cpu, opened)
    page.close()


def _type(page: Page, cpu: _Cpu, opened: Opened) -> None:
    editor = OpenNotebook(page).editor(f"cell{TYPED_CELL * CELLS // THREADS}")
    editor.click()
    page.keyboard.press("Control+Home")
    page.evaluate(NOTE_KEYS)
    before = cpu.quiet()
    for number in range(KEYS):
        page.keyboard.press("abcdefghij"[number % 10])
        page.wait_for_timeout(KEY_MS)
    opened.key_cpu.append((cpu.quiet() - before) / KEYS)
    opened.keys += page.evaluate("() => window.keys")


def _figures(ours: Opened, floor: Opened) -> list[Figure]:
    return [
        Figure("open it, CPU", "ms", spread(ours.cpu), spread(floor.cpu), Goal("added", 100)),
        Figure("open it, painted", "ms", spread(ours.painted), spread(floor.painted)),
        Figure("key, CPU", "ms", spread(ours.key_cpu), spread(floor.key_cpu), Goal("times", 1.1)),
        Figure("key, painted", "ms", spread(ours.keys), spread(floor.keys), Goal("added", 1)),
    ]


def _longest(played: Played) -> Figure:
    return Figure(
        "longest task beside ten streams, CPU",
        "ms",
        single(max(played.streaming_tasks)),
        single(max(played.idle_tasks)),
        Goal("at most", 50),
    )
