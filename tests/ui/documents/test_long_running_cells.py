"""Long-running cells, and cells that ask for input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import SimulatorProcess, calls, in_order, says
from tests.support.lab_server import Lab
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.stress import long_running_cell
from tests.ui.support.notebook_scenario import ConversationApi, NotebookScenario

RUN_SECONDS = 14.0
GRACE_SECONDS = 1.0


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[SimulatorProcess]:
    """The provider."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    started = SimulatorProcess(in_order(), folder).start()
    yield started
    started.stop()


@pytest.mark.full
def test_long_cell_goes_on_without_its_page_and_wakes_the_agent(
    start_lab: Any, workspace: Path, upstream: SimulatorProcess, page: Page
) -> None:
    args = [*long_running_cell.ARGUMENTS, f"--Shoulders.page_grace={GRACE_SECONDS}"]
    lab: Lab = start_lab(workspace, args=args, env=upstream.configure(workspace))
    long_running_cell.prepare(workspace, upstream, RUN_SECONDS)
    seen = long_running_cell.watch(lab, page, RUN_SECONDS)
    assert seen.text == long_running_cell.printed(RUN_SECONDS)
    assert seen.exits == ("final_response",)
    assert seen.kinds.count("run-end") == 1
    assert seen.kinds.index("tool-result") < seen.kinds.index("run-end")
    (result,) = ConversationApi(lab).of_type("tool-result")
    assert "tick" in result["content"][0]["text"]


ASK = "name = input('Your name? ')\nprint('Hello', name)"


def asked(scenario: NotebookScenario, source: str = ASK) -> tuple[OpenNotebook, Panel]:
    """Let the agent run a cell that asks for input; return the notebook and the panel."""
    run = calls("run_cell", {"path": scenario.path, "cell_id": "ask"})
    opened = scenario.open(("ask", source), ("mine", "y = 1"), replies=[run, says("Done.")])
    return opened, scenario.ask(allow=True)


@pytest.mark.full
def test_input_is_answered_in_the_cell_and_closed_in_the_chat(scenario: NotebookScenario) -> None:
    opened, panel = asked(scenario)
    box = opened.cell("ask").locator(".jp-Stdin-input")
    field = panel.root.get_by_label("Your name?")
    expect(field).to_be_visible()
    box.fill("Ada")
    box.press("Enter")
    expect(opened.output("ask").last).to_have_text("Hello Ada")
    expect(field).to_have_count(0)
    expect(box).to_have_count(0)
    scenario.ended()
    assert [event["answered"] for event in scenario.talks.of_type("stdin-answer")] == [True]
    assert "Ada" not in str(scenario.talks.of_type("stdin-answer"))


@pytest.mark.kept_page
def test_input_is_answered_in_the_chat_and_closed_in_the_cell(scenario: NotebookScenario) -> None:
    opened, panel = asked(scenario, "import getpass\nprint(len(getpass.getpass('Word? ')))")
    box = opened.cell("ask").locator(".jp-Stdin-input")
    expect(box).to_have_attribute("type", "password")
    field = panel.root.get_by_label("Word?")
    expect(field).to_have_attribute("type", "password")
    field.fill("hunter2")
    field.press("Enter")
    expect(opened.output("ask").last).to_have_text("7")
    expect(box).to_have_count(0)
    scenario.ended()


@pytest.mark.full
def test_input_survives_a_reload_and_does_not_take_the_keys_of_the_user(
    scenario: NotebookScenario,
) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "ask"})
    opened = scenario.open(("ask", ASK), ("mine", "y = 1"), replies=[run, says("Done.")])
    panel = scenario.ask()
    expect(panel.approval).to_be_visible()
    opened.editor("mine").click()
    scenario.allow_unseen()
    box = opened.cell("ask").locator(".jp-Stdin-input")
    expect(box).to_be_visible()
    scenario.page.keyboard.press("Control+End")
    scenario.page.keyboard.type("  # typed")
    opened.wait_for_source("mine", "y = 1  # typed")
    opened.save()
    scenario.page.reload()
    opened.shown()
    expect(box).to_be_visible()
    box.fill("Ada")
    box.press("Enter")
    expect(opened.output("ask").last).to_have_text("Hello Ada")
    scenario.ended()
    assert scenario.results() == ["ok"]
