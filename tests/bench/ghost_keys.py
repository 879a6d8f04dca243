"""What a key costs while suggestions are awaited: rows of the group ``ghost``.

Apart from ``ghost``, which measures requests without a browser.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.bench.figures import Figure, Goal, spread
from tests.lab import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.ghost_page import stalls
from tests.ui.panel import OpenNotebook
from tests.ui.stream_storm import NOTE_KEYS
from tests.upstream import Upstream, notebook

NAME = "keys.ipynb"
CELLS = 20
KEYS = 60
WARM = 5
ADDED_MS = 1.0
PATIENCE_SECONDS = 30.0
PAUSE_MS = 40
"""Before each key, after all that the last one brought about."""


def measure() -> list[Figure]:
    """Press keys in turn while nothing and while a request is under way."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        root = Path(name, "root")
        root.mkdir()
        cells = [(f"c{number}", f"x_{number} = {number}\n") for number in range(CELLS)]
        (root / NAME).write_text(notebook(*cells), encoding="utf-8")
        upstream = Upstream({"replies": [], "default": stalls()}, Path(name)).start()
        lab = Lab(root, Path(name, "state"), env=upstream.configure(root))
        lab.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        try:
            ours, floor = _Case(browser.new_page(), lab, upstream).keys()
        finally:
            browser.close()
            lab.stop()
            upstream.stop()
    goal = Goal("added", ADDED_MS)
    return [Figure("key in a cell, one awaited", "ms", spread(ours), spread(floor), goal)]


@dataclass(frozen=True, slots=True)
class _Case:
    page: Page
    lab: Lab
    upstream: Upstream

    def keys(self) -> tuple[list[float], list[float]]:
        """Return what they took in ms: with a request under way, and without."""
        self.page.goto(self.lab.document_url(NAME))
        OpenNotebook(self.page).ready().editor("c3").click()
        self.page.keyboard.press("Control+End")
        self.page.evaluate(NOTE_KEYS)
        for _ in range(KEYS + WARM):
            self._press()
            self.page.evaluate(
                "() => void window.jupyterapp.commands.execute('inline-completer:invoke')"
            )
            self._await(open_requests=1)
            self._press()
            self._await(open_requests=0)
        taken: list[float] = self.page.evaluate("() => window.keys")
        assert len(taken) == 2 * (KEYS + WARM)
        return taken[2 * WARM + 1 :: 2], taken[2 * WARM :: 2]

    def _press(self) -> None:
        self.page.wait_for_timeout(PAUSE_MS)
        before = self.page.evaluate("() => window.keys.length")
        self.page.keyboard.press("a")
        self.page.wait_for_function("before => window.keys.length > before", arg=before)

    def _await(self, open_requests: int) -> None:
        """Wait until the provider has so many to answer."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._open() != open_requests:
            assert time.monotonic() < deadline, f"not {open_requests} under way: {self._open()}"
            self.page.wait_for_timeout(5)

    def _open(self) -> int:
        asked = [each for each in self.upstream.requests() if each["method"] == "POST"]
        return sum(each["outcome"] is None for each in asked)
