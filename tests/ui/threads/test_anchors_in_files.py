"""Threads in text, code and Markdown files under random edits, compared with their characters."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.ui.page_objects.text_editor import TextEditor
from tests.ui.page_objects.thread_marks import anchor_of, begin
from tests.ui.stress.thread_anchors import FIRST, part_of
from tests.ui.support.notebook_scenario import NotebookScenario

MARK = "\ufeff"
STEPS = 40
LINES = 8
ACTS = ("type", "type", "remove", "replace", "replaceAll", "indent", "set", "undo", "redo")

# Performs one action in the current file, through its editor or its shared text.
_ACT = """({act, at, length, text}) => {
    const {content, context} = window.jupyterapp.shell.currentWidget;
    const shared = context.model.sharedModel;
    const source = shared.getSource();
    const first = source.startsWith('\\ufeff') ? 1 : 0;
    const from = first + at % (source.length - first + 1);
    const to = Math.min(from + length, source.length);
    const change = changes =>
        content.editor.editor.dispatch({changes, userEvent: 'input.type'});
    shared.undoManager.stopCapturing();
    ({
        type: () => change({from, insert: text}),
        remove: () => change({from, to}),
        replace: () => change({from, to, insert: text}),
        replaceAll: () => change([...source].flatMap((letter, at) =>
            letter === '\\n' ? [{from: at, to: at + 1, insert: '\\n\\n'}] : [])),
        indent: () => shared.setSource(source.replace(/^(?=[^\\ufeff\\n])/gm, '  ')),
        set: () => shared.setSource(source.slice(0, from) + text + source.slice(from)),
        undo: () => shared.undo(),
        redo: () => shared.redo()
    })[act]();
}"""

# The text, and the threads' positions: [certainty, from, to] by thread.
_LOOK = """() => {
    const {context} = window.jupyterapp.shell.currentWidget;
    const {_services, _plugins} = window.jupyterapp.pluginRegistry;
    const [token] = [..._services.keys()].filter(({name}) => name.endsWith(':IThreads'));
    const places = _plugins.get(_services.get(token)).service.in(context.localPath);
    return {
        text: context.model.sharedModel.getSource(),
        places: Object.fromEntries(places.map(({sessionId, anchor}) => [
            sessionId, [anchor.certainty, anchor.range?.from ?? 0, anchor.range?.to ?? 0]]))
    };
}"""


class Letters:
    """Text in which no character occurs twice."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.count = 0

    def some(self, least: int, most: int) -> str:
        """Random characters that were not used before."""
        length = self._rng.randint(least, most)
        self.count += length
        return "".join(chr(FIRST + self.count - length + at) for at in range(length))


def look(page: Page) -> dict[str, Any]:
    """The page's state."""
    return page.evaluate(_LOOK)


def opened(scenario: NotebookScenario, name: str, threads: int) -> TextEditor:
    """The open file with its threads."""
    scenario.page.goto(scenario.lab.url("lab", reset=""))
    editor = TextEditor(scenario.page).open(name)
    scenario.page.wait_for_function(
        f"count => Object.keys(({_LOOK})().places).length === count", arg=threads
    )
    return editor


@pytest.mark.full
@pytest.mark.shows("threads.travel.5")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("storm.txt", marks=pytest.mark.full),
        "storm.py",
        pytest.param("storm.md", marks=pytest.mark.full),
        pytest.param("marked.py", marks=pytest.mark.full),
    ],
)
def test_threads_in_files_are_where_their_text_is_whatever_is_done_to_it(
    scenario: NotebookScenario, name: str
) -> None:
    rng = Random(name)
    letters = Letters(rng)
    lines = [letters.some(8, 18) for _ in range(LINES)]
    text = "\n".join(lines) + "\n"
    mark = MARK if name == "marked.py" else ""
    (scenario.lab.root / name).write_text(mark + text, encoding="utf-8")
    threads = {
        begin(scenario, quote, anchor_of(name, None, text, quote)): set(quote)
        for quote in (lines[0], lines[3], lines[6])
    }
    editor = opened(scenario, name, len(threads))
    exact = 0
    for step in range(STEPS):
        known = letters.count
        act = rng.choice(ACTS)
        scenario.page.evaluate(
            _ACT,
            {
                "act": act,
                "at": rng.randrange(10_000),
                "length": rng.randrange(12),
                "text": letters.some(1, 9),
            },
        )
        seen = look(scenario.page)
        for thread, own in threads.items():
            exact += hold(f"step {step}, {act}", seen["text"], seen["places"][thread], own, known)
    assert exact > STEPS

    editor.saves_without_a_question()
    scenario.wait(
        lambda: told(scenario, threads) == shown(scenario.page, mark), "the server has them all"
    )
    places = look(scenario.page)["places"]
    opened(scenario, name, len(threads))
    for thread, place in look(scenario.page)["places"].items():
        if places[thread][0] == "exact":
            assert place == places[thread]


def hold(when: str, text: str, place: list[Any], own: set[str], known: int) -> bool:
    """Check a thread that is certain against its characters; return whether it is certain.

    Text just written at one of its ends may belong to it.
    """
    certainty, start, end = place
    part = part_of(text, own)
    if certainty != "exact":
        assert certainty == "approximate" or not part or part not in text, f"{when}: {place}"
        return False
    said = text[start:end].strip()
    assert part, f"{when}: {said!r} is not there"
    assert part in said, f"{when}: {said!r} for {part!r}"
    beside = set("".join(said.replace(part, "", 1).split()))
    assert all(ord(letter) >= FIRST + known for letter in beside), f"{when}: {said!r}"
    own |= beside
    return True


def told(scenario: NotebookScenario, threads: dict[str, set[str]]) -> dict[str, Any]:
    """The server's certain threads and their positions."""
    anchors = {thread: scenario.talks.api(f"sessions/{thread}")["anchor"] for thread in threads}
    return {
        thread: [anchor["range"]["from"], anchor["range"]["to"]]
        for thread, anchor in anchors.items()
        if anchor["certainty"] == "exact"
    }


def shown(page: Page, mark: str) -> dict[str, Any]:
    """The page's certain threads, in the text without a byte order mark."""
    return {
        thread: [start - len(mark), end - len(mark)]
        for thread, (certainty, start, end) in look(page)["places"].items()
        if certainty == "exact"
    }
