"""Pages that open, close, sleep and lag."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.stress import page_reloads
from tests.ui.support.network_faults import SOCKET, Hold, Wire
from tests.ui.support.notebook_scenario import NotebookScenario, streamed_text

RELOADS = 20
PROSE = " ".join(f"word{number}" for number in range(150))


def run_first(scenario: NotebookScenario) -> dict[str, Any]:
    """A call that runs the only cell of the notebook."""
    scenario.write(("first", "total = 1"))
    return calls("run_cell", {"path": scenario.path, "cell_id": "first"})


@pytest.mark.full
@pytest.mark.shows("speed.4")
def test_twenty_reloads_at_random_moments_of_a_stream_show_what_the_log_holds(
    scenario: NotebookScenario, page: Page
) -> None:
    text = page_reloads.prose(RELOADS)
    scenario.upstream.play(page_reloads.script(text))
    tally = page_reloads.storm(scenario.talks, page, RELOADS, seed=7)
    page_reloads.check(scenario.talks, page, tally, text)
    assert tally.texts


@pytest.mark.shows("approvals.4")
def test_approval_and_queued_message_survive_kill_9_and_are_answered_from_another_page(
    scenario: NotebookScenario,
    context: BrowserContext,
    page: Page,
) -> None:
    scenario.play(run_first(scenario), says("It is one."), says("It is one."))
    panel = scenario.open_panel()
    panel.ask("Run it.")
    expect(panel.approval).to_be_visible()
    panel.ask("And tell me more.")
    expect(panel.queued).to_contain_text("And tell me more.")

    scenario.lab.kill()
    scenario.lab.start()
    page.reload()
    panel = Panel(page).open()
    expect(panel.approval).to_be_visible()
    expect(panel.queued).to_contain_text("And tell me more.")

    elsewhere = scenario.elsewhere(context.new_page())
    expect(elsewhere.queued).to_contain_text("And tell me more.")
    elsewhere.allow()
    for each in (elsewhere, panel):
        each.finished()
        expect(each.approval).to_have_count(0)
        expect(each.queued).to_have_count(0)
        expect(each.answers.last).to_contain_text("It is one.")
    log = scenario.talks.log()
    assert [e["decision"] for e in log if e["type"] == "approval-answer"] == ["allow"]
    added = [e["text"] for e in log if e["type"] == "message-add"]
    assert added == ["Run it.", "And tell me more."]


@pytest.mark.full
def test_the_second_answer_to_an_approval_is_told_so(
    scenario: NotebookScenario,
    context: BrowserContext,
    page: Page,
) -> None:
    scenario.play(run_first(scenario), says("It is one."))
    panel = scenario.open_panel()
    panel.ask("Run it.")
    expect(panel.approval).to_be_visible()
    other = context.new_page()
    hold = Hold(other)
    elsewhere = scenario.elsewhere(other)
    expect(elsewhere.approval).to_be_visible()
    hold.begin()
    panel.allow()
    panel.finished()
    elsewhere.approval.get_by_role("button", name="No, do this instead…").first.click()
    other.keyboard.press("Enter")
    expect(elsewhere.approval).to_contain_text("This has already been answered.")
    answers = [e["decision"] for e in scenario.talks.log() if e["type"] == "approval-answer"]
    assert answers == ["allow"]


@pytest.mark.full
def test_a_proposal_waits_for_a_page_that_was_closed_and_a_server_that_was_killed(
    scenario: NotebookScenario,
    context: BrowserContext,
    page: Page,
) -> None:
    edit = {"path": scenario.path, "cell_id": "first", "source": "total = 2"}
    scenario.write(("first", "total = 1"))
    scenario.play(
        calls("read_notebook", {"path": scenario.path}),
        calls("clarify", {"question": "Shall I?", "options": ["Yes"]}),
        calls("edit_cell", edit),
        says("Your own change stands."),
    )
    panel = scenario.open_panel()
    panel.ask("Make it two.")
    yes = panel.root.get_by_role("button", name="Yes")
    expect(yes).to_be_visible()
    scenario.write(("first", "total = 1000"))
    yes.click()
    panel.allow()  # a file that no page shows needs approval
    expect(panel.proposal).to_be_visible()
    panel.finished()
    page.close()
    scenario.lab.kill()
    scenario.lab.start()

    again = scenario.elsewhere(context.new_page())
    expect(again.proposal).to_contain_text("total = 2")
    again.proposal.get_by_role("button", name="Use the agent’s text").click()
    expect(again.proposal).to_contain_text("applied")
    assert scenario.on_disk() == {"first": "total = 2"}


@pytest.mark.full
def test_a_page_opened_after_the_end_shows_the_whole_turn(
    scenario: NotebookScenario,
    context: BrowserContext,
    page: Page,
) -> None:
    scenario.play(says(PROSE, tokens_per_second=60))
    panel = scenario.open_panel()
    panel.ask("Write a lot.")
    expect(panel.answers.last).to_contain_text("word9")
    page.close()
    scenario.talks.wait_for_event("turn-end")
    again = context.new_page()
    again.goto(scenario.lab.url("lab"))
    panel = Panel(again).open()
    expect(panel.answers.last).to_have_text(re.compile(rf"^\s*{PROSE}\s*$"))
    panel.finished()
    assert scenario.talks.only()["status"] == "idle"


@pytest.mark.full
def test_a_page_that_was_offline_shows_all_it_missed(
    scenario: NotebookScenario,
    context: BrowserContext,
    page: Page,
) -> None:
    scenario.play(says(PROSE, tokens_per_second=60))
    panel = scenario.open_panel()
    panel.ask("Write a lot.")
    expect(panel.answers.last).to_contain_text("word9")
    context.set_offline(True)
    scenario.talks.wait_for_event("turn-end")
    context.set_offline(False)
    expect(panel.answers.last).to_have_text(re.compile(rf"^\s*{PROSE}\s*$"))
    panel.finished()
    assert streamed_text(scenario.talks.log()) == PROSE


@pytest.fixture
def wire(scenario: NotebookScenario) -> Iterator[Wire]:
    """A proxy to the server."""
    made = Wire(scenario.lab.port)
    yield made
    made.close()


@pytest.mark.full
def test_a_page_whose_connection_died_in_silence_shows_all_once_it_wakes(
    scenario: NotebookScenario, wire: Wire, context: BrowserContext, page: Page
) -> None:
    scenario.play(says("Before."), says("During the outage."))
    page.goto(scenario.lab.url("lab", reset="").replace(f":{scenario.lab.port}/", f":{wire.port}/"))
    panel = Panel(page).open()
    panel.ask("Begin.")
    expect(panel.answers.last).to_contain_text("Before.")
    panel.finished()
    wire.die()
    elsewhere = scenario.elsewhere(context.new_page())
    elsewhere.ask("Go on.")
    expect(elsewhere.answers.last).to_contain_text("During the outage.")
    expect(panel.answers.last).to_contain_text("Before.")
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    expect(panel.answers.last).to_contain_text("During the outage.")
    panel.finished()


@pytest.mark.full
def test_a_page_from_before_an_update_asks_to_be_reloaded(
    demo_scenario: NotebookScenario, page: Page
) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    newer: list[bool] = [True]

    def update(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        route.on_message(server.send)

        def told(text: str | bytes) -> None:
            frame = json.loads(text)
            if newer and frame["type"] == "welcome":
                frame["wire_version"] += 1
                route.send(json.dumps({"type": "of-the-future", "content": [frame]}))
            route.send(json.dumps(frame))

        server.on_message(told)

    page.route_web_socket(SOCKET, update)
    panel = demo_scenario.open_panel()
    banner = panel.root.locator(".shoulders-Banner")
    expect(banner).to_contain_text("reload", ignore_case=True)
    newer.clear()
    banner.get_by_role("button", name="Reload").click()
    page.wait_for_load_state()
    panel = Panel(page).open()
    expect(panel.root.locator(".shoulders-Banner")).to_have_count(0)
    panel.ask("Hello")
    panel.finished()
    expect(panel.answers.last).not_to_be_empty()
    assert problems == []
