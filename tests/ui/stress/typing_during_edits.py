"""A person types into cells 5 and 7 while the agent edits 5, 6 and 7 and runs 6: nothing is lost.

``python -m tests.ui.stress.typing_during_edits --edits 200 --seed 1`` plays one; ``--pages 2`` has
the person change between two pages, ``--undo`` lets them press Ctrl+Z now and then. ``test_typing``
plays a short one. Typed text and the agent's text use different letters, and the page records each
change of a text with its cause.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.simulator_process import SimulatorProcess, notebook
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.stress.editing_model import (
    CELLS,
    MARK,
    TYPED,
    EditingModel,
    EditingModelServer,
    thinker,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LINES = 12
"""A cell with this many lines gets no new ones: the user types in the last line."""
MakeLab = Callable[[Path, Path, dict[str, str]], Lab]
"""Makes a server from a workspace, a state directory and an environment."""

# Records each change of the cells users type into: inserted and deleted text, and its author.
_WATCH = """() => {
    const {cells} = window.jupyterapp.shell.currentWidget.context.model.sharedModel;
    window.noted = {};
    for (const cell of cells) {
        const noted = window.noted[cell.id] = [];
        let text = cell.getSource();
        cell.ysource.observe((event, transaction) => {
            const by = transaction.origin?.constructor?.name ?? null;
            const isUndo = 'undoStack' in (transaction.origin ?? {});
            let at = 0, inserted = '', deleted = '';
            for (const part of event.delta) {
                at += part.retain ?? 0;
                inserted += part.insert ?? '';
                deleted += part.delete ? text.slice(at, at + part.delete) : '';
                at += part.delete ?? 0;
            }
            text = cell.getSource();
            noted.push({by, isUndo, inserted, deleted});
        });
    }
}"""

_HAS_CARET = "() => document.activeElement?.classList.contains('cm-content') ?? false"
"""Whether keys go into a cell's text; after a click on a button in it they are commands."""


@dataclass
class Tally:
    """What a storm met."""

    typed: int = 0
    edits: int = 0
    proposals: int = 0
    runs: int = 0
    undone: int = 0
    """Number of the agent's edits undone one by one at the end."""
    seconds: float = 0


@dataclass
class Person:
    """A user who types in one page, or in two alternately."""

    pages: Sequence[Page]
    rng: Random
    undoes: bool
    typed: dict[tuple[int, str], str] = field(default_factory=dict[tuple[int, str], str])
    """The typed text by page and cell."""

    def burst(self) -> None:
        """Type a little into a cell; sometimes change the page or undo."""
        number = self.rng.randrange(len(self.pages))
        page, cell = self.pages[number], self.rng.choice(TYPED)
        opened = OpenNotebook(page)
        page.bring_to_front()
        opened.editor(cell).click()
        # A cell above was added or removed at that moment, or a change has a button there.
        while opened.active != cell or not page.evaluate(_HAS_CARET):
            opened.editor(cell).click()
        page.keyboard.press("Control+End")
        key = (number, cell)
        for letter in self._letters(opened.source(cell)):
            page.keyboard.press("Enter" if letter == "\n" else letter)
            self.typed[key] = self.typed.get(key, "") + letter
            if self.rng.random() < 0.1:
                page.wait_for_timeout(self.rng.uniform(50, 900))
            else:
                page.wait_for_timeout(self.rng.uniform(5, 90))
        if self.undoes and self.rng.random() < 0.3:
            page.keyboard.press("Control+z")
        if self.rng.random() < 0.15:
            Panel(page).input.focus()
            page.wait_for_timeout(self.rng.uniform(0, 500))

    def _letters(self, text: str) -> str:
        letters = "".join(self.rng.choice(LETTERS) for _ in range(self.rng.randint(2, 14)))
        if text.count("\n") < LINES and self.rng.random() < 0.3:
            return f"{letters[:2]}\n{letters[2:]}"
        return letters


@dataclass
class Storm:
    """A server with its pages, and the conversation."""

    lab: Lab
    pages: Sequence[Page]
    path: str
    session: str | None = None

    def api(self, path: str, **query: str) -> Any:
        """GET one route of the API."""
        with urllib.request.urlopen(
            self.lab.url(f"shoulders/api/v1/{path}", **query), timeout=60
        ) as answer:
            return json.load(answer)

    def log(self) -> list[dict[str, Any]]:
        """All events of the conversation."""
        if self.session is None:
            found = self.api("sessions", limit="200")["sessions"]
            if not found:
                return []
            self.session = found[0]["id"]
        events: list[dict[str, Any]] = []
        while True:
            page = self.api(f"sessions/{self.session}/events", after=str(len(events)), limit="5000")
            events += page["events"]
            if not page["has_more"]:
                return events

    def ended(self) -> bool:
        """Whether the agent's turn has ended."""
        found = self.api("sessions", limit="200")["sessions"]
        return bool(found) and found[0]["status"] == "idle" and bool(self._ends())

    def _ends(self) -> list[dict[str, Any]]:
        return [event for event in self.log() if event["type"] == "turn-end"]


def storm(
    storm: Storm, thinker: EditingModelServer, *, edits: int, seed: int, undoes: bool = False
) -> Tally:
    """Let the agent make this many edits while the user types; check that nothing is lost."""
    tally, began = Tally(), time.monotonic()
    person = Person(storm.pages, Random(seed), undoes)
    panel = rage(storm, thinker, person, edits=edits, seed=seed)
    check_log(storm, edits, tally)
    check_texts(storm, person, tally)
    check_proposals(storm, panel, tally)
    if len(storm.pages) == 1 and not undoes:
        check_undo(storm, tally)
    check_saved(storm)
    tally.typed = sum(map(len, person.typed.values()))
    tally.seconds = time.monotonic() - began
    return tally


def rage(
    storm: Storm, thinker: EditingModelServer, person: Person, *, edits: int, seed: int
) -> Panel:
    """Let the agent make this many edits while the user types; return the chat panel."""
    deadline = time.monotonic() + 60 + 3 * edits
    thinker.think(EditingModel(storm.path, Random(seed + 1), edits))
    for page in storm.pages:
        page.evaluate(_WATCH)
    panel = Panel(storm.pages[0]).open()
    panel.ask("Edit these cells.")
    bursts = 0
    while bursts % 5 or not storm.ended():
        assert time.monotonic() < deadline, "the agent does not come to an end"
        person.burst()
        bursts += 1
    return panel


def check_log(storm: Storm, edits: int, tally: Tally) -> None:
    """Check that every edit was made or became a proposal, without errors."""
    log = storm.log()
    ends = [event for event in log if event["type"] == "turn-end"]
    assert [event["exit"] for event in ends] == ["final_response"], ends
    results = [event for event in log if event["type"] == "tool-result"]
    made = [event for event in results if event["tool"] == "edit_cell"]
    assert len(made) >= edits
    codes = Counter((event["result"]["error"] or {"code": "ok"})["code"] for event in made)
    assert set(codes) <= {"ok", "stale", "not_found"}, codes
    others = [event for event in results if event["tool"] != "edit_cell"]
    assert [event["result"]["error"] for event in others if event["status"] != "ok"] == []
    tally.edits, tally.proposals = codes["ok"], codes["stale"]
    tally.runs = sum(event["tool"] == "run_cell" for event in others)


def check_texts(storm: Storm, person: Person, tally: Tally) -> None:
    """Check that each typed letter exists once and in order; only undo removed any."""
    for number, page in enumerate(storm.pages):
        noted = page.evaluate("() => window.noted")
        for cell in TYPED:
            typed = person.typed.get((number, cell), "")
            text = OpenNotebook(page).source(cell)
            changes = noted[cell]
            for change in changes:
                own = _own(change["inserted"]) + _own(change["deleted"])
                foreign = MARK.search(change["inserted"] + change["deleted"])
                assert not (own and foreign), f"one step of two hands: {change}"
                assert change["isUndo"] or not _own(change["deleted"]), change
            if not person.undoes:
                assert _own(text) == typed, f"typed {typed!r}, there is {text!r}"
            left = Counter(typed)
            for change in changes:
                if change["isUndo"]:
                    left.update(_own(change["inserted"]))
                    left.subtract(_own(change["deleted"]))
            assert +left == Counter(_own(text)), f"typed {typed!r}, there is {text!r}"


def check_saved(storm: Storm) -> None:
    """Save in every page in turn: no question, and the file and all pages have every typed line."""
    opened = [OpenNotebook(page) for page in storm.pages]
    typed = {line for each in opened for cell in TYPED for line in _lines([each.source(cell)])}
    for page, each in [*zip(storm.pages, opened, strict=True)] * len(opened):
        page.bring_to_front()
        each.knows_its_file()
        each.save()
    for page, each in zip(storm.pages, opened, strict=True):
        each.knows_its_file()
        expect(page.locator(".jp-Dialog")).to_have_count(0)
        assert typed <= _lines(cell["source"] for cell in each.cells)
    content = json.loads((storm.lab.root / storm.path).read_text(encoding="utf-8"))
    assert typed <= _lines("".join(cell["source"]) for cell in content["cells"])


def _lines(texts: Iterable[str]) -> set[str]:
    """The typed part of each line."""
    return {_own(line) for text in texts for line in text.split("\n")} - {""}


def check_proposals(storm: Storm, panel: Panel, tally: Tally) -> None:
    """Check that each conflict can be viewed and decided."""
    proposed = storm.api("proposals", status="proposed")["proposals"]
    assert len(proposed) == tally.proposals
    expect(panel.proposal).to_have_count(tally.proposals, timeout=30_000)


def check_undo(storm: Storm, tally: Tally) -> None:
    """Check that Ctrl+Z returns to the beginning in steps of one author each."""
    page = storm.pages[0]
    opened = OpenNotebook(page)
    after = {cell: opened.source(cell) for cell in CELLS}
    made = Counter(
        event["result"]["data"]["cell_id"]
        for event in storm.log()
        if event["type"] == "tool-result" and event["tool"] == "edit_cell"
        if event["status"] == "ok" and event["result"]["kind"] == "diff"
        if event["result"]["data"]["before"] != event["result"]["data"]["after"]
    )
    for cell in CELLS:
        opened.editor(cell).click()
        steps = _steps(page, cell, "Control+z")
        assert opened.source(cell) == START[cell]
        own = [step for step in steps if _own(step) and cell in TYPED]
        assert len(steps) - len(own) == made[cell], (cell, len(steps), len(own), made)
        for step in own:
            assert not MARK.search(step), f"one step of two hands: {step!r}"
        tally.undone += made[cell]
        again = _steps(page, cell, "Control+Shift+z")
        assert len(again) == len(steps)
        assert opened.source(cell) == after[cell]


def _steps(page: Page, cell: str, keys: str) -> list[str]:
    """Press until nothing changes; return the inserted and deleted text of each step."""
    steps: list[str] = []
    while True:
        before = page.evaluate("cell => window.noted[cell].length", cell)
        page.keyboard.press(keys)
        changes = page.evaluate("([cell, from]) => window.noted[cell].slice(from)", [cell, before])
        if not changes:
            return steps
        steps.append("".join(change["inserted"] + change["deleted"] for change in changes))


def _own(text: str) -> str:
    """The typed part of a text."""
    return "".join(letter for letter in text if letter in LETTERS or letter == "\n")


START = {
    **{f"c{number}": f"# {number}" for number in (1, 2, 3, 4)},
    "five": "",
    "six": "n = 0",
    "seven": "",
}


def prepare(lab: Lab, pages: Sequence[Page], path: str = "storm.ipynb") -> Storm:
    """Write the notebook and show it in each page."""
    (lab.root / path).write_text(notebook(*START.items()), encoding="utf-8")
    for page in pages:
        page.goto(lab.document_url(path))
        OpenNotebook(page).ready().save_as_the_lab_has_it()
        Panel(page).open()
    for page in pages:
        OpenNotebook(page).knows_its_file()
    return Storm(lab, pages, path)


def configure(root: Path, thinker: EditingModelServer) -> dict[str, str]:
    """Configure the simulator as the model and allow running cells; return the environment."""
    env = SimulatorProcess({}, root, url=thinker.url).configure(root)
    rule = {"action": "allow", "tool": "*_cell", "match": {"notebook": "storm.ipynb"}}
    rules = {"version": 1, "rules": [rule]}
    (root / ".shoulders" / "tools.json").write_text(json.dumps(rules), encoding="utf-8")
    return env


def make_lab(root: Path, state: Path, env: dict[str, str]) -> Lab:
    """A server without collaboration."""
    return Lab(root, state, args=["--Shoulders.step_limit=100000"], env=env)


def play(
    browser: Browser, make: MakeLab, *, edits: int, seed: int, pages: int, undoes: bool
) -> Tally:
    """Play one storm on its own server and pages."""
    with tempfile.TemporaryDirectory() as name, thinker() as model:
        root = Path(name, "root")
        root.mkdir()
        lab = make(root, Path(name, "state"), configure(root, model))
        contexts = [
            browser.new_context(viewport={"width": 1280, "height": 800}) for _ in range(pages)
        ]
        try:
            lab.start()
            prepared = prepare(lab, [context.new_page() for context in contexts])
            return storm(prepared, model, edits=edits, seed=seed, undoes=undoes)
        finally:
            for context in contexts:
                context.close()
            lab.stop()


def main() -> int:
    """Play storms with consecutive seeds and print their tallies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first storm")
    parser.add_argument("--count", type=int, default=1, help="how many storms")
    parser.add_argument("--pages", type=int, default=1)
    parser.add_argument("--undo", action="store_true", help="the person undoes now and then")
    wanted = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        for seed in range(wanted.seed, wanted.seed + wanted.count):
            tally = play(
                browser,
                make_lab,
                edits=wanted.edits,
                seed=seed,
                pages=wanted.pages,
                undoes=wanted.undo,
            )
            sys.stdout.write(f"seed {seed}: {tally}\n")
            sys.stdout.flush()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
