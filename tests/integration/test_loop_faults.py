"""Models that mangle their calls, go round in circles or never stop.

Through a real server over HTTP; ``tests/engine`` tests the rules themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.integration.client import of_type
from tests.integration.shared_server import PRICED, SharedServer, log_of
from tests.simulator_process import calls, in_order, notebook, says

pytestmark = pytest.mark.usefixtures("probed")

Log = list[dict[str, Any]]
READ = calls("read_notebook", {"path": "loop.ipynb"})
OTHER = calls("read_notebook", {"path": "other.ipynb"})


def play(place: SharedServer, *replies: dict[str, Any], text: str = "Go on.") -> tuple[str, Log]:
    """Play a turn to its end; every request is allowed."""
    write_notebooks(place)
    place.upstream.play(in_order(*replies))
    session = place.api.session()
    place.api.send(session, text)
    place.api.turn(session)
    return session, log_of(place, session)


def write_notebooks(place: SharedServer) -> None:
    """Write the notebooks that the model reads."""
    for name in ("loop", "other"):
        (place.root / f"{name}.ipynb").write_text(notebook(("c1", f"{name} = 1")))


def ending(log: Log) -> tuple[str, str | None]:
    """How the turn ended: exit and error code."""
    (end,) = of_type(log, "turn-end")
    return end["exit"], end["error"] and end["error"]["code"]


def codes(log: Log) -> list[str]:
    """The codes of the notices."""
    return [notice["code"] for notice in of_type(log, "notice")]


def messages_of(place: SharedServer) -> list[dict[str, Any]]:
    """The requests to the model for an answer."""
    return [r for r in place.upstream.requests() if r["path"] == "/v1/messages"]


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        (calls("read_notebok", {"path": "loop.ipynb"}), "unknown_tool", "read_notebook"),
        (calls("read_notebook", {"path": 5}), "invalid_arguments", "path"),
        (calls("read_notebook", {"path": "a", "colour": "red"}), "invalid_arguments", "colour"),
        ({"parts": [{"kind": "tool", "name": "read_notebook", "arguments": '{"path": "lo'}]},
         "invalid_arguments", "JSON"),
    ],
    ids=["unknown tool", "wrong type", "extra key", "not JSON"],
)  # fmt: skip
def test_a_call_that_makes_no_sense_is_not_executed_and_repaired(
    place: SharedServer, call: dict[str, Any], code: str, said: str
) -> None:
    _, log = play(place, call, READ, says("It has one cell."))

    wrong, right = of_type(log, "tool-result")
    assert (wrong["status"], wrong["result"]["error"]["code"]) == ("error", code)
    assert right["status"] == "ok"
    assert [event["call_id"] for event in of_type(log, "tool-start")] == [right["call_id"]]
    assert said in str(messages_of(place)[1]["body"]["messages"][-1])
    assert ending(log) == ("final_response", None)


def test_a_model_that_never_gets_a_call_right_is_stopped(place: SharedServer) -> None:
    wrong = [calls("read_notebok", {"path": f"{number}.ipynb"}) for number in range(9)]
    _, log = play(place, *wrong)

    assert ending(log) == ("error", "loop_detected")
    assert len(of_type(log, "tool-result")) == 4
    assert of_type(log, "tool-start") == []


@pytest.mark.parametrize("replies", [[READ] * 9, [READ, OTHER] * 9], ids=["A, A, A", "A, B, A, B"])
def test_a_circle_is_told_of_asked_about_and_stopped(
    place: SharedServer, replies: Sequence[dict[str, Any]]
) -> None:
    session, log = play(place, *replies)

    assert "repeated_calls" in codes(log)
    asked = of_type(log, "approval-request")
    assert {request["reason"]["kind"] for request in asked} == {"loop"}
    assert ending(log) == ("error", "loop_detected")
    assert len(of_type(log, "tool-result")) < len(replies)
    place.upstream.play(in_order(says("Something else, then.")))
    place.api.send(session, "Do something else.", message="m2")
    again = place.api.turn(session, log[-1]["seq"])
    assert ending(again) == ("final_response", None)


def test_a_model_that_only_talks_ends_its_turn(place: SharedServer) -> None:
    _, log = play(
        place, says("I shall now think about reading the notebook."), says("Never asked.")
    )

    assert ending(log) == ("final_response", None)
    assert len(messages_of(place)) == 1


def test_a_text_that_repeats_itself_without_end_is_cut_with_a_notice(place: SharedServer) -> None:
    endless = {"parts": [{"kind": "text", "text": "over and " * 4_000}], "stop": "max_tokens"}
    session, log = play(place, endless, says("Never asked."))

    assert ending(log) == ("final_response", None)
    assert codes(log) == ["output_limit"]
    assert len(messages_of(place)) == 1
    place.api.send(session, "Shorter, please.", message="m2")
    assert ending(place.api.turn(session, log[-1]["seq"])) == ("final_response", None)


# money


def test_an_unknown_price_is_said_so_and_counts_as_nothing_known(place: SharedServer) -> None:
    session, log = play(place, READ, says("Done."))

    assert [event["cost_micro_usd"] for event in of_type(log, "usage-update")] == [None, None]
    assert place.api.get(f"sessions/{session}")["cost_micro_usd"] is None
    assert ending(log) == ("final_response", None)


def test_a_reply_without_usage_is_estimated(place: SharedServer) -> None:
    silent = {**says("Done. " * 50), "report_usage": False}
    _, log = play(place, silent)

    (usage,) = of_type(log, "usage-update")
    assert usage["usage"]["input_tokens"] > 0
    assert usage["usage"]["output_tokens"] > 20
    assert ending(log) == ("final_response", None)


def test_a_limit_reached_in_the_middle_pauses_the_turn_and_a_raise_goes_on(
    place: SharedServer,
) -> None:
    write_notebooks(place)
    place.api.call("PUT", "budget", {"turn_micro_usd": 50_000})
    try:
        place.upstream.play(in_order(READ, OTHER, says("Done.")))
        session = place.api.session(model=PRICED)
        place.api.send(session, "Read both.")
        next(e for e in place.api.stream(session) if _waits(e))
        log = log_of(place, session)
        limit = {"decision": "resume", "limit_micro_usd": 100_000_000}
        place.api.post(f"sessions/{session}/resume", limit)
        rest = place.api.turn(session, len(log))
    finally:
        place.api.call("PUT", "budget", {"turn_micro_usd": None})

    assert codes(log)[-1] == "turn_limit"
    assert of_type(log, "turn-end") == []
    assert [result["status"] for result in of_type(log, "tool-result")] == ["ok"]
    assert ending(rest) == ("final_response", None)


def _waits(event: dict[str, Any]) -> bool:
    return event["type"] == "session-update" and event["session"]["status"] == "waiting"
