"""A Word document opens as a page, follows its file, and runs and loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.files.word.raw_documents import document, inserted, paragraph, run_of
from tests.simulator_process import calls, says
from tests.ui.chat.test_chat_panel import THEMES, show_theme
from tests.ui.hostile_text.markup import MARKUP
from tests.ui.hostile_text.watch import Watch, faults
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.accessibility_audit import COLOURS, audit
from tests.ui.support.kept_page import is_kept, tidy
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario
from tests.ui.word.word_page import WordPage, report

MakeScenario = Callable[..., NotebookScenario]
ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;"})


@pytest.fixture
def make(
    served: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[MakeScenario]:
    """Return a factory of scenarios, each with a new document."""
    made: list[NotebookScenario] = []

    def scenario(content: bytes) -> NotebookScenario:
        folder = served.lab.root / request.node.name.replace("[", "-").replace("]", "")
        folder.mkdir(exist_ok=True)
        file = folder / "report.docx"
        file.write_bytes(content)
        made.append(NotebookScenario(served, page, file, is_kept(request)))
        return made[-1]

    yield scenario
    tidy(request, page)
    for each in made:
        each.talks.end()


def show(scenario: NotebookScenario) -> WordPage:
    """Open the document in the page."""
    scenario.page.goto(scenario.lab.url("lab", reset=""))
    return WordPage(scenario.page).open(scenario.path)


def test_page_shows_the_document_and_follows_its_file(make: MakeScenario) -> None:
    scenario = make(report(*(f"Paragraph {number}." for number in range(80))))
    requests: list[str] = []
    scenario.page.on("request", lambda request: requests.append(request.url))
    word = show(scenario)
    expect(word.body.locator("h1")).to_have_text("Growth of the cultures")
    expect(word.summary).to_have_text("2 tracked changes · 1 comment · read-only")
    expect(word.body.locator("ins")).to_have_attribute("title", "Inserted by Ada, 1/2/2024")
    expect(word.body.locator("del")).to_have_text("tripled")
    expect(word.body.locator("td")).to_have_text(["Hour", "Count", "0", "120", "1", "340"])
    word.body.get_by_role("button", name="Comment 1 by Grace").click()
    expect(word.root.locator(".shoulders-Word-comment")).to_be_focused()
    assert audit(word.root) == []
    assert not [url for url in requests if "/api/contents/" in url and "content=1" in url]

    word.paragraph(50).scroll_into_view_if_needed()
    top = word.paragraph(50).bounding_box()
    more = [f"Paragraph {number}." for number in range(80)]
    scenario.file.write_bytes(report(*more, "A new last paragraph."))
    expect(word.body.get_by_text("A new last paragraph.")).to_be_attached()
    assert word.paragraph(50).bounding_box() == top


@pytest.mark.parametrize("shown", [0, 40], ids=["markup", "attributes"])
def test_hostile_document_runs_and_loads_nothing(make: MakeScenario, shown: int) -> None:
    hostile = [text for text in MARKUP if text.isprintable() and "<!" not in text]
    texts = hostile if shown == 0 else hostile[:shown]
    link = '<w:hyperlink w:anchor="javascript:hit=1"><w:r><w:t>a link</w:t></w:r></w:hyperlink>'
    authors = [text.translate(ESCAPED) for text in texts] if shown else ["Ada"]
    scenario = make(
        document(
            "".join(paragraph(run_of(text)) for text in texts)
            + paragraph(*(inserted("x", author=author) for author in authors), link)
        )
    )
    watch = Watch(scenario.page, scenario.lab.url(""))
    word = show(scenario)
    expect(word.body.get_by_text("a link")).to_be_attached()
    word.body.locator("ins").first.hover()
    word.body.get_by_text("a link").click()
    assert faults(word.root) == []
    assert watch.tripped() == []


def test_damaged_document_says_why_and_can_be_read_again(make: MakeScenario) -> None:
    scenario = make(b"not a document")
    word = show(scenario)
    expect(word.body).to_contain_text("This document cannot be shown.")
    expect(word.body).to_contain_text("not a Word document")
    scenario.file.write_bytes(report())
    word.root.get_by_role("button", name="Reload").click()
    expect(word.body.locator("h1")).to_have_text("Growth of the cultures")


def test_selection_becomes_context_and_attachment_of_a_message(make: MakeScenario) -> None:
    scenario = make(report())
    scenario.play(says("It grew fast."))
    word = show(scenario)
    panel = Panel(scenario.page).open()
    word.select("doubled")
    scenario.page.get_by_role("button", name="Ask AI").click()
    expect(panel.root.locator(".shoulders-Composer")).to_contain_text("report.docx")
    panel.ask("Is that so?")
    scenario.ended()
    (message,) = scenario.talks.of_type("message-add")
    (attached,) = message["attachments"]
    assert (attached["kind"], attached["path"]) == ("selection", scenario.path)
    assert attached["text"] == "doubled"
    assert attached["before"].endswith("The count ")
    assert message["context"]["active_document"] == scenario.path
    assert message["context"]["selection"]["text"] == "doubled"


def test_thread_on_a_selection_is_marked_and_survives_changes_and_reload(
    make: MakeScenario,
) -> None:
    scenario = make(report())
    scenario.play(says("Quickly."))
    word = show(scenario)
    panel = Panel(scenario.page).open()
    word.select("grew quick")
    word.run("start-thread")
    panel.ask("Improve this.")
    scenario.ended()
    marked = word.body.locator(".shoulders-ThreadText")
    expect(marked).to_have_text("grew quick")
    scenario.file.write_bytes(report("One more."))
    expect(word.body.get_by_text("One more.")).to_be_attached()
    expect(marked).to_have_text("grew quick")
    scenario.page.reload()
    word.open(scenario.path)
    expect(marked).to_have_text("grew quick")
    word.body.get_by_role("button", name="Improve this.").click()
    expect(panel.answers.last).to_contain_text("Quickly.")


def test_page_is_readable_in_every_theme(make: MakeScenario) -> None:
    word = show(make(report()))
    for theme in THEMES:
        show_theme(word.page, theme)
        assert audit(word.root, COLOURS) == [], theme


def test_edit_of_the_agent_is_reviewed_on_the_page_and_undone_exactly(make: MakeScenario) -> None:
    scenario = make(report())
    before = scenario.file.read_bytes()
    edit = {"paragraph": 10, "old_string": "grew quick", "new_string": "grew quickly"}
    scenario.play(
        calls("read_file", {"path": scenario.path}),
        calls("edit_document_file", {"path": scenario.path, "edits": [edit]}),
        says("Done."),
    )
    word = show(scenario)
    scenario.ask("Correct the grammar.", allow=True)
    scenario.ended()
    card = word.body.locator(".shoulders-WordCard")
    expect(card.locator("del")).to_contain_text("grew quick")
    expect(card.locator("ins")).to_contain_text("grew quickly")
    expect(word.paragraph(10).locator("ins")).to_have_text(["quickly"])
    expect(word.summary).to_contain_text("4 tracked changes")
    expect(word.paragraph(3).locator("ins")).to_have_attribute("data-author", "Ada")
    word.root.get_by_role("button", name="Open review").click()
    expect(word.page.locator(".shoulders-Review")).to_contain_text("1 change in 1 file")
    card.get_by_role("button", name="Undo the changes of this document").click()
    expect(card).to_have_count(0)
    expect(word.paragraph(10)).to_have_text("The cultures grew quick in the first hours.")
    assert scenario.file.read_bytes() == before


def test_proposal_in_a_thread_becomes_a_tracked_change(make: MakeScenario) -> None:
    scenario = make(report())
    scenario.play(
        calls("propose_edit", {"old_string": "grew quick", "new_string": "grew quickly"}),
        says("See the proposal."),
    )
    word = show(scenario)
    panel = Panel(scenario.page).open()
    word.select("grew quick")
    word.run("start-thread")
    panel.ask("Improve this.")
    scenario.ended()
    panel.proposal.get_by_role("button", name="Apply").click()
    expect(word.body.locator(".shoulders-WordCard ins")).to_contain_text("grew quickly")
    expect(word.paragraph(10).locator("ins")).to_have_text(["quickly"])
    expect(word.body.locator(".shoulders-ThreadText").first).to_be_visible()
