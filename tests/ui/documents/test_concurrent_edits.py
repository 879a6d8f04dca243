"""A user types while the agent edits the same text: both survive; a conflict is a choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.page_objects.text_editor import TextEditor
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

CELL = "a = 1\nb = 2\n# notes:"
CODE = f"{CELL}\n"

MakeScenario = Callable[..., NotebookScenario]


@pytest.fixture
def make(
    served: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[MakeScenario]:
    """Return a factory of scenarios, each with a new text file."""
    made: list[NotebookScenario] = []

    def scenario() -> NotebookScenario:
        folder = served.lab.root / request.node.name
        folder.mkdir()
        file = folder / "code.py"
        file.write_text(CODE, encoding="utf-8")
        made.append(NotebookScenario(served, page, file))
        return made[-1]

    yield scenario
    for each in made:
        each.talks.end()


def read(scenario: NotebookScenario) -> dict[str, object]:
    return calls("read_notebook", {"path": scenario.path})


def edit(scenario: NotebookScenario, old: str, new: str) -> dict[str, object]:
    arguments = {"path": scenario.path, "cell_id": "first", "old_string": old, "new_string": new}
    return calls("edit_cell", arguments)


class Talk:
    """A conversation driven beside the page, which keeps the focus; the panel follows it."""

    def __init__(self, scenario: NotebookScenario) -> None:
        self.scenario = scenario
        self.panel = Panel(scenario.page).open()
        self.turns = 0

    def ask(self) -> None:
        """Send a message, through the panel the first time only; wait for the answer."""
        self.turns += 1
        if self.turns == 1:
            self.panel.ask("Go on.")
        else:
            session = self.scenario.talks.only()["id"]
            message = {"id": f"m{self.turns}", "text": "Go on."}
            self.scenario.talks.send("POST", f"sessions/{session}/messages", message)
        self.scenario.ended(self.turns)


def begin(scenario: NotebookScenario, *replies: dict[str, object]) -> tuple[OpenNotebook, Talk]:
    """Show a cell that the agent has read, and script its answers."""
    script = [read(scenario), says("Read."), *replies]
    opened = scenario.open(("first", CELL), ("second", "c = 3"), replies=script)
    talk = Talk(scenario)
    talk.ask()
    return opened, talk


@pytest.mark.kept_page
def test_a_line_typed_at_the_end_stays_beside_the_agents_edit(scenario: NotebookScenario) -> None:
    opened, talk = begin(scenario, edit(scenario, "a = 1", "a = 700"), says("Done."))
    opened.type_at_end("first", "\nmine")
    talk.ask()
    opened.wait_for_source("first", "a = 700\nb = 2\n# notes:\nmine")
    scenario.page.keyboard.type(" too")  # the caret did not move
    opened.wait_for_source("first", "a = 700\nb = 2\n# notes:\nmine too")
    expect(talk.panel.proposal).to_have_count(0)
    assert scenario.results() == ["ok", "ok"]
    (told,) = scenario.talks.of_type("tool-result")[-1]["content"]
    assert "The user changed it since you read it; their changes stay:" in told["text"]
    assert "+mine" in told["text"]
    # Typing and edits are separate undo steps: the agent's is the second.
    scenario.page.keyboard.press("Control+z")
    opened.wait_for_source("first", "a = 700\nb = 2\n# notes:\nmine")
    scenario.page.keyboard.press("Control+z")
    opened.wait_for_source("first", f"{CELL}\nmine")


@pytest.mark.full
def test_an_overlap_is_a_card_with_the_agents_change_alone(scenario: NotebookScenario) -> None:
    opened, talk = begin(scenario, edit(scenario, "a = 1", "a = 700"), says("Done."))
    opened.editor("first").click()
    scenario.page.keyboard.press("Control+Home")
    scenario.page.keyboard.press("End")
    scenario.page.keyboard.type("  # mine")
    opened.type_at_end("first", "\nnotes of mine")
    talk.ask()
    mine = "a = 1  # mine\nb = 2\n# notes:\nnotes of mine"
    assert opened.source("first") == mine
    card = talk.panel.proposal
    expect(card.locator("ins.shoulders-Diff-word")).to_have_text("700")
    expect(card).not_to_contain_text("−notes")
    opened.type_at_end("first", " too")
    card.get_by_role("button", name="Apply", exact=True).click()
    opened.wait_for_source("first", f"{mine} too".replace("a = 1", "a = 700"))
    expect(card).to_contain_text("applied")


@pytest.mark.full
def test_words_that_both_changed_are_a_choice_and_mine_can_stay(scenario: NotebookScenario) -> None:
    opened, talk = begin(
        scenario,
        edit(scenario, "a = 1", "a = 700"),
        says("Done."),
        edit(scenario, "b = 2", "b = 800"),
        says("Done."),
    )
    opened.editor("first").click()
    scenario.page.keyboard.press("Control+Home")
    scenario.page.keyboard.press("End")
    scenario.page.keyboard.type("0")
    talk.ask()
    mine = CELL.replace("a = 1", "a = 10")
    card = talk.panel.proposal
    expect(card).to_contain_text("You changed the same lines. Choose which text to keep.")
    expect(card.get_by_role("button", name="Apply", exact=True)).to_have_count(0)
    card.get_by_role("button", name="Keep mine").click()
    expect(card).to_contain_text("dismissed")
    assert opened.source("first") == mine

    opened.editor("first").click()
    scenario.page.keyboard.press("Control+Home")
    scenario.page.keyboard.press("ArrowDown")
    scenario.page.keyboard.press("End")
    scenario.page.keyboard.type("0")
    opened.type_at_end("first", "\nmore")
    talk.ask()
    expect(card).to_have_count(2)
    card.last.get_by_role("button", name="Use the agent’s text").click()
    opened.wait_for_source("first", "a = 10\nb = 800\n# notes:\nmore")


@pytest.mark.full
def test_after_the_turn_is_undone_the_next_edit_is_made_in_the_text_as_it_is(
    scenario: NotebookScenario,
) -> None:
    again = edit(scenario, "a = 1", "a = 7")
    opened, talk = begin(
        scenario, edit(scenario, "a = 1", "a = 100"), says("Done."), again, says("Done.")
    )
    talk.ask()
    opened.wait_for_source("first", CELL.replace("a = 1", "a = 100"))
    talk.panel.root.get_by_role("button", name="Undo this turn").last.click()
    opened.wait_for_source("first", CELL)
    talk.ask()
    opened.wait_for_source("first", CELL.replace("a = 1", "a = 7"))
    expect(talk.panel.proposal).to_have_count(0)
    assert scenario.results() == ["ok", "ok", "ok"]


@pytest.mark.full
def test_a_line_typed_into_an_open_file_stays_beside_the_agents_edit(make: MakeScenario) -> None:
    scenario = make()
    change = {"path": scenario.path, "old_string": "a = 1", "new_string": "a = 700"}
    scenario.play(
        calls("read_file", {"path": scenario.path}),
        says("Read."),
        calls("edit_file", change),
        says("Done."),
    )
    scenario.page.goto(scenario.lab.url("lab", reset=""))
    editor = TextEditor(scenario.page).open(scenario.path)
    talk = Talk(scenario)
    talk.ask()
    editor.type_at_end("mine")
    talk.ask()
    editor.wait_for_text(f"{CODE}mine".replace("a = 1", "a = 700"))
    scenario.page.keyboard.type(" too")
    editor.wait_for_text(f"{CODE}mine too".replace("a = 1", "a = 700"))
    expect(talk.panel.proposal).to_have_count(0)
    assert scenario.results() == ["ok", "ok"]
    editor.undo()
    editor.wait_for_text(f"{CODE}mine".replace("a = 1", "a = 700"))
    editor.undo()
    editor.wait_for_text(f"{CODE}mine")
