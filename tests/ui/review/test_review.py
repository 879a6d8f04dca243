"""Reviewing the agent's changes: cells and files, keep and undo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import calls, says
from tests.ui.page_objects.lab_page import OpenNotebook
from tests.ui.page_objects.review import Review
from tests.ui.support.notebook_scenario import NotebookScenario

LOAD = "import pandas as pd\n\nprices = pd.read_csv('prices.csv')\nprices.head()\nprices.shape"
LOADED = "import pandas as pd\n\nprices = pd.read_csv('all.csv')\nprices.head()\nprices.columns"
PLOT = "prices.plot()"
PLOTTED = "prices.plot()\nprices.hist()"
CELLS = (("load", LOAD), ("mean", "prices.mean()"), ("plot", PLOT), ("mine", "y = 1"))


@pytest.fixture(autouse=True)
def nothing_left(scenario: NotebookScenario) -> Iterator[None]:
    """Leave no pending edits: the next test's bar would count them."""
    yield
    left = [edit["id"] for edit in scenario.talks.api("edits")["edits"]]
    for edit_id in left:
        scenario.talks.send("POST", f"edits/{edit_id}", {"decision": "keep"})


def edits(path: str, **sources: str) -> dict[str, object]:
    """A reply that changes the texts of cells."""
    return {
        "parts": [
            {
                "kind": "tool",
                "name": "edit_cell",
                "arguments": {"path": path, "cell_id": cell_id, "source": source},
            }
            for cell_id, source in sources.items()
        ]
    }


def three_cells(scenario: NotebookScenario) -> tuple[OpenNotebook, Review]:
    """Let the agent edit three cells of the open notebook."""
    opened = scenario.open(
        *CELLS,
        replies=[
            calls("read_notebook", {"path": scenario.path}),
            edits(scenario.path, load=LOADED, mean="prices.median()", plot=PLOTTED),
            says("Done."),
        ],
    )
    scenario.ask()
    scenario.ended()
    review = Review(scenario.page)
    review.counts("4 changes in 1 file")
    return opened, review


def pending(scenario: NotebookScenario) -> dict[str, str | None]:
    """The server's baselines by cell."""
    listed = scenario.talks.api("edits", document=scenario.path)["edits"]
    return {edit["cell_id"]: edit["baseline"] for edit in listed}


@pytest.mark.kept_page
def test_each_change_of_a_cell_is_kept_or_undone_by_itself(scenario: NotebookScenario) -> None:
    opened, review = three_cells(scenario)
    load = review.hunks(opened.cell("load"))
    expect(load).to_have_count(2)
    expect(load.first).to_contain_text("pd.read_csv('prices.csv')")
    review.undo(load.first)
    expect(load).to_have_count(1)
    review.counts("3 changes")
    opened.wait_for_source("load", LOADED.replace("all", "prices"))
    review.keep(load)
    expect(load).to_have_count(0)
    review.keep(review.hunks(opened.cell("plot")))
    review.undo(review.hunks(opened.cell("mean")))
    review.is_over()
    assert opened.source("load") == LOADED.replace("all", "prices")
    assert opened.source("mean") == "prices.mean()"
    assert opened.source("plot") == PLOTTED
    scenario.wait(lambda: not pending(scenario), "the server has nothing left")
    opened.editor("load").click()
    scenario.page.keyboard.press("Control+z")
    opened.wait_for_source("load", LOADED)


@pytest.mark.full
def test_changes_are_there_after_a_reload_and_a_restart(scenario: NotebookScenario) -> None:
    opened, review = three_cells(scenario)
    review.undo(review.hunks(opened.cell("load")).first)
    review.counts("3 changes")
    opened.save()
    scenario.page.reload()
    opened.shown()
    review.counts("3 changes in 1 file")
    expect(review.hunks(opened.cell("load"))).to_have_count(1)
    scenario.lab.kill()
    scenario.lab.restart()
    scenario.page.reload()
    opened.shown()
    review.counts("3 changes in 1 file")
    review.keep(review.hunks(opened.cell("load")))
    review.counts("2 changes")
    review.all().get_by_role("button", name="Undo all").click()
    review.is_over()
    assert opened.source("plot") == PLOT
    assert opened.source("load") == LOADED.replace("all", "prices")


@pytest.mark.kept_page
def test_text_of_the_user_is_no_change_to_review_and_outlives_every_undo(
    scenario: NotebookScenario,
) -> None:
    opened, review = three_cells(scenario)
    opened.editor("load").click()
    scenario.page.keyboard.press("Control+Home")
    scenario.page.keyboard.type("import os\n", delay=10)
    scenario.page.keyboard.press("Control+End")
    scenario.page.keyboard.press("Enter")
    scenario.page.keyboard.type("os.getcwd()", delay=10)
    opened.type_at_end("mine", "  # typed")
    expect(review.hunks(opened.cell("load"))).to_have_count(2)
    review.counts("4 changes in 1 file")
    review.all().get_by_role("button", name="Undo all").click()
    review.is_over()
    assert opened.source("load") == f"import os\n{LOAD}\nos.getcwd()"
    assert opened.source("mine") == "y = 1  # typed"
    assert opened.source("plot") == PLOT


@pytest.mark.full
def test_keys_walk_through_the_changes_and_decide(scenario: NotebookScenario) -> None:
    opened, review = three_cells(scenario)
    keys = scenario.page.keyboard
    opened.editor("mine").click()
    keys.press("Alt+F5")
    review.at("1/4")
    assert opened.active == "load"
    said = scenario.page.locator(".shoulders-Announcer")
    expect(said).to_contain_text("Change 1 of 4")
    keys.press("Control+Alt+K")
    review.at("1/3")
    keys.press("Alt+F5")
    review.at("2/3")
    assert opened.active == "mean"
    keys.press("Control+Alt+U")
    opened.wait_for_source("mean", "prices.mean()")
    review.at("2/2")
    assert opened.active == "plot"
    keys.press("Alt+Shift+F5")
    review.at("1/2")
    assert opened.active == "load"


@pytest.mark.full
def test_another_page_sees_what_was_decided(scenario: NotebookScenario, other_page: Page) -> None:
    opened, review = three_cells(scenario)
    elsewhere = scenario.show(other_page)
    there = Review(other_page)
    there.counts("4 changes")
    review.keep(review.hunks(opened.cell("mean")))
    there.counts("3 changes")
    expect(there.hunks(elsewhere.cell("mean"))).to_have_count(0)


def made_and_removed(scenario: NotebookScenario) -> tuple[OpenNotebook, Review]:
    """Let the agent add a cell and delete another."""
    parts = [
        {"kind": "tool", "name": name, "arguments": {"path": scenario.path, **more}}
        for name, more in (
            ("add_cell", {"source": "z = 3", "after": "load"}),
            ("delete_cell", {"cell_id": "mean"}),
        )
    ]
    read = calls("read_notebook", {"path": scenario.path})
    opened = scenario.open(*CELLS, replies=[read, {"parts": parts}, says("Done.")])
    scenario.ask()
    scenario.ended()
    review = Review(scenario.page)
    review.counts("2 changes in 1 file")
    return opened, review


@pytest.mark.full
def test_a_new_cell_is_removed_and_a_deleted_one_comes_back_where_it_was(
    scenario: NotebookScenario,
) -> None:
    opened, review = made_and_removed(scenario)
    gone = scenario.page.get_by_role("group", name="Deleted cell")
    expect(gone).to_contain_text("prices.mean()")
    gone.get_by_role("button", name="Restore").click()
    review.counts("1 change in 1 file")
    scenario.page.get_by_role("group", name="New cell").get_by_role("button", name="Remove").click()
    review.is_over()
    assert opened.ids == [cell_id for cell_id, _ in CELLS]
    assert opened.source("mean") == "prices.mean()"


@pytest.mark.full
def test_a_new_cell_is_kept_and_a_deleted_one_left_out(scenario: NotebookScenario) -> None:
    opened, review = made_and_removed(scenario)
    made = scenario.page.get_by_role("group", name="New cell")
    made.get_by_role("button", name="Keep").press("Enter")
    review.counts("1 change in 1 file")
    gone = scenario.page.get_by_role("group", name="Deleted cell")
    gone.get_by_role("button", name="Keep deleted").press("Enter")
    review.is_over()
    assert "mean" not in opened.ids
    assert len(opened.ids) == len(CELLS)


Box = dict[str, float]


def box(shown: Locator) -> Box:
    """Position of an element in the page."""
    found = shown.bounding_box()
    assert found is not None
    return {name: found[name] for name in ("x", "y", "width", "height")}


def meet(one: Box, other: Box) -> bool:
    """Whether two boxes overlap."""
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.full
def test_one_control_at_the_change_counts_as_all_do_and_moves_nothing(
    scenario: NotebookScenario,
) -> None:
    opened, review = three_cells(scenario)
    expect(review.pill).to_have_text("‹1/4›KeepUndo⋯")
    expect(opened.cell("load").locator(".shoulders-Pill").first).to_have_text("‹1/4›KeepUndo⋯")
    expect(review.bar).to_be_hidden()
    changes = scenario.page.get_by_role("region", name="Changes of this turn")
    expect(changes).to_contain_text("4 changes")

    notebook = scenario.page.locator(".jp-NotebookPanel:visible")
    before, first = box(notebook), box(opened.cell("mine"))
    review.pill.get_by_role("button", name="All changes").click()
    expect(review.bar).to_be_visible()
    expect(review.bar.locator(".shoulders-Review-count")).to_be_focused()
    assert (box(notebook), box(opened.cell("mine"))) == (before, first)
    scenario.page.keyboard.press("Escape")
    expect(review.bar).to_be_hidden()

    review.pill.get_by_role("button", name="Next change").click()
    review.at("2/4")
    review.pill.get_by_role("button", name="Next change").press("Enter")
    review.at("3/4")
    expect(review.pill.get_by_role("button", name="Next change")).to_be_focused()
    assert opened.active == "mean"
    # There is no space for both.
    expect(opened.cell("mean").locator(".jp-cell-toolbar")).to_be_hidden()

    review.pill.get_by_role("button", name="Keep this change").click()
    review.at("3/3")
    expect(changes).to_contain_text("3 changes")
    review.counts("3 changes in 1 file")


def middle(one: Box) -> float:
    """Horizontal middle of a box."""
    return one["x"] + one["width"] / 2


@pytest.mark.full
def test_the_control_is_no_target_in_the_middle_of_a_cell(scenario: NotebookScenario) -> None:
    edit = edits(scenario.path, mean="prices.median()")
    read = calls("read_notebook", {"path": scenario.path})
    opened = scenario.open(("mean", "prices.mean()"), replies=[read, edit, says("Done.")])
    scenario.ask()
    text, pill = opened.editor("mean"), Review(scenario.page).pill
    expect(pill).to_be_visible()
    assert box(pill)["x"] > middle(box(text))
    toolbar = opened.cell("mean").locator(".jp-cell-toolbar")
    expect(toolbar).to_be_hidden()
    scenario.page.set_viewport_size({"width": 1700, "height": 800})
    expect(toolbar).to_be_visible()
    assert not meet(box(pill), box(toolbar))
    assert not meet(box(pill), box(toolbar))
    assert box(pill)["x"] > middle(box(text))
    opened.type_at_end("mean", "  # typed")
    opened.wait_for_source("mean", "prices.median()  # typed")


def caret(scenario: NotebookScenario) -> list[object]:
    """The cell with the caret, and the caret's position."""
    return scenario.page.evaluate(
        """() => {
            const {activeCell, mode} = window.jupyterapp.shell.currentWidget.content;
            const {line, column} = activeCell.editor.getCursorPosition();
            return [activeCell.model.id, mode, activeCell.editor.hasFocus(), line, column];
        }"""
    )


@pytest.mark.full
def test_a_decision_leaves_the_caret_where_the_user_has_it(scenario: NotebookScenario) -> None:
    opened, review = made_and_removed(scenario)
    opened.editor("plot").click()
    scenario.page.keyboard.press("Home")
    scenario.page.keyboard.press("ArrowRight")
    here = ["plot", "edit", True, 0, 1]
    assert caret(scenario) == here
    made = scenario.page.get_by_role("group", name="New cell")
    made.get_by_role("button", name="Keep").click()
    review.counts("1 change in 1 file")
    assert caret(scenario) == here
    review.all().get_by_role("button", name="Undo all").click()
    review.is_over()
    assert caret(scenario) == here


@pytest.mark.full
def test_a_decision_on_a_line_leaves_the_caret_in_the_other_cell(
    scenario: NotebookScenario,
) -> None:
    opened, review = three_cells(scenario)
    opened.editor("mine").click()
    scenario.page.keyboard.press("End")
    review.keep(review.hunks(opened.cell("load")).first)
    review.counts("3 changes")
    review.undo(review.hunks(opened.cell("mean")))
    review.counts("2 changes")
    scenario.page.keyboard.type("0")
    opened.wait_for_source("mine", "y = 10")
    assert caret(scenario) == ["mine", "edit", True, 0, 6]
