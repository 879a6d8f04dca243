"""Background runs over plain HTTP: posted, polled or streamed, continued by their key."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.integration.client import Answer, Api, of_type
from tests.integration.conftest import StartServer
from tests.simulator_process import StartSimulator, calls, in_order, notebook, says


def poll(api: Api, session: str, *statuses: str) -> dict[str, Any]:
    """Poll the session until it has one of these statuses; the stream says when."""
    found = api.get(f"sessions/{session}")
    if found["status"] in statuses:
        return found
    for event in api.stream(session):
        if event["type"] == "session-update" and event["session"]["status"] in statuses:
            found = api.get(f"sessions/{session}")
            if found["status"] in statuses:
                return found
    raise AssertionError("the stream ended")


def log(api: Api, session: str) -> list[dict[str, Any]]:
    """The session's events, polled."""
    return api.get(f"sessions/{session}/events")["events"]


def test_run_is_refused_what_would_ask_and_goes_on(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    (workspace / "a.ipynb").write_text(notebook(("one", "1 + 1")))
    before = (workspace / "a.ipynb").read_bytes()
    script = in_order(
        calls("read_notebook", {"path": "a.ipynb"}),
        calls("run_cell", {"path": "a.ipynb", "cell_id": "one"}),
        says("It may not be run, so I only read it."),
    )
    api = serve(workspace, upstream(script).configure(workspace))

    run = api.post("runs", {"prompt": "Run it."})
    assert (run["kind"], run["source"], run["interactive"]) == ("run", "http", False)
    events = api.turn(run["id"])

    read, refused = of_type(events, "tool-result")
    assert (read["status"], refused["status"]) == ("ok", "denied")
    assert refused["result"]["error"]["code"] == "approval_required"
    assert of_type(events, "approval-request") == []
    assert of_type(events, "turn-end")[0]["exit"] == "final_response"
    assert poll(api, run["id"], "idle")["status"] == "idle"
    assert (workspace / "a.ipynb").read_bytes() == before


def test_run_that_may_edit_does_so_and_is_seen_by_polling(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    (workspace / "a.ipynb").write_text(notebook(("one", "1 + 1")))
    edit = {"path": "a.ipynb", "cell_id": "one", "source": "2 + 2"}
    script = in_order(
        calls("read_notebook", {"path": "a.ipynb"}), calls("edit_cell", edit), says("Done.")
    )
    api = serve(workspace, upstream(script).configure(workspace))

    run = api.post("runs", {"prompt": "Edit it.", "mode": "auto_edit", "toolset": "notebook"})
    poll(api, run["id"], "idle")

    assert [e["exit"] for e in of_type(log(api, run["id"]), "turn-end")] == ["final_response"]
    cells = json.loads((workspace / "a.ipynb").read_text())["cells"]
    assert "".join(cells[0]["source"]) == "2 + 2"


def test_question_of_an_interactive_run_waits_over_a_restart_and_is_answered(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    ask = calls("clarify", {"question": "Which?", "options": ["A", "B"]})
    environment = upstream(in_order(ask, says("A it is."))).configure(workspace)
    api = serve(workspace, environment)
    run = api.post("runs", {"prompt": "Choose.", "interactive": True, "external_key": "k"})
    assert poll(api, run["id"], "waiting")["status"] == "waiting"
    (request,) = of_type(log(api, run["id"]), "clarify-request")
    assert of_type(log(api, run["id"]), "turn-end") == []
    api.lab.stop()

    api.lab.start()
    assert of_type(log(api, run["id"]), "turn-end") == []
    api.post(f"sessions/{run['id']}/clarifications/{request['call_id']}", {"answer": "A"})
    api.turn(run["id"])

    assert poll(api, run["id"], "idle")["status"] == "idle"
    (end,) = of_type(log(api, run["id"]), "turn-end")
    assert end["exit"] == "final_response"


def test_question_nobody_can_answer_ends_the_run_with_it(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    ask = calls("clarify", {"question": "Which?", "options": ["A", "B"]})
    api = serve(workspace, upstream(in_order(ask)).configure(workspace))

    run = api.post("runs", {"prompt": "Choose."})
    (end,) = of_type(api.turn(run["id"]), "turn-end")

    assert (end["exit"], end["summary"]) == ("ended_by_tool", "Which? (A / B)")


def test_posts_with_one_key_at_the_same_time_make_one_session(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    count = 6
    replies = (says(f"Answer {number}.") for number in range(count))
    api = serve(workspace, upstream(in_order(*replies)).configure(workspace))

    def post(number: int) -> Answer:
        return api.call("POST", "runs", {"prompt": f"Part {number}", "external_key": "nightly"})

    with ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(post, range(count)))

    assert sorted(answer.status for answer in answers) == [200] * (count - 1) + [201]
    (session,) = {answer.body["id"] for answer in answers}
    poll(api, session, "idle")
    events = log(api, session)
    added = of_type(events, "message-add")
    assert sorted(event["text"] for event in added) == [f"Part {n}" for n in range(count)]
    consumed = [e for e in of_type(events, "message-update") if e["status"] == "consumed"]
    assert len(consumed) == sum(event["queued"] for event in added)
    assert len(api.get("sessions")["sessions"]) == 1


def test_same_prompt_sent_twice_at_the_same_time_runs_once(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    api = serve(workspace, upstream(in_order(says("Once."), says("Twice."))).configure(workspace))
    body = {"prompt": "Go", "external_key": "k", "id": "one"}

    with ThreadPoolExecutor(2) as pool:
        answers: list[dict[str, Any]] = list(pool.map(api.post, ["runs"] * 2, [body] * 2))

    (session,) = {answer["id"] for answer in answers}
    poll(api, session, "idle")
    assert len(of_type(log(api, session), "message-add")) == 1
    assert len(of_type(log(api, session), "turn-end")) == 1


def test_key_continues_its_session_after_a_restart(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    script = in_order(says("First."), says("Second."))
    environment = upstream(script).configure(workspace)
    api = serve(workspace, environment)
    first = api.post("runs", {"prompt": "One", "external_key": "k"})["id"]
    poll(api, first, "idle")
    last = api.get(f"sessions/{first}")["last_seq"]
    api.lab.stop()

    api.lab.start()
    second = api.post("runs", {"prompt": "Two", "external_key": "k"})["id"]
    api.turn(second, last)

    assert second == first
    texts = [event["text"] for event in of_type(log(api, first), "message-add")]
    assert texts == ["One", "Two"]
