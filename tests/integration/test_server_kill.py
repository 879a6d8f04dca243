"""``kill -9`` in the middle of a turn: nothing that was seen is lost."""

from __future__ import annotations

import contextlib
import http.client
import time
from pathlib import Path
from typing import Any

import pytest

from tests.integration.client import Api, of_type
from tests.integration.conftest import StartServer
from tests.simulator_process import StartSimulator, calls, in_order, notebook, says
from tests.support.lab_server import STOP_SECONDS

STORY = " ".join(f"word{number}" for number in range(400))
SLOW = {"event_delay": 0.01}


def watch(api: Api, session: str, kind: str, count: int) -> list[dict[str, Any]]:
    """A client's events until the server is killed at the ``count``-th event of a kind."""
    seen: list[dict[str, Any]] = []
    with contextlib.suppress(http.client.HTTPException, OSError):  # the stream is cut
        for event in api.stream(session):
            seen.append(event)
            if event["type"] == kind and len(of_type(seen, kind)) == count:
                api.lab.kill()
    return seen


def check(api: Api, session: str, seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Start the server again and return the log, which starts with all events seen."""
    api.lab.start()
    log = api.get(f"sessions/{session}/events?limit=5000")["events"]
    assert log[: len(seen)] == seen
    assert [event["seq"] for event in log] == list(range(1, len(log) + 1))
    return log


@pytest.mark.parametrize(
    ("kind", "count"), [("turn-start", 1), ("text-delta", 1), ("text-delta", 30)]
)
def test_a_turn_killed_while_it_streams_is_interrupted_and_the_conversation_goes_on(
    serve: StartServer, workspace: Path, upstream: StartSimulator, kind: str, count: int
) -> None:
    script = in_order(says(STORY, **SLOW), says("All is well."), says("All is well."))
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Tell me a story.")
    seen = watch(api, session, kind, count)

    log = check(api, session, seen)

    assert api.get(f"sessions/{session}")["status"] == "interrupted"
    assert of_type(log, "turn-end") == []
    assert any(notice["code"] == "interrupted" for notice in of_type(log, "notice")), log[-3:]

    api.send(session, "Go on.", message="m2")
    interrupted = next(e for e in api.stream(session, log[-1]["seq"]) if e["type"] == "turn-end")
    api.turn(session, interrupted["seq"])
    events = api.get(f"sessions/{session}/events?limit=5000")["events"]

    assert [end["exit"] for end in of_type(events, "turn-end")] == ["interrupted", "final_response"]
    assert [event["message_id"] for event in of_type(events, "message-add")] == ["m1", "m2"]
    assert api.get(f"sessions/{session}")["status"] == "idle"


def test_a_killed_turn_can_be_resumed_under_its_own_id(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    script = in_order(says(STORY, **SLOW), says("The end."))
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Tell me a story.")
    seen = watch(api, session, "text-delta", 10)
    check(api, session, seen)

    api.post(f"sessions/{session}/resume", {"decision": "resume"})
    events = api.turn(session)

    (start,) = of_type(events, "turn-start")
    (resumed,) = of_type(events, "turn-resume")
    (end,) = of_type(events, "turn-end")
    assert start["turn_id"] == resumed["turn_id"] == end["turn_id"]
    assert end["exit"] == "final_response"


def test_a_pending_approval_survives_and_nothing_ran_meanwhile(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    (workspace / "a.ipynb").write_text(notebook(("c1", "open('ran', 'w').close()")))
    script = in_order(calls("run_cell", {"path": "a.ipynb", "cell_id": "c1"}), says("It ran."))
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Run it.")
    seen = watch(api, session, "approval-request", 1)
    log = check(api, session, seen)

    assert not (workspace / "ran").exists()
    (request,) = of_type(log, "approval-request")
    api.post(f"sessions/{session}/approvals/{request['call_id']}", {"decision": "allow"})
    events = api.turn(session, log[-1]["seq"])

    assert (workspace / "ran").exists()
    assert [result["status"] for result in of_type(events, "tool-result")] == ["ok"]
    assert of_type(events, "turn-end")[0]["exit"] == "final_response"


def test_a_cell_that_ran_when_the_server_was_killed_is_unknown_and_not_run_again(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    code = "import time\nprint('count', file=open('count', 'a'), flush=True)\ntime.sleep(60)"
    (workspace / "a.ipynb").write_text(notebook(("c1", code)))
    script = in_order(
        calls("run_cell", {"path": "a.ipynb", "cell_id": "c1"}), says("I do not know.")
    )
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Run it.")
    seen: list[dict[str, Any]] = []
    for event in api.stream(session):
        seen.append(event)
        if event["type"] == "approval-request":
            api.post(f"sessions/{session}/approvals/{event['call_id']}", {"decision": "allow"})
        if event["type"] == "tool-start":
            break
    api.lab.kill()
    log = check(api, session, seen)

    api.post(f"sessions/{session}/resume", {"decision": "resume"})
    events = [*log, *api.turn(session, log[-1]["seq"])]

    assert [result["status"] for result in of_type(events, "tool-result")] == ["unknown"]
    assert of_type(events, "turn-end")[0]["exit"] == "final_response"
    count = workspace / "count"
    assert not count.exists() or count.read_text() == "count\n"


def test_a_message_sent_again_after_the_kill_is_accepted_once(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    script = in_order(says(STORY, **SLOW), says("Again."))
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Tell me a story.")
    check(api, session, watch(api, session, "text-delta", 5))

    api.send(session, "Tell me a story.")

    log = api.get(f"sessions/{session}/events?limit=5000")["events"]
    assert len(of_type(log, "message-add")) == 1


def test_a_server_told_to_stop_does_so_in_time_and_in_order(
    serve: StartServer, workspace: Path, upstream: StartSimulator
) -> None:
    script = in_order(says(STORY, **SLOW), says("The end."))
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Tell me a story.")
    next(event for event in api.stream(session) if event["type"] == "text-delta")
    began = time.monotonic()

    api.lab.stop()

    assert time.monotonic() - began < STOP_SECONDS  # or it was killed
    assert "Traceback" not in api.lab.log
    log = check(api, session, [])
    assert of_type(log, "turn-end") == []
    assert api.get(f"sessions/{session}")["status"] == "interrupted"
    api.post(f"sessions/{session}/resume", {"decision": "resume"})
    assert of_type(api.turn(session), "turn-end")[0]["exit"] == "final_response"
