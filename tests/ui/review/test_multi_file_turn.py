"""A turn that edits three cells and two files is reviewed and undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.simulator_process import says
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.review import OpenFile, Review
from tests.ui.support.notebook_scenario import NotebookScenario

OPEN = "def clean(frame):\n    return frame\n\n\ndef load(path):\n    return path\n"
CLOSED_BYTES = b"first\r\nsecond\r\n"
CELLS = (("one", "x = 1"), ("two", "y = 2"), ("three", "z = 3"), ("mine", "print(x)"))


@dataclass
class Scene:
    """An open notebook, an open file with unsaved text, and a closed one."""

    scenario: NotebookScenario
    opened: OpenNotebook
    review: Review
    open: OpenFile
    open_file: Path
    closed_file: Path

    def bytes(self) -> tuple[bytes, bytes, dict[str, str]]:
        """The content on disk."""
        return self.open_file.read_bytes(), self.closed_file.read_bytes(), self.scenario.on_disk()


def a_turn(scenario: NotebookScenario) -> Scene:
    """Let the agent edit three cells and two files, one of them with unsaved text."""
    stem = scenario.file.stem
    open_file = scenario.file.with_name(f"{stem}-open.py")
    closed_file = scenario.file.with_name(f"{stem}-closed.txt")
    open_file.write_bytes(OPEN.encode())
    closed_file.write_bytes(CLOSED_BYTES)
    scenario.write(*CELLS)
    opened = scenario.show(scenario.page)
    file = OpenFile(scenario.page, open_file.name).open()
    file.editor.click()
    scenario.page.keyboard.press("Control+Home")
    scenario.page.keyboard.type("# mine\n", delay=10)
    file.reads(f"# mine\n{OPEN}")
    parts: list[dict[str, Any]] = [
        {
            "kind": "tool",
            "name": "edit_cell",
            "arguments": {"path": scenario.path, "cell_id": cell_id, "source": source},
        }
        for cell_id, source in (("one", "x = 10"), ("two", "y = 20"), ("three", "z = 3\nw = 4"))
    ]
    parts += [
        {
            "kind": "tool",
            "name": "edit_file",
            "arguments": {"path": path, "old_string": old, "new_string": new},
        }
        for path, old, new in (
            (open_file.name, "return frame\n", "return frame.dropna()\n"),
            (open_file.name, "return path\n", "return open(path)\n"),
            (closed_file.name, "second", "2nd"),
        )
    ]
    reads = [
        {"kind": "tool", "name": name, "arguments": {"path": path}}
        for name, path in (
            ("read_notebook", scenario.path),
            ("read_file", open_file.name),
            ("read_file", closed_file.name),
        )
    ]
    scenario.play({"parts": reads}, {"parts": parts}, says("Done."))
    scene = Scene(scenario, opened, Review(scenario.page), file, open_file, closed_file)
    panel = scenario.ask()
    scenario.wait(lambda: _ended_or_allowed(scenario), "the turn ended")
    panel.finished()
    scene.review.counts("6 changes in 3 files")
    return scene


def _ended_or_allowed(scenario: NotebookScenario) -> bool:
    """Allow the agent's requests; return whether the turn has ended."""
    asked = {event["call_id"] for event in scenario.talks.of_type("approval-request")}
    answered = {event["call_id"] for event in scenario.talks.of_type("approval-answer")}
    if asked - answered:
        scenario.allow_unseen()
    return bool(scenario.talks.of_type("turn-end"))


@pytest.fixture(autouse=True)
def nothing_left(scenario: NotebookScenario) -> Iterator[None]:
    """Leave no pending edits: the next test's bar would count them."""
    yield
    left = [edit["id"] for edit in scenario.talks.api("edits")["edits"]]
    for edit_id in left:
        scenario.talks.send("POST", f"edits/{edit_id}", {"decision": "keep"})


@pytest.mark.full
def test_every_change_of_cells_and_files_is_decided_and_the_users_text_stays(
    scenario: NotebookScenario,
) -> None:
    scene = a_turn(scenario)
    review = scene.review
    scene.open.open()
    hunks = review.hunks(scene.open.editor)
    expect(hunks).to_have_count(2)
    review.undo(hunks.first)
    expect(hunks).to_have_count(1)
    review.keep(hunks)
    expect(hunks).to_have_count(0)
    scene.open.reads(f"# mine\n{OPEN.replace('return path', 'return open(path)')}")
    review.counts("4 changes in 2 files")
    closed = review.files().filter(has_text="closed.txt")
    closed.get_by_role("button", name="Undo").click()
    review.counts("3 changes in 1 file")
    assert scene.closed_file.read_bytes() == CLOSED_BYTES
    review.all().get_by_role("button", name="Keep all").click()
    review.is_over()
    scenario.wait(lambda: not scenario.talks.api("edits")["edits"], "the server has nothing left")


@pytest.mark.kept_page
def test_undo_of_the_turn_restores_every_byte_and_leaves_the_users_text(
    scenario: NotebookScenario,
) -> None:
    scene = a_turn(scenario)
    panel = scene.scenario.page.get_by_role("region", name="AI chat")
    panel.get_by_role("button", name="Undo this turn").click()
    scene.review.is_over()
    scene.open.reads(f"# mine\n{OPEN}")
    assert scene.closed_file.read_bytes() == CLOSED_BYTES
    assert scene.open_file.read_bytes() == OPEN.encode()
    scenario.wait(lambda: scenario.on_disk() == dict(CELLS), "the notebook is as it was")
    expect(panel.get_by_role("button", name="Undo this turn")).to_have_count(0)


@pytest.mark.full
def test_changes_of_files_are_there_after_a_reload_and_a_restart(
    scenario: NotebookScenario,
) -> None:
    scene = a_turn(scenario)
    scene.open.open()
    scenario.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save-all')")
    text = scene.open.text
    scenario.wait(lambda: scene.open_file.read_bytes() == text.encode(), "it is saved")
    scenario.lab.kill()
    scenario.lab.restart()
    scenario.page.reload()
    scenario.page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget")
    scene.review.counts("6 changes in 3 files")
    scene.open.open()
    hunks = scene.review.hunks(scene.open.editor)
    expect(hunks).to_have_count(2)
    scene.review.undo(hunks.last)
    expect(hunks).to_have_count(1)
    scene.open.reads(text.replace("return open(path)", "return path"))
