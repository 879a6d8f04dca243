"""The input: its field, its lists after `@` and `/`, pickers, and the request preview."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import StartSimulator, in_order, says
from tests.support.lab_server import StartLab
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

CELLS = (
    ("table", "import pandas as pd\nbikes = pd.DataFrame({'day': range(40), 'rides': range(40)})"),
    ("broken", "bikes['date'].mean()"),
)


@pytest.fixture
def files(scenario: NotebookScenario) -> Iterator[Path]:
    """Files with a unique name, found by `quokka`."""
    folder = scenario.lab.root / "quokka_data"
    folder.mkdir()
    (folder / "quokka rides.csv").write_text("day,rides\n1,42\n", encoding="utf-8")
    (scenario.lab.root / "quokka.ipynb").write_text(
        scenario.file.read_text() if scenario.file.exists() else ""
    )
    yield folder
    for path in (folder / "quokka rides.csv", scenario.lab.root / "quokka.ipynb"):
        path.unlink()
    folder.rmdir()


def opened(scenario: NotebookScenario, *replies: Any) -> tuple[OpenNotebook, Panel]:
    """A notebook with a table and an error, both run, and the panel."""
    notebook = scenario.open(*CELLS, replies=replies)
    notebook.run("table")
    notebook.run("broken")
    return notebook, Panel(scenario.page).open()


def beside_a_notebook(scenario: NotebookScenario, *replies: Any) -> Panel:
    """The panel, after an opened notebook that takes the focus."""
    scenario.open(*CELLS, replies=replies)
    return Panel(scenario.page).open()


def answered(panel: Panel, text: str) -> None:
    """Wait for an answer and the end of its turn."""
    expect(panel.answers.last).to_contain_text(text)
    panel.finished()


def options(panel: Panel) -> Locator:
    """The suggestions above the input."""
    return panel.root.get_by_role("option")


def group(panel: Panel, name: str) -> Locator:
    """The suggestions of one kind."""
    return panel.root.get_by_role("group", name=name, exact=True).get_by_role("option")


def attached(panel: Panel) -> Locator:
    """The attachments of the input."""
    return panel.root.locator(".shoulders-Composer .shoulders-mod-attached")


@pytest.mark.kept_page
@pytest.mark.shows("input.1", "input.2", "input.11")
def test_the_field_grows_to_ten_lines_sends_on_enter_and_keeps_its_draft(
    scenario: NotebookScenario, page: Page
) -> None:
    panel = beside_a_notebook(scenario, says("Twelve lines."))
    height = "element => element.clientHeight"
    heights = [panel.input.evaluate(height)]
    for line in range(12):
        panel.input.press_sequentially(f"line {line}")
        heights.append(panel.input.evaluate(height))
        if line < 11:
            panel.input.press("Shift+Enter")
    growth = [after - before for before, after in pairwise(heights[1:])]
    assert min(growth[:9]) >= max(growth[:9]) - 1 > 0, heights
    assert set(growth[9:]) == {0}, heights

    scenario.show(page)
    panel = Panel(page).open()
    expect(panel.input).to_have_value(re.compile("^line 0\n(.|\n)*line 11$"))
    panel.input.press("Enter")
    expect(panel.input).to_have_value("")
    answered(panel, "Twelve lines.")
    assert scenario.talks.of_type("message-add")[0]["text"].endswith("\nline 11")


@pytest.mark.kept_page
@pytest.mark.shows("input.3", "input.4")
def test_files_cells_variables_and_more_are_named_after_an_at_sign(
    scenario: NotebookScenario, page: Page, files: Path
) -> None:
    _, panel = opened(scenario, says("The mean is 19.5."))
    panel.input.press_sequentially("Why @")
    expect(group(panel, "Errors").first).to_contain_text("Error of cell 2")
    expect(group(panel, "Cells")).to_have_count(2)
    for _ in range(5):  # a busy machine's kernel does not answer before the list gives up
        if group(panel, "Variables").count():
            break
        panel.input.press("Backspace")
        expect(options(panel)).to_have_count(0)
        panel.input.press_sequentially("@")
        expect(group(panel, "Cells")).to_have_count(2)
        page.wait_for_timeout(1_000)
    expect(group(panel, "Variables")).to_have_text([re.compile(r"bikes.*DataFrame.*40 × 2")])
    expect(group(panel, "Notebooks").filter(has_text=scenario.path)).to_have_count(1)
    panel.input.press_sequentially("kka")
    expect(group(panel, "Files")).to_contain_text(["quokka rides.csv"])
    expect(group(panel, "Folders")).to_contain_text(["quokka_data"])
    expect(group(panel, "Notebooks")).to_contain_text(["quokka.ipynb"])

    page.keyboard.press("Escape")
    expect(options(panel)).to_have_count(0)
    expect(panel.input).to_have_value("Why @kka")
    expect(panel.input).to_be_focused()
    for _ in "kka":
        page.keyboard.press("Backspace")
    panel.input.press_sequentially("qokrides")  # letters of "quokka rides.csv" in order
    expect(options(panel)).to_have_count(1)
    page.keyboard.press("Tab")
    expect(panel.input).to_have_value("Why @quokka_data/quokka rides.csv ")
    panel.input.press_sequentially("@cell")
    expect(group(panel, "Cells")).to_have_count(2)
    chosen = options(panel).and_(panel.root.locator("[aria-selected=true]"))
    first = chosen.text_content() or ""
    page.keyboard.press("ArrowDown")
    expect(chosen).not_to_have_text(first)
    page.keyboard.press("ArrowUp")
    expect(chosen).to_have_text(first)
    page.keyboard.press("Enter")
    panel.input.press_sequentially("@bikes")
    expect(chosen).to_contain_text("bikes")
    page.keyboard.press("Enter")
    expect(attached(panel)).to_have_count(3)
    page.keyboard.press("Enter")
    answered(panel, "The mean is 19.5.")
    kinds = [each["kind"] for each in scenario.talks.of_type("message-add")[0]["attachments"]]
    assert [kinds[0], kinds[2]] == ["file", "variable"]
    assert kinds[1] in {"cell", "error"}
    told = json.dumps(scenario.upstream.requests()[-1])
    assert "1,42" in told
    assert "rides: " in told

    panel.root.get_by_role("button", name="New conversation").first.press("Enter")
    panel.input.press_sequentially("As in @")
    talk = group(panel, "Conversations").filter(has_text="Why @quokka_data")
    expect(talk.first).to_be_visible()


@pytest.mark.full
@pytest.mark.shows("input.6")
def test_commands_are_listed_and_done(scenario: NotebookScenario, page: Page) -> None:
    panel = beside_a_notebook(scenario, says("A plan."), says("Second plan."))
    panel.input.press_sequentially("/")
    listed = options(panel)
    expect(listed.first).to_be_visible()
    names = {text.split("\n")[0] for text in listed.all_inner_texts()}
    assert {"/model", "/clear", "/cost", "/tools", "/skills", "/plan", "/request"} <= names, names
    panel.input.press_sequentially("pla")
    expect(listed).to_have_count(1)
    panel.input.press_sequentially("n think first")
    page.keyboard.press("Enter")
    answered(panel, "A plan.")
    assert scenario.talks.of_type("turn-start")[-1]["mode"] == "plan"
    expect(panel.root.locator(".shoulders-User-text")).to_have_text("think first")

    def run(command: str) -> None:
        panel.input.fill(command)
        panel.input.press("Escape")
        panel.input.press("Enter")
        expect(panel.input).to_have_value("")

    panel.input.press_sequentially("/compact")
    expect(listed.first).to_contain_text("/compact")
    run("/compact")  # a single turn cannot be summarised
    expect(panel.root.get_by_text("There is nothing to summarise yet")).to_be_visible()
    run("/ask")
    expect(panel.root.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    for command, name, words in (
        ("/tools", "Tools", "run_cell"),
        ("/skills", "Skills", "shoulders-meta"),
        ("/cost", "Budget", "Per month"),
    ):
        run(command)
        sheet = panel.root.get_by_role("dialog", name=name)
        expect(sheet).to_contain_text(words)
        page.keyboard.press("Escape")
        expect(sheet).to_have_count(0)
        expect(panel.input).to_be_focused()
    with page.expect_download() as download:
        run("/export md")
    assert download.value.suggested_filename.endswith(".md")
    panel.input.fill("")
    panel.input.press_sequentially("/model ")
    expect(listed.filter(has_text="Simulated")).to_be_visible()
    page.keyboard.press("Escape")
    run("/clear")
    expect(panel.root.get_by_text("What shall we work on?")).to_be_visible()
    assert len(scenario.talks.all()) == 1


@pytest.mark.full
@pytest.mark.shows("input.7", "input.8", "input.10")
def test_mode_and_model_are_picked_and_a_full_context_is_red(
    start_lab: StartLab, workspace: Path, upstream: StartSimulator, page: Page
) -> None:
    simulator = upstream(in_order())
    env = simulator.configure(workspace)
    models = workspace / ".shoulders" / "models.json"
    configured = json.loads(models.read_text(encoding="utf-8"))
    (simulated,) = configured["models"]
    prices = {"input": 3_000_000, "output": 15_000_000}
    configured["models"] = [{**simulated, "prices": prices}]
    models.write_text(json.dumps(configured), encoding="utf-8")
    lab = start_lab(workspace, env=env)
    scenario = NotebookScenario(LabWithModel(lab, simulator), page, workspace / "a.ipynb")
    panel = beside_a_notebook(scenario, says("One."), says("Two."))

    panel.root.get_by_role("button", name="Ask", exact=True).press("Enter")
    expect(panel.root.get_by_role("menuitemradio")).to_have_count(3)
    panel.root.get_by_role("menuitemradio", name="Auto-edit").press("Enter")
    panel.root.get_by_role("button", name="Simulated").press("Enter")
    chosen = options(panel).filter(has_text="Simulated")
    expect(chosen).to_contain_text("200k context · $3 in, $15 out per M")
    search = panel.root.get_by_role("combobox", name="Search models")
    search.press_sequentially("simulat")
    expect(options(panel)).to_have_count(1)
    search.press("Enter")
    expect(panel.input).to_be_focused()
    panel.ask("Hello.")
    answered(panel, "One.")
    totals = panel.root.locator(".shoulders-UsageMeter")
    expect(totals).to_have_text(re.compile(r"^\d+(\.\d)?k\$0\.\d+$"))
    expect(totals).not_to_have_class(re.compile("shoulders-mod-full"))
    (begun,) = scenario.talks.of_type("step-start")

    window = int(begun["tokens_used"] / 0.82)  # more than 85 % would be summarised
    small = {"id": "small", "name": "Small one", "context_window": window, "max_output": 50}
    configured["models"].append({**simulated, **small})
    models.write_text(json.dumps(configured), encoding="utf-8")
    scenario.show(page)
    panel = Panel(page).open()
    panel.ask("/model small one")
    expect(panel.root.get_by_role("button", name="Small one")).to_be_visible()
    panel.ask("And now?")
    answered(panel, "Two.")
    starts = scenario.talks.of_type("turn-start")
    assert [(start["model"], start["mode"]) for start in starts] == [
        ("simulated", "auto_edit"),
        ("small", "auto_edit"),
    ]
    usage = scenario.talks.of_type("step-start")[-1]
    assert usage["tokens_used"] > 0.8 * usage["window"], usage
    expect(totals).to_have_class(re.compile("shoulders-mod-full"))
    red = [int(part) for part in re.findall(r"\d+", totals.evaluate(COLOUR))[:3]]
    assert red[0] > red[1] + 40, red


COLOUR = """element => {
    const pen = document.createElement('canvas').getContext('2d');
    pen.fillStyle = getComputedStyle(element).color;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].join(',');
}"""


@pytest.mark.full
@pytest.mark.shows("input.9")
def test_the_instructions_open_from_a_template_and_are_never_overwritten(
    scenario: NotebookScenario, page: Page
) -> None:
    file = scenario.lab.root / "_instructions.md"
    panel = beside_a_notebook(scenario)
    try:
        panel.root.get_by_role("button", name="Attach, and more").press("Enter")
        panel.root.get_by_role("menuitem", name=re.compile("^Instructions")).press("Enter")
        expect(page.locator(".jp-FileEditor:visible .cm-content")).to_contain_text("# Instructions")
        text = file.read_text(encoding="utf-8")
        assert "<!--" in text
        file.write_text("Use polars.\n", encoding="utf-8")
        page.reload()
        panel = Panel(page).open()
        panel.input.fill("/instructions")
        panel.input.press("Escape")
        panel.input.press("Enter")
        expect(page.locator(".jp-FileEditor:visible .cm-content")).to_contain_text("Use polars.")
        assert file.read_text(encoding="utf-8") == "Use polars.\n"
    finally:
        file.unlink(missing_ok=True)


@pytest.mark.full
@pytest.mark.shows("context.1", "context.2", "context.3")
def test_what_is_open_goes_along_unless_left_out_and_can_be_seen_before(
    scenario: NotebookScenario, page: Page
) -> None:
    notebook, panel = opened(scenario, says("Seen."))
    chips = panel.root.locator(".shoulders-Composer .shoulders-Chip")
    expect(chips).to_contain_text([scenario.path, "Cell 2"])
    notebook.editor("broken").click()
    page.keyboard.press("Control+Home")
    for _ in "bikes":
        page.keyboard.press("Shift+ArrowRight")
    expect(chips).to_contain_text([scenario.path, "Cell 2", "1 line selected"])
    page.keyboard.press("Control+;")
    page.keyboard.press("s")
    expect(attached(panel)).to_have_count(1)
    expect(panel.input).to_be_focused()
    panel.root.get_by_role("button", name="Remove Cell 2").press("Enter")
    expect(chips.filter(has_text="Cell 2")).to_have_count(0)

    panel.input.fill("What is this?")
    panel.root.get_by_role("button", name="Attach, and more").press("Enter")
    panel.root.get_by_role("menuitem", name=re.compile("^Show request")).press("Enter")
    sheet = panel.root.get_by_role("dialog", name="What is sent to the model")
    sheet.get_by_role("button", name=re.compile("^1. To the model")).press("Enter")
    shown = sheet.locator("pre").inner_text()
    assert "What is this?" in shown
    assert "bikes" in shown
    assert "cell broken" not in shown.replace("selection in cell broken", "")
    sheet.press("Escape")
    expect(sheet).to_have_count(0)
    panel.input.press("Enter")
    answered(panel, "Seen.")
    (sent,) = scenario.talks.of_type("message-add")
    assert sent["context"]["active_document"] == scenario.path
    assert sent["context"]["active_cell_id"] is None
    assert [each["text"] for each in sent["attachments"]] == ["bikes"]

    panel.input.fill("/request")
    panel.input.press("Escape")
    panel.input.press("Enter")
    sheet.get_by_role("combobox").select_option(label="Sent: step 1 of the last turn")
    expect(sheet.get_by_role("button", name=re.compile("^1. To the model"))).to_be_visible()
    sheet.get_by_role("button", name=re.compile("^1. To the model")).press("Enter")
    asked = scenario.upstream.requests()[0]["body"]["messages"][0]["content"]
    told = "\n\n".join(part["text"] for part in asked)
    assert squeezed(sheet.locator("pre").inner_text()) == squeezed(told)


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.full
@pytest.mark.shows("empty.1")
def test_ideas_fit_what_is_open_and_pre_fill_the_input(
    scenario: NotebookScenario, page: Page
) -> None:
    notebook, panel = opened(scenario)
    ideas = panel.root.get_by_role("group", name="Ideas").get_by_role("button")
    expect(ideas).to_have_text(
        [
            "Explain this error and fix it",
            "Summarise this notebook",
            "Plot a column of bikes",
            "Tidy up the imports",
        ]
    )
    notebook.editor("table").click()
    expect(ideas.first).to_have_text("Explain the error in cell 2 and fix it")
    ideas.nth(2).press("Enter")
    expect(panel.input).to_have_value("Plot a column of bikes")
    expect(panel.input).to_be_focused()
    assert scenario.talks.all() == []
