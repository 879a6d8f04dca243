"""Requests to the user survive a kill of the server."""

from __future__ import annotations

from pathlib import Path

from tests.integration.client import of_type
from tests.integration.conftest import StartServer
from tests.integration.test_server_kill import check, watch
from tests.simulator_process import StartSimulator, calls, in_order, notebook, says

ASK = {"question": "Which colour?", "options": ["Blue", "Red"]}


def test_a_question_survives_the_kill_and_its_answer_resumes_the_turn(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    script = in_order(calls("clarify", ASK), says("Blue it is."))
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Paint it.")
    log = check(api, session, watch(api, session, "clarify-request", 1))
    assert of_type(log, "turn-end") == []

    (request,) = of_type(log, "clarify-request")
    target = f"sessions/{session}/clarifications/{request['call_id']}"
    api.post(target, {"answer": "Blue"})
    events = api.turn(session)

    assert api.call("POST", target, {"answer": "Red"}).status == 409
    assert [result["status"] for result in of_type(events, "tool-result")] == ["ok"]
    assert len(of_type(events, "turn-start")) == len(of_type(events, "turn-resume")) == 1
    assert of_type(events, "turn-end")[0]["exit"] == "final_response"


def test_a_call_that_waits_for_its_result_survives_the_kill(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    (workspace / "a.ipynb").write_text(notebook(("c1", "x = 1")))
    script = in_order(calls("read_notebook", {"path": "a.ipynb"}), says("It has one cell."))
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session(tools="parse_only")
    api.send(session, "Read it.")
    log = check(api, session, watch(api, session, "tool-call", 1))

    (call,) = of_type(log, "tool-call")
    api.post(f"sessions/{session}/tool-results/{call['call_id']}", {"content": "one cell"})
    events = api.turn(session)

    assert of_type(events, "tool-start") == []
    assert [result["status"] for result in of_type(events, "tool-result")] == ["ok"]
    assert of_type(events, "turn-end")[0]["exit"] == "final_response"
