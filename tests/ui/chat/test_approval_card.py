"""An approval card shows the call, its effect and the answers, at any width."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.notebook_scenario import NotebookScenario

TIDY = "import shutil\nimport requests\nshutil.rmtree('build')\nrequests.get('https://example.org')"
PICTURES = os.environ.get("SHOULDERS_PICTURES")
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")


@pytest.mark.parametrize(
    "width",
    [pytest.param(280, marks=pytest.mark.full), 380, pytest.param(600, marks=pytest.mark.full)],
)
def test_card_shows_verb_code_effects_and_readable_answers(
    scenario: NotebookScenario, page: Page, width: int
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    replies = [calls("run_cell", {"path": scenario.path, "cell_id": "tidy"}), says("Done.")]
    scenario.open(("tidy", TIDY), replies=replies)
    panel = Panel(page).open()
    panel.resize(width)
    panel.ask("Tidy up.")
    card = panel.approval
    expect(card.locator(".shoulders-Approval-effect")).to_have_text(
        ["Deletes files", "Uses the network"]
    )
    buttons = card.locator(".shoulders-Actions button")
    expect(buttons.first).to_have_text("Run")
    always = card.get_by_role("button", name=f"Always for {scenario.path}")
    expect(always).to_be_visible()
    for text in (always, card.locator(".shoulders-Approval-effects"), buttons.last):
        assert text.evaluate(
            "each => each.scrollWidth <= each.clientWidth + 1"
            " && each.getBoundingClientRect().right <= each.closest('section')"
            ".getBoundingClientRect().right"
        )
    expect(card).not_to_contain_text("This runs code.")
    _take_pictures(page, panel, width)
    card.get_by_role("button", name="Details").click()
    expect(card).to_contain_text("This runs code.")


@pytest.mark.full
def test_chain_of_commands_is_never_allowed_by_its_beginning(
    scenario: NotebookScenario, page: Page
) -> None:
    chains = ["ls && rm -rf build", "ls; rm -rf build", "ls | xargs rm", "ls $(rm -rf build)"]
    replies = [calls("run_command", {"command": chain}) for chain in chains]
    scenario.open(("one", "1"), replies=[*replies, says("As you like.")])
    panel = Panel(page).open()
    panel.ask("List the files.")
    for chain in chains:
        card = panel.approval
        expect(card).to_contain_text(chain)
        expect(card.locator(".shoulders-Approval-effect").first).to_have_text("Deletes files")
        expect(card.locator(".shoulders-Actions button")).to_have_text(
            ["Run", "No, do this instead…"]
        )
        card.get_by_role("button", name="No, do this instead…").press("Enter")
        page.keyboard.type("Not that.")
        page.keyboard.press("Enter")
    panel.finished()
    expect(panel.answers.last).to_contain_text("As you like.")


def _take_pictures(page: Page, panel: Panel, width: int) -> None:
    if PICTURES is None:
        return
    for theme in THEMES:
        page.evaluate(
            f"window.jupyterapp.commands.execute('apputils:change-theme', {{theme: '{theme}'}})"
        )
        page.wait_for_timeout(1500)
        panel.root.screenshot(path=f"{PICTURES}-{width}-{theme.split()[-1].lower()}.png")
