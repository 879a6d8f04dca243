"""Minutes of streaming into a conversation of a thousand messages: frames, keys and memory.

``python -m tests.ui.stress.streaming --minutes 20`` streams 200 tokens a second, answer after
answer, while a person types into a cell now and then. It prints what each answer cost beside an
idle panel, and fails when the page's memory or the elements it shows go on growing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, cast

from playwright.sync_api import CDPSession, Page, expect, sync_playwright

from tests.simulator_process import SimulatorProcess, in_order, notebook, says
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.long_conversation import (
    MESSAGES,
    Frames,
    fill,
    open_long,
    read_meter,
    start_meter,
    streamed,
    widen,
)

NAME = "storm.ipynb"
CELLS = 20
CHARACTERS = 4
"""Approximate number per token."""
ANSWER_SECONDS = 60.0
KEYS = 60
KEY_MS = 50
WARM = 2
"""Answers before memory is compared: code is compiled and caches fill first."""
MEGABYTE = 1_000_000
MORE_MEMORY = 30 * MEGABYTE
"""Allowed growth in 20 minutes: the text, and what the engine keeps."""
MORE_ELEMENTS = 1_500

# Records the time from a key to the painted frame.
NOTE_KEYS = """() => {
    window.keys = [];
    window.noteKey ??= document.addEventListener('keydown', ({timeStamp}) =>
        requestAnimationFrame(() => {
            const channel = new MessageChannel();
            channel.port1.onmessage = () => window.keys.push(performance.now() - timeStamp);
            channel.port2.postMessage(null);
        }), true) ?? true;
}"""


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU time of the page's main thread, in ms per frame."""

    task: float
    script: float
    layout: float


@dataclass(frozen=True, slots=True)
class Held:
    """Heap size in bytes and number of elements after garbage collection."""

    heap: float
    elements: int

    def __str__(self) -> str:
        return f"heap {self.heap / MEGABYTE:6.1f} MB  elements {self.elements}"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its frames, and its keys in ms."""

    frames: Frames
    keys: list[float]
    costs: Costs

    def line(self, name: str) -> str:
        """The answer as a line of the table."""
        frames = self.frames
        return (
            f"{name:>8}  frames {len(frames.times):5} median {frames.middle:5.1f} ms"
            f"  99 % {frames.late:5.1f}  longest {frames.longest:5.0f}  > 50 ms {frames.over(50):3}"
            f"  | CPU a frame {self.costs.task:4.1f} ms (script {self.costs.script:.1f},"
            f" layout {self.costs.layout:.1f})  | key median {median(self.keys):5.1f} ms"
            f"  longest {max(self.keys):4.0f}"
        )


@contextmanager
def scene(folder: Path, messages: int) -> Generator[tuple[Lab, SimulatorProcess]]:
    """Run a server with the long conversation and its model."""
    root = folder / "root"
    root.mkdir()
    cells = [(f"c{number}", f"x = {number}\n") for number in range(CELLS)]
    (root / NAME).write_text(notebook(*cells), encoding="utf-8")
    upstream = SimulatorProcess(in_order(), folder).start()
    env = upstream.configure(root)
    widen(root)
    lab = Lab(root, folder / "state", env=env)
    fill(lab, messages)
    lab.start()
    try:
        yield lab, upstream
    finally:
        lab.stop()
        upstream.stop()


class Storm:
    """A page that shows the notebook and the conversation."""

    def __init__(self, page: Page, lab: Lab, upstream: SimulatorProcess, rate: int) -> None:
        self.page = page
        self.upstream = upstream
        self.rate = rate
        page.goto(lab.document_url(NAME))
        self.notebook = OpenNotebook(page).ready()
        self.panel: Panel = open_long(page)
        self.tools: CDPSession = page.context.new_cdp_session(page)
        self.tools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def idle(self) -> Answer:
        """Type while the panel is idle."""
        return self._measured(lambda: None)

    def answer(self, seconds: float) -> Answer:
        """Let the model answer for this time while typing."""
        text = streamed(int(seconds * self.rate * CHARACTERS))
        reply = says(f"{text}\n\nThe end.", tokens_per_second=self.rate)
        self.upstream.play(in_order(reply))
        self.panel.ask("Go on.")
        expect(self.panel.status).to_be_visible()
        found = self._measured(self._until_finished)
        expect(self.panel.answers.last).to_contain_text("The end.")
        return found

    def held(self) -> Held:
        """Measure the page now."""
        self.tools.send("HeapProfiler.collectGarbage")
        elements = self.page.evaluate("() => document.querySelectorAll('*').length")
        return Held(self._metrics()["JSHeapUsedSize"], elements)

    def _until_finished(self) -> None:
        expect(self.panel.status).to_have_count(0, timeout=10 * ANSWER_SECONDS * 1000)

    def _measured(self, rest: Callable[[], None]) -> Answer:
        before = self._metrics()
        start_meter(self.page)
        keys = self._type()
        rest()
        frames = read_meter(self.page)
        costs = self._costs(before, self._metrics(), len(frames.times))
        return Answer(frames, keys, costs)

    def _type(self) -> list[float]:
        self.page.evaluate(NOTE_KEYS)
        self.notebook.editor("c3").click()
        for number in range(KEYS):
            self.page.keyboard.press("Enter" if number % 30 == 29 else "abcdefghij"[number % 10])
            self.page.wait_for_timeout(KEY_MS)
        return self.page.evaluate("() => window.keys")

    def _metrics(self) -> dict[str, float]:
        found = cast("dict[str, list[dict[str, Any]]]", self.tools.send("Performance.getMetrics"))
        return {each["name"]: each["value"] for each in found["metrics"]}

    @staticmethod
    def _costs(before: dict[str, float], after: dict[str, float], frames: int) -> Costs:
        def each(name: str) -> float:
            return (after[name] - before[name]) * 1000 / frames

        return Costs(each("TaskDuration"), each("ScriptDuration"), each("LayoutDuration"))


def main() -> int:
    """Play what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.ui.stress.streaming", description=__doc__
    )
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    parser.add_argument("--rate", type=int, default=200, help="tokens a second")
    parser.add_argument("--seconds", type=float, default=ANSWER_SECONDS, help="of one answer")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        scene(Path(name), given.messages) as (lab, upstream),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        storm = Storm(browser.new_page(), lab, upstream, given.rate)
        show(storm.idle().line("idle"))
        held = _stream(storm, given.minutes * 60, given.seconds)
        show(storm.idle().line("idle"))
        browser.close()
    return judged(held[min(WARM, len(held)) - 1 :])


def _stream(storm: Storm, seconds: float, each: float) -> list[Held]:
    held: list[Held] = []
    end = time.monotonic() + seconds
    while not held or time.monotonic() < end:
        answer = storm.answer(each)
        held.append(storm.held())
        show(f"{answer.line(str(len(held)))}  | {held[-1]}")
    return held


def judged(held: list[Held]) -> int:
    """Compare the last measurement with the first; return the exit code."""
    first, last = held[0], held[-1]
    memory, elements = last.heap - first.heap, last.elements - first.elements
    show(f"grown by {memory / MEGABYTE:.1f} MB and {elements} elements")
    return int(memory > MORE_MEMORY or elements > MORE_ELEMENTS)


def show(line: str) -> None:
    """Print without buffering."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
