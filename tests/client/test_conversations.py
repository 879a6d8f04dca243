"""The client against a real server: asking, streaming, running, deciding, listing."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.client import (
    BudgetReached,
    Client,
    NotAllowed,
    Refused,
    TurnFailed,
    Unreachable,
    Waiting,
)
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.server_discovery import ServerAddress
from jupyter_ai_shoulders.wire.events import ApprovalRequest, ClarifyRequest, TextDelta, TurnEnd
from jupyter_ai_shoulders.wire.usage import PutBudget
from tests.client.conftest import PRICED, ClientServer
from tests.simulator_process import calls, says
from tests.support.lab_server import free_port


def test_a_question_is_answered(client: Client, place: ClientServer) -> None:
    place.plays(says("Forty-two."))

    answer = client.ask("What is it?")

    assert str(answer) == "Forty-two."
    assert (answer.exit, answer.denied, answer.error) == ("final_response", False, None)
    session = client.session(answer.session_id)
    assert (session.kind, session.source, session.tools) == ("kernel", "kernel", "disabled")


def test_a_conversation_goes_on(client: Client, place: ClientServer) -> None:
    place.plays(says("Ada."), says("Lovelace."))

    first = client.ask("Who?")
    second = client.ask("And then?", first.session_id)

    assert (second.text, second.session_id) == ("Lovelace.", first.session_id)
    assert len(place.upstream.requests()[-1]["body"]["messages"]) == 3
    assert client.list(kind="kernel")[0].id == first.session_id


def test_the_workspace_is_searched(client: Client, place: ClientServer) -> None:
    (place.lab.root / "searched.py").write_text("def unusual_word(): ...\n")

    found = client.search("unusual", path="searched.py", kind="code", limit=1)

    assert [(match.path, match.line) for match in found.matches] == [("searched.py", 1)]
    assert (found.total, found.warning) == (1, None)


def test_the_events_of_a_turn_come_as_they_happen(client: Client, place: ClientServer) -> None:
    place.plays(says("One two three."))

    turn = client.stream("Count.")
    events = list(turn)

    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "One two three."
    assert isinstance(events[-1], TurnEnd)
    assert [event.seq for event in events] == sorted({event.seq for event in events})
    assert turn.outcome().text == "One two three."


def test_a_call_that_asks_is_allowed(client: Client, place: ClientServer) -> None:
    write = calls("write_file", {"path": "a.txt", "content": "A"})
    place.plays(write, says("Written."))
    turn = client.stream("Write.", tools="enabled")

    with pytest.raises(Waiting, match="approval of write_file") as waiting:
        turn.answer()

    assert isinstance(waiting.value.event, ApprovalRequest)
    assert not (place.lab.root / "a.txt").exists()
    turn.allow()
    assert turn.answer().text == "Written."
    assert (place.lab.root / "a.txt").read_text() == "A"


def test_a_call_is_refused_by_its_id_with_a_reason(client: Client, place: ClientServer) -> None:
    place.plays(calls("write_file", {"path": "b.txt", "content": "B"}), says("Fine."))
    turn = client.stream("Write.", tools="enabled")
    list(turn)
    waits = turn.waits_for
    assert isinstance(waits, ApprovalRequest)

    client.approve(turn.session_id, waits.call_id, allow=False, feedback="not there")

    assert client.follow(turn.session_id).answer().text == "Fine."
    with pytest.raises(Refused) as again:
        client.approve(turn.session_id, waits.call_id)
    assert (again.value.status, again.value.info.code) == (409, "already_answered")
    assert not (place.lab.root / "b.txt").exists()


def test_a_question_of_the_model_is_answered(client: Client, place: ClientServer) -> None:
    place.plays(calls("clarify", {"question": "Red?", "options": ["yes", "no"]}), says("Red."))
    turn = client.stream("Paint.", tools="enabled")
    list(turn)
    assert isinstance(turn.waits_for, ClarifyRequest)

    turn.reply("yes")

    assert turn.answer().text == "Red."


def test_a_run_asks_nobody(client: Client, place: ClientServer) -> None:
    place.plays(calls("write_file", {"path": "c.txt", "content": "C"}), says("Not allowed."))

    answer = client.run("Write.").answer()

    assert (answer.exit, answer.denied) == ("final_response", True)
    assert client.session(answer.session_id).kind == "run"


def test_a_run_ends_with_its_question(client: Client, place: ClientServer) -> None:
    place.plays(calls("clarify", {"question": "Which file?"}))

    answer = client.run("Tidy.").answer()

    assert (answer.exit, answer.question) == ("ended_by_tool", "Which file?")


def test_the_same_key_goes_on_with_a_run(client: Client, place: ClientServer) -> None:
    place.plays(says("Monday."), says("Tuesday."))

    days = [client.run("Report.", external_key="daily").answer() for _ in range(2)]

    assert [day.text for day in days] == ["Monday.", "Tuesday."]
    assert days[0].session_id == days[1].session_id


def test_a_turn_is_cancelled(client: Client, place: ClientServer) -> None:
    place.plays(says("Slow.", ending="stall", ending_after=3))
    turn = client.stream("Take your time.")
    events = iter(turn)
    next(events)

    turn.cancel()

    with pytest.raises(TurnFailed, match="cancelled"):
        turn.answer()


def test_a_limit_of_money_is_named(client: Client, place: ClientServer) -> None:
    place.plays(says("Dear."))
    client.connection.send("PUT", "budget", PutBudget(month_micro_usd=0))
    try:
        with pytest.raises(BudgetReached, match="limit"):
            client.ask("Think.", model=PRICED)
    finally:
        client.connection.send("PUT", "budget", PutBudget(month_micro_usd=10**12))
    assert place.upstream.requests() == []


def test_a_conversation_is_exported(client: Client, place: ClientServer) -> None:
    place.plays(says("**Bold.**"))
    answer = client.ask("Say it.")

    assert "**Bold.**" in client.export(answer.session_id)
    assert '"text-delta"' in client.export(answer.session_id, "jsonl")


def test_the_server_says_what_it_has(client: Client) -> None:
    assert client.status().workspace
    assert "simulated" in {model.id for model in client.models().models}
    assert client.settings().values.egress.data_values == "schema_only"
    assert client.usage("model").rows


def test_a_wrong_token_is_named(place: ClientServer) -> None:
    with Client(place.url, "wrong", environ={}) as client, pytest.raises(NotAllowed, match="token"):
        client.status()


def test_no_token_is_named(place: ClientServer) -> None:
    made = Client(environ={}, connection=Connection(ServerAddress(place.url, None)))
    with made, pytest.raises(NotAllowed, match="none is known here"):
        made.ask("Hi")


def test_an_unknown_conversation_is_named(client: Client) -> None:
    with pytest.raises(Refused) as refused:
        client.ask("Hi", "ses_nothing")
    assert (refused.value.status, refused.value.info.code) == (404, "not_found")


def test_a_server_that_is_not_there_is_named() -> None:
    url = f"http://127.0.0.1:{free_port()}/"
    with Client(url, "t", environ={}) as client, pytest.raises(Unreachable, match="not answer"):
        client.status()
