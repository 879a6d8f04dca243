"""Where `++` requests suggestions in cells and files, and where it is literal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.ui.page_objects.inline_completion import SLOW, InlineCompletion, asked_of, suggests
from tests.ui.page_objects.settings import SettingsPage
from tests.ui.page_objects.text_editor import TextEditor
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

GOOD = suggests("one()", "two()", "three()")
NO_KERNEL = {"kernelspec": {"name": "cpp-not-here", "display_name": "C++", "language": "c++"}}
AS_CPP = {"language_info": {"name": "c++", "mimetype": "text/x-c++src", "file_extension": ".cpp"}}


@pytest.fixture
def folder(served: LabWithModel, request: pytest.FixtureRequest) -> Path:
    """The folder for the files of this test."""
    made = served.lab.root / request.node.name.translate({ord("["): "-", ord("]"): None})
    made.mkdir()
    return made


def open_text(scenario: NotebookScenario, file: Path, text: str) -> TextEditor:
    file.write_text(text, encoding="utf-8")
    scenario.play(GOOD)
    scenario.page.goto(scenario.lab.url("lab", reset=""))
    editor = TextEditor(scenario.page).open(file.relative_to(scenario.lab.root).as_posix())
    editor.content.click()
    scenario.page.keyboard.press("Control+End")
    return editor


@pytest.mark.full
@pytest.mark.shows("inline.ghost.2", "inline.keys.8")
def test_a_file_gets_suggestions_in_one_step_of_undo(
    scenario: NotebookScenario, folder: Path
) -> None:
    text = "import numpy as np\nvalue = "
    editor = open_text(scenario, folder / "work.py", text)
    ghost = InlineCompletion(scenario.page)

    ghost.ask()
    assert editor.text == text
    scenario.page.keyboard.press("ArrowDown")
    scenario.page.keyboard.press("Enter")

    editor.wait_for_text(f"{text}two()")
    assert editor.caret == len(f"{text}two()")
    scenario.page.keyboard.press("Control+z")
    editor.wait_for_text(text)
    (request,) = asked_of(scenario)
    assert "import numpy as np" in json.dumps(request["body"])


AS_IT_IS = {
    "loop.cpp": "for (int i = 0; i < 3; i",
    "loop.js": "let i = 0;\ni",
    "notes.md": "About C",
    "notes.txt": "About ",
    "remark.py": "x = 1  # as in C",
}
"""Texts at whose end `++` is literal, by file name."""


@pytest.mark.full
@pytest.mark.shows("inline.plus.5", "inline.plus.7")
def test_plus_plus_is_typed_where_it_means_itself(scenario: NotebookScenario, folder: Path) -> None:
    for name, text in AS_IT_IS.items():
        (folder / name).write_text(text, encoding="utf-8")
    scenario.play(GOOD)
    page = scenario.page
    page.goto(scenario.lab.url("lab", reset=""))
    for name, text in AS_IT_IS.items():
        editor = TextEditor(page).open(f"{folder.name}/{name}")
        editor.content.click()
        page.keyboard.press("Control+End")

        InlineCompletion(page).plus()

        editor.wait_for_text(f"{text}++")
        page.keyboard.type(" x")
        editor.wait_for_text(f"{text}++ x")
        InlineCompletion(page).gone()
    assert asked_of(scenario) == []


@pytest.mark.full
@pytest.mark.shows("inline.plus.2", "inline.plus.5", "inline.plus.7")
def test_slow_strokes_prose_and_other_kernels_get_what_was_typed(
    scenario: NotebookScenario,
) -> None:
    cells = [("code", "i"), ("js", "%%javascript\ni"), ("prose", "C")]
    scenario.write(*cells)
    book = json.loads(scenario.file.read_text())
    book["cells"][2] |= {"cell_type": "markdown"}
    for key in ("outputs", "execution_count"):
        del book["cells"][2][key]
    scenario.file.write_text(json.dumps(book))
    scenario.play(GOOD)
    notebook = scenario.show(scenario.page)
    ghost = InlineCompletion(scenario.page)
    notebook.editor("code").click()
    scenario.page.keyboard.press("End")
    ghost.plus(apart=SLOW)
    notebook.wait_for_source("code", "i++")
    notebook.editor("js").click()
    scenario.page.keyboard.press("Control+End")
    ghost.plus()
    notebook.wait_for_source("js", "%%javascript\ni++")
    notebook.cell("prose").locator(".jp-MarkdownOutput").dblclick()
    notebook.editor("prose").click()
    scenario.page.keyboard.press("Control+End")
    ghost.plus()
    notebook.wait_for_source("prose", "C++")
    assert asked_of(scenario) == []


@pytest.mark.full
@pytest.mark.shows("inline.plus.5")
def test_a_kernel_with_an_increment_keeps_it(scenario: NotebookScenario) -> None:
    scenario.write(("code", "i"))
    book = json.loads(scenario.file.read_text()) | {"metadata": NO_KERNEL | AS_CPP}
    scenario.file.write_text(json.dumps(book))
    scenario.play(GOOD)
    page = scenario.page
    page.goto(scenario.lab.document_url(scenario.path))
    page.get_by_role("dialog").get_by_role("button", name="No Kernel").click()
    editor = page.locator(".jp-Notebook:visible .cm-content")
    editor.click()
    page.keyboard.press("End")

    InlineCompletion(page).plus()

    expect(editor).to_have_text("i++")
    assert asked_of(scenario) == []


@pytest.mark.full
@pytest.mark.shows("inline.keys.9")
def test_several_carets_and_a_locked_cell_ask_for_nothing(scenario: NotebookScenario) -> None:
    notebook = scenario.open(("code", "a\nb"), ("locked", "c"), replies=[GOOD])
    page = scenario.page
    ghost = InlineCompletion(page)
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells[1]"
        ".setMetadata('editable', false)"
    )
    notebook.editor("code").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+Alt+ArrowDown")
    ghost.plus()
    notebook.wait_for_source("code", "++a\n++b")
    notebook.cell("locked").locator(".jp-InputPrompt").click()
    notebook.editor("locked").click()
    ghost.plus()
    notebook.command("jupyter-ai-shoulders:suggest")
    ghost.gone()
    assert notebook.source("locked") == "c"
    assert asked_of(scenario) == []


@pytest.fixture
def untouched_settings(scenario: NotebookScenario) -> Iterator[None]:
    """Restore the settings of suggestions: other tests share the server."""
    yield
    nothing = {"enabled_plus": None, "automatic": None, "skip_languages": None}
    scenario.talks.send("PUT", "settings", {"ghost": nothing})


@pytest.mark.full
@pytest.mark.shows("inline.plus.3", "inline.plus.4", "inline.plus.6")
@pytest.mark.usefixtures("untouched_settings")
def test_the_settings_switch_it_off_and_on_at_once(scenario: NotebookScenario) -> None:
    notebook = scenario.open(("code", "a = "), replies=[GOOD])
    page = scenario.page
    ghost = InlineCompletion(page)
    settings = SettingsPage(page).open("suggestions")
    settings.switch("With ++").uncheck()
    scenario.wait(
        lambda: scenario.talks.api("settings")["values"]["ghost"]["enabled_plus"] is False,
        "it is switched off",
    )
    in_notebook(page)
    notebook.editor("code").click()
    page.keyboard.press("End")
    scenario.wait(lambda: not plus_works(ghost), "the page hears of it")
    notebook.wait_for_source("code", "a = ++")
    page.keyboard.type(" ")

    settings.open("suggestions")
    settings.switch("With ++").check()
    settings.root.get_by_label("Languages without ++").fill("python")
    settings.root.get_by_label("Languages without ++").press("Enter")
    scenario.wait(
        lambda: scenario.talks.api("settings")["values"]["ghost"]["skip_languages"] == ["python"],
        "the languages are stored",
    )
    in_notebook(page)
    notebook.editor("code").click()
    page.keyboard.press("End")
    scenario.wait(lambda: not plus_works(ghost), "the page hears of it")
    notebook.wait_for_source("code", "a = ++ ++")

    scenario.talks.send("PUT", "settings", {"ghost": {"skip_languages": []}})
    page.keyboard.type(" ")
    scenario.wait(lambda: plus_works(ghost), "the page hears of another program's change")
    assert notebook.source("code").replace("+", "") == "a =   "


def plus_works(ghost: InlineCompletion) -> bool:
    """Whether `++` requests suggestions now; leaves nothing behind."""
    ghost.plus()
    works = ghost.dots.or_(ghost.text).count() > 0
    if works:
        ghost.page.keyboard.press("Escape")
        ghost.gone()
    return works


def in_notebook(page: Page) -> None:
    """Go back to the notebook."""
    page.get_by_role("tab", name=".ipynb").first.click()


@pytest.mark.full
@pytest.mark.shows("inline.request.1", "inline.request.2")
def test_what_stands_in_another_cell_unsaved_is_told_and_makes_other_suggestions(
    scenario: NotebookScenario,
) -> None:
    notebook = scenario.open(
        ("defs", "first = 1"), ("here", "y = "), replies=[GOOD, suggests("new()", "b", "c")]
    )
    ghost = InlineCompletion(scenario.page)
    notebook.editor("here").click()
    scenario.page.keyboard.press("Control+End")
    ghost.ask()
    ghost.shows("one()")
    scenario.page.keyboard.press("Escape")

    notebook.type_at_end("defs", "\ndef second(rows): ...")
    notebook.editor("here").click()
    scenario.page.keyboard.press("Control+End")
    ghost.ask()

    ghost.shows("new()")
    before, after = (json.dumps(request["body"]) for request in asked_of(scenario))
    assert "second(rows)" not in before
    assert "second(rows)" in after
