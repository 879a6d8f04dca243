"""The chat panel with a conversation of 1 000 messages: opening it, and text streaming into it.

Opening is timed in the page, from the click in the history to the frame that shows the last answer;
the floor is a conversation of ten messages. Then a model streams 200 tokens a second while keys are
pressed in a cell; the floor is the same page with a panel that rests. A frame is the time between
two animation frames of a page of 60 a second, CPU is that of the page's main thread for each frame.
A key counts until the frame that shows it is painted. Another program on the machine shows in the
longest frame first: look at the floor's beside it, and at the longest task, which is one stretch of
work of the page's main thread in its own CPU time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.bench.figures import Figure, Goal, single, spread
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.stress.streaming import Answer, Storm, scene
from tests.ui.support.long_conversation import MESSAGES, NAME, fill, find
from tests.ui.support.main_thread_time import task_times

SHORT = "short"
SHORT_MESSAGES = 10
ROUNDS = 7
RATE = 200
SECONDS = 20.0
WARM_SECONDS = 5.0

# Clicks, and returns how many ms it takes until a frame with an answer has been painted.
_OPEN = """async row => {
    const began = performance.now();
    row.click();
    while (document.querySelector('.shoulders-Agent') === null) {
        await new Promise(resolve => requestAnimationFrame(resolve));
    }
    await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - began;
}"""


def measure() -> list[Figure]:
    """Open conversations, then stream into the long one."""
    with (
        tempfile.TemporaryDirectory() as name,
        scene(Path(name), MESSAGES) as (lab, upstream),
        sync_playwright() as playwright,
    ):
        lab.stop()
        fill(lab, SHORT_MESSAGES, SHORT)
        lab.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        opened = _openings(browser, lab)
        storm = Storm(browser.new_page(), lab, upstream, RATE)
        storm.answer(WARM_SECONDS)
        floor = _traced(browser, storm.idle)
        ours = _traced(browser, lambda: storm.answer(SECONDS))
        browser.close()
    return [_opening(opened), *_streaming(ours, floor)]


def _traced(browser: Browser, act: Callable[[], Answer]) -> tuple[Answer, float]:
    """Return the answer, and the CPU time of the longest task of the pages' main threads in ms."""
    answer, tasks = task_times(browser, act)
    return answer, max(tasks)


def _openings(browser: Browser, lab: Lab) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {NAME: [], SHORT: []}
    for number in range(ROUNDS + 1):
        for name, samples in taken.items():
            with browser.new_context() as context:
                page = context.new_page()
                page.goto(lab.url("lab", reset=""))
                ms: float = find(page, name).evaluate(_OPEN)
            if number:  # the first round warms the server
                samples.append(ms)
    return taken


def _opening(taken: dict[str, list[float]]) -> Figure:
    ours, floor = spread(taken[NAME]), spread(taken[SHORT])
    return Figure("open it", "ms", ours, floor, Goal("at most", 500))


def _streaming(streaming: tuple[Answer, float], resting: tuple[Answer, float]) -> Sequence[Figure]:
    ours, task = streaming
    floor, floor_task = resting
    return [
        Figure(
            "frame",
            "ms",
            spread(ours.frames.times),
            spread(floor.frames.times),
            Goal("at most", 16.7),
            ours.costs.task,
            floor.costs.task,
        ),
        Figure(
            "longest frame",
            "ms",
            single(ours.frames.longest),
            single(floor.frames.longest),
            Goal("at most", 50),
        ),
        Figure("longest task, CPU", "ms", single(task), single(floor_task), Goal("at most", 50)),
        Figure("key in a cell", "ms", spread(ours.keys), spread(floor.keys)),
    ]
