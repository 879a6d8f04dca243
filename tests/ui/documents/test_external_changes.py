"""The file of an open notebook changes: by git, another editor, a script that crashes.

The page merges the changes without a reload or a question, and unsaved text stays.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

MANY = 60

_PLACE = """() => {
    const {content} = window.jupyterapp.shell.currentWidget;
    const view = content.activeCell.editor.editor;
    return {
        top: content.activeCell.node.getBoundingClientRect().top,
        active: content.activeCell.model.id,
        mode: content.mode,
        caret: view.state.selection.main.head,
        kernel: window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id,
        panel: window.jupyterapp.shell.currentWidget.id
    };
}"""


@dataclass
class Outside:
    """A scenario with a notebook in its own folder."""

    scenario: NotebookScenario
    opened: OpenNotebook | None = None

    @property
    def file(self) -> Path:
        return self.scenario.file

    @property
    def page(self) -> Page:
        return self.scenario.page

    def show(self, *cells: tuple[str, str]) -> OpenNotebook:
        self.scenario.write(*cells)
        self.opened = self.scenario.show(self.page)
        return self.opened

    def place(self) -> dict[str, Any]:
        """The user's position in the notebook."""
        return self.page.evaluate(_PLACE)

    def change(self, edit: Callable[[dict[str, Any]], None]) -> str:
        """The file's text after an edit."""
        content = json.loads(self.file.read_text(encoding="utf-8"))
        edit(content)
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def replace(self, text: str) -> None:
        """Replace the file, as most editors save."""
        beside = self.file.with_suffix(".swp")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.file)

    def git(self, *arguments: str) -> None:
        own = {"HOME": str(self.file.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        name = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
        subprocess.run(
            ["git", *name, *arguments],
            cwd=self.file.parent,
            env={**os.environ, **own},
            check=True,
            capture_output=True,
        )

    def saves_without_a_question(self) -> None:
        assert self.opened is not None
        self.opened.save()
        expect(self.page.locator(".jp-Dialog")).to_have_count(0)


@pytest.fixture
def outside(served: LabWithModel, page: Page, request: pytest.FixtureRequest) -> Iterator[Outside]:
    name = request.node.name.removeprefix("test_")
    folder = served.lab.root / name
    folder.mkdir()
    scenario = NotebookScenario(served, page, folder / f"{name}.ipynb")
    yield Outside(scenario)
    scenario.talks.end()


def sources(content: dict[str, Any], **texts: str) -> None:
    """Change the texts of some cells."""
    for cell in content["cells"]:
        if cell["id"] in texts:
            cell["source"] = texts[cell["id"]]


def shown_ids(opened: OpenNotebook) -> list[str]:
    """The ids of the cells in the page, even if the file has none."""
    return opened.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.context.model.sharedModel.cells"
        ".map(cell => cell.id)"
    )


@pytest.mark.full
def test_git_checkout_under_a_clean_notebook_shows_in_place(outside: Outside) -> None:
    cells = [(f"c{at}", f"x{at} = {at}\n" * 3) for at in range(MANY)]
    opened = outside.show(("first", "kept = 41"), *cells)
    opened.run("first")
    opened.save()
    outside.git("init", "-q")
    outside.git("add", "-A")
    outside.git("commit", "-qm", "one")

    def other_branch(content: dict[str, Any]) -> None:
        sources(content, c3="three", c40="forty")
        del content["cells"][11:14]  # c10, c11, c12
        new: dict[str, Any] = {
            "cell_type": "markdown",
            "metadata": {},
            "source": "# New",
            "id": "new",
        }
        content["cells"][20:20] = [new, {**new, "id": "newer", "source": "newer"}]
        content["cells"][5] = {**new, "id": "c4", "source": "of another type"}
        content["metadata"]["title"] = "of the branch"

    text = outside.change(other_branch)
    outside.git("checkout", "-qb", "other")
    outside.file.write_text(text, encoding="utf-8")
    outside.git("commit", "-qam", "two")
    outside.git("checkout", "-q", "-")
    opened.knows_its_file()

    opened.editor("c30").scroll_into_view_if_needed()
    opened.editor("c30").click()
    outside.page.keyboard.press("Control+Home")
    before = outside.place()
    outside.git("checkout", "-q", "other")
    opened.wait_for_source("c40", "forty")
    opened.knows_its_file()
    expected = json.loads(text)["cells"]
    assert opened.ids == [cell["id"] for cell in expected]
    assert [cell["cell_type"] for cell in opened.cells] == [cell["cell_type"] for cell in expected]
    after = outside.place()
    assert abs(after.pop("top") - before.pop("top")) < 5  # pixels on the screen
    assert after == before
    assert not opened.dirty
    outside.saves_without_a_question()
    assert json.loads(outside.file.read_text())["metadata"]["title"] == "of the branch"
    opened.type_at_end("c30", "\nprint(kept + 1)")
    opened.run("c30")
    expect(opened.output("c30")).to_have_text("42\n")


def test_another_editor_and_typing_here_are_merged(outside: Outside) -> None:
    opened = outside.show(("both", "x = 1\n\ny = 1"), ("mine", "m = 1"), ("theirs", "t = 1"))
    opened.type_at_end("both", "  # typed")
    opened.type_at_end("mine", "  # mine")
    before = outside.place()
    outside.replace(
        outside.change(lambda content: sources(content, both="x = 2\n\ny = 1", theirs="t = 2"))
    )
    opened.wait_for_source("theirs", "t = 2")
    opened.wait_for_source("both", "x = 2\n\ny = 1  # typed")
    assert outside.place() == before
    assert opened.dirty
    outside.page.keyboard.type(" on")
    opened.knows_its_file()
    outside.saves_without_a_question()
    assert outside.scenario.on_disk() == {
        "both": "x = 2\n\ny = 1  # typed",
        "mine": "m = 1  # mine on",
        "theirs": "t = 2",
    }


@pytest.mark.full
def test_half_a_file_is_waited_out_and_a_deleted_one_may_come_back(outside: Outside) -> None:
    opened = outside.show(("one", "x = 1"), ("mine", "m = 1"))
    opened.type_at_end("mine", "  # typed")
    whole = outside.change(lambda content: sources(content, one="x = 2"))
    outside.file.write_text(whole[: len(whole) // 2], encoding="utf-8")
    # There is no event to wait for: the server polls once a second and must not change the file.
    outside.page.wait_for_timeout(2_500)
    assert [opened.source("one"), opened.source("mine")] == ["x = 1", "m = 1  # typed"]
    outside.file.unlink()
    outside.file.write_text(whole, encoding="utf-8")
    opened.wait_for_source("one", "x = 2")
    opened.knows_its_file()
    outside.saves_without_a_question()
    assert outside.scenario.on_disk() == {"one": "x = 2", "mine": "m = 1  # typed"}


@pytest.mark.full
def test_cells_without_ids_are_known_by_what_they_are(outside: Outside) -> None:
    def older(content: dict[str, Any]) -> None:
        content["nbformat_minor"] = 4
        for cell in content["cells"]:
            cell.pop("id", None)

    outside.scenario.write(("a", "x = 1"), ("b", "y = 1"), ("c", "z = 1"))
    outside.replace(outside.change(older))
    opened = outside.opened = outside.scenario.show(outside.page)
    first, second, third = shown_ids(opened)
    opened.type_at_end(third, "  # typed")

    def changed(content: dict[str, Any]) -> None:
        older(content)
        content["cells"][1]["source"] = "y = 2"

    outside.replace(outside.change(changed))
    opened.wait_for_source(second, "y = 2")
    assert shown_ids(opened) == [first, second, third]
    assert opened.source(third) == "z = 1  # typed"
    opened.knows_its_file()
    outside.saves_without_a_question()
    saved = json.loads(outside.file.read_text(encoding="utf-8"))
    assert saved["nbformat_minor"] == 4
    assert ["".join(cell["source"]) for cell in saved["cells"]] == [
        "x = 1",
        "y = 2",
        "z = 1  # typed",
    ]
    assert all("id" not in cell for cell in saved["cells"])
