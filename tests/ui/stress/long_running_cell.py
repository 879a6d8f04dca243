"""A long-running cell continues after its page was closed, and its turn ends.

``python -m tests.ui.stress.long_running_cell --minutes 10`` runs one in a real browser against its
own server; ``test_long_running_cells`` runs a short one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.simulator_process import SimulatorProcess, calls, in_order, notebook, says, texts
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, PAGE_TIMEOUT_MS, chromium
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.notebook_scenario import ConversationApi

NAME = "long.ipynb"
ARGUMENTS = ("--Shoulders.run_patience=1",)
TICK_SECONDS = 0.25
CLOSE_SECONDS = 5.0
"""The page is closed this long after the cell's first output."""
SLACK_SECONDS = 60.0
"""Tolerance for the end on a busy machine."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The file and the log during the run and at its end."""

    text: str
    """What the cell printed, in the file."""
    early: int
    """Lines that were in the file before the cell had ended."""
    kinds: tuple[str, ...]
    """The events of the conversation."""
    exits: tuple[str, ...]


def program(seconds: float) -> str:
    """A cell that prints a line every quarter of a second for this time."""
    return f"""\
import time
for tick in range({round(seconds / TICK_SECONDS)}):
    time.sleep({TICK_SECONDS})
    print("tick", tick, flush=True)
"""


def printed(seconds: float) -> str:
    """Its complete output."""
    return "".join(f"tick {tick}\n" for tick in range(round(seconds / TICK_SECONDS)))


def prepare(root: Path, upstream: SimulatorProcess, seconds: float) -> None:
    """Write the notebook and script the model."""
    (root / NAME).write_text(notebook(("slow", program(seconds))), encoding="utf-8")
    run = calls("run_cell", {"path": NAME, "cell_id": "slow"})
    upstream.play(in_order(run, says("I wait for its end."), says("It has ended.")))


def watch(lab: Lab, page: Page, seconds: float) -> Seen:
    """Start the run, close the page, and wait until the turn has ended."""
    page.goto(lab.document_url(NAME))
    opened = OpenNotebook(page).ready().save_as_the_lab_has_it()
    panel = Panel(page).open()
    panel.ask("Run it.")
    panel.allow()
    expect(opened.output("slow")).to_contain_text("tick 1")
    page.wait_for_timeout(CLOSE_SECONDS * 1000)
    page.close()
    talks = ConversationApi(lab)
    early = 0
    deadline = time.monotonic() + seconds + SLACK_SECONDS
    while not talks.of_type("turn-end"):
        assert time.monotonic() < deadline, "the turn does not end"
        if not talks.of_type("run-end"):
            early = len(_text(lab).splitlines())
        time.sleep(0.5)  # a file and a log of another process can only be polled
    kinds = tuple(event["type"] for event in talks.log())
    exits = tuple(event["exit"] for event in talks.of_type("turn-end"))
    while _text(lab) != printed(seconds) and time.monotonic() < deadline:
        time.sleep(0.5)
    return Seen(_text(lab), early, kinds, exits)


def _text(lab: Lab) -> str:
    return texts(json.loads((lab.root / NAME).read_text(encoding="utf-8"))["cells"], "slow")


def main() -> None:
    """Watch one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    seconds = parser.parse_args().minutes * 60
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        places = [Path(folder, name) for name in ("workspace", "lab", "upstream")]
        for place in places:
            place.mkdir()
        upstream = SimulatorProcess(in_order(), places[2]).start()
        lab = Lab(places[0], places[1], ARGUMENTS, upstream.configure(places[0]))
        lab.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        page = browser.new_page()
        page.set_default_timeout(PAGE_TIMEOUT_MS)
        expect.set_options(timeout=PAGE_TIMEOUT_MS)
        prepare(places[0], upstream, seconds)
        began = time.monotonic()
        seen = watch(lab, page, seconds)
        took = time.monotonic() - began
        browser.close()
        lab.stop()
        upstream.stop()
    whole = seen.text == printed(seconds)
    lines = len(printed(seconds).splitlines())
    sys.stdout.write(
        f"{took:.0f} s · {seen.early} of {lines} lines were in the file before the end · "
        f"outputs {'whole' if whole else 'NOT WHOLE'} · exits {seen.exits}\n"
    )
    if not whole or seen.exits != ("final_response",):
        sys.exit(1)


if __name__ == "__main__":
    main()
