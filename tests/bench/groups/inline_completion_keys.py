"""What a key costs while suggestions are awaited: rows of the group ``ghost``.

Apart from ``ghost``, which measures requests without a browser. CPU is that of the page's main
thread until the key's frame is painted: on a busy machine the wall clock tells of the others.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.bench.figures import Figure, Goal, timed
from tests.bench.timing import Sample
from tests.simulator_process import SimulatorProcess, notebook
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.inline_completion import stalls
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.stress.streaming import NOTE_KEYS

NAME = "keys.ipynb"
CELLS = 20
KEYS = 60
WARM = 5
ADDED_MS = 1.0
PATIENCE_SECONDS = 30.0
PAUSE_MS = 40
"""Before each key, after all that the last one brought about."""
ASKING = {
    "key in a cell, one awaited in the lab's way": "inline-completer:invoke",
    "key in a cell, one awaited with dots": "jupyter-ai-shoulders:suggest",
}
"""Commands that ask, by the name of the row; the second is what `++` does."""
FLOOR = ""
"""The way of a key while nothing is asked."""


def measure() -> list[Figure]:
    """Press keys in turn while nothing and while a request is under way, asked in each way."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        root = Path(name, "root")
        root.mkdir()
        cells = [(f"c{number}", f"x_{number} = {number}\n") for number in range(CELLS)]
        (root / NAME).write_text(notebook(*cells), encoding="utf-8")
        upstream = SimulatorProcess({"replies": [], "default": stalls()}, Path(name)).start()
        lab = Lab(root, Path(name, "state"), env=upstream.configure(root))
        lab.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        try:
            page = browser.new_page()
            taken = _Case(page, page.context.new_cdp_session(page), lab, upstream).keys()
        finally:
            browser.close()
            lab.stop()
            upstream.stop()
    goal = Goal("added", ADDED_MS)
    return [timed(name, taken[name], taken[FLOOR], goal) for name in ASKING]


@dataclass(frozen=True, slots=True)
class _Case:
    page: Page
    tools: CDPSession
    lab: Lab
    upstream: SimulatorProcess

    def keys(self) -> Mapping[str, list[Sample]]:
        """Return what they took with a request under way, by how it was asked, and without."""
        self.tools.send("Performance.enable")
        self.page.goto(self.lab.document_url(NAME))
        OpenNotebook(self.page).ready().editor("c3").click()
        self.page.keyboard.press("Control+End")
        self.page.evaluate(NOTE_KEYS)
        taken: dict[str, list[Sample]] = {name: [] for name in (FLOOR, *ASKING)}
        for number in range(KEYS + WARM):
            for name, samples in taken.items():
                sample = self._press() if name == FLOOR else self._press_while(ASKING[name])
                if number >= WARM:
                    samples.append(sample)
        return taken

    def _press_while(self, command: str) -> Sample:
        """Press a key while a request is under way; it ends it."""
        self.page.evaluate("name => void window.jupyterapp.commands.execute(name)", command)
        self._await(open_requests=1)
        sample = self._press()
        self._await(open_requests=0)
        return sample

    def _press(self) -> Sample:
        self.page.wait_for_timeout(PAUSE_MS)
        before, busy = self.page.evaluate("() => window.keys.length"), self._busy_ms()
        self.page.keyboard.press("a")
        self.page.wait_for_function("before => window.keys.length > before", arg=before)
        used = self._busy_ms() - busy
        keys: list[float] = self.page.evaluate("() => window.keys")
        assert len(keys) == before + 1
        return Sample(keys[-1], used)

    def _busy_ms(self) -> float:
        """What the page's main thread has used by now."""
        found = cast("dict[str, Any]", self.tools.send("Performance.getMetrics"))
        return 1_000 * {each["name"]: each["value"] for each in found["metrics"]}["TaskDuration"]

    def _await(self, open_requests: int) -> None:
        """Wait until the provider has so many to answer."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._open() != open_requests:
            assert time.monotonic() < deadline, f"not {open_requests} under way: {self._open()}"
            self.page.wait_for_timeout(5)

    def _open(self) -> int:
        asked = [each for each in self.upstream.requests() if each["method"] == "POST"]
        return sum(each["outcome"] is None for each in asked)
