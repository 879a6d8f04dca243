"""The chat panel in a cell's output in JupyterLab: the same panel, connected through the kernel."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.chat.test_chat_panel import CONTRAST, THEMES, show_theme
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.widget_panel import SHOW, answered, note_in, panel_in
from tests.ui.support.accessibility_audit import audit
from tests.ui.support.notebook_scenario import NotebookScenario

ANSWER = "Because **water**.\n\n```python\ndef swim() -> str:\n    return 'penguin'\n```"
QUESTION = {"question": "Which column?", "options": ["price", "year"]}


def shown(
    scenario: NotebookScenario, *replies: object, more: tuple[tuple[str, str], ...] = ()
) -> OpenNotebook:
    """A notebook whose first cell shows a panel."""
    opened = scenario.open(SHOW, *more, replies=replies)  # pyright: ignore[reportArgumentType]
    opened.run("show")
    return opened


def test_an_answer_streams_and_tools_are_allowed_and_denied_in_the_output(
    scenario: NotebookScenario, page: Page
) -> None:
    name = f"{scenario.file.stem}.txt"
    write = calls("write_file", {"path": name, "content": "Yes."})
    shown(scenario, says(ANSWER), write, says("Written."), write, says("As you like."))
    panel = panel_in(page)
    expect(panel.root.locator(".shoulders-Chips")).to_contain_text(scenario.file.name)

    panel.ask("Why do penguins swim?")
    answered(panel, "Because water.")
    expect(panel.answers.locator("strong")).to_have_text("water")
    expect(panel.answers.locator(".shoulders-tok-keyword")).to_have_text(["def", "return"])
    code = panel.answers.locator(".shoulders-Code-bar")
    expect(code.get_by_role("button")).to_have_count(
        1
    )  # actions that need JupyterLab are not offered
    expect(code.get_by_role("button", name="Copy")).to_be_visible()

    panel.ask("Write it down.")
    expect(panel.approval).to_contain_text("Yes.")
    panel.allow()
    answered(panel, "Written.")
    assert (scenario.lab.root / name).read_text(encoding="utf-8") == "Yes."
    line = panel.root.locator(".shoulders-Call").filter(has_text=name).first
    expect(line).to_be_visible()

    (scenario.lab.root / name).write_text("No.", encoding="utf-8")
    panel.ask("Again.")
    panel.approval.get_by_role("button", name="No, do this instead…").press("Enter")
    panel.approval.get_by_role("textbox").fill("Keep it.")
    panel.approval.get_by_role("textbox").press("Enter")
    panel.finished()
    assert (scenario.lab.root / name).read_text(encoding="utf-8") == "No."
    assert scenario.talks.of_type("message-add")[0]["context"]["active_document"] == scenario.path


@pytest.mark.full
def test_questions_models_and_keys_stay_in_the_panel(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = shown(scenario, calls("clarify", QUESTION), says("By year."), more=(("two", "1 + 1"),))
    panel = panel_in(page)
    panel.root.get_by_role("button", name="Simulated").click()
    search = panel.root.get_by_role("combobox", name="Search models")
    search.press_sequentially("simulat")
    search.press("Enter")
    expect(panel.input).to_be_focused()

    # Each of these keys acts on a notebook in command mode.
    panel.input.press("Escape")
    panel.input.press_sequentially("ddaaxbb")
    panel.root.get_by_role("tab").first.press("d")
    page.keyboard.press("d")
    page.keyboard.press("b")
    assert opened.ids == ["show", "two"]
    panel.input.press("Shift+Enter")
    expect(panel.input).to_have_value("ddaaxbb\n")
    expect(opened.prompt("two")).to_have_text("[ ]:")

    panel.ask("Plot it.")
    panel.root.get_by_role("button", name="year").press("Enter")
    answered(panel, "By year.")
    assert [each["answer"] for each in scenario.talks.of_type("clarify-answer")] == [["year"]]


@pytest.mark.full
def test_a_running_cell_does_not_freeze_the_panel(scenario: NotebookScenario, page: Page) -> None:
    opened = shown(
        scenario, says("Still here."), says("And again."), more=(("busy", scenario.held),)
    )
    panel = panel_in(page)
    opened.editor("busy").click()
    page.keyboard.press("Control+Enter")
    expect(opened.prompt("busy")).to_have_text("[*]:")
    expect(opened.output("busy")).to_contain_text("tick 2")

    panel.ask("Are you there?")
    answered(panel, "Still here.")
    panel.ask("Still?")
    answered(panel, "And again.")
    expect(opened.prompt("busy")).to_have_text("[*]:")
    scenario.let_go()
    expect(opened.prompt("busy")).to_have_text(re.compile(r"\[\d+\]:"))
    expect(opened.output("busy")).to_contain_text("tick 14")


@pytest.mark.full
def test_two_views_and_the_side_panel_show_one_conversation_in_each_theme(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = shown(scenario, says(ANSWER), more=(("twice", "panel"),))
    panel = panel_in(page)
    panel.ask("Why?")
    answered(panel, "Because water.")
    opened.run("twice")
    both = page.get_by_role("region", name="AI panel").locator(".shoulders-Agent")
    expect(both).to_have_count(2)
    expect(both.nth(1)).to_contain_text("Because water.")

    side = Panel(page).open()
    expect(side.root).to_have_count(1)
    side.root.get_by_role("button", name="History").click()
    expect(side.root.locator(".shoulders-History-row")).to_contain_text(["Why?"])
    assert audit(page.locator(".shoulders-WidgetHost").first) == []
    for theme in THEMES:
        show_theme(page, theme)
        assert panel.root.first.evaluate(CONTRAST) == [], theme
        assert panel.root.first.evaluate(
            "root => getComputedStyle(root).backgroundColor"
        ) == side.root.evaluate("root => getComputedStyle(root).backgroundColor"), theme


@pytest.mark.full
def test_a_saved_notebook_shows_a_transcript_without_its_kernel(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = shown(scenario, says("Because **water**."))
    panel = panel_in(page)
    panel.ask("Why do penguins swim?")
    answered(panel, "Because water.")
    scenario.wait(
        lambda: any("water" in str(cell.get("outputs")) for cell in opened.cells),
        "the output holds the transcript",
    )
    opened.save()
    saved = scenario.file.read_text(encoding="utf-8")
    assert scenario.lab.token not in saved
    assert len(saved) < 40_000  # without the panel's code

    opened.command("kernelmenu:shutdown")
    page.goto(scenario.lab.document_url(scenario.path))
    OpenNotebook(page).shown()
    expect(opened.output("show").get_by_text("Why do penguins swim?").first).to_be_visible()
    expect(opened.output("show").locator("strong").get_by_text("water").first).to_be_visible()
    view = opened.output("show").first
    expect(view).to_have_text(
        re.compile("not found")
    )  # JupyterLab's text for a view without a kernel
    expect(view).to_be_hidden()


@pytest.mark.full
def test_a_kernel_that_was_restarted_is_named_and_its_panel_shown_anew(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = shown(scenario, says("Here."))
    panel = panel_in(page)
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    expect(note_in(page)).to_contain_text("Run this cell")
    opened.ready()
    opened.editor("show").click()
    page.keyboard.press("Control+Enter")
    expect(note_in(page)).to_have_count(0)
    expect(panel.input).to_be_enabled()
    panel.ask("Are you there?")
    answered(panel, "Here.")
