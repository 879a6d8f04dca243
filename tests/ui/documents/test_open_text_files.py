"""The agent and other programs change open text files: no text is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import Panel
from tests.ui.page_objects.text_editor import TextEditor
from tests.ui.support.kept_page import is_kept, shows_lab, tidy
from tests.ui.support.network_faults import Sockets
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

CODE = "def f(x):\n    return x\n\n\nprint(f(1))\n"
EDITED = CODE.replace("return x", "return x + 1")
EDIT = calls("edit_document", {"find": "return x", "replace": "return x + 1"})

MakeScenario = Callable[..., NotebookScenario]


@pytest.fixture
def make(
    served: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[MakeScenario]:
    """Return a factory of scenarios, each with a new text file."""
    made: list[NotebookScenario] = []

    def scenario(name: str = "code.py", content: str = CODE) -> NotebookScenario:
        folder = served.lab.root / request.node.name.replace("[", "-").replace("]", "")
        folder.mkdir()
        file = folder / name
        file.write_bytes(content.encode())
        made.append(NotebookScenario(served, page, file, is_kept(request)))
        return made[-1]

    yield scenario
    tidy(request, page)
    for each in made:
        each.talks.end()


def show(scenario: NotebookScenario, page: Page | None = None) -> TextEditor:
    """Open the file in the editor of a page."""
    page = page or scenario.page
    if not (scenario.kept and shows_lab(page, scenario.lab)):
        page.goto(scenario.lab.url("lab", reset=""))
    return TextEditor(page).open(scenario.path)


def on_disk(scenario: NotebookScenario) -> str:
    return scenario.file.read_bytes().decode()


def no_dialog(*pages: Page) -> None:
    for page in pages:
        expect(page.locator(".jp-Dialog")).to_have_count(0)


# the agent edits


@pytest.mark.kept_page
def test_an_edit_keeps_unsaved_text_and_is_one_step_of_undo(make: MakeScenario) -> None:
    scenario = make()
    scenario.play(EDIT, says("Done."))
    editor = show(scenario)
    editor.type_at_end("# typed")
    caret = editor.caret
    scenario.ask()
    scenario.ended()
    assert scenario.results() == ["ok"]
    assert (editor.text, editor.dirty) == (f"{EDITED}# typed", True)
    assert editor.caret == caret + len(" + 1")
    assert on_disk(scenario) == CODE
    editor.undo()
    editor.wait_for_text(f"{CODE}# typed")
    editor.undo()
    editor.wait_for_text(CODE)
    editor.saves_without_a_question()


@pytest.mark.full
def test_a_clean_file_is_edited_in_its_editor_and_saved(make: MakeScenario) -> None:
    scenario = make()
    scenario.play(EDIT, says("Done."))
    editor = show(scenario)
    scenario.ask()
    scenario.ended()
    assert scenario.results() == ["ok"]
    assert on_disk(scenario) == EDITED  # the file has it before the agent continues
    assert (editor.text, editor.dirty) == (EDITED, False)
    no_dialog(scenario.page)
    editor.type_at_end("# mine")
    editor.saves_without_a_question()
    assert on_disk(scenario) == f"{EDITED}# mine"
    editor.undo()
    editor.wait_for_text(EDITED)
    editor.undo()
    editor.wait_for_text(CODE)


@pytest.mark.full
def test_text_typed_between_two_edits_stays_between_them(make: MakeScenario) -> None:
    scenario = make()
    more = calls("edit_document", {"find": "print(f(1))", "replace": "print(f(2))"})
    scenario.play(EDIT, says("One."), more, says("Two."))
    editor = show(scenario)
    scenario.ask("One.")
    scenario.ended(1)
    editor.type_at_start("# top\n")
    scenario.ask("Two.")
    scenario.ended(2)
    whole = f"# top\n{EDITED}".replace("f(1)", "f(2)")
    editor.wait_for_text(whole)
    editor.undo()
    editor.wait_for_text(f"# top\n{EDITED}")
    editor.undo()
    editor.wait_for_text(EDITED)


@pytest.mark.kept_page
@pytest.mark.parametrize(
    ("name", "content", "find", "replacement"),
    [
        pytest.param("notes.md", "# One\n\ntext\n", "text", "more text", marks=pytest.mark.full),
        pytest.param("table.csv", "a,b\n1,2\n", "1,2", "1,3", marks=pytest.mark.full),
        pytest.param("settings.json", '{"a": 1}\n', '"a": 1', '"a": 2', marks=pytest.mark.full),
        ("windows.txt", "one\r\ntwo\r\n", "two", "three"),
        pytest.param("marked.txt", "\ufeffone\ntwo\n", "two", "three", marks=pytest.mark.full),
    ],
    ids=["markdown", "csv", "json", "windows", "byte-order-mark"],
)
def test_files_of_all_kinds_are_edited_and_saved_as_they_are(
    make: MakeScenario, name: str, content: str, find: str, replacement: str
) -> None:
    scenario = make(name, content)
    scenario.play(calls("edit_document", {"find": find, "replace": replacement}), says("Done."))
    show(scenario)
    scenario.ask()
    scenario.ended()
    assert scenario.results() == ["ok"]
    assert on_disk(scenario) == content.replace(find, replacement)
    no_dialog(scenario.page)


@pytest.mark.full
def test_a_read_only_document_is_not_changed(make: MakeScenario) -> None:
    scenario = make()
    scenario.play(EDIT, says("Done."))
    editor = show(scenario)
    editor.read_only()
    scenario.ask()
    scenario.ended()
    assert scenario.results() == ["error"]
    assert (editor.text, on_disk(scenario)) == (CODE, CODE)


@pytest.mark.full
def test_what_is_selected_is_told(make: MakeScenario) -> None:
    scenario = make()
    scenario.play(calls("get_document_info", {}), says("Done."))
    editor = show(scenario)
    editor.select(CODE.index("return"), CODE.index("return") + len("return x"))
    scenario.ask()
    scenario.ended()
    result = scenario.talks.of_type("tool-result")[-1]["result"]
    assert result["data"]["selected_text"] == "return x"


@pytest.mark.full
def test_of_two_pages_one_is_edited_and_the_other_takes_it_up(
    make: MakeScenario, other_page: Page
) -> None:
    scenario = make()
    scenario.play(EDIT, says("Done."))
    other = show(scenario, other_page)
    other.type_at_end("# other")
    editor = show(scenario)
    editor.content.click()
    scenario.ask()
    scenario.ended()
    assert (editor.text, on_disk(scenario)) == (EDITED, EDITED)
    other.wait_for_text(f"{EDITED}# other")
    other.saves_without_a_question()
    editor.wait_for_text(f"{EDITED}# other")
    assert not editor.dirty
    editor.knows_its_file()
    editor.saves_without_a_question()


# others change the file


@pytest.mark.full
def test_a_file_changed_under_a_clean_editor_is_shown_in_place(make: MakeScenario) -> None:
    scenario = make()
    editor = show(scenario)
    editor.content.click()
    scenario.page.keyboard.press("Control+End")
    caret = editor.caret
    scenario.file.write_text(f"import os\n{CODE}")
    editor.wait_for_text(f"import os\n{CODE}")
    editor.knows_its_file()
    assert (editor.dirty, editor.caret) == (False, caret + len("import os\n"))
    editor.type_at_end("# mine")
    editor.saves_without_a_question()
    assert on_disk(scenario) == f"import os\n{CODE}# mine"


@pytest.mark.kept_page
def test_a_file_changed_under_unsaved_text_is_merged(make: MakeScenario) -> None:
    scenario = make()
    editor = show(scenario)
    editor.type_at_end("# typed")
    scenario.file.write_text(f"import os\n{CODE}")
    editor.wait_for_text(f"import os\n{CODE}# typed")
    assert editor.dirty
    editor.knows_its_file()
    editor.saves_without_a_question()
    assert on_disk(scenario) == f"import os\n{CODE}# typed"


@pytest.mark.kept_page
@pytest.mark.parametrize(
    "choice", ["Keep my text", pytest.param("Use the saved text", marks=pytest.mark.full)]
)
def test_the_user_decides_where_both_changed_the_same_lines(
    make: MakeScenario, choice: str
) -> None:
    scenario = make()
    editor = show(scenario)
    editor.type_at_start("async ")
    mine, theirs = f"async {CODE}", CODE.replace("f(x)", "g(x)")
    scenario.file.write_text(theirs)
    notice = editor.notice("was saved elsewhere")
    expect(notice).to_be_visible()
    assert (editor.text, editor.dirty) == (mine, True)
    notice.get_by_role("button", name=choice).click()
    expect(notice).to_have_count(0)
    kept = mine if choice.startswith("Keep") else theirs
    editor.wait_for_text(kept)
    editor.knows_its_file()
    editor.saves_without_a_question()
    scenario.wait(lambda: on_disk(scenario) == kept, "it is saved")
    if kept == theirs:
        editor.undo()
        editor.wait_for_text(mine)


def test_nothing_is_written_below_unsaved_text_of_a_page_without_connection(
    make: MakeScenario, page: Page
) -> None:
    scenario = make()
    sockets = Sockets(page)
    editor = show(scenario)
    editor.type_at_end("# typed")
    send_without_a_page(scenario, "What is there?", calls("read_document", {}))
    scenario.wait(
        lambda: "# typed" in str(scenario.talks.of_type("tool-result")), "it was announced"
    )
    sockets.cut()
    send_without_a_page(scenario, "Change it.", EDIT)
    scenario.ended(2)
    refused = scenario.talks.of_type("tool-result")[-1]["result"]["error"]
    assert refused["code"] == "page_not_responding"
    assert (editor.text, on_disk(scenario)) == (f"{CODE}# typed", CODE)
    sockets.mend()
    Panel(page).open().reconnected()
    scenario.wait(lambda: edited_again(scenario), "the page is asked again")
    assert (editor.text, on_disk(scenario)) == (f"{EDITED}# typed", CODE)


def send_without_a_page(scenario: NotebookScenario, text: str, *replies: Mapping[str, Any]) -> None:
    """Send a message about the file without a page, to one conversation."""
    scenario.play(*replies, says("Done."))
    if not scenario.talks.all():
        scenario.talks.send("POST", "sessions", {"mode": "auto_edit"})
    count = len(scenario.talks.of_type("turn-end"))
    message: dict[str, Any] = {
        "id": f"message_{count}_{text}",
        "text": text,
        "attachments": [],
        "context": {"active_document": scenario.path},
    }
    scenario.talks.send("POST", f"sessions/{scenario.talks.only()['id']}/messages", message)
    scenario.ended(count + 1)


def edited_again(scenario: NotebookScenario) -> bool:
    """Try the edit; a reconnecting page does not get it yet."""
    send_without_a_page(scenario, "Change it.", EDIT)
    return scenario.results()[-1] == "ok"


# the agent moves and removes files


@pytest.mark.full
def test_an_open_file_that_the_agent_moves_is_followed(make: MakeScenario) -> None:
    scenario = make()
    moved = scenario.path.replace("code.py", "moved.py")
    scenario.play(calls("rename_file", {"path": scenario.path, "new_path": moved}), says("Done."))
    editor = show(scenario)
    scenario.ask(allow=True)
    scenario.ended()
    assert scenario.results() == ["ok"]
    scenario.wait(lambda: editor.path == moved, "the editor follows")
    editor.type_at_end("# typed")
    editor.saves_without_a_question()
    assert not scenario.file.exists()
    assert scenario.file.with_name("moved.py").read_text() == f"{CODE}# typed"


@pytest.mark.full
def test_an_open_notebook_that_the_agent_moves_is_followed(scenario: NotebookScenario) -> None:
    moved = scenario.path.replace(".ipynb", "_moved.ipynb")
    rename = calls("rename_file", {"path": scenario.path, "new_path": moved})
    opened = scenario.open(("one", "x = 1"), replies=[rename, says("Done.")])
    scenario.ask(allow=True)
    scenario.ended()
    assert scenario.results() == ["ok"]
    editor = TextEditor(scenario.page)
    scenario.wait(lambda: editor.path == moved, "the notebook follows")
    opened.type_at_end("one", "  # typed")
    opened.save()
    no_dialog(scenario.page)
    assert not scenario.file.exists()
    scenario.file = scenario.lab.root / moved
    assert scenario.on_disk() == {"one": "x = 1  # typed"}


@pytest.mark.full
def test_an_open_file_that_the_agent_deletes_is_closed(make: MakeScenario) -> None:
    scenario = make()
    read = calls("read_file", {"path": scenario.path})
    scenario.play(read, calls("delete_file", {"path": scenario.path}), says("Done."))
    show(scenario)
    scenario.ask(allow=True)
    scenario.ended()
    assert scenario.results() == ["ok", "ok"]
    expect(scenario.page.locator(".jp-FileEditor")).to_have_count(0)
    no_dialog(scenario.page)
    assert not scenario.file.exists()
