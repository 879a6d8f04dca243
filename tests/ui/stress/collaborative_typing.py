"""The typing storm with jupyter-collaboration: everyone's text is in one document.

``python -m tests.ui.stress.collaborative_typing --edits 200 --seed 1`` plays one; ``--pages 2`` has
two people in one notebook. ``test_rooms`` plays a short one. Unlike without collaboration, what is
typed in one page is in the others as well, and Ctrl+Z takes back what was typed there and nothing
else.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from playwright.sync_api import Browser, expect, sync_playwright

from tests.simulator_process import notebook
from tests.support.collaboration_environment import collab_environment
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.stress.editing_model import CELLS, MARK, TYPED, EditingModelServer, thinker
from tests.ui.stress.typing_during_edits import (
    LETTERS,
    START,
    Person,
    Storm,
    Tally,
    check_log,
    check_proposals,
    configure,
    rage,
)

MAX_UNDO = 2_000


def play(browser: Browser, *, edits: int, seed: int, pages: int) -> Tally:
    """Play one storm on its own server and pages."""
    with tempfile.TemporaryDirectory() as name, thinker() as model:
        root = Path(name, "root")
        root.mkdir()
        env = {**configure(root, model), **collab_environment()}
        lab = Lab(root, Path(name, "state"), args=["--Shoulders.step_limit=100000"], env=env)
        contexts = [
            browser.new_context(viewport={"width": 1280, "height": 800}) for _ in range(pages)
        ]
        try:
            lab.start()
            opened = [context.new_page() for context in contexts]
            (root / "storm.ipynb").write_text(notebook(*START.items()), encoding="utf-8")
            for page in opened:
                page.goto(lab.document_url("storm.ipynb"))
                OpenNotebook(page).ready()
                Panel(page).open()
            return storm(Storm(lab, opened, "storm.ipynb"), model, edits=edits, seed=seed)
        except BaseException:
            sys.stderr.write(lab.log[-20_000:])
            raise
        finally:
            for context in contexts:
                context.close()
            lab.stop()


def storm(storm: Storm, model: EditingModelServer, *, edits: int, seed: int) -> Tally:
    """Let the agent make this many edits while users type; check that nothing is lost."""
    tally, began = Tally(), time.monotonic()
    person = Person(storm.pages, Random(seed), undoes=False)
    panel = rage(storm, model, person, edits=edits, seed=seed)
    check_log(storm, edits, tally)
    check_texts(storm, person)
    check_proposals(storm, panel, tally)
    check_saved(storm)
    check_undo(storm, person)
    for page in storm.pages:
        expect(page.locator(".jp-Dialog")).to_have_count(0)
    tally.typed = sum(map(len, person.typed.values()))
    tally.seconds = time.monotonic() - began
    return tally


def check_texts(storm: Storm, person: Person) -> None:
    """Check that every page has the same text, with each typed letter once and in each user's
    order.
    """
    first = OpenNotebook(storm.pages[0])
    for page in storm.pages[1:]:
        for cell in CELLS:
            OpenNotebook(page).wait_for_source(cell, first.source(cell))
    for cell in TYPED:
        text = own(first.source(cell))
        typed = [person.typed.get((number, cell), "") for number in range(len(storm.pages))]
        assert Counter(text) == Counter("".join(typed)), f"typed {typed!r}, there is {text!r}"
        for each in typed:
            assert is_within(each, text), f"typed {each!r}, there is {text!r}"


def check_saved(storm: Storm) -> None:
    """Check that the room wrote the file."""
    opened = OpenNotebook(storm.pages[0])
    deadline = time.monotonic() + 60
    while on_disk(storm) != {cell: opened.source(cell) for cell in CELLS}:
        assert time.monotonic() < deadline, "the room does not save"
        storm.pages[0].wait_for_timeout(200)


def on_disk(storm: Storm) -> dict[str, str]:
    """The sources in the file; none while it is being written, which is not atomic."""
    text = (storm.lab.root / storm.path).read_text(encoding="utf-8")
    try:
        cells = json.loads(text)["cells"]
    except json.JSONDecodeError:
        return {}
    return {cell["id"]: "".join(cell["source"]) for cell in cells if cell["id"] in CELLS}


def check_undo(storm: Storm, person: Person) -> None:
    """Check that Ctrl+Z undoes the text typed in the page, but not that of the agent and others."""
    page = storm.pages[0]
    opened = OpenNotebook(page)
    for cell in TYPED:
        before = opened.source(cell)
        opened.editor(cell).click()
        for _ in range(MAX_UNDO):
            text = opened.source(cell)
            page.keyboard.press("Control+z")
            if opened.source(cell) == text:
                break
        after = opened.source(cell)
        assert MARK.findall(after) == MARK.findall(before)
        left = Counter(own(before))
        left.subtract(person.typed.get((0, cell), ""))
        assert Counter(own(after)) == +left


def own(text: str) -> str:
    """The typed part of a text."""
    return "".join(letter for letter in text if letter in LETTERS or letter == "\n")


def is_within(part: str, text: str) -> bool:
    """Whether the letters of ``part`` are in ``text`` in their order."""
    rest: Iterator[str] = iter(text)
    return all(letter in rest for letter in part)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play storms with consecutive seeds and print their tallies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first storm")
    parser.add_argument("--count", type=int, default=1, help="how many storms")
    parser.add_argument("--pages", type=int, default=1)
    wanted = parser.parse_args(arguments)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        for seed in range(wanted.seed, wanted.seed + wanted.count):
            tally = play(browser, edits=wanted.edits, seed=seed, pages=wanted.pages)
            sys.stdout.write(f"seed {seed}: {tally}\n")
            sys.stdout.flush()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
