"""Cards that wait for the user: questions, checklists, files, limits, read-only logs."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.simulator_process import StartSimulator, calls, in_order, says
from tests.storage.store import rewrite_events
from tests.support.lab_server import StartLab
from tests.ui.chat.test_chat_panel import CONTRAST, THEMES, show_theme
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.network_faults import Hold
from tests.ui.support.notebook_scenario import ConversationApi, LabWithModel, NotebookScenario

COLUMN = {"question": "Which **column** shall I plot?", "options": ["price", "year"]}
COLUMNS = {
    "question": "Which columns shall I keep?",
    "options": ["price", "year", "region"],
    "allow_multiple": True,
}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def card(panel: Panel, kind: str) -> Locator:
    """The newest card of a kind."""
    return panel.root.locator(f".shoulders-{kind}").last


def top(element: Locator) -> float:
    """Vertical position of an element."""
    return element.evaluate("element => element.getBoundingClientRect().top")


def answers(talks: ConversationApi) -> list[list[str]]:
    """All answers in the log."""
    return [event["answer"] for event in talks.of_type("clarify-answer")]


@pytest.mark.kept_page
@pytest.mark.shows("waits.1")
def test_questions_are_answered_by_chip_by_several_and_by_free_text(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(
        calls("clarify", COLUMN),
        calls("clarify", COLUMNS),
        calls("clarify", {"question": "What shall the title be?"}),
        says("All is clear."),
    )
    panel = scenario.open_panel()
    panel.ask("Plot it.")
    question = card(panel, "Question")
    expect(question.locator("strong")).to_have_text("column")
    expect(panel.status).to_contain_text("Waiting for your answer")
    expect(page.locator(".jp-Launcher")).to_be_visible()  # it takes the focus when it opens
    # By keyboard only: from the input back to the options.
    panel.input.press("Shift+Tab")
    for _ in range(12):
        if page.evaluate("() => document.activeElement.textContent") == "year":
            break
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(panel.root.get_by_label("Your answer")).to_have_text("year")
    expect(panel.input).to_be_focused()

    expect(question).to_contain_text("Which columns")
    question.get_by_role("button", name="region").click()
    question.get_by_role("button", name="price").click()
    question.get_by_role("button", name="Send").click()
    expect(panel.root.get_by_label("Your answer").last).to_have_text("price, region")

    expect(question).to_contain_text("title")
    expect(panel.input).to_have_attribute("placeholder", "Answer…")
    panel.ask("Wines by year")
    expect(panel.root.locator(".shoulders-User-text").last).to_have_text("Wines by year")
    expect(panel.answers.last).to_contain_text("All is clear.")
    panel.finished()
    assert answers(scenario.talks) == [["year"], ["price", "region"], ["Wines by year"]]
    turns = [event for event in scenario.talks.log() if event["type"] == "turn-start"]
    assert len(turns) == 1  # the same turn continued


@pytest.mark.full
def test_a_question_answered_in_one_page_is_settled_in_the_other_which_is_told_so(
    scenario: NotebookScenario,
    context: BrowserContext,
    page: Page,
) -> None:
    scenario.play(calls("clarify", COLUMN), calls("clarify", COLUMN), says("Thank you."))
    panel = scenario.open_panel()
    panel.ask("Plot it.")
    expect(card(panel, "Question")).to_be_visible()

    other = context.new_page()
    hold = Hold(other)
    elsewhere = scenario.elsewhere(other)
    card(elsewhere, "Question").get_by_role("button", name="price").click()
    expect(panel.root.get_by_label("Your answer").first).to_have_text("price")

    # The second question: this page answers before the other has the event.
    expect(elsewhere.root.locator(".shoulders-Option")).to_have_count(2)
    expect(panel.root.locator(".shoulders-Option")).to_have_count(2)
    hold.begin()
    panel.root.get_by_role("button", name="year").click()
    panel.finished()
    elsewhere.root.get_by_role("button", name="price").click()
    expect(elsewhere.root.get_by_text("This question has already been answered.")).to_be_visible()
    expect(elsewhere.root.get_by_role("alert")).to_have_count(0)
    assert answers(scenario.talks) == [["price"], ["year"]]


@pytest.mark.full
def test_a_question_survives_kill_9_a_restart_and_a_reload(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(calls("clarify", COLUMN), says("Plotted by year."))
    panel = scenario.open_panel()
    panel.ask("Plot it.")
    expect(card(panel, "Question")).to_be_visible()
    scenario.lab.kill()
    scenario.lab.start()
    page.goto(scenario.lab.url("lab"))
    panel = Panel(page).open()
    expect(panel.input).to_have_attribute("placeholder", "Answer…")
    card(panel, "Question").get_by_role("button", name="year").click()
    expect(panel.answers.last).to_contain_text("Plotted by year.")
    panel.finished()
    assert answers(scenario.talks) == [["year"]]
    ends = [event["exit"] for event in scenario.talks.log() if event["type"] == "turn-end"]
    assert ends == ["final_response"]


@pytest.mark.full
@pytest.mark.shows("waits.2")
def test_a_checklist_shows_progress_folds_and_survives_a_reload(
    scenario: NotebookScenario, page: Page
) -> None:
    def todo(*done: str) -> dict[str, Any]:
        steps = ("Read the data", "Fix the types", "Plot the result")
        lines = [f"- [{'x' if step in done else ' '}] {step}" for step in steps]
        return calls("todo", {"markdown": "\n".join(lines)})

    scenario.play(
        todo(),
        todo("Read the data", "Fix the types"),
        says("Two are done."),
        todo("Read the data", "Fix the types", "Plot the result"),
        says("All is done."),
    )
    panel = scenario.open_panel()
    panel.ask("Do it in steps.")
    expect(panel.answers.last).to_contain_text("Two are done.")
    checklist = panel.root.get_by_role("region", name="Checklist")
    for _ in range(2):
        expect(checklist).to_contain_text("2 of 3 done")
        expect(checklist.get_by_role("listitem")).to_have_count(3)
        page.goto(scenario.lab.url("lab"))
        panel = Panel(page).open()
        checklist = panel.root.get_by_role("region", name="Checklist")
    pinned, field = checklist.bounding_box(), panel.input.bounding_box()
    assert pinned is not None
    assert field is not None
    assert pinned["y"] + pinned["height"] <= field["y"]
    expect(panel.root.get_by_role("log").locator(".shoulders-Todo")).to_have_count(0)
    checklist.get_by_role("button").click()
    expect(checklist.get_by_role("listitem")).to_have_count(0)
    expect(checklist).to_contain_text("Plot the result")  # what is next
    panel.ask("Go on.")
    expect(checklist).to_have_text("3 of 3 done")
    assert top(checklist) < top(panel.input)


@pytest.mark.full
@pytest.mark.shows("waits.3")
def test_a_shared_file_is_a_card_seen_through_the_api_and_downloaded(
    scenario: NotebookScenario, page: Page
) -> None:
    (scenario.lab.root / "plot.png").write_bytes(PIXEL)
    hostile = (
        "<script>top.hit = 1</script><img src='https://evil.example/a.png'>"
        "<a href='https://evil.example/'>more</a><h1>A report</h1>"
    )
    table = {"content": "a,b\n1,2\n", "filename": "table.csv", "description": "Two columns"}
    scenario.play(
        calls("share_artifact", {"path": "plot.png"}),
        calls("share_artifact", table),
        calls("share_artifact", {"content": hostile, "filename": "report.html"}),
        says("Here they are."),
    )
    left: list[str] = []
    page.on("requestfinished", lambda request: left.append(request.url))
    page.on("requestfailed", lambda request: left.append(f"{request.url} {request.failure}"))
    panel = scenario.open_panel()
    panel.ask("Share them.")
    expect(panel.answers.last).to_contain_text("Here they are.")
    panel.finished()

    picture = panel.root.get_by_role("region", name="Shared file plot.png")
    expect(picture.get_by_role("img", name="plot.png")).to_have_attribute(
        "src", re.compile("^blob:")
    )
    assert picture.locator("img").evaluate("image => image.naturalWidth") == 1

    shared = panel.root.get_by_role("region", name="Shared file table.csv")
    expect(shared).to_contain_text("Two columns")
    expect(shared).to_contain_text("8 B")
    expect(shared.get_by_role("columnheader")).to_have_text(["a", "b"])
    expect(shared.get_by_role("cell")).to_have_text(["1", "2"])
    with page.expect_download() as download:
        shared.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "table.csv"
    assert Path(download.value.path()).read_text() == "a,b\n1,2\n"

    report = panel.root.get_by_role("region", name="Shared file report.html")
    report.get_by_role("button", name="Preview").click()
    frame = report.frame_locator("iframe")
    expect(frame.get_by_role("heading")).to_have_text("A report")
    frame.get_by_text("more").click()
    expect(frame.get_by_role("heading")).to_have_text("A report")
    assert page.evaluate("() => window.hit ?? null") is None
    # The browser may report an image that its policy blocked.
    assert [each for each in left if "evil.example" in each and "csp" not in each.lower()] == []


def priced(root: Path, sim_env: dict[str, str]) -> dict[str, str]:
    """Give the simulated model a price: ten dollars per million tokens."""
    path = root / ".shoulders" / "models.json"
    models = json.loads(path.read_text())
    models["models"][0]["prices"] = {"input": 10_000_000, "output": 10_000_000}
    models["models"][0]["max_output"] = 2_000
    path.write_text(json.dumps(models))
    return sim_env


def costly(reply: dict[str, Any], tokens: int) -> dict[str, Any]:
    """A reply that reports this many tokens."""
    return {**reply, "usage": {"input": tokens, "output": 0}}


@pytest.mark.full
def test_a_turn_paused_at_a_limit_survives_a_reload_and_goes_on_with_a_higher_one(
    start_lab: StartLab, workspace: Path, upstream: StartSimulator, page: Page
) -> None:
    (workspace / "a.txt").write_text("hello")
    step = costly(calls("todo", {"markdown": "- [ ] Spend"}), 60_000)
    script = in_order(step, costly(says("It cost something."), 1_000), step, says("Never said."))
    env = priced(workspace, upstream(script).configure(workspace))
    lab = start_lab(workspace, env=env)
    scenario = NotebookScenario(LabWithModel(lab), page, workspace / "a.ipynb")
    limits = scenario.talks.send("PUT", "budget", {"turn_micro_usd": 500_000})["limits"]
    assert limits[-1]["limit_micro_usd"] == 500_000
    panel = scenario.open_panel()
    panel.ask("Spend a lot.")
    pause = card(panel, "Pause")
    expect(pause).to_contain_text("$0.60 of $0.50 spent.")
    expect(panel.status).to_contain_text("Paused at a limit")
    page.goto(lab.url("lab"))
    panel = Panel(page).open()
    pause = card(panel, "Pause")
    pause.get_by_role("button", name="Continue, up to $0.90").click()
    expect(panel.answers.last).to_contain_text("It cost something.")
    panel.finished()
    expect(panel.root.locator(".shoulders-Pause")).to_have_count(0)

    panel.ask("And again.")
    expect(pause).to_contain_text("of $0.50 spent.")
    pause.get_by_role("button", name="Other amount…").click()
    expect(pause.get_by_role("textbox")).to_be_in_viewport(ratio=1)  # the end stays in view
    page.keyboard.press("Escape")
    expect(panel.input).to_be_focused()
    pause.get_by_role("button", name="Stop here").click()
    panel.finished()
    error = panel.root.locator(".shoulders-Error").last
    error.get_by_role("button", name="Change the budget…").click()
    dialog = panel.root.get_by_role("dialog", name="Budget")
    expect(dialog.get_by_label("Per turn")).to_have_value("0.50")
    dialog.get_by_label("Per turn").fill("2")
    dialog.get_by_label("Per turn").press("Enter")
    expect(dialog).to_have_count(0)
    budget = scenario.talks.api("usage")["budget"]["limits"]
    assert {limit["scope"]: limit["user_micro_usd"] for limit in budget} == {
        "month": None,
        "day": None,
        "session": None,
        "turn": 2_000_000,
    }


@pytest.mark.full
def test_a_result_is_supplied_where_tools_do_not_run(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.play(calls("read_notebook", {"path": "a.ipynb"}), says("It has two cells."))
    scenario.talks.send("POST", "sessions", {"tools": "parse_only", "title": "By hand"})
    panel = scenario.elsewhere(page)
    panel.ask("What is in it?")
    form = card(panel, "Supply")
    expect(form).to_contain_text("a.ipynb")
    expect(panel.status).to_contain_text("Waiting for results from you")
    form.get_by_role("textbox").fill("two cells")
    form.get_by_role("button", name="Send result").click()
    expect(panel.answers.last).to_contain_text("It has two cells.")
    (result,) = [event for event in scenario.talks.log() if event["type"] == "tool-result"]
    assert result["status"] == "ok"
    assert result["content"][0]["text"] == "two cells"


@pytest.mark.full
def test_a_log_that_is_not_understood_is_shown_read_only_and_says_so(
    start_lab: StartLab, workspace: Path, upstream: StartSimulator, page: Page
) -> None:
    simulator = upstream(in_order(says("Good to read.")))
    lab = start_lab(workspace, env=simulator.configure(workspace))
    scenario = NotebookScenario(LabWithModel(lab, simulator), page, workspace / "a.ipynb")
    panel = scenario.open_panel()
    panel.ask("Hello.")
    expect(panel.answers.last).to_contain_text("Good to read.")
    panel.finished()
    lab.stop()
    (database,) = (workspace / ".shoulders").glob("*.db")
    with closing(sqlite3.connect(database)) as connection, connection:
        rewrite_events(connection, "type = 'usage-update'", '{"type": "from-the-future"}')
    lab.start()
    page.goto(lab.url("lab"))
    panel = Panel(page).open_read_only()
    banner = panel.root.locator(".shoulders-Banner")
    expect(banner).to_contain_text("read-only")
    expect(panel.answers.last).to_contain_text("Good to read.")
    expect(panel.input).to_be_disabled()
    banner.get_by_role("button", name="New conversation").click()
    expect(panel.input).to_be_enabled()


@pytest.mark.full
def test_a_conversation_deleted_in_one_page_is_closed_in_the_other_and_comes_back(
    scenario: NotebookScenario,
    context: BrowserContext,
    page: Page,
) -> None:
    scenario.play(says("Hi."))
    panel = scenario.open_panel()
    panel.ask("Hello.")
    expect(panel.answers.last).to_contain_text("Hi.")
    panel.finished()
    elsewhere = scenario.elsewhere(context.new_page())
    expect(elsewhere.answers.last).to_contain_text("Hi.")
    scenario.talks.send("DELETE", f"sessions/{scenario.talks.only()['id']}", {})
    for shown in (panel, elsewhere):
        expect(shown.root.get_by_text("This conversation was deleted.")).to_be_visible()
        expect(shown.input).to_be_disabled()
    panel.root.get_by_role("button", name="Restore", exact=True).click()
    for shown in (panel, elsewhere):
        expect(shown.root.get_by_text("This conversation was deleted.")).to_have_count(0)
        expect(shown.input).to_be_enabled()


@pytest.mark.full
@pytest.mark.shows("waits.3")
def test_cards_are_readable_in_every_theme_and_in_a_narrow_panel(
    scenario: NotebookScenario, page: Page
) -> None:
    table = {"content": "a,b\n1,2\n", "filename": "a_rather_long_name_of_a_table.csv"}
    text = {"content": "# Notes\n", "filename": "notes.md", "description": "What I found"}
    scenario.play(
        calls("share_artifact", table),
        calls("share_artifact", text),
        calls("todo", {"markdown": "- [x] Read the data\n- [ ] Fix the types\n  - [ ] Dates"}),
        calls("clarify", COLUMNS),
        says("Thank you."),
    )
    panel = scenario.open_panel()
    panel.ask("Begin.")
    question = card(panel, "Question")
    expect(question).to_be_visible()
    question.get_by_role("button", name="year").click()
    panel.root.get_by_role("button", name="Preview").click()
    for theme in THEMES:
        show_theme(page, theme)
        assert panel.root.evaluate(CONTRAST) == [], theme
    width = panel.root.evaluate("root => root.getBoundingClientRect().width")
    assert width < 300  # the smallest width
    overflow = panel.root.evaluate(
        """root => [...root.querySelectorAll('.shoulders-Card, .shoulders-Card *, .shoulders-Todo')]
            .filter(element => element.getBoundingClientRect().right
                > root.getBoundingClientRect().right + 1)
            .map(element => element.className)"""
    )
    assert overflow == []
    scenario.talks.wait_for_event("clarify-request")
