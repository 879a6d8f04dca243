"""Citations in answers: numbered chips that show a passage and open its place."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.notebook_scenario import NotebookScenario

CELLS = tuple((f"c{number}", f"a = {number}\nb = {number}") for number in range(1, 30))
CITED = ("cited", "# Zebra stripes by latitude\nstripes = latitude / 2")
MODULE = "\n" * 80 + "def count_zebras(herd):\n    return len(herd)\n" + "\n" * 80
LINE = 81


@pytest.fixture(autouse=True)
def unfollowed(scenario: NotebookScenario) -> Iterator[None]:
    """Turns following off, so that only citations scroll."""
    folder = scenario.lab.state / "settings" / "jupyter-ai-shoulders"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "follow.jupyterlab-settings"
    file.write_text(json.dumps({"follow": False}))
    yield
    file.unlink()


def answered(scenario: NotebookScenario, answer: str) -> tuple[OpenNotebook, Panel]:
    """A notebook, and an answer after a search that found one of its cells."""
    search = calls("semantic_search", {"query": "zebra stripes"})
    opened = scenario.open(*CELLS, CITED, replies=[search, says(answer)])
    panel = scenario.ask()
    panel.finished()
    return opened, panel


def chips(panel: Panel) -> Locator:
    """The numbers in the answer."""
    return panel.answers.locator(".shoulders-Citation-chip")


def to_the_top(page: Page) -> None:
    """Scroll up, as a user would."""
    page.locator(".jp-Notebook:visible").hover()
    page.mouse.wheel(0, -30_000)


def test_a_citation_shows_its_passage_and_opens_its_cell_wherever_it_has_moved(
    scenario: NotebookScenario,
) -> None:
    place = f"[[{scenario.path}#cited]]"
    opened, panel = answered(scenario, f"Halved {place}{place}. `[[not.py]]` [[../no.py]] {place}.")
    page = scenario.page
    expect(chips(panel)).to_have_text(["1", "1"])
    expect(panel.answers).to_contain_text("[[not.py]] [[../no.py]]")
    sources = panel.answers.get_by_role("region", name="Sources").get_by_role("button")
    expect(sources).to_have_count(1)
    chip = chips(panel).first
    chip.focus()
    tooltip = page.get_by_role("tooltip")
    expect(tooltip).to_contain_text(scenario.path)
    expect(tooltip).to_contain_text("stripes = latitude / 2")
    chip.press("Escape")
    expect(tooltip).to_have_count(0)
    to_the_top(page)
    expect(opened.cell("cited")).not_to_be_in_viewport()
    chip.press("Enter")
    expect(opened.cell("cited")).to_be_in_viewport()
    expect(opened.cell("cited").locator(".shoulders-mod-flash")).to_be_visible()
    assert opened.active == "cited"
    for _ in range(3):
        opened.command("notebook:move-cell-up")
    assert opened.ids[-4] == "cited"
    to_the_top(page)
    expect(opened.cell("cited")).not_to_be_in_viewport()
    chips(panel).last.click()
    expect(opened.cell("cited")).to_be_in_viewport()
    assert opened.active == "cited"
    opened.command("notebook:delete-cell")
    sources.press("Space")
    expect(panel.root.get_by_role("alert")).to_contain_text("The cited cell is no longer in")


def test_a_citation_of_a_line_opens_the_file_there(scenario: NotebookScenario) -> None:
    name = f"{scenario.file.stem}.py"
    scenario.file.with_name(name).write_text(MODULE)
    others = "".join(f" [[other-{number}.md]]" for number in range(3))
    _, panel = answered(scenario, f"See [[{name}:{LINE}]],{others}.")
    answers = panel.answers
    sources = answers.get_by_role("region", name="Sources")
    expect(sources.get_by_role("button")).to_have_count(1)
    sources.get_by_role("button", name="4 sources").press("Enter")
    sources.get_by_role("button", name=f"Source 1: {name}").press("Enter")
    editor = scenario.page.locator(".jp-FileEditor:visible")
    expect(editor.locator(".shoulders-Flash-line")).to_have_text("def count_zebras(herd):")
