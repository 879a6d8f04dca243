"""Plans of reads through the engine: what runs, what is refused, what stops them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from tests.engine.engine_harness import make_session, restart_engine
from tests.engine.loop.test_turns import check
from tests.engine.plan_tools import PlanScenario, make_plan_scenario, offered, plan, said, step

ROWS: list[Json] = [{"cell_id": "b", "line": 3}, {"cell_id": "c", "line": 9}]
FIND = step("find", "nb", save_as="ids.cell")
LOOK = step("look", {"var": "ids.cell"})


def kitchen(*script: Any, **more: Any) -> PlanScenario:
    s = make_plan_scenario(*script, **more)
    s.rows["nb"] = ROWS
    return s


def data(result: ev.ToolResult) -> JsonObject:
    assert isinstance(result.result.data, dict)
    return result.result.data


def statuses(result: ev.ToolResult) -> list[Json]:
    rows = data(result)["steps"]
    assert isinstance(rows, list)
    return [row["status"] for row in rows if isinstance(row, dict)]


async def test_steps_use_what_others_found_without_asking_the_model():
    s = kitchen(turn(plan(FIND, LOOK)), "Cell b.")
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert (result.status, data(result)["status"]) == ("ok", "done")
    assert (s.probe.started, s.w.probe.started) == (["find:nb"], ["look:b"])
    assert len(s.w.provider.requests) == 2
    text = said(result)
    assert '1. find (find nb · nb): ok; ids.cell = "b"\n2. look (look b · b): ok\n' in text
    assert "--- step 2 · look\nlook of b" in text
    (event,) = s.w.of(ev.ToolCall)
    assert (event.tool, event.title, event.risk) == ("run_plan", "Run a plan of 2 steps", "read")
    assert "read_output" in offered(s.w.provider.requests[0])
    check(s.w)


async def test_steps_are_shown_one_line_each_while_they_run():
    s = kitchen(turn(plan(FIND, LOOK)), "Cell b.")
    await s.w.say()
    shown = "".join(event.text for event in s.w.of(ev.ToolProgress))
    assert [line[:7] for line in shown.splitlines()] == ["1. find", "2. look"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ids.x", "b"),
        ("entities.x", ROWS[0]),
        ("lists.x", ROWS),
        ("params.x", "2 matches in nb" + " and more" * 20),
    ],
)
async def test_result_is_remembered_as_its_section_says(name: str, value: Json):
    s = kitchen(turn(plan(step("find", "nb", save_as=name))), "End.")
    await s.w.say()
    section = name.partition(".")[0]
    assert data(s.w.of(ev.ToolResult)[0])["memory"] == {section: {"x": value}}


async def test_place_inside_a_value_is_bound():
    steps = [
        step("find", "nb", save_as="lists.cells"),
        step("look", {"var": "lists.cells.1.cell_id"}),
    ]
    s = kitchen(turn(plan(*steps)), "End.")
    await s.w.say()
    assert s.w.probe.started == ["look:c"]


async def test_independent_steps_run_together_and_are_reported_in_order():
    s = kitchen(turn(plan(step("look", "a"), step("look", "b"), FIND)), "End.")
    reached = [s.w.probe.hold(label) for label in ("look:a", "look:b")]
    await s.w.send()
    for event in reached:  # both, while neither may end
        await event.wait()
    for gate in s.w.probe.gates.values():
        gate.set()
    await s.w.settle()
    (result,) = s.w.of(ev.ToolResult)
    assert statuses(result) == ["ok"] * 3
    assert said(result).index("look of a") < said(result).index("look of b")


async def test_plan_stops_when_its_artifacts_are_there():
    s = kitchen(turn(plan(FIND, LOOK, stop_when=["ids.cell"])), "End.")
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert (data(result)["status"], statuses(result)) == ("stopped", ["ok", "not run"])
    assert s.w.probe.started == []
    assert "2. look: not run" in said(result)


BROKEN = {
    "missing value": (step("look", {"var": "ids.none"}), "missing", "ids.none is not in memory"),
    "empty result": (step("find", "empty"), "empty", "The result is empty."),
    "other kind": (step("find", "nb", expect="cells"), "empty", "is matches, not cells"),
    "failed call": (step("failing", "x"), "failed", "There is no x."),
    "nothing to save": (step("look", "a", save_as="lists.x"), "missing", "nothing to save"),
    "wrong value": (step("look", {"var": "lists.cells"}), "failed", "arguments of 'look' are"),
    "gone": (step("look", "missing.ipynb"), "failed", "There is no missing.ipynb."),
    "too slow": (step("flaky", "hang"), "failed", "took longer than the 0.2 s"),
}


@pytest.mark.parametrize(("bad", "status", "reason"), BROKEN.values(), ids=BROKEN)
async def test_broken_plan_may_be_made_anew_once(bad: JsonObject, status: str, reason: str):
    first = plan(step("find", "nb", save_as="lists.cells"), bad)
    second = plan(step("look", {"var": "lists.cells.0.cell_id"}), call_id="p2")
    s = kitchen(turn(first), turn(second), "End.")
    s.rows["empty"] = []
    await s.w.say()
    broken, done = s.w.of(ev.ToolResult)
    assert (broken.status, data(broken)["status"]) == ("error", "replan")
    assert statuses(broken) == ["ok", status] or statuses(broken) == [status, "ok"]
    assert reason in said(broken)
    assert 'Memory is kept: {"ids": {}, "params": {}, "lists": {"cells": [{"cell_id": "b"' in said(
        broken
    )
    assert broken.result.error is not None
    assert (
        broken.result.error.hint
        == f"One new plan of at most {data(broken)['left']} steps may follow."
    )
    assert (done.status, data(done)["status"]) == ("ok", "done")
    assert "look:b" in s.w.probe.started
    check(s.w)


async def test_second_failure_ends_planning_and_the_next_plan_is_a_new_one():
    bad = step("failing", "x")
    script = [plan(FIND, bad), plan(bad, call_id="p2"), plan(LOOK, call_id="p3")]
    s = kitchen(*map(turn, script), "End.")
    await s.w.say()
    results = s.w.of(ev.ToolResult)
    assert [data(result)["status"] for result in results] == ["replan", "failed", "replan"]
    assert "Go on with single calls." in said(results[1])
    assert "ids.cell is not in memory" in said(results[2])


async def test_steps_left_carry_over_to_the_new_plan():
    bad = step("failing", "x")
    again = plan(*[step("look", f"f{number}") for number in range(3)], call_id="p2")
    fitting = plan(step("look", "f1"), step("look", "f2"), call_id="p3")
    s = kitchen(turn(plan(FIND, FIND | {"save_as": "ids.y"}, bad)), turn(again), turn(fitting), "E")
    await s.w.say()
    first, refused, done = s.w.of(ev.ToolResult)
    assert data(first)["left"] == 2
    assert "The plan has 3 steps; 2 of 5 are left." in said(refused)
    assert data(done)["status"] == "done"
    assert s.w.probe.started == ["look:f1", "look:f2"]


async def test_five_steps_used_up_leave_nothing_to_plan_anew():
    steps = [step("look", f"f{number}") for number in range(4)]
    s = kitchen(turn(plan(*steps, step("failing", "x"))), "End.")
    await s.w.say()
    assert data(s.w.of(ev.ToolResult)[0])["status"] == "failed"


async def test_memory_of_a_broken_plan_survives_a_restart_but_not_the_turn():
    broken = turn(plan(FIND, step("failing", "x")))
    s = kitchen(
        broken, turn(Call("edit", {"path": "z"}, "e1")), turn(plan(LOOK, call_id="p9")), "E"
    )
    await s.w.say()
    assert s.w.session.status == "waiting"
    after = await restart_engine(s.w, None, turn(plan(LOOK, call_id="p2")), "End.", broken, "No.")
    await after.answer()
    assert after.results() == [("p1", "error"), ("e1", "ok"), ("p2", "ok")]
    await after.say(message="m2")
    after.provider.extend(turn(plan(LOOK, call_id="p5")), "End.")
    await after.say(message="m3")
    assert "ids.cell is not in memory" in said(after.of(ev.ToolResult)[-1])


async def test_failure_that_may_pass_is_tried_again():
    s = kitchen(turn(plan(step("flaky", "a"))), "End.")
    await s.w.say()
    assert s.probe.started == ["flaky:a", "flaky:a"]
    assert s.w.results() == [("p1", "ok")]


async def test_change_is_described_and_not_executed():
    s = kitchen(turn(plan(FIND, step("edit", {"var": "ids.cell"}), LOOK)), "End.")
    s.w.probe.contents["b"] = "x = 1"
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert (result.status, data(result)["status"]) == ("ok", "halted")
    assert statuses(result) == ["ok", "halted", "not run"]
    assert s.w.probe.started == []
    for told in ("edit b · b", '{"path": "b"}', "x = 1", "Make this call yourself"):
        assert told in said(result)
    assert s.w.of(ev.ApprovalRequest) == []


async def test_change_is_denied_where_the_mode_only_reads():
    s = kitchen(turn(plan(FIND, step("edit", "a"))), "End.", given=make_session(mode="plan"))
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert (statuses(result), data(result)["status"]) == (["ok", "denied"], "replan")
    assert "In plan mode only reading is allowed" in said(result)


@pytest.mark.parametrize("tool", ["edit", "run_it", "fetch"])
async def test_plan_neither_changes_nor_runs_nor_reaches_out_whatever_is_allowed(tool: str):
    rules = json.dumps({"version": 1, "rules": [{"action": "allow", "tool": tool}]})
    given = make_session(mode="bypass")
    s = kitchen(turn(plan(step(tool, "a"), FIND)), "End.", given=given, rules=rules)
    await s.w.say()
    assert statuses(s.w.of(ev.ToolResult)[0]) == ["halted", "not run"]
    assert s.probe.started == s.w.probe.started == []


RULED = {
    "deny": ({"action": "deny", "tool": "look"}, "denied", "replan"),
    "ask": ({"action": "ask", "tool": "look"}, "halted", "halted"),
    "allow": ({"action": "allow", "tool": "look"}, "ok", "done"),
}


@pytest.mark.parametrize(("rule", "status", "end"), RULED.values(), ids=RULED)
async def test_rules_hold_for_every_step(rule: JsonObject, status: str, end: str):
    rules = json.dumps({"version": 1, "rules": [rule]})
    s = kitchen(turn(plan(FIND, LOOK)), "End.", rules=rules)
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert (statuses(result), data(result)["status"]) == (["ok", status], end)
    assert bool(s.w.probe.started) == (status == "ok")


REFUSED: dict[str, tuple[list[JsonObject], dict[str, Any], str]] = {
    "switched off": ([step("look", "b")], {}, "look is switched off in the permissions"),
    "unknown tool": ([step("lok")], {}, "There is no tool named 'lok'. Did you mean"),
    "wrong arguments": ([{"tool": "find", "args": {"paht": "a"}}], {}, '"required":["path"]'),
    "plan in a plan": ([{"tool": "run_plan", "args": {}}], {}, "no tool named 'run_plan'"),
    "calling": ([{"tool": "call_tool", "args": {}}], {}, "no tool named 'call_tool'"),
    "loop tool": ([{"tool": "complete", "args": {}}], {}, "called by itself"),
    "bad name": ([step("find", save_as="cell")], {}, "is no name to save as"),
    "errors": ([step("find", save_as="errors.x")], {}, "is no name to save as"),
    "same name": ([FIND, FIND], {}, "same name"),
    "circle": (
        [
            step("find", {"var": "ids.b"}, save_as="ids.a"),
            step("find", {"var": "ids.a"}, save_as="ids.b"),
        ],
        {},
        "wait for each other",
    ),
    "stop on nothing": ([FIND], {"stop_when": ["ids.other"]}, "cannot come true"),
    "too many": ([step("find")] * 6, {}, "at most 5"),
    "none": ([], {}, "at least 1"),
}


@pytest.mark.parametrize(("steps", "more", "text"), REFUSED.values(), ids=REFUSED)
async def test_plan_that_cannot_be_begun_is_refused(
    steps: list[JsonObject], more: dict[str, Any], text: str
):
    rules = json.dumps({"version": 1, "disabled": ["look"]})
    s = kitchen(turn(plan(*steps, **more)), "I see.", rules=rules)
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert result.result.error is not None
    assert (result.status, result.result.error.code) == ("error", "invalid_arguments")
    assert text in said(result)
    assert s.probe.started == s.w.probe.started == []


async def test_what_a_plan_read_counts_as_seen():
    s = kitchen(turn(plan(FIND, LOOK)), turn(Call("look", {"path": "a"})), "End.")
    await s.w.say()
    seen = s.w.probe.contexts[-1].seen
    cell = CellId("c1")
    assert (seen["nb", cell], seen["b", cell]) == ("found", "look")


async def test_what_is_too_long_to_show_is_left_out_and_not_seen():
    s = kitchen(turn(plan(step("look", "x" * 30_000), step("look", "y" * 30_000), FIND)), "End.")
    await s.w.say()
    (result,) = s.w.of(ev.ToolResult)
    assert [item.path[0] for item in result.seen] == ["x", "n"]
    assert "make this call by itself" in said(result)
    assert result.handle is None


async def test_bug_of_a_tool_in_a_plan_ends_the_turn_as_elsewhere():
    s = kitchen(turn(plan(FIND, step("buggy"))), "Never.")
    await s.w.say()
    assert s.w.exits() == ["error"]
    assert s.w.results() == [("p1", "error")]


async def test_plan_is_cancelled_with_its_steps():
    s = kitchen(turn(plan(step("look", "a"), FIND)), "Never.")
    reached = s.w.probe.hold("look:a")
    await s.w.send()
    await reached.wait()
    await s.w.engine.cancel(s.w.session.id)
    await s.w.settle()
    assert s.w.probe.cancelled == ["look:a"]
    assert (s.w.results(), s.w.exits()) == ([("p1", "cancelled")], ["cancelled"])


async def test_read_output_can_be_a_step():
    def look_on(_: Any) -> Any:
        handle = s.w.of(ev.ToolResult)[0].handle
        assert handle is not None
        return turn(plan({"tool": "read_output", "args": {"handle": handle}}))

    s = kitchen(turn(Call("look", {"path": "x" * 60_000}, "c1")), look_on, "End.")
    await s.w.say()
    assert s.w.results() == [("c1", "ok"), ("p1", "ok")]
