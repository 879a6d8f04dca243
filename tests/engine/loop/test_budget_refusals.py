"""The loop when the meter refuses a call."""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.testing.scripted_provider import Fail, Say, turn
from jupyter_ai_shoulders.wire import events as ev
from tests.engine.engine_harness import make_engine, make_session


def refusal(scope: str = "month", **more: Any) -> PolicyRefusal:
    details: dict[str, Any] = {
        "scope": scope,
        "limit_micro_usd": 5,
        "spent_micro_usd": 5,
        "administrator": False,
    }
    return PolicyRefusal("Enough.", code="budget_exhausted", **details, **more)


async def test_a_refusal_of_the_budget_ends_the_turn_without_another_try() -> None:
    w = make_engine(turn(Fail(refusal())))

    await w.say("Go")

    assert w.exits() == ["budget_exhausted"]
    (end,) = w.of(ev.TurnEnd)
    assert end.error is not None
    assert (end.error.details or {})["scope"] == "month"
    assert w.of(ev.RetryWait) == []
    assert w.of(ev.UsageUpdate) == []
    assert w.session.status == "error"


async def test_money_held_by_calls_in_flight_is_waited_for() -> None:
    w = make_engine(turn(Fail(refusal(retryable=True))), turn(Say("Now.")))

    await w.say("Go")

    assert w.exits() == ["final_response"]
    (wait,) = w.of(ev.RetryWait)
    assert wait.reason == "Enough."


async def test_a_ledger_that_cannot_be_used_is_an_error_and_no_exhausted_budget() -> None:
    w = make_engine(turn(Fail(PolicyRefusal("Not countable.", code="state_unavailable"))))

    await w.say("Go")

    assert w.exits() == ["error"]


async def test_a_turn_limit_pauses_where_somebody_can_raise_it_and_ends_a_run() -> None:
    chat, run = (
        make_engine(turn(Fail(refusal("turn")))),
        make_engine(turn(Fail(refusal("turn"))), given=make_session("run")),
    )

    await chat.say("Go")
    await run.say("Go")

    assert (chat.exits(), chat.session.status) == ([], "waiting")
    assert run.exits() == ["budget_exhausted"]
