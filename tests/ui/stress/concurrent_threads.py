"""Ten task threads stream at once in one notebook while a person types into it.

``python -m tests.ui.stress.concurrent_threads --keys 600`` plays a long one and prints how long
frames and tasks of the page took, beside those of the same typing while nothing streams.
``test_thread_storm`` plays a short one, in which it counts; the benchmarks play one, too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.simulator_process import SimulatorProcess, in_order, says
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS, OpenNotebook, Panel
from tests.ui.page_objects.thread_marks import Marks, anchor_of, begin, of_cell, say, status
from tests.ui.support.long_conversation import Frames, read_meter, start_meter, streamed
from tests.ui.support.main_thread_time import task_times
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

THREADS = 10
RATE = 30
"""Tokens per second and thread."""
LENGTH = 200_000
"""Characters of an answer: longer than the typing lasts."""
TEXT = "first = 1\nsecond = compute first\nthird = 3"
QUOTE = "compute first"
WORDS = "lorem ipsum dolor sit amet consetetur "
KEY_MS = 10

_OPEN = "id => window.jupyterapp.commands.execute('jupyter-ai-shoulders:open-thread', {id})"

# Records changes in the editors and prompts of all cells but one.
_WATCH = """id => {
    const {widgets} = window.jupyterapp.shell.currentWidget.content;
    window.touched = [];
    for (const {model, node} of widgets.filter(({model}) => model.id !== id)) {
        const note = changes => window.touched.push(
            ...changes.map(({type, target}) => `${model.id}: ${type} of ${target.className}`));
        const watched = [...node.querySelectorAll('.cm-editor, .shoulders-ThreadMark')];
        for (const part of watched) {
            new MutationObserver(note).observe(part, {
                attributeFilter: ['class', 'title'],
                childList: true,
                characterData: true,
                subtree: true,
            });
        }
    }
}"""


@dataclass
class Storm:
    """A notebook with a thread in each cell, and a user typing in the middle one."""

    scenario: NotebookScenario
    ids: list[str] = field(default_factory=list[str])
    opened: OpenNotebook = field(init=False)
    expected: str = TEXT

    def __post_init__(self) -> None:
        cells = [f"cell{number}" for number in range(THREADS)]
        self.scenario.write(*((cell, TEXT) for cell in cells))
        for cell in cells:
            anchor = anchor_of(self.scenario.path, cell, TEXT, QUOTE)
            self.ids.append(begin(self.scenario, f"Thread of {cell}", anchor))
        answer = says(streamed(LENGTH), tokens_per_second=RATE)
        self.scenario.play(*[answer] * THREADS)
        self.opened = self.scenario.show(self.scenario.page)
        expect(Marks(self.scenario.page).text()).to_have_count(THREADS)
        self.cell = cells[THREADS // 2]
        self._open_all()

    def begin(self) -> None:
        """Start all streams and wait until the page shows them."""
        for each in self.ids:
            say(self.scenario, each, "Go on.")
        expect(Marks(self.scenario.page).text("running")).to_have_count(THREADS)
        panel = Panel(self.scenario.page)
        expect(panel.answers.last).not_to_be_empty()

    def type(self, keys: int) -> None:
        """Type this many keys before, in and after the text of a thread."""
        each = (WORDS * (keys // len(WORDS) + 1))[: keys // 3].rstrip()
        page = self.scenario.page
        self.opened.editor(self.cell).click()
        for place in ("before", "inside", "after"):
            page.keyboard.press("Control+Home")
            self._go(place)
            page.keyboard.type(each, delay=KEY_MS)
            self.expected = _typed(self.expected, place, each)

    def _go(self, place: str) -> None:
        keyboard = self.scenario.page.keyboard
        if place == "after":
            keyboard.press("Control+End")
        elif place == "inside":
            keyboard.press("ArrowDown")
            keyboard.press("End")
            for _ in range(len("first")):
                keyboard.press("ArrowLeft")

    def watch(self) -> None:
        """Start recording changes in the other cells."""
        self.scenario.page.evaluate(_WATCH, self.cell)

    @property
    def touched(self) -> list[str]:
        """The recorded changes."""
        return self.scenario.page.evaluate("() => window.touched")

    @property
    def marked(self) -> str:
        """The text of the thread in the cell being edited."""
        parts = of_cell(self.opened, self.cell).text("running").all_inner_texts()
        return "".join(parts)

    @property
    def statuses(self) -> set[str]:
        """The statuses of the threads."""
        return {status(self.scenario, each) for each in self.ids}

    def _open_all(self) -> None:
        """Show each thread in a tab, so that the page follows all of them."""
        for each in self.ids:
            self.scenario.page.evaluate(_OPEN, each)
        tabs = Panel(self.scenario.page).tabs
        expect(tabs.filter(has_text="Thread of")).to_have_count(THREADS)


def _typed(text: str, place: str, each: str) -> str:
    if place == "before":
        return each + text
    if place == "after":
        return text + each
    at = text.index("first\nthird")
    return text[:at] + each + text[at:]


@dataclass(frozen=True, slots=True)
class Played:
    """Measurements while typing: idle, and with all threads streaming."""

    idle: Frames
    idle_tasks: list[float]
    """CPU time of each task of the page's main thread, in ms."""
    streaming: Frames
    streaming_tasks: list[float]
    is_whole: bool
    """Whether all typed text is there."""


def play(folder: Path, browser: Browser, keys: int) -> Played:
    """Type this many keys before the threads answer and while they do."""
    expect.set_options(timeout=PAGE_TIMEOUT_MS)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    with _scene(folder, page) as storm:
        storm.type(60)  # code is compiled
        idle, idle_tasks = task_times(browser, lambda: _measured(storm, keys))
        storm.begin()
        streaming, tasks = task_times(browser, lambda: _measured(storm, keys))
        is_whole = storm.opened.source(storm.cell) == storm.expected
    page.close()
    return Played(idle, idle_tasks, streaming, tasks, is_whole)


@contextmanager
def _scene(folder: Path, page: Page) -> Generator[Storm]:
    root = folder / "root"
    root.mkdir(parents=True)
    upstream = SimulatorProcess(in_order(), folder).start()
    lab = Lab(root, folder / "state", env=upstream.configure(root))
    lab.start()
    scenario = NotebookScenario(LabWithModel(lab, upstream), page, root / "storm.ipynb")
    try:
        yield Storm(scenario)
        scenario.talks.end()
    finally:
        lab.stop()
        upstream.stop()


def _measured(storm: Storm, keys: int) -> Frames:
    start_meter(storm.scenario.page)
    storm.type(keys)
    return read_meter(storm.scenario.page)


def _show(name: str, frames: Frames, cpu: list[float]) -> None:
    tasks = sorted(round(task) for task in frames.tasks)
    sys.stdout.write(
        f"{name:>10}  frames {len(frames.times):5} median {frames.middle:5.1f} ms"
        f"  99 % {frames.late:5.1f}  longest {frames.longest:5.0f}  tasks > 50 ms: {tasks}"
        f"  longest task, CPU {max(cpu):5.1f} ms\n"
    )


def main() -> int:
    """Play what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.ui.stress.concurrent_threads", description=__doc__
    )
    parser.add_argument("--keys", type=int, default=600)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        played = play(Path(name), browser, given.keys)
        browser.close()
    _show("idle", played.idle, played.idle_tasks)
    _show("streaming", played.streaming, played.streaming_tasks)
    sys.stdout.write(f"{'no character lost' if played.is_whole else 'CHARACTERS LOST'}\n")
    return int(not played.is_whole)


if __name__ == "__main__":
    sys.exit(main())
