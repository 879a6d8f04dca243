"""Inline actions at cells, outputs and selected text: the message and its attachments."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.simulator_process import says
from tests.ui.page_objects.inline_actions import Prompt, choose, writes
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.review import OpenFile
from tests.ui.support.notebook_scenario import NotebookScenario

CELLS = (("data", "print('rows: 42')\n7 * 6"), ("bad", "total = price * 3"), ("end", "y = 1"))


def sent(scenario: NotebookScenario) -> dict[str, Any]:
    """The last message that was sent."""
    return scenario.talks.of_type("message-add")[-1]


@pytest.mark.full
@pytest.mark.shows("affordances.1", "affordances.2", "affordances.3")
def test_errors_outputs_and_cells_are_asked_about_where_they_are(
    scenario: NotebookScenario,
) -> None:
    page = scenario.page
    opened = scenario.open(*CELLS, replies=[says(f"Answer {number}.") for number in range(1, 4)])
    opened.run("data")
    opened.editor("bad").click()
    page.keyboard.press("Control+Enter")
    error = opened.output("bad")
    expect(error).to_contain_text("NameError")

    bar = opened.cell("bad").get_by_role("group", name="Error")
    expect(bar).to_contain_text("NameError: name 'price' is not defined")
    expect(bar).to_contain_text("Line 1: total = price * 3")
    bar.get_by_role("button", name="Ask", exact=True).click()
    panel = Panel(page)
    expect(panel.input).to_be_focused()
    panel.ask("Why?")
    expect(panel.answers).to_have_text(["Answer 1."])
    (attached,) = sent(scenario)["attachments"]
    assert attached == {"kind": "error", "path": scenario.path, "cell_id": "bad"}
    assert "NameError" in str(scenario.upstream.requests()[-1]["body"])

    # The second output of the cell above; its button appears on hover.
    opened.cell("data").locator(".jp-OutputArea-child").nth(1).hover()
    buttons = opened.cell("data").get_by_role("button", name="Ask about this output")
    buttons.last.click()
    expect(panel.input).to_be_focused()
    panel.ask("What is this number?")
    scenario.ended(2)
    (attached,) = sent(scenario)["attachments"]
    assert attached == {"kind": "output", "path": scenario.path, "cell_id": "data", "index": 1}
    assert "42" in str(scenario.upstream.requests()[-1]["body"])

    opened.editor("end").click()
    choose(page, "Explain with AI")
    scenario.ended(3)
    assert sent(scenario)["text"] == "Explain cell 3."
    (cell,) = sent(scenario)["attachments"]
    assert cell == {"kind": "cell", "path": scenario.path, "cell_id": "end"}

    # By the context menu: the clicked output is attached.
    opened.output("data").first.click(button="right")
    page.get_by_role("menuitem", name="Ask AI About This Output").click()
    expect(panel.input).to_be_focused()
    opened.output("bad").click(button="right")
    expect(page.get_by_role("menuitem", name="Fix the Error and Run")).to_be_visible()
    page.keyboard.press("Escape")


@pytest.mark.full
@pytest.mark.shows("affordances.6")
def test_selected_text_of_cells_and_files_is_asked_about(scenario: NotebookScenario) -> None:
    page = scenario.page
    (scenario.lab.root / "area.py").write_text("import math\n\n\ndef area(r):\n    return r\n")
    opened = scenario.open(
        *CELLS, replies=[says("Answer 1."), writes("def area(radius):\n    return radius")]
    )
    opened.editor("data").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+End")
    button = page.get_by_role("button", name="Ask AI")
    expect(button).to_be_visible()
    expect(opened.editor("data")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(button).to_have_count(0)
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+End")
    button.click()
    panel = Panel(page)
    expect(panel.input).to_be_focused()
    panel.ask("Why?")
    scenario.ended()
    (attached,) = sent(scenario)["attachments"]
    assert attached == {
        "kind": "selection",
        "path": scenario.path,
        "cell_id": "data",
        "range": {"from": 0, "to": 17},
        "text": "print('rows: 42')",
        "before": "",
        "after": "\n7 * 6",
    }

    file = OpenFile(page, "area.py").open()
    file.editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Shift+ArrowUp")
    expect(button).to_be_visible()
    page.keyboard.press("Control+;")
    page.keyboard.press("s")
    expect(panel.input).to_be_focused()
    expect(panel.root).to_contain_text("area.py")

    # The same selection is edited in place, above the file's editor.
    file.editor.focus()
    page.keyboard.press("Control+;")
    page.keyboard.press("e")
    prompt = Prompt(page, "Change the selected text")
    prompt.ask("a longer name")
    prompt.button("Accept").click()
    prompt.is_over()
    file.reads("import math\n\n\ndef area(radius):\n    return radius\n")
