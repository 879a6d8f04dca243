"""Threads in a real notebook page under random edits, held to where their characters are.

``python -m tests.ui.stress.thread_anchors --steps 2000 --seed 1`` plays a long one;
``test_anchor_moves`` plays a short one. Everything is done with the lab's own commands, editors and
shared model. No character is written twice, so each says by itself to which thread it belongs: that
is all the reference knows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.simulator_process import SimulatorProcess, in_order
from tests.support.lab_server import Lab
from tests.ui.conftest import CHROMIUM_ARGS, chromium
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.thread_marks import anchor_of, begin
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

CELLS = 6
LINES = 4
FIRST = 0x4E00
"""The first of the written characters, a CJK ideograph; about 20 000 follow."""
ACTS = (
    *("type", "type", "type", "remove", "remove", "replace", "replaceAll", "split", "merge"),
    *("up", "down", "cut", "paste", "paste", "indent", "reload", "toMarkdown", "toCode"),
    *("undo", "undo", "redo", "undoCells", "redoCells"),
)

# Performs one action in the current notebook and waits until the threads are updated.
_ACT = """async ({act, cell, at, to, text}) => {
    const {commands, shell} = window.jupyterapp;
    const panel = shell.currentWidget;
    const {content} = panel;
    const index = cell % content.widgets.length;
    content.deselectAll();
    content.activeCellIndex = index;
    const active = content.widgets[index];
    const shared = active.model.sharedModel;
    const from = at % (shared.getSource().length + 1);
    const until = Math.min(from + to, shared.getSource().length);
    const change = changes => active.editor === null
        ? [changes].flat().reverse().forEach(one =>
            shared.updateSource(one.from, one.to ?? one.from, one.insert ?? ''))
        : active.editor.editor.dispatch({changes, userEvent: 'input.type'});
    const run = id => commands.execute(`notebook:${id}`);
    content.undoManager?.stopCapturing?.();
    shared.undoManager?.stopCapturing();
    panel.context.model.sharedModel.undoManager.stopCapturing();
    const acts = {
        type: () => change({from, insert: text}),
        remove: () => change({from, to: until}),
        replace: () => change({from, to: until, insert: text}),
        replaceAll: () => change([...shared.getSource()].flatMap((letter, at) =>
            letter === '\\n' ? [{from: at, to: at + 1, insert: '\\n\\n'}] : [])),
        split: async () => {
            await active.ready;
            if (active.editor !== null) {
                active.editor.setCursorPosition(active.editor.getPositionAt(from));
                await run('split-cell-at-cursor');
            }
        },
        merge: () => run('merge-cell-below'),
        up: () => run('move-cell-up'),
        down: () => run('move-cell-down'),
        cut: () => content.widgets.length > 3 ? run('cut-cell') : null,
        paste: () => run('paste-cell-below'),
        indent: () => shared.setSource(shared.getSource().replace(/^(?=.)/gm, '  ')),
        reload: () => shared.setSource(
            shared.getSource().slice(0, from) + text + shared.getSource().slice(from)),
        toMarkdown: () => run('change-cell-to-markdown'),
        toCode: () => run('change-cell-to-code'),
        undo: () => shared.undo(),
        redo: () => shared.redo(),
        undoCells: () => run('undo-cell-action'),
        redoCells: () => run('redo-cell-action')
    };
    await acts[act]();
}"""

# The cells as [id, source], and the threads' positions: [certainty, cell, from, to] by thread.
LOOK = """() => {
    const panel = window.jupyterapp.shell.currentWidget;
    const {_services, _plugins} = window.jupyterapp.pluginRegistry;
    const [token] = [..._services.keys()].filter(({name}) => name.endsWith(':IThreads'));
    const threads = _plugins.get(_services.get(token)).service;
    const places = {};
    for (const {sessionId, anchor} of threads.in(panel.context.localPath)) {
        const {certainty, cell_id, range} = anchor;
        places[sessionId] = [certainty, cell_id, range?.from ?? 0, range?.to ?? 0];
    }
    const cells = panel.content.model.sharedModel.cells;
    return {cells: cells.map(cell => [cell.id, cell.getSource()]), places};
}"""


@dataclass
class Marked:
    """A thread and the characters it is about."""

    letters: set[str]
    quote: str
    is_torn: bool = False
    """Whether the characters were ever in two places."""


@dataclass
class Tally:
    """What a storm met."""

    steps: int = 0
    exact: int = 0
    uncertain: int = 0
    gone: int = 0
    wrong: list[str] = field(default_factory=list[str])
    """Threads reported as certain at a wrong position."""
    lost: list[str] = field(default_factory=list[str])
    """Threads reported as lost whose whole text exists."""


class AnchorStorm:
    """One notebook of a page with a thread in each cell."""

    def __init__(self, scenario: NotebookScenario, seed: int) -> None:
        self._scenario, self._page, self._rng = scenario, scenario.page, Random(seed)
        self._count = 0
        self._known = 0
        self.threads: dict[str, Marked] = {}
        self.tally = Tally()

    def begin(self) -> None:
        """Write the notebook, anchor the threads and open it."""
        cells = [(f"cell{n}", "\n".join(self._line() for _ in range(LINES))) for n in range(CELLS)]
        self._scenario.write(*cells)
        for cell_id, source in cells:
            quote = source.split("\n")[self._rng.randrange(LINES)]
            anchor = anchor_of(self._scenario.path, cell_id, source, quote)
            thread = begin(self._scenario, f"Thread of {cell_id}", anchor)
            self.threads[thread] = Marked(set(quote), quote)
        self.open()

    def open(self) -> None:
        """Show the notebook, and wait for its threads."""
        self._page.goto(self._scenario.lab.document_url(self._scenario.path))
        OpenNotebook(self._page).ready()
        self._page.wait_for_function(
            f"count => Object.keys(({LOOK})().places).length === count", arg=len(self.threads)
        )

    def step(self) -> None:
        """Perform one action and check the threads."""
        act = self._rng.choice(ACTS)
        self._known = self._count
        self._page.evaluate(
            _ACT,
            {
                "act": act,
                "cell": self._rng.randrange(1000),
                "at": self._rng.randrange(10_000),
                "to": self._rng.randrange(18),
                "text": self._line()[: self._rng.randrange(1, 10)],
            },
        )
        self.tally.steps += 1
        self.check(f"step {self.tally.steps}, {act}")

    def check(self, when: str) -> None:
        """Compare the page's threads with their characters."""
        seen = self._page.evaluate(LOOK)
        for thread, marked in self.threads.items():
            self._hold(f"{when}, {thread}", marked, seen["places"][thread], seen["cells"])

    def _hold(self, at: str, marked: Marked, place: Sequence[Any], cells: list[list[str]]) -> None:
        parts = {
            cell_id: part for cell_id, source in cells if (part := part_of(source, marked.letters))
        }
        marked.is_torn = marked.is_torn or len(parts) > 1
        certainty, cell_id, start, end = place
        if certainty == "exact":
            self.tally.exact += 1
            text = next((source for id_, source in cells if id_ == cell_id), "")
            said = text[start:end]
            if self._is_right(said, parts.get(cell_id), marked, bool(parts)):
                marked.quote = said.strip()
            else:
                self.tally.wrong.append(f"{at}: {said!r} for {parts}")
        elif not parts:
            self.tally.gone += 1
        else:
            self.tally.uncertain += 1
            if certainty == "orphaned" and not marked.is_torn and marked.quote in parts.values():
                self.tally.lost.append(f"{at}: {parts}")

    def _is_right(self, said: str, part: str | None, marked: Marked, is_there: bool) -> bool:
        """Whether the reported text is the expected part.

        Text just written in place of one of its ends may belong to it.
        """
        said = said.strip()
        if part is None:
            return not is_there and said == marked.quote
        if marked.is_torn and said and said in part:
            return True
        if part not in said:
            return False
        before, _, after = said.partition(part)
        beside = set("".join((before + after).split()))
        if any(ord(letter) < FIRST + self._known for letter in beside):
            return False
        marked.letters |= beside
        return True

    def _line(self) -> str:
        length = self._rng.randint(6, 18)
        self._count += length
        assert self._count < 20_000, "no characters are left: take fewer steps"
        return "".join(chr(FIRST + self._count - length + at) for at in range(length))


def part_of(source: str, letters: set[str]) -> str:
    """From the first to the last of these letters; letters between belong to the thread from now
    on.
    """
    places = [at for at, letter in enumerate(source) if letter in letters]
    if not places:
        return ""
    part = source[places[0] : places[-1] + 1]
    letters.update("".join(part.split()))
    return part


def play(scenario: NotebookScenario, seed: int, steps: int) -> Tally:
    """Play one storm."""
    storm = AnchorStorm(scenario, seed)
    storm.begin()
    storm.check("opened")
    for _ in range(steps):
        storm.step()
    return storm.tally


def main(arguments: Sequence[str]) -> int:
    """Play long storms, 400 steps in each notebook; fail if a thread was wrong or lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    root = Path(tempfile.mkdtemp())
    (root / "workspace").mkdir()
    upstream = SimulatorProcess(in_order(), root).start()
    lab = Lab(root / "workspace", root / "lab", env=upstream.configure(root / "workspace"))
    lab.start()
    failed = 0
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
            for number in range(max(1, options.steps // 400)):
                page = browser.new_page()
                failed += _one(LabWithModel(lab, upstream), page, options.seed + number)
                page.close()
    finally:
        lab.stop()
        upstream.stop()
    return 1 if failed else 0


def _one(served: LabWithModel, page: Page, seed: int) -> int:
    scenario = NotebookScenario(served, page, served.lab.root / f"storm{seed}.ipynb")
    tally = play(scenario, seed, 400)
    sys.stdout.write(f"seed {seed}: {tally}\n")
    sys.stdout.flush()
    return len(tally.wrong) + len(tally.lost)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
