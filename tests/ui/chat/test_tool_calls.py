"""Lines of tool calls, approvals and the status line, in a real browser."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.notebook_scenario import NotebookScenario

pytestmark = pytest.mark.full

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PICTURE = f"""\
import base64
from IPython.display import Image
Image(base64.b64decode("{PIXEL}"))
"""
RED = """line => {
    const [red, green, blue] = getComputedStyle(line).color.match(/[0-9.]+/g).map(Number);
    return red > 1.4 * green && red > 1.4 * blue;
}"""


def step(name: str, **arguments: Any) -> dict[str, Any]:
    """A call among others of a reply."""
    return {"kind": "tool", "name": name, "arguments": arguments}


def line(panel: Panel, text: str) -> Locator:
    """The line of a call."""
    return panel.root.locator(".shoulders-Call", has_text=text).last


def allow_in_menu(panel: Panel, scope: str) -> None:
    """Allow the waiting call for longer than once."""
    panel.approval.get_by_role("button", name="Allow for less…").click()
    panel.root.get_by_role("menuitem", name=scope).click()


@pytest.mark.shows("calls.1", "calls.2", "calls.3", "calls.4", "status.1")
def test_calls_are_quiet_lines_that_open_to_what_went_in_and_came_out(
    scenario: NotebookScenario,
) -> None:
    folder = scenario.lab.root / scenario.file.stem
    folder.mkdir()
    names = [f"{name}.py" for name in ("clean", "load", "model", "plot", "report", "tools")]
    for name in names:
        (folder / name).write_text("x = 1\n")
    paths = [f"{folder.name}/{name}" for name in names]
    scenario.write(("slow", scenario.held), ("picture", PICTURE))
    cell = {"path": scenario.path}
    scenario.play(
        {"parts": [step("read_file", path=path) for path in paths]},
        {
            "parts": [
                {"kind": "text", "text": "I run it."},
                step("run_cell", **cell, cell_id="slow"),
            ]
        },
        {"parts": [step("run_cell", **cell, cell_id="picture"), step("read_file", path="none.py")]},
        calls("read_notebook", cell),
        calls("edit_cell", {**cell, "cell_id": "slow", "source": "y = 2"}),
        calls("run_cell", {**cell, "cell_id": "slow"}),
        says("That is all."),
    )
    scenario.show(scenario.page)
    panel = scenario.ask("Go through them.")
    allow_in_menu(panel, "For this notebook")

    # While it runs: what, how far, how long, and a dot that pulses.
    running = line(panel, "Run cell 1")
    expect(running.locator(".shoulders-Pulse")).to_be_visible()
    expect(panel.status).to_contain_text(
        re.compile(rf"Run cell 1 · {re.escape(scenario.file.name)}")
    )
    expect(panel.status).to_contain_text(re.compile(r"Step 2/\d+ · \d+ s"))
    expect(panel.status.get_by_role("button", name="Stop (Esc)")).to_be_visible()
    reads = line(panel, "Read 6 files")
    assert reads.evaluate("line => line.firstElementChild.getBoundingClientRect().height") == 28
    expect(reads).to_contain_text("clean.py, load.py")
    expect(reads.locator(".shoulders-Icon svg").first).to_be_visible()
    reads.locator("button").first.click()
    expect(reads.locator(".shoulders-Call")).to_have_count(6)
    scenario.let_go()
    expect(panel.answers.last).to_contain_text("That is all.")
    panel.finished()

    # Nothing is said of what went well; what failed is red.
    expect(panel.root.locator(".shoulders-Call .shoulders-Pulse")).to_have_count(0)
    expect(line(panel, "Run cell 2").locator(".shoulders-Call-note")).to_have_count(0)
    failed = line(panel, "none.py")
    expect(failed).to_contain_text("failed")
    assert failed.locator("button").first.evaluate(RED)

    # A click opens the exact input and output: text, picture, difference.
    ran = panel.root.locator(".shoulders-Call", has_text="Run cell 1").first
    ran.locator("button").first.click()
    expect(ran).to_contain_text("slow")
    expect(ran).to_contain_text("tick 14")
    picture = line(panel, "Run cell 2")
    picture.locator("button").first.click()
    shown = picture.get_by_role("img", name="Output of the call")
    expect(shown).to_have_attribute("src", f"data:image/png;base64,{PIXEL}")
    edited = line(panel, "Edit cell 1")
    edited.locator("button").first.click()
    expect(edited.locator(".shoulders-Diff")).to_contain_text("+y = 2")
    edited.get_by_role("button", name="Exact arguments").click()
    expect(edited.locator("dd").last).to_contain_text("y = 2")


@pytest.mark.shows("approvals.1", "approvals.2")
def test_an_approval_shows_exactly_what_why_and_how_long_it_took(
    scenario: NotebookScenario,
) -> None:
    scenario.write(("fit", "model = fit(x, epochs=3)  # slow\nmodel"), ("next", "1 + 1"))
    content = json.loads(scenario.file.read_text())
    content["cells"][0]["metadata"]["execution"] = {
        "iopub.execute_input": "2026-11-21T10:00:00.000Z",
        "shell.execute_reply": "2026-11-21T10:41:00.000Z",
    }
    scenario.file.write_text(json.dumps(content))
    cell = {"path": scenario.path}
    note = scenario.file.with_name("note.txt")
    note.write_text("one\ntwo\n")
    scenario.play(
        calls("run_cell", {**cell, "cell_id": "fit"}),
        calls("run_cell", {**cell, "cell_id": "next"}),
        calls("read_file", {"path": note.name}),
        calls("edit_file", {"path": note.name, "old_string": "two", "new_string": "2"}),
        calls("run_command", {"command": "cat note.txt | wc -l"}),
        says("Then in Python."),
    )
    scenario.show(scenario.page)
    panel = scenario.ask("Fit it.")
    card = panel.approval
    expect(card).to_contain_text("model = fit(x, epochs=3)  # slow")
    expect(card.locator("code span", has_text="# slow")).to_have_class(re.compile("."))
    card.get_by_role("button", name="Details").click()
    expect(card).to_contain_text("This runs code. It took 41 min last time.")
    expect(card.locator("dl")).to_contain_text(scenario.path)
    expect(card.locator("dl")).to_contain_text("fit")
    expect(card.get_by_role("button", name=f"Always for {scenario.path}")).to_be_visible()
    card.get_by_role("button", name="Allow for less…").click()
    choices = panel.root.get_by_role("menuitem")
    expect(choices).to_have_text(
        [
            re.compile("^For this notebook"),
            re.compile("^In this conversation"),
        ]
    )
    choices.first.click()

    # The next run in this notebook does not ask. An edit is shown as its difference.
    expect(card.locator(".shoulders-Diff-line.shoulders-mod-old")).to_have_text("−two")
    expect(card.locator(".shoulders-Diff-line.shoulders-mod-new")).to_have_text("+2")
    panel.approval.get_by_role("button", name="Allow in this conversation").click()

    # A command is shown whole, with whether a sandbox holds it.
    expect(card).to_contain_text("cat note.txt | wc -l")
    expect(card.locator(".shoulders-Badge").first).to_contain_text("sandboxed")
    card.get_by_role("button", name="No, do this instead…").click()
    field = card.get_by_role("textbox")
    expect(field).to_be_focused()
    field.fill("Count them in Python.")
    field.press("Enter")
    panel.finished()
    expect(panel.input).to_be_focused()
    expect(line(panel, "cat note.txt")).to_contain_text("denied")
    answers = [
        (event["decision"], event["scope"], event["feedback"])
        for event in scenario.talks.of_type("approval-answer")
        if event["by"] == "user"
    ]
    assert answers == [
        ("allow", "document", None),
        ("allow", "session", None),
        ("deny", "once", "Count them in Python."),
    ]


@pytest.mark.shows("status.1", "status.2")
def test_what_is_said_meanwhile_waits_changeable_and_esc_stops(scenario: NotebookScenario) -> None:
    scenario.write(("slow", scenario.held))
    run = calls("run_cell", {"path": scenario.path, "cell_id": "slow"})
    scenario.play(run, run, says("Read both."))
    scenario.show(scenario.page)
    panel = scenario.ask("Run it.", allow=True)
    expect(line(panel, "Run cell 1").locator(".shoulders-Pulse")).to_be_visible()
    panel.input.press("Escape")
    panel.finished()
    expect(line(panel, "Run cell 1")).to_contain_text("stopped")
    assert scenario.talks.of_type("turn-end")[-1]["exit"] == "cancelled"

    panel.ask("Run it again.")
    panel.allow()
    expect(line(panel, "Run cell 1").locator(".shoulders-Pulse")).to_be_visible()
    for text in ("first", "second", "third"):
        panel.ask(text)
    expect(panel.queued).to_have_count(3)
    panel.queued.nth(1).get_by_role("button", name="Edit").click()
    field = panel.queued.nth(1).get_by_role("textbox")
    expect(field).to_be_focused()
    field.press_sequentially(" thought")
    field.press("Shift+Enter")
    field.press_sequentially("of two lines")
    field.press("Enter")
    expect(panel.queued.nth(1)).to_contain_text("second thought")
    panel.queued.nth(0).get_by_role("button", name="Remove").click()
    expect(panel.queued).to_have_count(2)
    panel.queued.nth(1).get_by_role("button", name="Edit").click()
    panel.queued.nth(1).get_by_role("textbox").press_sequentially(", unsaved")
    scenario.let_go()
    expect(panel.answers.last).to_contain_text("Read both.")
    panel.finished()
    expect(panel.queued).to_have_count(0)
    said = [event["text"] for event in scenario.talks.of_type("message-update") if event["text"]]
    assert said[-1] == "second thought\nof two lines"
    expect(panel.input).to_have_value("third, unsaved")  # nothing that was typed is lost
