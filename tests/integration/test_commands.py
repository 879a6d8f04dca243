"""Commands of whole turns: approval, badge, kill -9 of the server, cancel, the event loop."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.guard.spawner.process_tree import marked_processes, process_info
from tests.integration.client import Api, of_type
from tests.integration.conftest import StartServer
from tests.integration.shared_server import SharedServer, log_of, until
from tests.simulator_process import StartSimulator, calls, in_order, says

PATIENCE_S = 60.0


def is_running(pid: int) -> bool:
    seen = process_info(pid)
    return seen is not None and not seen.ended


def wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def number(path: Path) -> int:
    """Wait for the process id that a command writes, and return it."""
    wait(lambda: path.exists() and path.read_text().strip() != "", f"{path.name} was not written")
    return int(path.read_text())


def allow(api: Api, session: str) -> dict[str, Any]:
    request = until(api, session, "approval-request")
    api.post(f"sessions/{session}/approvals/{request['call_id']}", {"decision": "allow"})
    return request


def test_a_command_asks_with_its_exact_line_and_says_what_holds_it(
    place: SharedServer, probed: None
) -> None:
    line = "echo 42 | cat"
    place.upstream.play(in_order(calls("run_command", {"command": line}), says("Done.")))
    session = place.api.session()
    place.api.send(session, "Compute.")

    events = place.api.turn(session)

    (request,) = of_type(events, "approval-request")
    (result,) = of_type(events, "tool-result")
    (start,) = of_type(events, "tool-start")
    kind = place.api.get("status")["sandbox"]
    assert request["preview"] == line
    assert request["sandboxed"] is (kind != "none")
    assert "Not covered by undo: it has a pipe." in request["reason"]["text"]
    assert result["result"]["data"]["sandbox"] == kind
    assert result["content"][0]["text"].splitlines()[-1] == "42"
    assert start["pid"] is not None
    assert not is_running(start["pid"])


def test_a_command_of_the_agent_is_undone_from_the_log(place: SharedServer) -> None:
    for name in ("c-a", "c-c"):
        (place.root / name).write_text(name)
    line = "mv c-a c-b && rm c-c"
    place.upstream.play(in_order(calls("run_command", {"command": line}), says("Done.")))
    session = place.api.session()
    place.api.send(session, "Tidy up.")

    place.api.turn(session)
    rows = place.api.get(f"operations?session={session}")["operations"]

    assert [(row["kind"], row["document"], row["can_undo"]) for row in rows] == [
        ("delete", "c-c", True),
        ("move", "c-a", True),
    ]
    assert len({row["batch"] for row in rows}) == 1
    assert sorted(path.name for path in place.root.glob("c-*")) == ["c-b"]


def test_a_flood_of_output_does_not_hold_up_the_server(place: SharedServer, probed: None) -> None:
    line = "head -c 100000000 /dev/zero | tr '\\0' '\\n' | cat"
    place.upstream.play(in_order(calls("run_command", {"command": line}), says("Done.")))
    session = place.api.session()
    place.api.send(session, "Print a lot.")

    events = place.api.turn(session)

    (result,) = of_type(events, "tool-result")
    assert result["status"] == "ok"
    assert result["result"]["data"]["output_characters"] == 100_000_000
    assert len(result["content"][0]["text"]) < 60_000
    assert sum(len(event["text"]) for event in of_type(events, "tool-progress")) < 300_000


def test_cancel_ends_a_command_with_all_it_started(place: SharedServer, probed: None) -> None:
    line = "setsid sleep 1000 & echo $! > x1.pid; echo $$ > x2.pid; wait"
    place.upstream.play(in_order(calls("run_command", {"command": line}), says("Never said.")))
    session = place.api.session()
    place.api.send(session, "Run it.")
    allow(place.api, session)
    started = until(place.api, session, "tool-start")
    number(place.root / "x2.pid")

    place.api.post(f"sessions/{session}/cancel", {})
    until(place.api, session, "turn-end")

    assert not is_running(started["pid"])
    assert marked_processes(f"{started['pid']}:{started['process_start']}") == []
    (result,) = of_type(log_of(place, session), "tool-result")
    assert result["status"] == "cancelled"


def test_a_command_in_the_background_goes_on_beside_the_turn(place: SharedServer) -> None:
    line = "echo early; while ! test -e bg-go; do sleep 0.01; done; echo late"
    arguments = {"command": line, "background": True}
    place.upstream.play(
        in_order(calls("run_command", arguments), says("I wait."), says("It ended."))
    )
    session = place.api.session()
    place.api.send(session, "Start it.")
    allow(place.api, session)
    until(place.api, session, "text-end")

    (place.root / "bg-go").touch()
    until(place.api, session, "turn-end")

    (result,) = of_type(log_of(place, session), "tool-result")
    (ended,) = of_type(log_of(place, session), "run-end")
    assert result["result"]["data"]["status"] == "running"
    assert ended["status"] == "ok"
    assert ended["content"][0]["text"].splitlines()[-2:] == ["early", "late"]


@pytest.mark.parametrize("watcher", ["alive", "killed too"])
@pytest.mark.parametrize("background", [False, True])
def test_a_killed_server_leaves_no_command_and_says_that_nobody_knows(
    serve: StartServer,
    workspace: Path,
    upstream: StartSimulator,
    watcher: str,
    background: bool,
) -> None:
    """The watcher ends the command at once; if it is killed as well, the next start does."""
    line = "echo ran >> count; (setsid sleep 1000 & echo $! > a.pid); echo $$ > b.pid; sleep 1000"
    arguments = {"command": line, "background": background}
    script = in_order(calls("run_command", arguments), says("I wait."), says("I do not know."))
    api = serve(workspace, upstream(script).configure(workspace))
    session = api.session()
    api.send(session, "Run it.")
    allow(api, session)
    started = until(api, session, "tool-start")
    number(workspace / "b.pid")
    if background:
        until(api, session, "text-end")
    mark = f"{started['pid']}:{started['process_start']}"
    assert len(marked_processes(mark)) >= 2

    if watcher == "alive":
        api.lab.kill()
        wait(lambda: marked_processes(mark) == [], "the command went on")
    else:
        os.kill(api.lab.pid, signal.SIGSTOP)  # it must not notice the other's end
        os.kill(started["pid"], signal.SIGKILL)
        api.lab.kill()
        assert len(marked_processes(mark)) >= 2
    api.lab.start()
    api.get("sessions")
    log = api.get(f"sessions/{session}/events?limit=5000")["events"]

    assert marked_processes(mark) == []
    assert (workspace / "count").read_text() == "ran\n"
    if background:
        api.post(f"sessions/{session}/resume", {"decision": "resume"})
        ended = until(api, session, "run-end")
        assert ended["status"] == "unknown"
        assert "it was ended" in ended["result"]["error"]["message"]
        return
    assert api.get(f"sessions/{session}")["status"] == "interrupted"
    said = next(event for event in of_type(log, "notice") if event["code"] == "interrupted")
    assert "was running and was ended" in said["text"]
    api.post(f"sessions/{session}/resume", {"decision": "resume"})
    events = api.turn(session, log[-1]["seq"])
    assert [result["status"] for result in of_type(events, "tool-result")] == ["unknown"]
    assert (workspace / "count").read_text() == "ran\n"
