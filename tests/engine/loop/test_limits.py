"""Spending and time limits, and modes that end."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_ai_shoulders.core.budget.account import LimitScope
from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, StateUnavailable
from jupyter_ai_shoulders.engine.null_ports import NullBudgets
from jupyter_ai_shoulders.testing.scripted_provider import Call, Fail, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import ResumeTurn, SendMessage
from jupyter_ai_shoulders.wire.ids import MessageId, SessionId, TurnId
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_session,
    make_settings,
    restart_engine,
)
from tests.engine.loop.test_turns import check


class RecordingBudgets(NullBudgets):
    """Records raised limits; refuses more than a dollar."""

    def __init__(self) -> None:
        self.raised: list[tuple[str, int]] = []

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        if micro_usd > 1_000_000:
            raise PolicyRefusal("The administrator's limit is $1.", code="budget_exhausted")
        self.raised.append((scope, micro_usd))


def spent(scope: str, *, administrator: bool = False) -> Fail:
    code = "budget_exhausted"
    return Fail(PolicyRefusal("Spent.", code=code, scope=scope, administrator=administrator))


def resume(limit: int | None = None) -> ResumeTurn:
    return ResumeTurn(decision="resume", limit_micro_usd=limit)


@pytest.mark.parametrize(("scope", "code"), [("turn", "turn_limit"), ("session", "session_limit")])
async def test_limit_of_turn_or_session_pauses_and_a_raise_goes_on(scope: str, code: str):
    budgets = RecordingBudgets()
    look = Call("look", {"path": "a"})
    w = make_engine(turn(look), turn(spent(scope)), "Done.", budgets=budgets)
    await w.say()
    assert w.session.status == "waiting"
    assert w.exits() == []
    assert [notice.code for notice in w.of(ev.Notice)] == [code]
    assert not w.engine.is_running(SESSION)
    await w.engine.resume(SESSION, resume(500_000))
    await w.settle()
    assert budgets.raised == [(scope, 500_000)]
    assert w.exits() == ["final_response"]
    assert w.session.status == "idle"
    check(w)


async def test_refused_raise_leaves_the_turn_paused():
    w = make_engine(turn(spent("turn")), "Done.", budgets=RecordingBudgets())
    await w.say()
    with pytest.raises(PolicyRefusal):
        await w.engine.resume(SESSION, resume(2_000_000))
    assert w.session.status == "waiting"
    assert not w.of(ev.TurnResume)


class FailingBudgets(NullBudgets):
    """Cannot store a limit."""

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        raise StateUnavailable("The ledger cannot be written.")


async def test_a_raise_that_could_not_be_stored_is_told_and_the_turn_waits_on():
    w = make_engine(turn(spent("turn")), "Done.", budgets=FailingBudgets())
    await w.say()
    with pytest.raises(StateUnavailable, match="cannot be written"):
        await w.engine.resume(SESSION, resume(500_000))
    assert w.session.status == "waiting"
    assert not w.of(ev.TurnResume)


class SlowBudgets(NullBudgets):
    """Blocks while storing a limit until released."""

    def __init__(self) -> None:
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        self.asked.set()
        await self.go.wait()


async def test_turn_resumed_elsewhere_while_a_raise_is_stored_is_not_resumed_again():
    budgets, other = SlowBudgets(), SessionId("s2")
    limits = make_settings(cached_sessions=1)
    w = make_engine(turn(spent("turn")), "Other.", "Done.", budgets=budgets, limits=limits)
    w.store.add(make_session(id=other))
    await w.say()
    raising = asyncio.create_task(w.engine.resume(SESSION, resume(500_000)))
    await budgets.asked.wait()
    # Evicts the first session.
    await w.engine.send(other, SendMessage(id=MessageId("m2"), text="Hi"))
    await w.engine.settled(other)
    await w.engine.resume(SESSION, resume())
    await w.settle()
    budgets.go.set()
    with pytest.raises(Conflict):
        await raising
    await w.settle()
    assert len(w.of(ev.TurnResume)) == 1
    assert w.exits() == ["final_response"]
    check(w)


async def test_pause_can_be_discarded_or_overtaken_by_a_message():
    w = make_engine(turn(spent("turn")), turn(spent("session")), "Done.")
    await w.say()
    await w.say("Again")
    await w.engine.resume(SESSION, ResumeTurn(decision="discard"))
    assert w.exits() == ["budget_exhausted", "budget_exhausted"]
    errors = [end.error for end in w.of(ev.TurnEnd)]
    assert [error.details for error in errors if error] == [{"scope": "turn"}, {"scope": "session"}]
    check(w)


@pytest.mark.parametrize("noted", [True, False], ids=["shown", "crash before it was shown"])
async def test_pause_survives_a_restart(noted: bool):
    w = make_engine(turn(spent("turn")))
    await w.say()
    before = next(event.seq for event in w.events if isinstance(event, ev.Notice))
    after = await restart_engine(w, None if noted else before, "Done.")
    assert after.session.status == "waiting"
    assert len(after.of(ev.Notice)) == 1
    await after.engine.resume(SESSION, resume())
    await after.settle()
    assert after.exits() == ["final_response"]
    check(after)


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (spent("month"), "chat"),
        (spent("day"), "chat"),
        (spent("turn", administrator=True), "chat"),
        (spent("turn"), "run"),
    ],
    ids=["month", "day", "administrator", "nobody to ask"],
)
async def test_other_limits_end_the_turn(failure: Fail, kind: str):
    w = make_engine(turn(failure), given=make_session(kind))  # pyright: ignore[reportArgumentType]: a table
    await w.say()
    assert w.exits() == ["budget_exhausted"]
    assert w.session.status == "error"


async def test_raise_without_a_pause_is_a_conflict():
    w = make_engine(turn(Call("look", {"path": "a"})))
    await w.say()
    after = await restart_engine(w, len(w.events) - 2)
    with pytest.raises(Conflict):
        await after.engine.resume(SESSION, resume(5))


# time


async def test_turn_that_works_too_long_ends_and_says_why(monkeypatch: pytest.MonkeyPatch):
    limits = make_settings(turn_time_limit_s=1_000.0)
    w = make_engine(turn(Call("look", {"path": "a"}, "c1")), "Never.", limits=limits)
    reached = w.probe.hold("look:a")
    await w.send()
    await reached.wait()
    loop = asyncio.get_running_loop()
    later = loop.time() + 2_000
    with monkeypatch.context() as patch:
        patch.setattr(loop, "time", lambda: later)
        await w.settle()
    assert w.results() == [("c1", "cancelled")]
    (end,) = w.of(ev.TurnEnd)
    assert end.exit == "budget_exhausted"
    assert end.error is not None
    assert end.error.code == "timeout"
    assert w.probe.cancelled == ["look:a"]
    check(w)


async def test_waiting_for_the_user_is_no_work():
    limits = make_settings(turn_time_limit_s=1_000.0)
    w = make_engine(turn(Call("run_it", {"path": "a"})), "Done.", limits=limits)
    await w.say()
    w.store.clock.advance(10_000)
    await w.answer()
    assert w.exits() == ["final_response"]


# bypass


async def test_bypass_asks_nothing_and_ends_with_the_server():
    w = make_engine(turn(Call("run_it", {"path": "a"})), "Ran.", given=make_session(mode="bypass"))
    await w.say()
    assert not w.of(ev.ApprovalRequest)
    assert w.session.mode == "bypass"
    after = await restart_engine(w, None, turn(Call("run_it", {"path": "a"})))
    assert after.session.mode == "ask"
    await after.say("Again", message="m2")
    assert len(after.of(ev.ApprovalRequest)) == 1


async def test_interrupted_bypass_asks_when_it_is_resumed():
    w = make_engine(turn(Call("run_it", {"path": "a"})), given=make_session(mode="bypass"))
    await w.say()
    start = next(event.seq for event in w.events if isinstance(event, ev.StepStart))
    after = await restart_engine(w, start, turn(Call("run_it", {"path": "a"})))
    assert after.session.mode == "ask"
    await after.engine.resume(SESSION, resume())
    await after.settle()
    assert after.session.status == "waiting"


async def test_forbidden_bypass_is_refused():
    w = make_engine("Hi.", limits=make_settings(allow_bypass=False))
    with pytest.raises(PolicyRefusal):
        await w.send("Go", mode="bypass")
    assert not w.of(ev.MessageAdd)


# nobody to ask


async def test_call_that_would_ask_is_denied_and_the_model_goes_on():
    w: EngineHarness = make_engine(
        turn(Call("run_it", {"path": "a"}, "c1")), "Not run.", given=make_session("run")
    )
    await w.say()
    (result,) = w.of(ev.ToolResult)
    assert result.status == "denied"
    assert result.result.error is not None
    assert result.result.error.code == "approval_required"
    assert w.exits() == ["final_response"]
