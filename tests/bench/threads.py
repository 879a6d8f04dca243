"""A notebook of 500 cells with 200 task threads: opening it, and typing into it.

Opening is the CPU time of the page's main thread from the command until the page has been quiet for
a second; the other column of times is until the first cells are painted. A key counts until the
frame that shows it is painted; it is pressed in a cell that has a thread, before its text, so that
each key moves a mark. The floor is the same notebook without threads. Both are opened in turn in
pages of their own, where another notebook was open before: the code is there.
"""

from __future__ import annotations

import json
import tempfile
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.figures import Figure, Goal, spread
from tests.lab import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.panel import OpenNotebook
from tests.ui.stream_storm import NOTE_KEYS
from tests.ui.thread_marks import anchor_of
from tests.upstream import notebook

CELLS = 500
THREADS = 200
TEXT = "frame = read(path)\ntotal = frame.sum()\nprint(total)\n"
QUOTE = "frame.sum()"
WITH, WITHOUT, OTHER = "with.ipynb", "without.ipynb", "other.ipynb"
ROUNDS = 5
KEYS = 60
KEY_MS = 40
TYPED_CELL = 2

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


def measure() -> list[Figure]:
    """Open both notebooks in turn, and type into each."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        root = Path(name, "root")
        root.mkdir()
        cells = [(f"cell{number}", TEXT) for number in range(CELLS)]
        for path, written in ((WITH, cells), (WITHOUT, cells), (OTHER, cells[:3])):
            (root / path).write_text(notebook(*written), encoding="utf-8")
        lab = Lab(root, Path(name, "state"))
        lab.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        try:
            _begin_threads(lab)
            found = {WITH: Opened(), WITHOUT: Opened()}
            for number in range(ROUNDS + 1):
                for path, opened in found.items():
                    _open(browser, lab, path, opened if number else Opened())
        finally:
            browser.close()
            lab.stop()
    return _figures(found[WITH], found[WITHOUT])


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


def _open(browser: Browser, lab: Lab, path: str, opened: Opened) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        page = context.new_page()
        page.goto(lab.document_url(OTHER))
        OpenNotebook(page).ready()
        tools = context.new_cdp_session(page)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})

        def cpu() -> float:
            found = cast("dict[str, list[dict[str, Any]]]", tools.send("Performance.getMetrics"))
            return 1000 * next(m["value"] for m in found["metrics"] if m["name"] == "TaskDuration")

        page.wait_for_timeout(1000)
        before = cpu()
        opened.painted.append(page.evaluate(_OPEN, path))
        OpenNotebook(page).ready()
        page.wait_for_timeout(1000)
        opened.cpu.append(cpu() - before)
        marks = page.locator(".shoulders-ThreadText").count()
        assert (marks > 0) == (path == WITH), f"{marks} marks in {path}"
        opened.keys += _type(page)


def _type(page: Page) -> list[float]:
    editor = OpenNotebook(page).editor(f"cell{TYPED_CELL * CELLS // THREADS}")
    editor.click()
    page.keyboard.press("Control+Home")
    page.evaluate(NOTE_KEYS)
    for number in range(KEYS):
        page.keyboard.press("abcdefghij"[number % 10])
        page.wait_for_timeout(KEY_MS)
    return page.evaluate("() => window.keys")


def _figures(ours: Opened, floor: Opened) -> list[Figure]:
    return [
        Figure("open it, CPU", "ms", spread(ours.cpu), spread(floor.cpu), Goal("added", 100)),
        Figure("open it, painted", "ms", spread(ours.painted), spread(floor.painted)),
        Figure("key in a cell", "ms", spread(ours.keys), spread(floor.keys), Goal("added", 1)),
    ]
