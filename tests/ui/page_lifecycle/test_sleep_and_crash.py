"""Pages sleep, crash and come back with unsaved text while the agent works.

The page loses its whole network, not only this extension's socket: kernels and files as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page, expect

from tests.simulator_process import calls, says, texts
from tests.ui.page_objects.lab_page import OpenNotebook, Panel
from tests.ui.support.network_faults import Wire
from tests.ui.support.notebook_scenario import NotebookScenario


@pytest.fixture
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    """The page's proxy to the server."""
    scenario: NotebookScenario = request.getfixturevalue(
        "scenario" if "scenario" in request.fixturenames else "scenario_soon_left"
    )
    made = Wire(scenario.lab.port)
    yield made
    made.close()


def show(scenario: NotebookScenario, wire: Wire) -> OpenNotebook:
    """Open the notebook through the proxy."""
    address = scenario.lab.document_url(scenario.path)
    scenario.page.goto(address.replace(f":{scenario.lab.port}/", f":{wire.port}/"))
    return OpenNotebook(scenario.page).ready().save_as_the_lab_has_it()


def notice(page: Page) -> Locator:
    """The notice above the current notebook."""
    return page.locator(".shoulders-Recovery-notice")


def crash(page: Page) -> None:
    """Kill the page's process."""
    with page.expect_event("crash"), suppress(PlaywrightError):  # nothing answers
        page.goto("chrome://crash")
    page.close()


def kept(scenario: NotebookScenario) -> str:
    """The recovery copies of this test's notebook; others share the server."""
    files = (scenario.lab.root / ".shoulders" / "recovery").glob("*.json")
    name = f'"path":{json.dumps(scenario.path)}'
    found: list[str] = []
    for file in files:
        with suppress(FileNotFoundError):  # deleted after it was listed
            found.append(file.read_text(encoding="utf-8"))
    return "\n".join(text for text in found if name in text.replace('"path": ', '"path":'))


def allowed_to_the_end(scenario: NotebookScenario) -> bool:
    """Allow the agent's requests, as is needed when no page shows its edits; return whether it is
    done.
    """
    kinds = [event["type"] for event in scenario.talks.log()]
    if kinds.count("approval-request") > kinds.count("approval-answer"):
        scenario.allow_unseen()
    return "turn-end" in kinds


def works_while_asleep(scenario: NotebookScenario, wire: Wire) -> tuple[OpenNotebook, Panel]:
    """Let the page sleep with unsaved text, the user keep typing, and the agent change and run
    cells.

    Both change the cell ``both``; the page is still asleep at the end.
    """
    edit = {"path": scenario.path}
    scenario.play(
        calls("read_notebook", edit),
        calls("run_cell", {**edit, "cell_id": "slow"}),
        calls("edit_cell", {**edit, "cell_id": "one", "source": "print('by the agent')"}),
        calls("edit_cell", {**edit, "cell_id": "both", "source": "z = 2"}),
        calls("run_cell", {**edit, "cell_id": "one"}),
        says("Done."),
    )
    scenario.write(("one", "x = 1"), ("mine", "y = 1"), ("both", "z = 1"), ("slow", scenario.held))
    opened = show(scenario, wire)
    opened.type_at_end("mine", "  # typed")
    panel = scenario.ask(allow=True)
    expect(opened.output("slow")).to_contain_text("tick 1")
    wire.sleep()
    panel.server_gone()
    opened.type_at_end("mine", ", asleep")
    opened.type_at_end("both", "000")
    scenario.let_go()
    scenario.wait(lambda: allowed_to_the_end(scenario), "the agent is done")
    assert scenario.results() == ["ok"] * 5
    return opened, panel


def is_merged(opened: OpenNotebook) -> None:
    """Check the woken page: all but the cell that both changed."""
    opened.wait_for_source("one", "print('by the agent')")
    expect(opened.output("one")).to_have_text("by the agent")
    expect(opened.output("slow")).to_contain_text("tick 14")
    assert opened.source("mine") == "y = 1  # typed, asleep"
    assert opened.source("both") == "z = 1000"


def test_page_that_wakes_has_all_the_agent_did_beside_what_was_typed(
    scenario: NotebookScenario, wire: Wire
) -> None:
    opened, panel = works_while_asleep(scenario, wire)
    assert scenario.on_disk()["one"] == "x = 1"
    wire.wake()
    panel.reconnected()
    is_merged(opened)
    offered = notice(scenario.page)
    expect(offered).to_contain_text("The agent changed 1 cell that you changed too.")
    offered.get_by_role("button", name="Compare").press("Enter")
    expect(offered).to_contain_text("z = 2")
    offered.get_by_role("button", name="Apply").press("Enter")
    expect(offered).to_have_count(0)
    (below,) = [cell for cell in opened.cells if cell["source"] == "z = 2"]
    assert below["cell_type"] == "raw"
    assert opened.ids.index(below["id"]) == opened.ids.index("both") + 1
    opened.save()
    expect(scenario.page.locator(".jp-Dialog")).to_have_count(0)
    assert scenario.on_disk() == {
        "one": "print('by the agent')",
        "mine": "y = 1  # typed, asleep",
        "both": "z = 1000",
        below["id"]: "z = 2",
        "slow": scenario.held,
    }
    assert texts(scenario.cells_on_disk(), "one") == "by the agent\n"
    scenario.wait(lambda: "z = 2" not in kept(scenario), "nothing waits for an answer")


@pytest.mark.full
def test_page_that_wakes_late_takes_up_what_was_written_meanwhile(
    scenario_soon_left: NotebookScenario, wire: Wire
) -> None:
    scenario = scenario_soon_left
    opened, panel = works_while_asleep(scenario, wire)
    scenario.wait(lambda: scenario.text_on_disk("one") == "by the agent\n", "it is on disk")
    assert scenario.on_disk()["mine"] == "y = 1"
    wire.wake()
    panel.reconnected()
    is_merged(opened)
    scenario.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.context.model.cells.length === 5"
    )
    assert [cell["source"] for cell in opened.cells if cell["cell_type"] == "raw"] == ["z = 2"]
    opened.knows_its_file()
    opened.save()
    expect(scenario.page.locator(".jp-Dialog")).to_have_count(0)
    assert scenario.on_disk()["both"] == "z = 1000"


def test_crashed_page_has_its_unsaved_text_offered_and_restored(
    scenario: NotebookScenario, other_page: Page
) -> None:
    replies = [
        calls("read_notebook", {"path": scenario.path}),
        calls("edit_cell", {"path": scenario.path, "cell_id": "one", "source": "x = 2"}),
        says("Done."),
    ]
    opened = scenario.open(("one", "x = 1"), ("mine", "y = 1"), replies=replies)
    opened.type_at_end("mine", "  # typed")
    opened.command("notebook:insert-cell-below")
    opened.type_at_end(opened.ids[-1], "new = 1")
    scenario.ask()
    opened.wait_for_source("one", "x = 2")
    scenario.wait(lambda: "new = 1" in kept(scenario), "the text is kept")
    crash(scenario.page)

    other_page.goto(scenario.lab.document_url(scenario.path))
    again = OpenNotebook(other_page).ready()
    again.wait_for_source("one", "x = 2")  # the agent's edit arrives without a question
    assert again.ids == ["one", "mine"]
    offered = notice(other_page)
    expect(offered).to_contain_text(re.compile(r"^Recovered unsaved changes from .+ \(2 cells\)"))
    offered.get_by_role("button", name="Compare").press("Enter")
    expect(offered).to_contain_text("y = 1  # typed")
    offered.get_by_role("button", name="Restore").press("Enter")
    again.wait_for_source("mine", "y = 1  # typed")
    expect(offered).to_have_count(0)
    assert [cell["source"] for cell in again.cells] == ["x = 2", "y = 1  # typed", "new = 1"]
    again.command("notebook:undo-cell-action")
    assert [cell["source"] for cell in again.cells] == ["x = 2", "y = 1"]
    again.command("notebook:redo-cell-action")
    again.save()
    assert list(scenario.on_disk().values()) == ["x = 2", "y = 1  # typed", "new = 1"]
    scenario.wait(lambda: "typed" not in kept(scenario), "no copy is left")


@pytest.mark.full
def test_what_two_crashes_left_is_one_notice(scenario: NotebookScenario, other_page: Page) -> None:
    opened = scenario.open(("mine", "y = 1"), ("more", "z = 1"), replies=[])
    opened.type_at_end("mine", "  # typed")
    scenario.wait(lambda: "y = 1  # typed" in kept(scenario), "the text is kept")
    crash(scenario.page)
    other_page.goto(scenario.lab.document_url(scenario.path))
    again = OpenNotebook(other_page).ready()
    expect(notice(other_page)).to_be_visible()
    again.type_at_end("more", "  # too")
    scenario.wait(lambda: "z = 1  # too" in kept(scenario), "the text is kept")
    third = other_page.context.new_page()
    crash(other_page)

    third.goto(scenario.lab.document_url(scenario.path))
    last = OpenNotebook(third).ready()
    expect(notice(third)).to_have_count(1)
    expect(notice(third)).to_contain_text("(2 cells)")
    notice(third).get_by_role("button", name="Restore").click()
    last.wait_for_source("mine", "y = 1  # typed")
    last.wait_for_source("more", "z = 1  # too")
    expect(notice(third)).to_have_count(0)


@pytest.mark.full
def test_unsaved_text_waits_through_restarts_until_it_is_thrown_away(
    scenario: NotebookScenario, other_page: Page
) -> None:
    opened = scenario.open(("mine", "y = 1"), replies=[says("Done.")])
    opened.type_at_end("mine", "  # typed")
    scenario.wait(lambda: "y = 1  # typed" in kept(scenario), "the text is kept")
    crash(scenario.page)
    scenario.lab.kill()
    scenario.lab.start()
    other_page.goto(scenario.lab.document_url(scenario.path))
    again = OpenNotebook(other_page).ready()
    expect(notice(other_page)).to_be_visible()
    other_page.reload()
    again.ready()
    expect(notice(other_page)).to_be_visible()
    assert again.source("mine") == "y = 1"
    notice(other_page).get_by_role("button", name="Discard").click()
    expect(notice(other_page)).to_have_count(0)
    scenario.wait(lambda: "# typed" not in kept(scenario), "the copy is gone")
    other_page.reload()
    again.ready()
    Panel(other_page).open()  # the page is connected
    expect(notice(other_page)).to_have_count(0)
