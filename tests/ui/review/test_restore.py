"""Restoring to before a message: the dialog, the notebook, the kernel."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.simulator_process import calls, says
from tests.ui.support.notebook_scenario import NotebookScenario


def several(path: str) -> dict[str, object]:
    """A reply that edits, adds and deletes."""
    made = (
        ("edit_cell", {"cell_id": "one", "source": "x = 2"}),
        ("add_cell", {"source": "z = 3", "after": "one"}),
        ("delete_cell", {"cell_id": "gone"}),
    )
    parts = [
        {"kind": "tool", "name": name, "arguments": {"path": path, **more}} for name, more in made
    ]
    return {"parts": parts}


def shown(cells: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The visible properties of cells."""
    return [(cell["source"], cell["outputs"], cell["execution_count"]) for cell in cells]


@pytest.mark.kept_page
def test_restore_in_the_open_notebook_keeps_what_was_typed_and_names_what_ran(
    scenario: NotebookScenario,
) -> None:
    opened = scenario.open(
        ("one", "x = 1"),
        ("gone", "print('kept output')"),
        ("mine", "y = 1"),
        replies=[
            calls("read_notebook", {"path": scenario.path}),
            several(scenario.path),
            calls("run_cell", {"path": scenario.path, "cell_id": "one"}),
            says("Done."),
        ],
    )
    opened.run("gone")
    before = opened.cells
    panel = scenario.ask("Tidy up, please.", allow=True)
    scenario.ended()
    opened.wait_for_source("one", "x = 2")
    assert "gone" not in opened.ids
    opened.type_at_end("mine", "  # typed")

    message = panel.root.locator(".shoulders-User")
    message.hover()
    message.get_by_role("button", name="Restore to before this message").press("Enter")
    dialog = panel.root.get_by_role("dialog", name="Restore to before this message")
    expect(dialog.get_by_role("checkbox", name="Notebooks")).to_be_focused()
    expect(dialog.get_by_role("checkbox", name="Conversation")).to_be_checked()
    scenario.page.keyboard.press("Enter")

    expect(dialog).to_have_count(0)
    expect(panel.input).to_have_value("Tidy up, please.")
    expect(message).to_have_count(0)
    opened.wait_for_source("one", "x = 1")
    assert opened.ids == ["one", "gone", "mine"]
    assert opened.source("mine") == "y = 1  # typed"
    assert shown(opened.cells[:2]) == shown(before[:2])
    line = panel.root.locator(".shoulders-Restore")
    expect(line).to_contain_text("Restored with the conversation")
    expect(line).to_contain_text("still holds what these cells did: “x = 2”. They defined x.")
    line.get_by_role("button", name="Restored with the conversation").click()
    expect(line).to_contain_text("1 cell removed")
    expect(line).to_contain_text("1 cell restored")
    line.get_by_role("button", name="Restart kernel").click()
    expect(scenario.page.locator(".jp-Dialog")).to_contain_text("Restart Kernel")
    scenario.page.locator(".jp-Dialog").get_by_role("button", name="Cancel").click()
    line.get_by_role("button", name="Undo this restore").click()
    opened.wait_for_source("one", "x = 2")
    assert "gone" not in opened.ids
    assert opened.source("mine") == "y = 1  # typed"
