"""The main job in a real browser: the agent works in the open notebook and nothing is lost."""

from __future__ import annotations

import json
import re
import shutil
import time
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from tests.lab import Lab
from tests.ui.conftest import StartLab
from tests.ui.panel import OpenNotebook, Panel
from tests.upstream import StartUpstream, calls, in_order, notebook, says, texts

TOUR = Path(__file__).parents[2] / "examples" / "tour.ipynb"
SLOW = """\
import time
for tick in range(1, 21):
    time.sleep(1)
    print("tick", tick, flush=True)
"""
PROSE = " ".join(f"word{number}" for number in range(400))


def api(lab: Lab, path: str, **query: str) -> Any:
    """GET one route of the API."""
    with urllib.request.urlopen(lab.url(f"shoulders/api/v1/{path}", **query), timeout=30) as answer:
        return json.load(answer)


def only_session(lab: Lab) -> dict[str, Any]:
    """The one conversation there is."""
    (session,) = api(lab, "sessions")["sessions"]
    return session


def events(lab: Lab) -> list[dict[str, Any]]:
    """The log of the one conversation."""
    page = api(lab, f"sessions/{only_session(lab)['id']}/events", limit="5000")
    assert not page["has_more"]
    return page["events"]


def spoken(log: list[dict[str, Any]]) -> str:
    """All text the agent streamed."""
    return "".join(event["text"] for event in log if event["type"] == "text-delta")


def wait_for_event(lab: Lab, kind: str, seconds: float = 60) -> dict[str, Any]:
    """Wait until the log has an event of this type; return the last one."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        log = events(lab) if api(lab, "sessions")["sessions"] else []
        found = [event for event in log if event["type"] == kind]
        if found:
            return found[-1]
        time.sleep(0.2)  # another process: there is nothing to wait on but its answer
    raise AssertionError(f"no {kind} within {seconds} s")


def test_the_agent_fixes_the_open_notebook_beside_unsaved_typing(
    start_lab: StartLab, workspace: Path, page: Page
) -> None:
    shutil.copy(TOUR, workspace / "tour.ipynb")
    lab = start_lab(workspace)
    page.goto(lab.document_url("tour.ipynb"))
    tour = OpenNotebook(page).ready()
    tour.run("load-wines")
    tour.run("train-model")
    tour.type_at_end("count-wines", "  # mine, unsaved")
    tour.editor("count-mistakes").click()
    before = tour.source("count-mistakes")
    on_disk = (workspace / "tour.ipynb").read_bytes()

    panel = Panel(page).open()
    panel.ask("Why does this cell fail? Please fix it and run it again.")
    expect(panel.approval).to_be_visible(timeout=60_000)
    edited = tour.source("count-mistakes")
    assert edited != before
    assert "pandas" in edited
    asked = wait_for_event(lab, "approval-request")
    assert asked["arguments"] == {"path": "tour.ipynb", "cell_id": "count-mistakes"}
    assert asked["preview"] == edited
    expect(tour.output("count-mistakes")).to_have_count(0)
    panel.allow()
    panel.finished()

    # It ran in the same kernel: `model` and `exam_variety` were made by hand there.
    expect(tour.output("count-mistakes")).to_contain_text("taken for")
    assert wait_for_event(lab, "turn-end")["exit"] in {"final_response", "ended_by_tool"}
    # The typed text is there, unsaved, and the file was not written underneath.
    assert tour.source("count-wines").endswith("  # mine, unsaved")
    assert tour.dirty
    assert (workspace / "tour.ipynb").read_bytes() == on_disk
    # Ctrl+Z in the edited cell takes back the agent's edit alone.
    tour.editor("count-mistakes").click()
    page.keyboard.press("Control+z")
    assert tour.source("count-mistakes") == before
    assert tour.source("count-wines").endswith("  # mine, unsaved")


def test_a_run_goes_on_when_the_page_is_closed(
    start_lab: StartLab,
    workspace: Path,
    upstream: StartUpstream,
    context: BrowserContext,
    page: Page,
) -> None:
    (workspace / "slow.ipynb").write_text(notebook(("slow", SLOW), ("other", "1")))
    run = calls("run_cell", {"path": "slow.ipynb", "cell_id": "slow"})
    env = (sim := upstream(in_order(run, says("It counted to twenty.")))).configure(workspace)
    lab = start_lab(workspace, env=env)
    assert sim.url
    page.goto(lab.document_url("slow.ipynb"))
    slow = OpenNotebook(page).ready()
    panel = Panel(page).open()
    panel.ask("Run the slow cell.")
    panel.allow()
    expect(slow.output("slow")).to_contain_text("tick 2", timeout=30_000)
    page.close()

    assert wait_for_event(lab, "turn-end", 60)["exit"] == "final_response"
    again = context.new_page()
    again.goto(lab.document_url("slow.ipynb"))
    reopened = OpenNotebook(again).ready()
    expect(reopened.output("slow")).to_contain_text("tick 20", timeout=30_000)
    written = json.loads((workspace / "slow.ipynb").read_text())
    assert texts(written["cells"], "slow") == "".join(f"tick {n}\n" for n in range(1, 21))
    panel = Panel(again).open()
    expect(panel.answers.last).to_contain_text("It counted to twenty.")


def test_reloading_twice_in_a_stream_shows_what_the_log_holds(
    start_lab: StartLab, workspace: Path, upstream: StartUpstream, page: Page
) -> None:
    env = upstream(in_order(says(PROSE, tokens_per_second=40))).configure(workspace)
    lab = start_lab(workspace, env=env)
    page.goto(lab.url("lab", reset=""))
    panel = Panel(page).open()
    panel.ask("Write a lot.")
    for word in ("word40", "word120"):
        expect(panel.answers.last).to_contain_text(word, timeout=60_000)
        page.reload()
        panel = Panel(page).open()
    wait_for_event(lab, "turn-end")
    panel.finished()
    log = events(lab)
    assert spoken(log) == PROSE
    expect(panel.answers.last).to_have_text(re.compile(rf"^\s*{PROSE}\s*$"))


def test_kill_9_in_a_stream_loses_nothing_that_was_shown(
    start_lab: StartLab, workspace: Path, upstream: StartUpstream, page: Page
) -> None:
    script = in_order(says(PROSE, tokens_per_second=40), says("And on it goes."))
    env = upstream(script).configure(workspace)
    lab = start_lab(workspace, env=env)
    page.goto(lab.url("lab", reset=""))
    panel = Panel(page).open()
    panel.ask("Write a lot.")
    expect(panel.answers.last).to_contain_text("word60", timeout=60_000)
    lab.kill()
    shown = (panel.answers.last.text_content() or "").strip()
    lab.start()

    session = only_session(lab)
    assert session["status"] == "interrupted"
    log = events(lab)
    assert [event["seq"] for event in log] == list(range(1, len(log) + 1))
    assert spoken(log).startswith(shown)
    assert len(shown) > len("word0 " * 40)
    # The open page finds the server again, shows the interruption, and the conversation goes on.
    expect(panel.root.locator(".shoulders-Interrupted")).to_be_visible(timeout=60_000)
    panel.ask("Go on.")
    expect(panel.answers.last).to_contain_text("And on it goes.", timeout=60_000)
    ends = [event["exit"] for event in events(lab) if event["type"] == "turn-end"]
    assert ends[:1] == ["interrupted"]


def test_an_edit_of_a_cell_the_user_changed_meanwhile_becomes_a_proposal(
    start_lab: StartLab, workspace: Path, upstream: StartUpstream, page: Page
) -> None:
    (workspace / "a.ipynb").write_text(notebook(("first", "total = 1"), ("second", "total")))
    script = in_order(
        calls("read_notebook", {"path": "a.ipynb"}),
        calls(
            "edit_cell",
            {"path": "a.ipynb", "cell_id": "first", "source": "total = 2"},
            first_byte_delay=4,
        ),
        says("Your own change stands."),
    )
    env = upstream(script).configure(workspace)
    lab = start_lab(workspace, env=env)
    page.goto(lab.document_url("a.ipynb"))
    opened = OpenNotebook(page).ready()
    panel = Panel(page).open()
    panel.ask("Make the total two.")
    wait_for_event(lab, "tool-result")
    opened.type_at_end("first", "000")
    expect(panel.proposal).to_be_visible(timeout=30_000)
    panel.finished()
    assert opened.source("first") == "total = 1000"
    expect(panel.proposal).to_contain_text("total = 2")
    result = [event for event in events(lab) if event["type"] == "tool-result"][-1]
    assert result["status"] == "error"
    assert result["result"]["error"]["code"] == "stale"
    # Applying it is the user's decision.
    panel.proposal.get_by_role("button", name="Apply").click()
    expect(panel.proposal).to_contain_text("applied")
    assert opened.source("first") == "total = 2"
