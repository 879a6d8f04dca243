"""The pure part of plans: binding, order, stop condition, what is remembered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.tools.planning import plan
from jupyter_ai_shoulders.tools.planning.plan import Memory, PlanStep
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

NAMES = ("ids.a", "ids.b", "lists.a", "params.a", "entities.a")
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "path"]), inner, max_size=3)
    ),
    max_leaves=6,
)
reference = st.sampled_from(NAMES).map(lambda name: {"var": name})
mixed = st.recursive(
    plain | reference,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=6,
)
arguments = st.dictionaries(st.sampled_from(["path", "word", "cells"]), mixed, max_size=3)


@st.composite
def plans(draw: st.DrawFn) -> list[PlanStep]:
    """Plans whose steps save under different names and refer to any of them, or to none."""
    count = draw(st.integers(1, plan.STEPS))
    names = draw(st.permutations(NAMES))
    saved = [draw(st.sampled_from([name, None])) for name in names[:count]]
    return [PlanStep(tool="look", args=draw(arguments), save_as=name) for name in saved]


def memory_of(names: set[str]) -> Memory:
    memory: Memory = {}
    for name in names:
        memory = plan.with_value(memory, name, f"value of {name}")
    return memory


@given(args=arguments, names=st.sets(st.sampled_from(NAMES)))
def test_binding_replaces_exactly_the_references(args: JsonObject, names: set[str]):
    memory = memory_of(names)
    wanted = set(plan.references(args))
    assert set(plan.missing_references(args, memory)) == wanted - names
    if wanted <= names:
        done = plan.bind_arguments(args, memory)
        assert list(plan.references(done)) == []
        assert list(done) == list(args)
        if not wanted:
            assert done == args


@given(steps=plans())
def test_order_follows_needs_and_else_the_plan(steps: list[PlanStep]):
    ordered, needs = plan.execution_order(steps), plan.step_dependencies(steps)
    assert len(set(ordered)) == len(ordered)
    for at, position in enumerate(ordered):
        before = set(ordered[:at])
        assert needs[position] <= before
        earlier = [other for other in range(position) if other not in before]
        assert all(not needs[other] <= before for other in earlier)
    for position in set(range(len(steps))) - set(ordered):
        assert needs[position] - set(ordered), "only steps in or behind a circle are left out"


@given(steps=plans())
def test_waves_run_every_step_once_and_after_what_it_needs(steps: list[PlanStep]):
    run, needs = plan.execution_order(steps), plan.step_dependencies(steps)
    done: list[int] = []
    while wave := plan.next_wave(steps, run, done):
        assert all(needs[position] <= set(done) for position in wave)
        done += wave
    assert sorted(done) == sorted(run)
    assert len(done) <= plan.STEPS


@given(stop=st.lists(st.sampled_from(NAMES), max_size=3), names=st.sets(st.sampled_from(NAMES)))
def test_plan_is_satisfied_when_all_its_artifacts_are_there(stop: list[str], names: set[str]):
    assert plan.is_satisfied(stop, memory_of(names)) == (bool(stop) and set(stop) <= names)


@given(steps=plans(), left=st.integers(0, plan.STEPS), data=st.data())
def test_plan_without_a_problem_can_be_ordered_and_paid_for(
    steps: list[PlanStep], left: int, data: st.DataObject
):
    stop = data.draw(st.lists(st.sampled_from(NAMES), max_size=2))
    problem = plan.plan_problem(steps, stop, {}, left)
    names = {step.save_as for step in steps}
    fine = (
        len(steps) <= left and len(plan.execution_order(steps)) == len(steps) and set(stop) <= names
    )
    assert (problem is None) == fine


@given(value=plain, name=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
def test_what_is_remembered_is_found_and_nothing_else_changes(value: Json, name: str, other: str):
    before = memory_of({other})
    memory = plan.with_value(before, name, value)
    assert plan.resolve_reference(name, memory) == (value,)
    if name != other:
        assert plan.resolve_reference(other, memory) == plan.resolve_reference(other, before)
    assert before == memory_of({other})


@given(value=plain)
def test_snapshot_of_any_memory_is_short_text(value: Json):
    assert "ids" in plan.memory_preview({"ids": {"x": value}})


PLACES: dict[str, tuple[str, tuple[Json, ...]]] = {
    "key": ("entities.a.path", ("p",)),
    "entry": ("lists.a.1.id", (2,)),
    "beyond": ("lists.a.2", ()),
    "no key": ("entities.a.nothing", ()),
    "into a text": ("entities.a.path.0", ()),
    "section": ("nothing.a", ()),
    "negative": ("lists.a.-1", ()),
}


@pytest.mark.parametrize(("name", "found"), PLACES.values(), ids=PLACES)
def test_place_inside_a_value_is_looked_up(name: str, found: tuple[Json, ...]):
    rows: list[Json] = [{"id": 1}, {"id": 2}]
    assert (
        plan.resolve_reference(name, {"entities": {"a": {"path": "p"}}, "lists": {"a": rows}})
        == found
    )


def envelope(data: Json, kind: Any = "matches", total: int | None = None) -> ToolEnvelope:
    return ToolEnvelope(ok=True, kind=kind, data=data, meta=ResultMeta(total=total))


SHORTFALLS: dict[str, tuple[ToolEnvelope, str, plan.Expectation, bool]] = {
    "rows": (envelope({"matches": [1]}), "1 match", "content", True),
    "no rows": (envelope({"matches": []}), "None.", "content", False),
    "no rows, any": (envelope({"matches": []}), "None.", "any", True),
    "total of none": (envelope(None, total=0), "None.", "content", False),
    "no text": (envelope(None), " \n", "content", False),
    "kind": (envelope({"matches": [1]}), "1 match", "matches", True),
    "other kind": (envelope({"matches": [1]}), "1 match", "cells", False),
}


@pytest.mark.parametrize(("result", "text", "expect", "fine"), SHORTFALLS.values(), ids=SHORTFALLS)
def test_result_is_what_was_expected_or_not(
    result: ToolEnvelope, text: str, expect: plan.Expectation, fine: bool
):
    assert (plan.unmet_expectation(expect, result, text) is None) == fine


VALUES: dict[str, tuple[str, Json, tuple[Json, ...]]] = {
    "cell id": ("ids.x", {"cells": [{"path": "p", "cell_id": "c"}]}, ("c",)),
    "path of a listing": ("ids.x", ["a.py", "b.py"], ("a.py",)),
    "own id": ("ids.x", {"path": "p"}, ("p",)),
    "no id": ("ids.x", {"cells": [{"lines": 3}]}, ()),
    "no entries": ("ids.x", {"cells": []}, ()),
    "entity without rows": ("entities.x", {"path": "p"}, ({"path": "p"},)),
    "nothing": ("entities.x", None, ()),
    "no list": ("lists.x", {"path": "p"}, ()),
    "long list": ("lists.x", list(range(1_000)), (list(range(plan.MAX_ROWS)),)),
    "text": ("params.x", None, ("t" * plan.MAX_TEXT,)),
}


@pytest.mark.parametrize(("name", "data", "value"), VALUES.values(), ids=VALUES)
def test_value_is_taken_from_a_result(name: str, data: Json, value: tuple[Json, ...]):
    assert plan.extract_value(name, envelope(data), "t" * 10_000) == value


def test_only_a_plan_to_be_made_anew_leaves_something_behind():
    kept: JsonObject = {"memory": {"ids": {"a": "x"}}, "left": 3}
    again = envelope({"status": "replan", **kept}, "text")
    assert plan.carried_state(again, None) == kept
    assert plan.carried_state(envelope(None, "none"), kept) == kept
    assert plan.carried_state(envelope({"status": "done"}, "text"), kept) is None
    assert plan.restore_state(kept) == ({"ids": {"a": "x"}}, 3)
    assert plan.restore_state(None) == ({}, plan.STEPS)
    assert plan.restore_state({"memory": "?", "left": "?"}) == ({}, plan.STEPS)
