"""Reloads a page at random moments of a stream and compares its content with the log.

``python -m tests.ui.stress.page_reloads --count 200`` makes that many reloads; a browser test makes
a few with ``storm``.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.simulator_process import SimulatorProcess, in_order, says
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS, Panel
from tests.ui.support.notebook_scenario import ConversationApi, streamed_text

WORDS_PER_SECOND = 50
PATIENT = 5
"""One in this many reloads waits until the page shows the text."""
ROUND = 50
"""Reloads in one reply."""
LONGEST_SECONDS = 2.0
"""A page loads in about two seconds; many are reloaded before."""
SECONDS_EACH = 1.6
"""Duration of a reload with its wait, to size the reply."""


@dataclass
class Tally:
    """What the reloads met."""

    reloads: int = 0
    texts: list[str] = field(default_factory=list[str])
    """Text of the panel right before a reload, if shown."""


def prose(count: int) -> str:
    """A text that streams for the duration of this many reloads."""
    words = math.ceil(count * SECONDS_EACH * WORDS_PER_SECOND)
    return " ".join(f"w{number}" for number in range(words))


def script(text: str) -> dict[str, object]:
    """The reply: the text, word by word."""
    return in_order(says(text, event_delay=1 / WORDS_PER_SECOND))


def storm(talks: ConversationApi, page: Page, count: int, seed: int) -> Tally:
    """Request the text and reload the page at random moments; check the texts it showed."""
    rng, tally = Random(seed), Tally()
    page.goto(talks.lab.url("lab", reset=""))
    Panel(page).open().ask("Write a lot.")
    talks.wait_for_event("text-start")
    page.reload(wait_until="commit")  # once, so that the address no longer resets the layout
    while tally.reloads < count:
        if tally.reloads % PATIENT == 0:
            expect(Panel(page).open().answers.last).not_to_be_empty()
        page.wait_for_timeout(rng.uniform(0, LONGEST_SECONDS) * 1000)
        text = _shown(page)
        if text:
            tally.texts.append(text)
        page.reload(wait_until="commit")
        tally.reloads += 1
    return tally


def check(talks: ConversationApi, page: Page, tally: Tally, text: str) -> None:
    """Let the stream end; check that the page and its earlier texts match the log."""
    panel = Panel(page).open()
    deadline = time.monotonic() + len(text.split()) / WORDS_PER_SECOND + 60
    while talks.only()["status"] == "running":
        assert time.monotonic() < deadline, "the turn does not end"
        page.wait_for_timeout(500)
    log = _log(talks)
    ends = [event for event in log if event["type"] == "turn-end"]
    assert [event["exit"] for event in ends] == ["final_response"], ends
    assert [event["seq"] for event in log] == list(range(1, len(log) + 1))
    said = streamed_text(log)
    assert said == text
    assert [shown for shown in tally.texts if not said.startswith(shown)] == []
    expect(panel.answers.last).to_have_text(said)
    assert talks.only()["status"] == "idle"


def _log(talks: ConversationApi) -> list[dict[str, Any]]:
    """The complete log."""
    path, log = f"sessions/{talks.only()['id']}/events", list[dict[str, Any]]()
    while True:
        page = talks.api(path, after=str(len(log)), limit="5000")
        log += page["events"]
        if not page["has_more"]:
            return log


def _shown(page: Page) -> str:
    """The answer's text in the panel; empty while the page loads."""
    return page.evaluate(
        "() => document.querySelector('.shoulders-Agent')?.textContent.trim() ?? ''"
    )


def main() -> int:
    """Play rounds, each on its own server and page: a reply may take at most five minutes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    wanted = parser.parse_args()
    began, done, shown, seed = time.monotonic(), 0, 0, wanted.seed
    expect.set_options(timeout=PAGE_TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        while done < wanted.count:
            tally = _round(browser, min(ROUND, wanted.count - done), seed)
            done, shown, seed = done + tally.reloads, shown + len(tally.texts), seed + 1
            _say(f"{done} reloads, {shown} of them with text shown: text equals log")
        browser.close()
    _say(f"seeds {wanted.seed} to {seed - 1}, {time.monotonic() - began:.0f} s")
    return 0


def _round(browser: Browser, count: int, seed: int) -> Tally:
    text = prose(count)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "root")
        root.mkdir()
        upstream = SimulatorProcess(script(text), Path(name)).start()
        lab = Lab(root, Path(name, "state"), env=upstream.configure(root))
        page = browser.new_page()
        try:
            lab.start()
            talks = ConversationApi(lab)
            tally = storm(talks, page, count, seed)
            check(talks, page, tally, text)
        finally:
            page.close()
            lab.stop()
            upstream.stop()
        return tally


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
