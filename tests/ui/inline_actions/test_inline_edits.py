"""In-place edits: a prompt, the preview in the editor, nothing written without the user."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.page_objects.inline_actions import (
    Prompt,
    choose,
    new_lines,
    old_lines,
    stalls,
    writes,
)
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.support.notebook_scenario import NotebookScenario

AREA = "import math\n\nradius = 2\nprint(math.pi * radius)\n\nname = 'circle'"
FIXED = "import math\n\nradius = 2\nprint(math.pi * radius**2)\n\nname = 'circle'"


# The colours of a number in the editor, of the same number in the new line, and of that line.
_COLOURS = """cell => {
    const number = place => [...cell.querySelectorAll(`${place} span`)]
        .find(span => span.children.length === 0 && span.textContent === '2');
    const line = cell.querySelector('.shoulders-Proposed-new');
    return [number('.cm-line'), number('.shoulders-Proposed-new'), line]
        .map(element => getComputedStyle(element).color);
}"""


def texts_of(request: dict[str, Any]) -> str:
    """All text of the model's request."""
    return json.dumps(request["body"], ensure_ascii=False)


@pytest.mark.kept_page
@pytest.mark.shows("affordances.4")
def test_an_edit_in_place_by_keyboard_keeps_what_is_typed_and_is_one_step_to_undo(
    scenario: NotebookScenario,
) -> None:
    page = scenario.page
    opened = scenario.open(
        ("area", AREA), ("end", "1"), replies=[stalls(FIXED[:40]), writes(FIXED)]
    )
    before = scenario.on_disk()
    cell = opened.cell("area")
    opened.editor("area").click()
    page.keyboard.press("Control+;")
    page.keyboard.press("e")
    prompt = Prompt(page)
    prompt.ask("use the area")
    expect(prompt.remark).to_contain_text("Writing")
    scenario.wait(lambda: scenario.talks.of_type("text-delta"), "something is written")
    assert opened.source("area") == AREA

    page.keyboard.press("Escape")  # stops the answer at the provider too
    scenario.ended()
    assert scenario.talks.of_type("turn-end")[-1]["exit"] == "cancelled"
    expect(prompt.field).to_have_value("use the area")
    assert old_lines(cell).count() == 0

    prompt.field.press("Enter")
    expect(prompt.remark).to_contain_text("Lines: 1 added, 1 removed")
    expect(old_lines(cell)).to_have_text("print(math.pi * radius)")
    expect(new_lines(cell)).to_have_text("print(math.pi * radius**2)")
    assert opened.source("area") == AREA
    expect(prompt.button("Accept")).to_be_focused()

    opened.type_at_end("area", "  # mine")
    expect(new_lines(cell)).to_have_count(1)
    prompt.button("Accept").press("Enter")
    prompt.is_over()
    opened.wait_for_source("area", f"{FIXED}  # mine")
    expect(opened.editor("area")).to_be_focused()
    page.keyboard.press("Control+z")
    opened.wait_for_source("area", f"{AREA}  # mine")
    assert scenario.on_disk() == before, "nothing is saved unasked"

    session = scenario.talks.only()
    assert (session["kind"], session["tools"], session["toolset"]) == ("chat", "disabled", "inline")
    assert session["title"] == "Edit cell 1: use the area"
    assert session["tokens_used"] > 0
    request = scenario.upstream.requests()[-1]
    assert "radius)\\n\\nname" in texts_of(request)
    assert "tools" not in request["body"]


@pytest.mark.full
def test_lines_that_would_come_have_the_colours_of_the_language(scenario: NotebookScenario) -> None:
    opened = scenario.open(("area", AREA), replies=[writes(FIXED)])
    opened.editor("area").click()
    choose(scenario.page, "Edit with AI…")
    prompt = Prompt(scenario.page)
    prompt.ask("use the area")
    expect(prompt.button("Accept")).to_be_visible()
    in_editor, in_new_line, plain = opened.cell("area").evaluate(_COLOURS)
    assert in_new_line == in_editor != plain


@pytest.mark.kept_page
@pytest.mark.shows("affordances.4")
def test_lines_changed_on_both_sides_are_a_question_and_nothing_is_lost(
    scenario: NotebookScenario,
) -> None:
    opened = scenario.open(("area", AREA), replies=[writes(FIXED), writes("print('mine too')")])
    opened.editor("area").click()
    choose(scenario.page, "Edit with AI…")
    prompt = Prompt(scenario.page)
    prompt.ask("use the area")
    expect(prompt.button("Accept")).to_be_visible()
    opened.editor("area").get_by_text("radius)").click()
    scenario.page.keyboard.press("End")
    scenario.page.keyboard.type(" # typed", delay=10)
    expect(prompt.remark).to_contain_text("You changed the same lines")
    expect(prompt.button("Accept")).to_have_count(0)
    expect(new_lines(opened.cell("area"))).to_have_text("print(math.pi * radius**2)")
    mine = opened.source("area")
    assert "# typed" in mine

    prompt.button("Ask again").click()
    expect(prompt.button("Accept")).to_be_visible()
    assert "# typed" in texts_of(scenario.upstream.requests()[-1])
    prompt.button("Discard").click()
    prompt.is_over()
    assert opened.source("area") == mine
    expect(opened.editor("area")).to_be_focused()


@pytest.mark.full
def test_prompts_follow_their_cells_and_come_back_into_view(scenario: NotebookScenario) -> None:
    page = scenario.page
    many = [(f"c{number}", f"x{number} = {number}\n" * 8) for number in range(60)]
    opened = scenario.open(*many, replies=[writes("x0 = 'new'")])
    opened.editor("c0").click()
    opened.command("jupyter-ai-shoulders:edit-with-ai", wait=False)
    prompt = Prompt(page)
    prompt.ask("shorter")
    expect(prompt.button("Accept")).to_be_visible()
    go_to(page, 59)
    expect(prompt.root).not_to_be_in_viewport()
    go_to(page, 0)
    expect(prompt.root).to_be_in_viewport()
    expect(new_lines(opened.cell("c0"))).to_have_text("x0 = 'new'")

    opened.command("notebook:move-cell-down")  # creates a new widget
    assert opened.ids[:2] == ["c1", "c0"]
    expect(opened.cell("c0").locator(".shoulders-Prompt")).to_have_count(1)
    expect(new_lines(opened.cell("c0"))).to_have_text("x0 = 'new'")
    prompt.button("Accept").click()
    prompt.is_over()
    assert opened.source("c0") == "x0 = 'new'\n"


def go_to(page: Page, index: int) -> None:
    """Scroll to a cell as JupyterLab does."""
    page.evaluate(
        f"""async () => {{
            const {{content}} = window.jupyterapp.shell.currentWidget;
            content.activeCellIndex = {index};
            await content.scrollToItem({index});
        }}"""
    )


@pytest.mark.full
@pytest.mark.shows("affordances.4", "affordances.5")
def test_markdown_and_raw_cells_are_rewritten_and_locked_ones_are_not(
    scenario: NotebookScenario,
) -> None:
    page = scenario.page
    opened = scenario.open(
        ("text", "# Circles\n\nSome areas."),
        ("raw", "raw: 1"),
        ("locked", "x = 1"),
        replies=[
            writes("# Circles\n\nAreas of circles, with ```code``` in them.", "markdown"),
            writes("raw: 2", "yaml"),
            writes("Now *this*.", "markdown"),
        ],
    )
    make(opened, "text", "markdown")
    make(opened, "raw", "raw")
    page.keyboard.press("Escape")
    opened.cell("text").click()
    opened.command("notebook:run-cell-and-select-next")
    expect(opened.cell("text").get_by_role("heading", name="Circles")).to_be_visible()

    edit(opened, "text", "more")
    Prompt(page).button("Accept").click()
    expect(opened.cell("text").locator("p")).to_contain_text("Areas of circles")
    Prompt(page).is_over()

    edit(opened, "raw", "two")
    Prompt(page).button("Discard").click()
    Prompt(page).is_over()
    assert opened.source("raw") == "raw: 1"

    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells[2]"
        ".setMetadata('editable', false)"
    )
    select(opened, "locked")
    opened.command("jupyter-ai-shoulders:edit-with-ai", wait=False)
    expect(Prompt(page).remark).to_have_text("This cell cannot be changed: it is locked.")
    expect(Prompt(page).button("Generate (Enter)")).to_be_disabled()
    Prompt(page).field.press("Escape")
    Prompt(page).is_over()

    choose(page, "Write a Cell Below with AI…")
    new = Prompt(page, "Write a new cell below")
    new.ask("say something")
    expect(new.root.get_by_label("New Markdown cell, not inserted yet")).to_have_text("Now *this*.")
    assert len(opened.ids) == 3
    new.button("Accept").click()
    new.is_over()
    assert opened.cells[3]["source"] == "Now *this*."
    assert opened.cells[3]["cell_type"] == "markdown"
    assert opened.active == opened.ids[3]
    opened.command("notebook:undo-cell-action")
    assert len(opened.ids) == 3


def edit(opened: OpenNotebook, cell_id: str, instruction: str) -> None:
    """Submit an instruction for a cell and wait until the result can be accepted."""
    select(opened, cell_id)
    opened.command("jupyter-ai-shoulders:edit-with-ai", wait=False)
    prompt = Prompt(opened.page)
    prompt.ask(instruction)
    expect(prompt.button("Accept")).to_be_visible()


def select(opened: OpenNotebook, cell_id: str) -> None:
    """Make a cell the active one."""
    go_to(opened.page, opened.ids.index(cell_id))


def make(opened: OpenNotebook, cell_id: str, cell_type: str) -> None:
    """Change the type of a cell."""
    select(opened, cell_id)
    opened.command(f"notebook:change-cell-to-{cell_type}")
