"""The main workflow: the agent works in the open notebook and nothing is lost."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.notebook_scenario import SLOW_TEXT, NotebookScenario, streamed_text

TOUR = Path(__file__).parents[3] / "examples" / "tour.ipynb"
PROSE = " ".join(f"word{number}" for number in range(400))
ENDLESS = " ".join(f"word{number}" for number in range(8_000))
"""Takes more than three minutes to stream, so a stop is in the middle on any machine."""


@pytest.mark.full
def test_the_agent_fixes_the_open_notebook_beside_unsaved_typing(
    demo_scenario: NotebookScenario, page: Page
) -> None:
    scenario = demo_scenario
    shutil.copy(TOUR, scenario.file)
    page.goto(scenario.lab.document_url(scenario.path))
    tour = OpenNotebook(page).ready()
    tour.run("load-wines")
    tour.run("train-model")
    tour.type_at_end("count-wines", "  # mine, unsaved")
    tour.editor("count-mistakes").click()
    before = tour.source("count-mistakes")
    on_disk = scenario.file.read_bytes()

    panel = Panel(page).open()
    panel.ask("Why does this cell fail? Please fix it and run it again.")
    expect(panel.approval).to_be_visible()
    edited = tour.source("count-mistakes")
    assert edited != before
    assert "pandas" in edited
    asked = scenario.talks.wait_for_event("approval-request")
    assert asked["arguments"] == {"path": scenario.path, "cell_id": "count-mistakes"}
    assert asked["preview"] == edited
    expect(tour.output("count-mistakes")).to_have_count(0)
    panel.allow()
    panel.finished()

    # It ran in the same kernel: the user created `model` and `exam_variety` there.
    expect(tour.output("count-mistakes")).to_contain_text("taken for")
    assert scenario.talks.wait_for_event("turn-end")["exit"] in {"final_response", "ended_by_tool"}
    # The typed text is still unsaved, and the file was not written.
    assert tour.source("count-wines").endswith("  # mine, unsaved")
    assert tour.dirty
    assert scenario.file.read_bytes() == on_disk
    # Ctrl+Z in the edited cell undoes only the agent's edit.
    tour.editor("count-mistakes").click()
    page.keyboard.press("Control+z")
    assert tour.source("count-mistakes") == before
    assert tour.source("count-wines").endswith("  # mine, unsaved")


@pytest.mark.full
def test_a_run_goes_on_when_the_page_is_closed(
    scenario_soon_left: NotebookScenario, context: BrowserContext, page: Page
) -> None:
    scenario = scenario_soon_left
    run = calls("run_cell", {"path": scenario.path, "cell_id": "slow"})
    replies = [run, says("It counted to the end.")]
    slow = scenario.open(("slow", scenario.held), ("other", "1"), replies=replies)
    scenario.ask("Run the slow cell.", allow=True)
    expect(slow.output("slow")).to_contain_text("tick 2")
    page.close()
    scenario.let_go()

    assert scenario.talks.wait_for_event("turn-end")["exit"] == "final_response"
    scenario.wait(lambda: scenario.text_on_disk("slow") == SLOW_TEXT, "the outputs are on disk")
    again = context.new_page()
    again.goto(scenario.lab.document_url(scenario.path))
    reopened = OpenNotebook(again).ready()
    expect(reopened.output("slow")).to_contain_text(SLOW_TEXT.splitlines()[-1])
    assert scenario.text_on_disk("slow") == SLOW_TEXT
    panel = Panel(again).open()
    expect(panel.answers.last).to_contain_text("It counted to the end.")


@pytest.mark.full
@pytest.mark.shows("speed.4")
def test_reloading_twice_in_a_stream_shows_what_the_log_holds(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(says(PROSE, tokens_per_second=60))
    panel = scenario.open_panel()
    panel.ask("Write a lot.")
    for word in ("word40", "word120"):
        expect(panel.answers.last).to_contain_text(word)
        page.reload()
        panel = Panel(page).open()
    scenario.talks.wait_for_event("turn-end")
    panel.finished()
    log = scenario.talks.log()
    assert streamed_text(log) == PROSE
    expect(panel.answers.last).to_have_text(re.compile(rf"^\s*{PROSE}\s*$"))


def test_kill_9_in_a_stream_loses_nothing_that_was_shown(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(says(ENDLESS, tokens_per_second=40), says("And on it goes."))
    panel = scenario.open_panel()
    panel.ask("Write a lot.")
    expect(panel.answers.last).to_contain_text("word60")
    scenario.lab.kill()
    shown = (panel.answers.last.text_content() or "").strip()
    scenario.lab.start()

    session = scenario.talks.only()
    assert session["status"] == "interrupted"
    log = scenario.talks.log()
    assert [event["seq"] for event in log] == list(range(1, len(log) + 1))
    assert streamed_text(log).startswith(shown)
    assert len(shown) > len("word0 " * 40)
    # The open page reconnects and shows the interruption, and the conversation can continue.
    expect(panel.root.locator(".shoulders-Interrupted")).to_be_visible()
    panel.ask("Go on.")
    expect(panel.answers.last).to_contain_text("And on it goes.")
    ends = [event["exit"] for event in scenario.talks.log() if event["type"] == "turn-end"]
    assert ends[:1] == ["interrupted"]


@pytest.mark.kept_page
def test_an_edit_of_a_cell_the_user_changed_meanwhile_becomes_a_proposal(
    scenario: NotebookScenario, page: Page
) -> None:
    edit = {"path": scenario.path, "cell_id": "first", "source": "total = 2"}
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("clarify", {"question": "Shall I?", "options": ["Yes"]}),
        calls("edit_cell", edit),
        says("Your own change stands."),
    ]
    opened = scenario.open(("first", "total = 1"), ("second", "total"), replies=replies)
    panel = scenario.ask("Make the total two.")
    yes = panel.root.get_by_role("button", name="Yes")
    expect(yes).to_be_visible()
    opened.type_at_end("first", "000")
    yes.click()
    expect(panel.proposal).to_be_visible()
    panel.finished()
    assert opened.source("first") == "total = 1000"
    expect(panel.proposal).to_contain_text("total = 2")
    result = [event for event in scenario.talks.log() if event["type"] == "tool-result"][-1]
    assert result["status"] == "error"
    assert result["result"]["error"]["code"] == "stale"
    # Applying it is the user's decision.
    panel.proposal.get_by_role("button", name="Use the agent’s text").click()
    expect(panel.proposal).to_contain_text("applied")
    assert opened.source("first") == "total = 2"
