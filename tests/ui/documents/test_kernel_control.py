"""The agent restarts and interrupts kernels of open notebooks."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.simulator_process import calls, says
from tests.ui.support.notebook_scenario import NotebookScenario

ENDLESS = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)"


@pytest.mark.full
def test_a_restart_by_the_agent_looks_like_one_from_the_menu(scenario: NotebookScenario) -> None:
    restart = calls("restart_kernel", {"path": scenario.path})
    opened = scenario.open(
        ("mine", ENDLESS), ("after", "'kept' in dir()"), replies=[restart, says("Done.")]
    )
    opened.ready()
    opened.editor("mine").click()
    scenario.page.keyboard.press("Control+Enter")
    expect(opened.output("mine")).to_have_text("begun")
    expect(opened.prompt("mine")).to_have_text("[*]:")
    panel = scenario.ask()
    expect(panel.approval).to_contain_text("Restart the kernel")
    expect(panel.approval).to_contain_text("all variables")
    panel.allow()
    panel.finished()
    assert scenario.results() == ["ok"]
    expect(opened.prompt("mine")).to_have_text("[ ]:")
    expect(opened.output("mine")).to_have_text("begun")
    expect(scenario.page.locator(".jp-Dialog")).to_have_count(0)
    opened.ready()
    opened.run("after")
    expect(opened.prompt("after")).to_have_text("[1]:")
    expect(opened.output("after")).to_have_text("False")


@pytest.mark.full
def test_an_interrupt_by_the_agent_ends_the_users_cell_and_keeps_the_variables(
    scenario: NotebookScenario,
) -> None:
    interrupt = calls("interrupt_kernel", {"path": scenario.path})
    opened = scenario.open(
        ("kept", "kept = 41"),
        ("mine", ENDLESS),
        ("after", "kept + 1"),
        replies=[interrupt, says("Done.")],
    )
    opened.ready()
    opened.run("kept")
    opened.editor("mine").click()
    scenario.page.keyboard.press("Control+Enter")
    expect(opened.output("mine")).to_have_text("begun")
    panel = scenario.ask()
    expect(panel.approval).to_contain_text("the user's code")
    panel.allow()
    panel.finished()
    assert scenario.results() == ["ok"]
    expect(opened.output("mine").last).to_contain_text("KeyboardInterrupt")
    opened.run("after")
    expect(opened.output("after")).to_have_text("42")
