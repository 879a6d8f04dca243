"""Task threads in the panel: begun, answered, listed, resolved, deleted; opened by the agent."""

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


def _asked(desk: NotebookScenario, question: str) -> str:
    """The first request with a question of the thread; others ask for a title."""
    bodies = [request["body"] for request in desk.upstream.requests()]
    return next(
        said for body in bodies if body.get("tools") and question in (said := json.dumps(body))
    )


def _begin(desk: NotebookScenario, cell: str, quote: str, title: str) -> str:
    """Make a thread in a cell of the notebook; return its id."""
    return begin(desk, title, anchor_of(desk.path, cell, desk.on_disk()[cell], quote))


def _other_document(desk: NotebookScenario) -> Path:
    """A file beside the notebook."""
    other = desk.file.with_name("other-of-threads.py")
    other.write_text("def clean(frame):\n    return frame\n", encoding="utf-8")
    return other


@pytest.mark.shows(
    "09.kind.3",
    "09.start.4",
    "09.panel.5",
    "09.panel.8",
    "09.panel.9",
    "09.prompt.1",
    "09.prompt.2",
    "09.prompt.3",
    "09.travel.1",
)
def test_a_thread_begins_with_its_first_message_and_tells_the_model_its_place(
    desk: NotebookScenario, page: Page
) -> None:
    opened = desk.open(
        ("first", TWICE),
        ("second", "print(1)"),
        replies=[],
    )
    rules = [
        {"when": {"user": "And now"}, "reply": says("Nothing else.")},
        {"when": {"user": "Why twice"}, "reply": says("It loads once more.")},
    ]
    desk.upstream.play({"rules": rules, "default": says("A title")})
    threads, panel = Threads(page), Panel(page).open()
    threads.select(opened, "first", "load()", 1)
    threads.start()
    expect(panel.root.locator(".shoulders-ThreadStart-quote")).to_have_text("load()")
    expect(threads.bar).to_contain_text("Cell 1")
    expect(panel.root.get_by_role("tab", selected=True)).to_have_text("New thread")
    context = panel.root.get_by_role("group", name="Context")
    expect(context.locator(".shoulders-Chip")).to_have_count(0)
    assert desk.talks.all() == []

    panel.input.fill("Why twi")
    page.reload()  # it waits where it was, with what was typed
    opened.ready()
    panel.open()
    expect(panel.input).to_have_value("Why twi")
    expect(threads.bar).to_contain_text("load()")
    panel.ask("Why twice?")
    expect(panel.answers.last).to_contain_text("It loads once more.")
    panel.finished()

    session = desk.talks.only()
    assert session["kind"] == "task"
    assert session["anchor"]["range"] == {"from": 15, "to": 21}
    assert session["anchor"]["cell_id"] == "first"
    said = _asked(desk, "Why twice?")
    assert desk.path in said
    assert "b = " in said
    (message,) = desk.talks.of_type("message-add")
    assert message["context"] is None
    expect(panel.root.get_by_role("button", name="Simulated")).to_be_visible()

    opened.type_at_end("first", "  # both of them")
    panel.ask("And now?")
    expect(panel.answers.last).to_contain_text("Nothing else.")
    panel.finished()
    assert "# both of them" in _asked(desk, "And now?")

    opened.editor("second").click()
    threads.place.click()
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.activeCell.model.id === 'first'"
    )
    threads.bar.get_by_role("button", name="All threads").click()
    expect(threads.rows).to_have_count(1)
    expect(threads.rows).to_contain_text("Why twice?")


@pytest.mark.full
@pytest.mark.shows("09.panel.1", "09.panel.2", "09.panel.3", "09.marks.10", "09.anchor.6")
def test_the_list_has_the_threads_of_the_open_document_first(
    desk: NotebookScenario, page: Page
) -> None:
    other = _other_document(desk)
    desk.write(("first", TWICE), ("second", "print(1)"))
    _begin(desk, "second", "print", "Why print?")
    _begin(desk, "first", "load()", "Why load?")
    _begin(desk, "first", "", "Tidy this")
    begin(desk, "Where is it?", anchor_of(desk.path, "first", "", "vanish()", "orphaned"))
    put(desk, _begin(desk, "first", "print(a, b)", "Done"), "resolved")
    begin(desk, "Copy it", anchor_of(other.name, None, other.read_text(), "return frame"))
    desk.show(page)
    threads = Threads(page)
    panel = threads.panel.open()
    expect(threads.button).to_have_accessible_name("Threads (4 in this document)")
    threads.show()

    expect(threads.titles).to_have_count(6)
    titles = threads.titles.all_text_contents()
    assert set(titles[:2]) == {"Why load?", "Tidy this"}
    assert titles[2:] == ["Why print?", "Where is it?", "Copy it", "Done"]
    headings = threads.list.get_by_role("heading")
    expect(headings).to_have_text([f"{desk.file.name}4", "Other documents1", "Resolved1"])
    expect(threads.rows.nth(2)).to_contain_text("Cell 2")
    expect(threads.rows.nth(3)).to_contain_text("vanish()")
    expect(threads.rows.nth(3)).to_contain_text("Not in document")
    expect(threads.rows.nth(4)).to_contain_text(other.name)
    expect(threads.rows.nth(5)).to_contain_text("Resolved")
    expect(threads.rows.nth(5)).to_have_css("opacity", "0.5")
    assert audit(panel.root) == []


@pytest.mark.full
@pytest.mark.shows("09.panel.4", "09.anchor.6")
def test_the_list_is_narrowed_and_leads_to_places(desk: NotebookScenario, page: Page) -> None:
    other = _other_document(desk)
    desk.write(("first", TWICE))
    begin(desk, "Where is it?", anchor_of(desk.path, "first", "", "vanish()", "orphaned"))
    begin(desk, "Copy it", anchor_of(other.name, None, other.read_text(), "return frame"))
    desk.show(page)
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
@pytest.mark.shows("09.panel.6", "09.panel.10", "09.end.1", "09.end.2")
def test_a_thread_is_resolved_in_the_list_and_opened_again_in_its_bar(
    desk: NotebookScenario, page: Page
) -> None:
    desk.write(("first", TWICE))
    _begin(desk, "first", "load()", "Why load?")
    desk.show(page)
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


@pytest.mark.shows("09.panel.7", "09.end.4")
def test_a_thread_is_deleted_after_asking_and_brought_back(
    desk: NotebookScenario, page: Page
) -> None:
    desk.write(("first", TWICE))
    _begin(desk, "first", "load()", "Why load?")
    desk.show(page)
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
    assert desk.talks.all() == []
    page.keyboard.press("Enter")
    expect(tab).to_have_text("Why load?")
    assert [session["title"] for session in desk.talks.all()] == ["Why load?"]


@pytest.mark.full
@pytest.mark.shows("09.chat.1", "09.chat.2", "09.panel.11")
def test_the_agent_opens_a_thread_that_is_listed_and_that_it_can_read(
    desk: NotebookScenario, page: Page
) -> None:
    task = {"path": desk.path, "cell_id": "first", "quote": "print(a, b)", "prompt": "Name them."}
    question = {"question": "Which names?", "options": ["left and right"]}
    rules = [
        {"when": {"user": "Name them", "has_results": False}, "reply": calls("clarify", question)},
        {"when": {"tool_result": "Name them"}, "reply": says("It waiting for you.")},
        {"when": {"tool_result": "is open at"}, "reply": says("A thread is at it.")},
        {"when": {"user": "How far"}, "reply": calls("read_tasks", {})},
        {"when": {"user": "Have the print"}, "reply": calls("add_task", task)},
    ]
    desk.write(("first", TWICE))
    desk.upstream.play({"rules": rules, "default": says("A title")})
    desk.show(page)
    threads, panel = Threads(page), desk.ask("Have the print looked at.", allow=True)
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
