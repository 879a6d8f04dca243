"""A conversation of a thousand messages: few are rendered, and the reading position is kept.

``stream_storm`` and the bench measure frame times; this test counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import SimulatorProcess, in_order, says
from tests.support.forked_lab import ForkedLab
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.long_conversation import MESSAGES, fill, open_long, scroller, streamed, widen
from tests.ui.support.notebook_scenario import LabWithModel

pytestmark = pytest.mark.full

RENDERED = 60
"""Limit of messages rendered at once, at the height of the tests' panel."""
RATE = 200
"""Tokens per second."""

# Counts renderings, frames, and changes in complete blocks; code is coloured later.
_WATCH = """list => {
    const last = [...list.querySelectorAll('.shoulders-Agent')].at(-1);
    const blocks = [...last.querySelectorAll('.shoulders-Markdown-block, li')];
    const complete = blocks.slice(0, -10);
    const seen = window.seen = {complete: complete.length, touched: 0, renders: 0, frames: 0};
    new MutationObserver(changes => {
        seen.renders += 1;
        seen.touched += changes.filter(({target}) =>
            complete.some(block => block.contains(target))).length;
    }).observe(list, {childList: true, characterData: true, subtree: true});
    const frame = () => { seen.frames += 1; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
}"""

# Waits until everything near the viewport is rendered, and for two more frames.
_SETTLE = """async list => {
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    const view = list.getBoundingClientRect();
    const isNear = page => {
        const {top, bottom} = page.getBoundingClientRect();
        return bottom > view.top - 500 && top < view.bottom + 500;
    };
    const pages = () => [...list.querySelectorAll('.shoulders-Page')];
    do { await frame(); await frame(); }
    while (pages().some(page => isNear(page) && page.childElementCount === 0));
    await new Promise(resolve => setTimeout(resolve));  // after the frame's own layout
}"""

# Scrolls up by some pixels; returns how far the visible content moved while earlier messages
# loaded.
_STEP = """async (list, by) => {
    list.scrollTop -= by;
    const {left, top, height, width} = list.getBoundingClientRect();
    const found = document.elementsFromPoint(left + width / 2, top + height / 2);
    const shown = found.map(node => node.closest('.shoulders-Message')).find(node => node);
    const before = shown?.getBoundingClientRect().top;
    await (SETTLE)(list);
    const moved = shown === undefined ? 0 : shown.getBoundingClientRect().top - before;
    const rendered = list.querySelectorAll('.shoulders-Message').length;
    return {moved, rendered, at: list.scrollTop};
}""".replace("SETTLE", _SETTLE)

_LEFT = "list => list.scrollHeight - list.scrollTop - list.clientHeight"


@pytest.fixture(scope="module")
def long_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabWithModel]:
    """A server with the long conversation."""
    root = tmp_path_factory.mktemp("workspace")
    upstream = SimulatorProcess(in_order(), tmp_path_factory.mktemp("upstream")).start()
    env = upstream.configure(root)
    widen(root)
    lab = ForkedLab(root, tmp_path_factory.mktemp("lab"), env=env)
    fill(lab)
    lab.start()
    yield LabWithModel(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture
def panel(long_served: LabWithModel, page: Page) -> Panel:
    """The panel with the long conversation."""
    page.goto(long_served.lab.url("lab", reset=""))
    return open_long(page)


def play(served: LabWithModel, characters: int) -> None:
    """Stream this many characters at a model's usual speed."""
    assert served.upstream is not None
    text = streamed(characters)
    served.upstream.play(in_order(says(f"{text}\n\nThe end.", tokens_per_second=RATE)))


def said(panel: Panel) -> Locator:
    """The agent's last message."""
    return panel.answers.last


@pytest.mark.shows("speed.2")
def test_of_a_long_conversation_what_is_near_is_rendered_and_nothing_moves_on_the_way_up(
    panel: Panel,
) -> None:
    messages = scroller(panel)
    expect(messages.get_by_text(f"Question {MESSAGES // 2 - 1} about")).to_be_visible()
    messages.evaluate(_SETTLE)
    way = (300, 700, 150, 1500, 400, 900, 60, 2500, 600, 600, 5000, 800)
    steps: list[dict[str, Any]] = [messages.evaluate(_STEP, by) for by in way]
    assert [step["moved"] for step in steps if abs(step["moved"]) > 2] == []
    assert max(step["rendered"] for step in steps) <= RENDERED
    first = messages.get_by_text("Question 0 about")
    for _ in range(20):  # unrendered messages may be higher than estimated
        last = messages.evaluate(_STEP, 10_000_000)
        if last["at"] == 0 and first.count():
            break
    expect(first).to_be_visible()
    assert messages.locator(".shoulders-Message").count() <= RENDERED
    panel.root.get_by_role("button", name="Scroll to the newest message").click()
    expect(messages.get_by_text(f"Question {MESSAGES // 2 - 1} about")).to_be_visible()


@pytest.mark.shows("speed.1", "speed.2", "speed.8")
def test_a_stream_into_it_renders_its_open_block_only_and_follows_only_at_the_end(
    panel: Panel, long_served: LabWithModel
) -> None:
    messages = scroller(panel)
    play(long_served, 4_000)
    panel.ask("Go on.")
    expect(said(panel).locator("h3").nth(2)).to_be_visible()
    messages.evaluate(_WATCH)
    panel.finished()
    expect(said(panel)).to_contain_text("The end.")
    seen = panel.page.evaluate("() => window.seen")
    assert (seen["complete"] > 3, seen["touched"]) == (True, 0)
    # Once per frame, and occasionally for the colours of code.
    assert 0 < seen["renders"] <= 2 * seen["frames"]
    assert messages.locator(".shoulders-Message").count() <= RENDERED
    messages.evaluate(_SETTLE)
    assert messages.evaluate(_LEFT) < 2

    play(long_served, 3_000)
    panel.ask("Go on.")
    expect(said(panel)).to_contain_text("the index as it was")
    before = messages.evaluate(_STEP, 2_000)
    panel.finished()
    after = messages.evaluate(_STEP, 0)
    assert after["at"] == before["at"]
    assert messages.evaluate(_LEFT) > 1_000
