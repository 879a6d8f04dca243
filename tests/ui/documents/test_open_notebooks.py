"""The agent works in open notebooks while the user works too.

Pages reload, close, open twice and disconnect; notebooks are renamed, edited and run by hand. No
text, edit or output is lost, and nothing happens without the user's knowledge.
"""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.simulator_process import calls, says, texts
from tests.support.lab_server import StartLab
from tests.ui.page_objects.lab_page import Panel
from tests.ui.support.network_faults import Sockets
from tests.ui.support.notebook_scenario import SLOW_TEXT, LabWithModel, NotebookScenario

FLOOD = "n = 0\nwhile True:\n    print('line', n)\n    n += 1"


def no_dialog(*pages: Page) -> None:
    """Check that JupyterLab shows no dialog such as "File Changed"."""
    for page in pages:
        expect(page.locator(".jp-Dialog")).to_have_count(0)


# pages that reload, close and disconnect


@pytest.mark.full
def test_reload_during_a_run_shows_all_of_it_once(scenario: NotebookScenario) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "slow"})
    opened = scenario.open(("slow", scenario.held), replies=[run, says("Done.")])
    scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1")
    scenario.page.reload()
    opened.shown()
    expect(opened.output("slow")).to_contain_text("tick 2")
    expect(opened.prompt("slow")).to_have_text("[*]:")
    scenario.let_go()
    expect(opened.prompt("slow")).to_have_text("[1]:")
    assert texts(opened.cells, "slow") == SLOW_TEXT
    opened.save()
    assert scenario.text_on_disk("slow") == SLOW_TEXT


def test_reload_right_after_an_edit_does_it_again_once(scenario: NotebookScenario) -> None:
    edit = calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"})
    read = calls("read_notebook", {"path": scenario.path})
    opened = scenario.open(("one", "x = 1"), ("two", "y = 1"), replies=[read, edit, says("Done.")])
    # The agent's changes alone are written after ten seconds, which a reload may take.
    opened.type_at_end("two", "  # typed")
    scenario.ask()
    opened.wait_for_source("one", "x = 2")
    scenario.page.reload()
    opened.shown().wait_for_source("one", "x = 2")
    assert scenario.on_disk()["one"] == "x = 1"
    opened.editor("one").click()
    scenario.page.keyboard.press("Control+z")
    opened.wait_for_source("one", "x = 1")


def test_edits_and_outputs_reach_the_file_when_the_page_is_gone(
    scenario_soon_left: NotebookScenario,
) -> None:
    scenario = scenario_soon_left
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "print('new')"}),
        calls("run_cell", {"path": scenario.path, "cell_id": "one"}),
        says("Done."),
    ]
    opened = scenario.open(("one", "print('old')"), ("mine", "y = 1"), replies=replies)
    scenario.ask(allow=True)
    scenario.ended()
    opened.type_at_end("mine", "  # typed")
    assert scenario.on_disk()["one"] == "print('old')"
    scenario.page.close()
    scenario.wait(lambda: scenario.text_on_disk("one") == "new\n", "the outputs are on disk")
    assert scenario.on_disk() == {"one": "print('new')", "mine": "y = 1"}


@pytest.mark.full
def test_page_that_was_away_for_long_saves_without_a_question(
    scenario_soon_left: NotebookScenario,
) -> None:
    scenario = scenario_soon_left
    sockets = Sockets(scenario.page)
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        says("Done."),
    ]
    opened = scenario.open(("one", "x = 1"), ("mine", "y = 1"), replies=replies)
    panel = scenario.ask()
    opened.wait_for_source("one", "x = 2")
    sockets.cut()
    panel.disconnected()
    opened.type_at_end("mine", "  # typed")
    scenario.wait(lambda: scenario.on_disk()["one"] == "x = 2", "the edit is on disk")
    sockets.mend()
    panel.reconnected()
    opened.knows_its_file()
    opened.save()
    no_dialog(scenario.page)
    assert scenario.on_disk() == {"one": "x = 2", "mine": "y = 1  # typed"}


@pytest.mark.full
def test_run_goes_on_through_a_lost_connection(scenario: NotebookScenario) -> None:
    sockets = Sockets(scenario.page)
    run = calls("run_cell", {"path": scenario.path, "cell_id": "slow"})
    opened = scenario.open(("slow", scenario.held), replies=[run, says("Done.")])
    panel = scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 2")
    sockets.cut()
    panel.disconnected()
    scenario.let_go()
    sockets.mend()
    panel.reconnected()
    expect(opened.prompt("slow")).to_have_text("[1]:")
    assert texts(opened.cells, "slow") == SLOW_TEXT


@pytest.mark.kept_page
def test_discarding_a_notebook_in_a_run_drops_what_the_user_typed_alone(
    scenario: NotebookScenario,
) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        calls("run_cell", {"path": scenario.path, "cell_id": "slow"}),
        says("Done."),
    ]
    opened = scenario.open(
        ("one", "x = 1"), ("mine", "y = 1"), ("slow", scenario.held), replies=replies
    )
    opened.type_at_end("mine", "  # typed")
    scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1")
    opened.command("application:close", wait=False)
    scenario.page.locator(".jp-Dialog").get_by_role("button", name="Discard").click()
    expect(scenario.page.locator(".jp-NotebookPanel")).to_have_count(0)
    scenario.let_go()
    scenario.ended()
    scenario.wait(lambda: scenario.text_on_disk("slow") == SLOW_TEXT, "the outputs are on disk")
    assert scenario.on_disk() == {"one": "x = 2", "mine": "y = 1", "slow": scenario.held}


@pytest.mark.full
def test_open_page_finds_the_server_that_was_restarted(scenario: NotebookScenario) -> None:
    edit = calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"})
    opened = scenario.open(
        ("one", "x = 1"),
        ("mine", "y = 1"),
        replies=[calls("read_notebook", {"path": scenario.path}), edit, says("Done.")],
    )
    panel = Panel(scenario.page).open()
    opened.type_at_end("mine", "  # typed")
    scenario.lab.stop()
    panel.server_gone()
    opened.type_at_end("mine", " on")
    scenario.lab.start()
    panel.reconnected()
    scenario.ask()
    opened.wait_for_source("one", "x = 2")
    assert opened.source("mine") == "y = 1  # typed on"
    opened.save()
    assert scenario.on_disk() == {"one": "x = 2", "mine": "y = 1  # typed on"}


# the same notebook twice


@pytest.mark.full
def test_two_pages_show_the_same_edits_and_save_without_a_question(
    scenario: NotebookScenario, other_page: Page
) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        calls("add_cell", {"path": scenario.path, "source": "print(x)", "after": "one"}),
        calls("run_all_cells", {"path": scenario.path}),
        says("Done."),
    ]
    first = scenario.open(("one", "x = 1"), ("mine", "y = 1"), ("hers", "z = 1"), replies=replies)
    second = scenario.show(other_page)
    first.knows_its_file()
    second.type_at_end("hers", "  # in the second")
    first.type_at_end("mine", "  # in the first")
    scenario.ask(allow=True)
    scenario.ended()
    added = first.ids[1]
    assert second.ids == first.ids == ["one", added, "mine", "hers"]
    for each in (first, second):
        assert each.source("one") == "x = 2"
        expect(each.output(added)).to_have_text("2")
    first.save()
    second.knows_its_file()
    assert second.source("mine") == "y = 1  # in the first"
    assert second.source("hers") == "z = 1  # in the second"
    assert second.dirty
    second.save()
    first.knows_its_file()
    assert first.source("hers") == "z = 1  # in the second"
    assert not first.dirty
    no_dialog(scenario.page, other_page)
    assert first.cells == second.cells


@pytest.mark.full
def test_two_views_of_a_notebook_are_one_until_both_are_closed(scenario: NotebookScenario) -> None:
    read = calls("read_notebook", {"path": scenario.path})
    edit = calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"})
    again = calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 3"})
    opened = scenario.open(("one", "x = 1"), replies=[read, edit, says("A"), again, says("B")])
    opened.command("docmanager:clone")
    expect(scenario.page.locator(".jp-NotebookPanel")).to_have_count(2)
    panel = scenario.ask()
    opened.wait_for_source("one", "x = 2")
    expect(panel.answers.last).to_contain_text("A")
    scenario.page.evaluate("() => { window.jupyterapp.shell.currentWidget.dispose() }")
    expect(scenario.page.locator(".jp-NotebookPanel")).to_have_count(1)
    scenario.ask()
    opened.wait_for_source("one", "x = 3")
    assert scenario.on_disk() == {"one": "x = 1"}


@pytest.mark.full
def test_approval_answered_in_one_page_is_answered_in_the_other(
    scenario: NotebookScenario, other_page: Page
) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "one"})
    scenario.open(("one", "print('ran')"), replies=[run, says("Done.")])
    first = scenario.ask("Run it.")
    expect(first.approval).to_be_visible()
    scenario.show(other_page)
    second = Panel(other_page).open()
    second.root.get_by_role("button", name="History").click()
    second.root.get_by_role("button", name="Run it.").first.click()
    expect(second.approval).to_be_visible()
    second.allow()
    expect(first.approval).to_have_count(0)
    expect(first.answers.last).to_contain_text("Done.")
    assert len(scenario.talks.of_type("approval-answer")) == 1


# the user continues to work


@pytest.mark.kept_page
def test_typing_loses_nothing_while_the_agent_edits_and_runs(scenario: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        calls("add_cell", {"path": scenario.path, "source": "new = 1", "after": "one"}),
        calls("delete_cell", {"path": scenario.path, "cell_id": "gone"}),
        calls("run_cell", {"path": scenario.path, "cell_id": "slow"}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 3"}),
        says("Done."),
    ]
    opened = scenario.open(
        *(("one", "x = 1"), ("gone", "old = 1"), ("mine", "y = 1"), ("slow", scenario.held)),
        replies=replies,
    )
    panel = scenario.ask()
    opened.editor("mine").click()
    scenario.page.keyboard.press("Control+End")
    typed, allowed = "", False
    while opened.source("one") != "x = 3":
        word = f" {len(typed)}"
        scenario.page.keyboard.type(word, delay=10)
        typed += word
        if not allowed and panel.approval.count():
            scenario.allow_unseen()
            scenario.let_go()
            allowed = True
        assert len(typed) < 5_000
    assert opened.source("mine") == f"y = 1{typed}"
    assert texts(opened.cells, "slow") == SLOW_TEXT
    assert [opened.ids[0], *opened.ids[2:]] == ["one", "mine", "slow"]
    # Each cell's undo covers the changes of that cell.
    opened.editor("one").click()
    for before in ("x = 2", "x = 1", "x = 1"):
        scenario.page.keyboard.press("Control+z")
        assert opened.source("one") == before
    assert opened.source("mine") == f"y = 1{typed}"


def test_structural_edits_are_undone_one_by_one_and_saved_valid(scenario: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("add_cell", {"path": scenario.path, "source": "new = 1", "after": "one"}),
        calls("delete_cell", {"path": scenario.path, "cell_id": "three"}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "two", "source": "two = 22"}),
        says("Done."),
    ]
    opened = scenario.open(
        *(("one", "one = 1"), ("two", "two = 2"), ("three", "three = 3")), replies=replies
    )
    opened.type_at_end("one", "  # typed")
    scenario.ask()
    opened.wait_for_source("two", "two = 22")
    added = opened.ids[1]
    assert opened.ids == ["one", added, "two"]
    opened.command("notebook:undo-cell-action")
    assert opened.ids == ["one", added, "two", "three"]
    opened.command("notebook:undo-cell-action")
    assert opened.ids == ["one", "two", "three"]
    opened.command("notebook:redo-cell-action")
    opened.save()
    nbformat.validate(json.loads(scenario.file.read_text(encoding="utf-8")))
    assert scenario.on_disk() == {
        "one": "one = 1  # typed",
        added: "new = 1",
        "two": "two = 22",
        "three": "three = 3",
    }
    scenario.page.reload()
    assert opened.ready().ids == ["one", added, "two", "three"]


@pytest.mark.full
def test_notebook_renamed_in_a_run_keeps_its_outputs(scenario: NotebookScenario) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        calls("run_cell", {"path": scenario.path, "cell_id": "slow"}),
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 3"}),
        says("Done."),
    ]
    opened = scenario.open(("one", "x = 1"), ("slow", scenario.held), replies=replies)
    scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1")
    old, scenario.file = scenario.path, scenario.file.with_name("another name.ipynb")
    scenario.page.evaluate(
        "([old, path]) => window.jupyterapp.serviceManager.contents.rename(old, path)",
        [old, scenario.path],
    )
    scenario.let_go()
    expect(opened.prompt("slow")).to_have_text("[1]:")
    opened.wait_for_source("one", "x = 3")
    assert texts(opened.cells, "slow") == SLOW_TEXT
    assert scenario.on_disk()["one"] == "x = 1"
    opened.save()
    assert scenario.on_disk()["one"] == "x = 3"
    assert not (scenario.lab.root / old).exists()


@pytest.mark.full
def test_cell_the_user_runs_again_is_theirs(scenario: NotebookScenario) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "slow"})
    opened = scenario.open(("slow", scenario.held), replies=[run, says("Done.")])
    scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1")
    opened.editor("slow").click()
    scenario.page.keyboard.press("Control+Enter")
    expect(opened.output("slow")).to_have_count(0)
    scenario.let_go()
    expect(opened.prompt("slow")).to_have_text("[2]:")
    assert texts(opened.cells, "slow") == SLOW_TEXT
    assert scenario.results() == ["ok"]


@pytest.mark.full
def test_flood_leaves_the_page_usable_and_is_stopped(scenario: NotebookScenario) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "flood"})
    after = calls("run_cell", {"path": scenario.path, "cell_id": "after"})
    opened = scenario.open(
        ("flood", FLOOD), ("after", "n > 1000"), replies=[run, after, says("Done.")]
    )
    panel = scenario.ask(allow=True)
    expect(opened.output("flood").first).to_contain_text("⋯")
    opened.type_at_end("after", "  # still here")
    panel.input.press("Escape")
    panel.finished()
    assert opened.source("after") == "n > 1000  # still here"
    assert scenario.results() == ["cancelled"]
    expect(opened.output("flood").last).to_contain_text("KeyboardInterrupt")
    assert "⋯" not in texts(opened.cells, "flood")
    scenario.ask(allow=True)
    expect(opened.output("after")).to_have_text("True")


@pytest.mark.full
def test_kernel_that_the_agent_started_is_the_pages_too(scenario: NotebookScenario) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "one"})
    opened = scenario.open(("one", "x = 41"), ("mine", "x + 1"), replies=[run, says("Done.")])
    scenario.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    scenario.ask(allow=True)
    expect(opened.prompt("one")).to_have_text("[1]:")
    opened.ready().run("mine")
    expect(opened.output("mine")).to_have_text("42")


# the conversation


@pytest.mark.full
@pytest.mark.shows("status.2")
def test_queued_messages_are_changed_and_removed_until_they_are_read(
    scenario: NotebookScenario,
) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "slow"})
    scenario.open(("slow", scenario.held), replies=[run, says("Read."), says("?")])
    panel = scenario.ask(allow=True)
    for text in ("number one", "number two", "number three"):
        panel.ask(text)
    expect(panel.queued).to_have_count(3)
    panel.queued.nth(0).get_by_role("button", name="Edit").click()
    panel.queued.nth(0).get_by_role("textbox").fill("number one, changed")
    panel.queued.nth(0).get_by_role("textbox").press("Enter")
    panel.queued.nth(1).get_by_role("button", name="Remove").click()
    expect(panel.queued).to_have_count(2)
    expect(panel.queued.nth(0)).to_contain_text("number one, changed")
    scenario.let_go()
    scenario.ended()
    request = json.dumps(scenario.upstream.requests()[-1]["body"])
    assert "number one, changed" in request
    assert "number three" in request
    assert "number two" not in request


@pytest.mark.full
def test_stop_takes_a_waiting_approval_away_and_runs_nothing(scenario: NotebookScenario) -> None:
    run = calls("run_cell", {"path": scenario.path, "cell_id": "one"})
    opened = scenario.open(("one", "print('ran')"), replies=[run, says("Nothing was run.")])
    panel = scenario.ask()
    expect(panel.approval).to_be_visible()
    panel.input.press("Escape")
    expect(panel.approval).to_have_count(0)
    scenario.ended()
    assert scenario.results() == ["cancelled"]
    scenario.ask("And now?")
    expect(panel.answers.last).to_contain_text("Nothing was run.")
    expect(opened.output("one")).to_have_count(0)


# where it is served


@pytest.mark.full
def test_notebook_with_a_difficult_path_below_a_prefix(
    start_lab: StartLab, workspace: Path, page: Page, served: LabWithModel
) -> None:
    path = "sub folder é/a b.ipynb"
    (workspace / "sub folder é").mkdir()
    replies = [
        calls("read_notebook", {"path": path}),
        calls("edit_cell", {"path": path, "cell_id": "one", "source": "x = 2"}),
        calls("run_all_cells", {"path": path}),
        says("Done."),
    ]
    assert served.upstream is not None
    env = served.upstream.configure(workspace)
    lab = start_lab(workspace, env=env, base_url="/user/x/")
    scenario = NotebookScenario(LabWithModel(lab, served.upstream), page, workspace / path)
    opened = scenario.open(("one", "x = 1"), ("two", "x"), replies=replies)
    panel = scenario.ask(allow=True)
    expect(panel.answers.last).to_contain_text("Done.")
    expect(opened.output("two")).to_have_text("2")
    assert opened.source("one") == "x = 2"
