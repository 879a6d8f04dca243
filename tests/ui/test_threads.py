"""Task threads in the panel: begun, answered, listed, resolved, deleted; opened by the agent."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.ui.audit import audit
from tests.ui.desk import Desk
from tests.ui.panel import Panel
from tests.ui.threads_page import Threads, anchor, make_thread
from tests.upstream import calls, says

TWICE = "a = load()\nb = load()\nprint(a, b)"


def _asked(desk: Desk, question: str) -> str:
    """The first request with a question of the thread; others ask for a title."""
    bodies = [request["body"] for request in desk.upstream.requests()]
    return next(
        said for body in bodies if body.get("tools") and question in (said := json.dumps(body))
    )


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
    desk: Desk, page: Page
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


@pytest.mark.shows(
    "09.panel.1",
    "09.panel.2",
    "09.panel.3",
    "09.panel.4",
    "09.panel.6",
    "09.panel.7",
    "09.marks.10",
    "09.end.1",
    "09.end.2",
    "09.end.4",
    "09.anchor.6",
    "09.panel.10",
)
def test_the_list_leads_to_threads_of_all_documents_and_ends_them(desk: Desk, page: Page) -> None:
    other = desk.file.with_name("other-of-threads.py")
    other.write_text("def clean(frame):\n    return frame\n", encoding="utf-8")
    desk.write(("first", TWICE), ("second", "print(1)"))
    talks = desk.talks
    make_thread(talks, anchor(desk.path, "print(1)", "print", cell="second"), "Why print?")
    make_thread(talks, anchor(desk.path, TWICE, "load()", cell="first"), "Why load?")
    make_thread(talks, anchor(desk.path, TWICE, cell="first"), "Tidy this")
    gone = anchor(desk.path, "", "vanish()", cell="first", certainty="orphaned")
    make_thread(talks, gone, "Where is it?")
    make_thread(talks, anchor(desk.path, TWICE, "print(a, b)", cell="first"), "Done", "resolved")
    make_thread(talks, anchor(other.name, other.read_text(), "return frame"), "Copy it")
    desk.show(page)
    threads, panel = Threads(page), Panel(page).open()
    expect(threads.button).to_have_accessible_name("Threads (4 in this document)")
    threads.show()
    titles = threads.list.locator(".shoulders-ThreadRow-title")
    expect(titles).to_have_count(6)
    assert set(titles.all_text_contents()[:2]) == {"Why load?", "Tidy this"}
    assert titles.all_text_contents()[2:] == ["Why print?", "Where is it?", "Copy it", "Done"]
    headings = threads.list.get_by_role("heading")
    expect(headings).to_have_text([f"{desk.file.name}4", "Other documents1", "Resolved1"])
    expect(threads.rows.nth(3)).to_contain_text("vanish()")
    expect(threads.rows.nth(3)).to_contain_text("Place gone")
    expect(threads.rows.nth(2)).to_contain_text("Cell 2")
    expect(threads.rows.nth(4)).to_contain_text("other-of-threads.py")
    expect(threads.rows.nth(5)).to_contain_text("Resolved")
    expect(threads.rows.nth(5)).to_have_css("opacity", "0.5")

    assert audit(panel.root) == []

    threads.list.get_by_label("Search threads").fill("frame")
    expect(titles).to_have_text(["Copy it"])
    threads.list.get_by_label("Search threads").fill("")
    threads.list.get_by_label("Show").select_option("Place gone")
    expect(titles).to_have_text(["Where is it?"])
    threads.list.get_by_label("Show").select_option("All threads")

    # To another document, and back to a place that is gone.
    threads.choose("Copy it", "Go to its place")
    expect(page.get_by_role("tab", name=other.name)).to_be_visible()
    expect(headings.first).to_have_text(f"{other.name}1")
    threads.choose("Where is it?", "Go to its place")
    expect(panel.root.get_by_role("alert")).to_contain_text("is gone from")
    panel.root.get_by_role("button", name="Dismiss").click()

    threads.choose("Why load?", "Resolve")
    expect(threads.rows.filter(has_text="Why load?")).to_contain_text("Resolved")
    threads.rows.filter(has_text="Why load?").click()
    expect(threads.bar).to_contain_text("Resolved")
    tab = panel.root.get_by_role("tab", selected=True)
    expect(tab.get_by_role("img", name="Resolved")).to_be_visible()
    threads.bar.get_by_role("button", name="Reopen").click()
    expect(threads.bar).not_to_contain_text("Resolved")

    threads.bar.get_by_role("button", name="Delete thread").click()
    page.get_by_role("button", name="Cancel").click()
    expect(tab).to_have_text("Why load?")
    threads.bar.get_by_role("button", name="Delete thread").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    undo = panel.root.get_by_role("button", name="Undo", exact=True)
    expect(undo).to_be_focused()
    assert "Why load?" not in [session["title"] for session in talks.all()]
    page.keyboard.press("Enter")
    expect(tab).to_have_text("Why load?")
    assert "Why load?" in [session["title"] for session in talks.all()]


@pytest.mark.shows("09.chat.1", "09.chat.2", "09.panel.11")
def test_the_agent_opens_a_thread_that_is_listed_and_that_it_can_read(
    desk: Desk, page: Page
) -> None:
    task = {"path": desk.path, "cell_id": "first", "quote": "print(a, b)", "prompt": "Name them."}
    question = {"question": "Which names?", "options": ["left and right"]}
    rules = [
        {"when": {"user": "Name them", "has_results": False}, "reply": calls("clarify", question)},
        {"when": {"tool_result": "Name them"}, "reply": says("It waits for you.")},
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
    expect(row.get_by_role("img", name="Waits for you")).to_be_visible()
    expect(row).to_contain_text("print(a, b)")
    row.click()
    expect(panel.root.get_by_role("button", name="left and right")).to_be_visible()
    tab = panel.root.get_by_role("tab", selected=True)
    expect(tab.get_by_role("img", name="Waits for you")).to_be_visible()
