"""Models in a loop are warned, asked about and stopped; working ones are not."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, ScriptedTurn, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_session,
    make_settings,
)
from tests.engine.log_invariants import check_contexts, check_log, check_requests


def check(w: EngineHarness) -> None:
    check_log(w.events)
    check_requests(w.provider.requests)
    check_contexts(w.events, w.store.blobs)


def looks(count: int, path: str = "a.ipynb") -> list[ScriptedTurn]:
    return [turn(Call("look", {"path": path})) for _ in range(count)]


def codes(w: EngineHarness) -> list[str]:
    return [notice.code for notice in w.of(ev.Notice)]


async def test_a_model_that_repeats_itself_is_told_then_asked_about_then_stopped():
    w = make_engine(*looks(6))
    await w.say()
    (asked,) = w.of(ev.ApprovalRequest)
    assert asked.reason.kind == "loop"
    assert len(w.of(ev.ToolResult)) == 4
    assert codes(w).count("repeated_calls") == 1
    told = "three times. Do something else"
    assert told not in str(w.provider.requests[2].messages)
    assert told in str(w.provider.requests[3].messages[-1])
    await w.engine.responses.answer_approval(
        SESSION, asked.call_id, AnswerApproval(decision="allow", scope="once", feedback=None)
    )
    await w.settle()
    (end,) = w.of(ev.TurnEnd)
    assert end.exit == "error"
    assert end.error is not None
    assert end.error.code == "loop_detected"
    check(w)


async def test_where_nobody_can_be_asked_a_circle_is_stopped_all_the_same():
    w = make_engine(*looks(6), given=make_session(kind="run", interactive=False))
    await w.say()
    assert w.of(ev.ApprovalRequest) == []
    assert len(w.of(ev.ToolResult)) == 5
    assert w.exits() == ["error"]
    check(w)


async def test_remarks_stay_where_they_were_said():
    w = make_engine(*looks(3), turn(Call("look", {"path": "b.ipynb"})), "Done.")
    await w.say()
    assert w.exits() == ["final_response"]
    before, after = w.provider.requests[3], w.provider.requests[4]
    assert after.messages[: len(before.messages)] == before.messages
    check(w)


async def test_the_model_hears_nothing_when_nudges_are_off():
    w = make_engine(*looks(4), "Done.", limits=make_settings(nudges=False))
    await w.say()
    assert w.exits() == ["final_response"]
    assert codes(w) == []
    assert "[notice]" not in str(w.provider.requests[-1].messages)


async def test_a_model_that_mangles_its_calls_is_stopped_after_three_repairs():
    w = make_engine(*(turn(Call("lok", {"path": f"{number}.ipynb"})) for number in range(6)))
    await w.say()
    (end,) = w.of(ev.TurnEnd)
    assert end.error is not None
    assert end.error.code == "loop_detected"
    assert [result.status for result in w.of(ev.ToolResult)] == ["error"] * 4
    check(w)


@pytest.mark.parametrize("circle", [False, True], ids=["work", "circle"])
async def test_edit_and_run_in_twelve_rounds_is_left_alone_while_results_change(*, circle: bool):
    rounds: list[ScriptedTurn] = []
    for number in range(12):
        word = "same" if circle else f"try {number}"
        rounds.append(turn(Call("edit", {"path": "a.ipynb", "word": word})))
        rounds.append(turn(Call("run_it", {"path": "a.ipynb"})))
    w = make_engine(*rounds, turn(Say("Fixed.")), given=make_session(mode="bypass"))
    w.probe.prints_contents = True
    w.probe.open_in_page.add("a.ipynb")
    await w.say()
    assert (w.exits() == ["final_response"]) is not circle
    assert (codes(w) == []) is not circle
    assert (len(w.of(ev.ToolResult)) == 24) is not circle
    check(w)
