"""The change list at the end of a turn: keep, undo and go to changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import calls
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.notebook_scenario import NotebookScenario

CELLS = (("load", "x = 1\ny = 2"), ("old", "old()\nolder()"), ("plot", "plot(x)"))
SUMMARY = "The plot shows **y** now, what was old is gone, and `notes` tell of it."


@pytest.fixture(autouse=True)
def nothing_left(scenario: NotebookScenario) -> Iterator[None]:
    """Leave no pending edits: the next test's bar would count them."""
    yield
    for edit in scenario.talks.api("edits")["edits"]:
        scenario.talks.send("POST", f"edits/{edit['id']}", {"decision": "keep"})


@dataclass
class Scene:
    """A turn that changed three cells and two files, and completed."""

    scenario: NotebookScenario
    opened: OpenNotebook
    panel: Panel

    @property
    def banner(self) -> Locator:
        """The banner of the newest turn."""
        return self.panel.root.get_by_role("region", name="Completed").last

    @property
    def list(self) -> Locator:
        """The newest change list."""
        return self.panel.root.get_by_role("region", name="Changes of this turn").last

    def decision(self, text: str, words: str) -> Locator:
        """A button of a row: "Undo", "Keep"."""
        return self.row(text).get_by_role("button", name=re.compile(f"^{words}:"))

    def row(self, text: str) -> Locator:
        """A row of it."""
        return self.list.get_by_role("listitem").filter(has_text=text)


def step(name: str, **arguments: Any) -> dict[str, Any]:
    """A call among others of a reply."""
    return {"kind": "tool", "name": name, "arguments": arguments}


def a_completed_turn(scenario: NotebookScenario) -> Scene:
    """Let the agent change cells and files and complete its turn."""
    made = f"{scenario.file.stem}-notes.md"
    closed = scenario.file.with_name(f"{scenario.file.stem}-closed.txt")
    closed.write_text("first\nsecond\n")
    cell = {"path": scenario.path}
    opened = scenario.open(
        *CELLS,
        replies=[
            {
                "parts": [
                    step("read_notebook", path=scenario.path),
                    step("read_file", path=closed.name),
                ]
            },
            {
                "parts": [
                    step("edit_cell", **cell, cell_id="plot", source="plot(y)\nshow()"),
                    step("delete_cell", **cell, cell_id="old"),
                    step("add_cell", **cell, source="z = 3", after="plot"),
                    step("edit_file", path=closed.name, old_string="second", new_string="2nd"),
                    step("create_file", path=made, content="# Notes\n"),
                ]
            },
            calls("complete", {"summary": SUMMARY}),
        ],
    )
    panel = Panel(scenario.page).open()
    panel.ask("Tidy up.")
    scenario.wait(lambda: ended_or_allowed(scenario), "the turn ended")
    panel.finished()
    return Scene(scenario, opened, panel)


def ended_or_allowed(scenario: NotebookScenario) -> bool:
    """Allow the agent's requests; return whether the turn has ended."""
    asked = {event["call_id"] for event in scenario.talks.of_type("approval-request")}
    answered = {event["call_id"] for event in scenario.talks.of_type("approval-answer")}
    if asked - answered:
        scenario.allow_unseen()
    return bool(scenario.talks.of_type("turn-end"))


def sources(opened: OpenNotebook) -> dict[str, str]:
    """The notebook's cells in the page."""
    return {cell["id"]: cell["source"] for cell in opened.cells}


@pytest.mark.full
@pytest.mark.shows("waits.4", "waits.5", "waits.6")
def test_a_completed_turn_lists_what_it_changed_to_keep_undo_and_go_to(
    scenario: NotebookScenario,
) -> None:
    scene = a_completed_turn(scenario)
    expect(scene.banner).to_contain_text("The plot shows y now")
    expect(scene.list).to_contain_text("5 changes")
    rows = scene.list.get_by_role("listitem")
    expect(rows).to_have_count(5)
    opened, keys = scene.opened, scenario.page.keyboard

    # A deleted cell is shown with its text, and is restored at its position.
    ghost = scene.row("Deleted cell")
    expect(ghost.locator("del").first).to_have_text("old()")
    ghost.get_by_role("button", name="What changed").click()
    expect(ghost.locator("pre")).to_contain_text("older()")
    scene.decision("Deleted cell", "Restore").click()
    expect(scene.row("old()")).to_contain_text("restored")
    assert [cell["id"] for cell in opened.cells][:3] == ["load", "old", "plot"]

    # The name of a cell leads to its change, by keyboard too; the focus stays in the list.
    edited = scene.row("plot(y)")
    edited.get_by_role("button", name="Cell 3", exact=True).press("Enter")
    expect(scenario.page.locator(".jp-Notebook .cm-editor.cm-focused")).to_contain_text("plot(y)")
    assert opened.active == "plot"
    scene.decision("plot(y)", "Undo").press("Enter")
    opened.wait_for_source("plot", "plot(x)")
    expect(edited).to_contain_text("undone")
    expect(scene.list.locator(":focus")).to_have_count(1)
    keys.press("Shift+Tab")

    # Files: one undone, one kept and opened.
    scene.decision("closed.txt", "Undo").click()
    expect(scene.row("closed.txt")).to_contain_text("undone")
    closed = scenario.file.with_name(f"{scenario.file.stem}-closed.txt")
    assert closed.read_text() == "first\nsecond\n"
    scene.list.get_by_role("button", name="Keep all").click()
    expect(scene.row("notes.md")).to_contain_text("kept")
    expect(scene.row("z = 3")).to_contain_text("kept")
    scene.row("notes.md").get_by_role("button").click()
    expect(scenario.page.locator(".jp-FileEditor:visible")).to_contain_text("# Notes")
    scenario.wait(lambda: not scenario.talks.api("edits")["edits"], "nothing is left to decide")


@pytest.mark.full
def test_the_list_is_the_same_after_a_reload_and_in_another_page(
    scenario: NotebookScenario, other_page: Page
) -> None:
    scene = a_completed_turn(scenario)
    scene.opened.save()
    scenario.page.reload()
    Panel(scenario.page).open()
    expect(scene.list.get_by_role("listitem")).to_have_count(5)
    there = scenario.elsewhere(other_page).root.get_by_role("region", name="Changes of this turn")
    expect(there.get_by_role("listitem")).to_have_count(5)
    scene.decision("notes.md", "Remove").click()
    for page_list in (scene.list, there):
        gone = page_list.get_by_role("listitem").filter(has_text="notes.md")
        expect(gone).to_contain_text("undone")
    assert not scenario.file.with_name(f"{scenario.file.stem}-notes.md").exists()
    Panel(scenario.page).root.get_by_role("button", name="Undo this turn").click()
    for page_list in (scene.list, there):
        expect(page_list.get_by_text("restored")).to_have_count(1)
        expect(page_list.get_by_role("button", name=re.compile("^Keep:"))).to_have_count(0)
    scenario.wait(lambda: sources(scene.opened) == dict(CELLS), "the notebook is as it was")


@pytest.mark.full
@pytest.mark.shows("waits.6")
def test_a_deleted_cell_whose_text_is_lost_says_so_in_the_list_and_in_the_notebook(
    scenario: NotebookScenario,
) -> None:
    scene = a_completed_turn(scenario)
    scene.opened.save()
    event = next(
        event
        for event in scenario.talks.of_type("edit-pending")
        if event["cell_id"] == "old" and event["after"] is None
    )
    scenario.lab.stop()
    blob = event["before"]
    (stored,) = (scenario.lab.root / ".shoulders" / "blobs").rglob(f"*{blob[2:]}*")
    stored.unlink()
    scenario.lab.start()
    scenario.page.goto(scenario.lab.document_url(scenario.path))
    scene.opened.shown()
    Panel(scenario.page).open()
    row = scene.row("Deleted cell")
    expect(row).to_contain_text("cannot be restored here")
    card = scenario.page.get_by_role("group", name="Deleted cell (its text was not kept)")
    expect(card).to_be_visible()
    expect(scene.decision("Deleted cell", "Restore")).to_have_count(0)
    scene.decision("Deleted cell", "Dismiss").click()
    expect(card).to_have_count(0)
    expect(row).to_contain_text("kept deleted")
