"""Task threads in the panel: start, answer, list, resolve, delete; threads of the agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.thread_marks import anchor_of, begin, put
from tests.ui.page_objects.threads import Threads
from tests.ui.support.accessibility_audit import audit
from tests.ui.support.notebook_scenario import NotebookScenario

TWICE = "a = load()\nb = load()\nprint(a, b)"


def _asked(scenario: NotebookScenario, question: str) -> str:
    """The thread's first request with a question; other requests are for titles."""
    bodies = [request["body"] for request in scenario.upstream.requests()]
    return next(
        said for body in bodies if body.get("tools") and question in (said := json.dumps(body))
    )


def _begin(scenario: NotebookScenario, cell: str, quote: str, title: str) -> str:
    """Make a thread in a cell of the notebook; return its id."""
    return begin(scenario, title, anchor_of(scenario.path, cell, scenario.on_disk()[cell], quote))


def _other_document(scenario: NotebookScenario) -> Path:
    """A file beside the notebook."""
    other = scenario.file.with_name("other-of-threads.py")
    other.write_text("def clean(frame):\n    return frame\n", encoding="utf-8")
    return other


@pytest.mark.shows(
    "threads.kind.3",
    "threads.start.4",
    "threads.panel.5",
    "threads.panel.8",
    "threads.panel.9",
    "threads.prompt.1",
    "threads.prompt.2",
    "threads.prompt.3",
    "threads.travel.1",
)
def test_a_thread_begins_with_its_first_message_and_tells_the_model_its_place(
    scenario: NotebookScenario, page: Page
) -> None:
    opened = scenario.open(
        ("first", TWICE),
        ("second", "print(1)"),
        replies=[],
    )
    rules = [
        {"when": {"user": "And now"}, "reply": says("Nothing else.")},
        {"when": {"user": "Why twice"}, "reply": says("It loads once more.")},
    ]
    scenario.upstream.play({"rules": rules, "default": says("A title")})
    threads, panel = Threads(page), Panel(page).open()
    threads.select(opened, "first", "load()", 1)
    threads.start()
    expect(panel.root.locator(".shoulders-ThreadStart-quote")).to_have_text("load()")
    expect(threads.bar).to_contain_text("Cell 1")
    expect(panel.root.get_by_role("tab", selected=True)).to_have_text("New thread")
    context = panel.root.get_by_role("group", name="Context")
    expect(context.locator(".shoulders-Chip")).to_have_count(0)
    assert scenario.talks.all() == []

    panel.input.fill("Why twi")
    page.reload()  # it is at the same place, with the unsent text
    opened.ready()
    panel.open()
    expect(panel.input).to_have_value("Why twi")
    expect(threads.bar).to_contain_text("load()")
    panel.ask("Why twice?")
    expect(panel.answers.last).to_contain_text("It loads once more.")
    panel.finished()

    session = scenario.talks.only()
    assert session["kind"] == "task"
    assert session["anchor"]["range"] == {"from": 15, "to": 21}
    assert session["anchor"]["cell_id"] == "first"
    said = _asked(scenario, "Why twice?")
    assert scenario.path in said
    assert "b = " in said
    (message,) = scenario.talks.of_type("message-add")
    assert message["context"] is None
    expect(panel.root.get_by_role("button", name="Simulated")).to_be_visible()

    opened.type_at_end("first", "  # both of them")
    panel.ask("And now?")
    expect(panel.answers.last).to_contain_text("Nothing else.")
    panel.finished()
    assert "# both of them" in _asked(scenario, "And now?")

    opened.editor("second").click()
    threads.place.click()
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.activeCell.model.id === 'first'"
    )
    threads.bar.get_by_role("button", name="All threads").click()
    expect(threads.rows).to_have_count(1)
    expect(threads.rows).to_contain_text("Why twice?")


@pytest.mark.full
@pytest.mark.shows(
    "threads.panel.1", "threads.panel.2", "threads.panel.3", "threads.marks.10", "threads.anchor.6"
)
def test_the_list_has_the_threads_of_the_open_document_first(
    scenario: NotebookScenario, page: Page
) -> None:
    other = _other_document(scenario)
    scenario.write(("first", TWICE), ("second", "print(1)"))
    _begin(scenario, "second", "print", "Why print?")
    _begin(scenario, "first", "load()", "Why load?")
    _begin(scenario, "first", "", "Tidy this")
    begin(scenario, "Where is it?", anchor_of(scenario.path, "first", "", "vanish()", "orphaned"))
    put(scenario, _begin(scenario, "first", "print(a, b)", "Done"), "resolved")
    begin(scenario, "Copy it", anchor_of(other.name, None, other.read_text(), "return frame"))
    scenario.show(page)
    threads = Threads(page)
    panel = threads.panel.open()
    expect(threads.button).to_have_accessible_name("Threads (4 in this document)")
    threads.show()

    expect(threads.titles).to_have_count(6)
    titles = threads.titles.all_text_contents()
    assert set(titles[:2]) == {"Why load?", "Tidy this"}
    assert titles[2:] == ["Why print?", "Where is it?", "Copy it", "Done"]
    headings = threads.list.get_by_role("heading")
    expect(headings).to_have_text([f"{scenario.file.name}4", "Other documents1", "Resolved1"])
    expect(threads.rows.nth(2)).to_contain_text("Cell 2")
    expect(threads.rows.nth(3)).to_contain_text("vanish()")
    expect(threads.rows.nth(3)).to_contain_text("Not in document")
    expect(threads.rows.nth(4)).to_contain_text(other.name)
    expect(threads.rows.nth(5)).to_contain_text("Resolved")
    expect(threads.rows.nth(5)).to_have_css("opacity", "0.5")
    assert audit(panel.root) == []


@pytest.mark.full
@pytest.mark.shows("threads.panel.4", "threads.anchor.6")
def test_the_list_is_narrowed_and_leads_to_places(scenario: NotebookScenario, page: Page) -> None:
    other = _other_document(scenario)
    scenario.write(("first", TWICE))
    begin(scenario, "Where is it?", anchor_of(scenario.path, "first", "", "vanish()", "orphaned"))
    begin(scenario, "Copy it", anchor_of(other.name, None, other.read_text(), "return frame"))
    scenario.show(page)
    threads = Threads(page)
    panel = threads.panel.open()
    threads.show()
    expect(threads.titles).to_have_text(["Where is it?", "Copy it"])
    threads.list.get_by_label("Search threads").fill("frame")
    expect(threads.titles).to_have_text(["Copy it"])
    threads.list.get_by_label("Search threads").fill("")
    threads.list.get_by_label("Show").select_option("Not in document")
    expect(threads.titles).to_have_text(["Where is it?"])
    threads.list.get_by_label("Show").select_option("All threads")

    threads.choose("Copy it", "Show in document")
    expect(page.get_by_role("tab", name=other.name)).to_be_visible()
    expect(threads.list.get_by_role("heading").first).to_have_text(f"{other.name}1")
    threads.choose("Where is it?", "Show in document")
    expect(panel.root.get_by_role("alert")).to_contain_text("is no longer in")


@pytest.mark.full
@pytest.mark.shows("threads.panel.6", "threads.panel.10", "threads.end.1", "threads.end.2")
def test_a_thread_is_resolved_in_the_list_and_opened_again_in_its_bar(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.write(("first", TWICE))
    _begin(scenario, "first", "load()", "Why load?")
    scenario.show(page)
    threads = Threads(page)
    panel = threads.panel.open()
    threads.show().choose("Why load?", "Resolve")
    expect(threads.rows).to_contain_text("Resolved")
    threads.rows.click()
    expect(threads.bar).to_contain_text("Resolved")
    tab = panel.root.get_by_role("tab", selected=True)
    expect(tab.get_by_role("img", name="Resolved")).to_be_visible()
    threads.bar.get_by_role("button", name="Reopen").click()
    expect(threads.bar).not_to_contain_text("Resolved")


@pytest.mark.full
@pytest.mark.shows("threads.panel.7", "threads.end.4")
def test_a_thread_is_deleted_after_asking_and_brought_back(
    scenario: NotebookScenario, page: Page
) -> None:
    scenario.write(("first", TWICE))
    _begin(scenario, "first", "load()", "Why load?")
    scenario.show(page)
    threads = Threads(page)
    panel = threads.panel.open()
    threads.show().rows.click()
    tab = panel.root.get_by_role("tab", selected=True)
    delete = threads.bar.get_by_role("button", name="Delete thread")
    delete.click()
    page.get_by_role("button", name="Cancel").click()
    expect(tab).to_have_text("Why load?")
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(panel.root.get_by_role("button", name="Undo", exact=True)).to_be_focused()
    assert scenario.talks.all() == []
    page.keyboard.press("Enter")
    expect(tab).to_have_text("Why load?")
    assert [session["title"] for session in scenario.talks.all()] == ["Why load?"]


@pytest.mark.full
@pytest.mark.shows("threads.chat.1", "threads.chat.2", "threads.panel.11")
def test_the_agent_opens_a_thread_that_is_listed_and_that_it_can_read(
    scenario: NotebookScenario, page: Page
) -> None:
    task = {
        "path": scenario.path,
        "cell_id": "first",
        "quote": "print(a, b)",
        "prompt": "Name them.",
    }
    question = {"question": "Which names?", "options": ["left and right"]}
    rules = [
        {"when": {"user": "Name them", "has_results": False}, "reply": calls("clarify", question)},
        {"when": {"tool_result": "Name them"}, "reply": says("It waiting for you.")},
        {"when": {"tool_result": "is open at"}, "reply": says("A thread is at it.")},
        {"when": {"user": "How far"}, "reply": calls("read_tasks", {})},
        {"when": {"user": "Have the print"}, "reply": calls("add_task", task)},
    ]
    scenario.write(("first", TWICE))
    scenario.upstream.play({"rules": rules, "default": says("A title")})
    scenario.show(page)
    threads, panel = Threads(page), scenario.ask("Have the print looked at.", allow=True)
    expect(panel.answers.last).to_contain_text("A thread is at it.")
    panel.finished()
    expect(threads.button).to_have_accessible_name("Threads (1 in this document)")
    threads.show()
    row = threads.rows.filter(has_text="Name them.")
    expect(row.get_by_role("img", name="Waiting for you")).to_be_visible()
    expect(row).to_contain_text("print(a, b)")
    row.click()
    expect(panel.root.get_by_role("button", name="left and right")).to_be_visible()
    tab = panel.root.get_by_role("tab", selected=True)
    expect(tab.get_by_role("img", name="Waiting for you")).to_be_visible()
