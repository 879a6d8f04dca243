"""Scheduled runs over a kill of the server: one waits on, a notebook is not repeated."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.integration.client import Api, of_type
from tests.integration.conftest import StartServer
from tests.simulator_process import StartSimulator, calls, in_order, notebook, says

HOURLY = {"kind": "interval", "seconds": 3600}
PATIENCE = 60.0


def last_run(api: Api, schedule: str, *states: str) -> dict[str, Any]:
    """Wait until the last run has one of these states, and return it."""
    until, runs = time.monotonic() + PATIENCE, list[dict[str, Any]]()
    while time.monotonic() < until:
        runs = api.get(f"schedules/{schedule}/runs")["runs"]
        if runs and runs[0]["state"] in states:
            return runs[0]
        time.sleep(0.05)
    raise AssertionError(f"no run became {states}: {runs}")


def start(api: Api, **options: Any) -> str:
    """Make a schedule and start a run; return the schedule's id."""
    schedule = api.post("schedules", {"trigger": HOURLY, **options})["schedule"]["id"]
    api.post(f"schedules/{schedule}/run", {})
    return schedule


def test_a_run_that_waits_is_answered_after_a_kill_and_ends(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    ask = calls("clarify", {"question": "Which colour?", "options": ["Blue", "Red"]})
    api = serve(workspace, upstream(in_order(ask, says("Blue it is."))).configure(workspace))
    schedule = start(api, prompt="Paint it.", on_question="wait")
    session = last_run(api, schedule, "waiting")["session_id"]

    api.lab.kill()
    api.lab.start()
    assert last_run(api, schedule, "waiting")["ended_at"] is None
    (request,) = of_type(api.get(f"sessions/{session}/events")["events"], "clarify-request")
    api.post(f"sessions/{session}/clarifications/{request['call_id']}", {"answer": "Blue"})

    assert last_run(api, schedule, "done")["message"] is None
    assert len(api.get(f"schedules/{schedule}/runs")["runs"]) == 1


def test_a_notebook_that_ran_when_the_server_was_killed_is_interrupted_and_not_repeated(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    code = "open('ran', 'a').write('x')\nimport time\ntime.sleep(30)"
    (workspace / "a.ipynb").write_text(notebook(("c1", code)))
    api = serve(workspace, upstream(in_order(says("-"))).configure(workspace))
    schedule = start(api, notebook="a.ipynb")
    until = time.monotonic() + PATIENCE
    while not (workspace / "ran").exists() and time.monotonic() < until:
        time.sleep(0.05)

    api.lab.kill()
    api.lab.start()
    run = last_run(api, schedule, "interrupted")

    assert (workspace / "ran").read_text() == "x"
    assert "resume it there" in run["message"]
    told = api.get("notifications")["notifications"]
    assert [each["title"] for each in told] == ["a.ipynb was interrupted"]
