"""Plans of read calls: argument binding, order and stop condition. Pure.

Executed by ``tools.planning.run_plan``; ``engine.request.session_index`` keeps the state that a
plan carries over to the next one.

Working memory has sections of named values. A step saves a value of its result as ``section.name``;
arguments refer to values as ``{"var": "section.name"}``, and to parts of them with further words:
``{"var": "lists.cells.0.cell_id"}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from pydantic import Field

from jupyter_ai_shoulders.tools.base import ToolArguments
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.results import ToolEnvelope

RUN_PLAN = "run_plan"
STEPS = 5
"""Most steps of a plan, including those of the plan it replaces."""

SECTIONS = ("ids", "params", "lists", "entities", "errors")
"""Sections of working memory. Plans save into all except ``errors``, which has the reasons of
failed steps.
"""

MAX_ROWS = 100
MAX_TEXT = 4_000
"""Limits of a remembered list (``MAX_ROWS`` entries) and text (characters)."""
_ROWS_SHOWN = 10
_TEXT_SHOWN = 200

_NAME = re.compile(r"(ids|params|lists|entities)\.[A-Za-z_]\w*")
_IDENTIFIERS = ("cell_id", "id", "path", "handle", "name")
"""Keys that identify an entry of a result, by preference."""

Memory = dict[str, dict[str, Json]]
Expectation = Literal[
    "content", "any", "listing", "file", "cells", "matches", "outputs", "diff", "text"
]


class PlanStep(ToolArguments):
    """One call of a plan."""

    tool: str = Field(min_length=1)
    args: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        description='The tool\'s arguments; {"var": "ids.cell"} stands for a remembered value.',
    )
    save_as: str | None = Field(
        default=None,
        description="Remember what came: ids.x (id or path of the first entry), entities.x (the "
        "first entry), lists.x (all entries), params.x (the text).",
    )
    expect: Expectation = Field(
        default="content",
        description="What must come: content, nothing in particular (any), or a kind of result.",
    )


def references(value: Json) -> Iterator[str]:
    """Yield the references within arguments, in order."""
    if isinstance(value, dict):
        name = _reference(value)
        if name is not None:
            yield name
            return
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def _reference(value: Mapping[str, Json]) -> str | None:
    name = value.get("var")
    return name if len(value) == 1 and isinstance(name, str) else None


def saved_name(reference: str) -> str:
    """Return the saved name that a reference begins with, without the path into the value."""
    return ".".join(reference.split(".")[:2])


def resolve_reference(reference: str, memory: Memory) -> tuple[Json, ...]:
    """Return the value in a tuple, or an empty tuple if it does not exist."""
    value: Json = cast("JsonObject", memory)
    for word in reference.split("."):
        if isinstance(value, dict) and word in value:
            value = value[word]
        elif isinstance(value, list) and word.isdecimal() and int(word) < len(value):
            value = value[int(word)]
        else:
            return ()
    return (value,)


def missing_references(args: JsonObject, memory: Memory) -> tuple[str, ...]:
    """Return the references that memory cannot resolve."""
    return tuple(name for name in references(args) if not resolve_reference(name, memory))


def bind_arguments(args: JsonObject, memory: Memory) -> JsonObject:
    """Return arguments with references replaced by their values. All references must resolve."""
    return {key: _bound(value, memory) for key, value in args.items()}


def _bound(value: Json, memory: Memory) -> Json:
    if isinstance(value, list):
        return [_bound(inner, memory) for inner in value]
    if not isinstance(value, dict):
        return value
    name = _reference(value)
    if name is not None:
        return resolve_reference(name, memory)[0]
    return {key: _bound(inner, memory) for key, inner in value.items()}


def step_dependencies(steps: Sequence[PlanStep]) -> list[frozenset[int]]:
    """Return for each step the positions of the steps whose values it refers to."""
    savers = {step.save_as: position for position, step in enumerate(steps) if step.save_as}
    return [
        frozenset(savers[name] for name in map(saved_name, references(step.args)) if name in savers)
        - {position}
        for position, step in enumerate(steps)
    ]


def execution_order(steps: Sequence[PlanStep]) -> list[int]:
    """Return the positions of the steps in dependency order, otherwise as written.

    Steps that depend on each other are left out.
    """
    waits, placed = step_dependencies(steps), list[int]()
    while True:
        ready = [
            position
            for position, needed in enumerate(waits)
            if position not in placed and needed <= set(placed)
        ]
        if not ready:
            return placed
        placed.append(ready[0])


def next_wave(
    steps: Sequence[PlanStep], run: Sequence[int], done: Collection[int]
) -> tuple[int, ...]:
    """Return the steps of ``run`` that can run now, all at once."""
    waits, finished = step_dependencies(steps), frozenset(done)
    return tuple(
        position for position in run if position not in finished and waits[position] <= finished
    )


def is_satisfied(stop_when: Sequence[str], memory: Memory) -> bool:
    """Return whether memory has all values that the plan was made for."""
    return bool(stop_when) and all(resolve_reference(name, memory) for name in stop_when)


def plan_problem(
    steps: Sequence[PlanStep], stop_when: Sequence[str], memory: Memory, steps_left: int
) -> str | None:
    """Return why a plan cannot start as written; None if it can."""
    names = [step.save_as for step in steps if step.save_as is not None]
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    if len(steps) > steps_left:
        return f"The plan has {len(steps)} steps; {steps_left} of {STEPS} are left."
    if wrong is not None:
        return f"{wrong!r} is no name to save as; write ids.x, params.x, lists.x or entities.x."
    if len(set(names)) < len(names):
        return "Two steps save under the same name."
    if len(execution_order(steps)) < len(steps):
        return "Steps of the plan wait for each other."
    unknown = [
        name for name in stop_when if name not in names and not resolve_reference(name, memory)
    ]
    return f"No step saves {unknown[0]!r}, so stop_when cannot come true." if unknown else None


def result_rows(data: Json) -> list[Json] | None:
    """Return the entries of a list result, else None."""
    if isinstance(data, dict):
        return next((value for value in data.values() if isinstance(value, list)), None)
    return data if isinstance(data, list) else None


def unmet_expectation(expect: Expectation, envelope: ToolEnvelope, text: str) -> str | None:
    """Return why a successful result does not meet the expectation; None if it does."""
    if expect == "any":
        return None
    rows = result_rows(envelope.data)
    if rows == [] or envelope.meta.total == 0 or not text.strip():
        return "The result is empty."
    if expect not in {"content", envelope.kind}:
        return f"The result is {envelope.kind}, not {expect}."
    return None


def extract_value(name: str, envelope: ToolEnvelope, text: str) -> tuple[Json, ...]:
    """Return the value of a result to save under a name, in a tuple; empty if there is none."""
    rows = result_rows(envelope.data)
    first = envelope.data if rows is None else next(iter(rows), None)
    match name.partition(".")[0]:
        case "lists":
            return () if rows is None else (_bounded(rows),)
        case "entities":
            return () if first is None else (_bounded(first),)
        case "ids":
            return _identifier(first)
        case _:
            return (_bounded(text),)


def _bounded(value: Json) -> Json:
    """Return a value limited in size, since memory is logged with every plan."""
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, list):
        return [_bounded(inner) for inner in value[:MAX_ROWS]]
    if isinstance(value, dict):
        return {key: _bounded(inner) for key, inner in value.items()}
    return value


def _identifier(entry: Json) -> tuple[Json, ...]:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in _IDENTIFIERS if key in entry), None)
    return (entry,) if isinstance(entry, str | int) else ()


def with_value(memory: Memory, name: str, value: Json) -> Memory:
    """Return memory with a value added."""
    section, _, rest = name.partition(".")
    return {**memory, section: {**memory.get(section, {}), rest: value}}


def memory_preview(memory: Memory) -> str:
    """Return memory for the model, with long lists and texts shortened."""
    shown = {section: memory.get(section, {}) for section in SECTIONS}
    return json.dumps(_short(cast("JsonObject", shown)), ensure_ascii=False)


def _short(value: Json) -> Json:
    if isinstance(value, str):
        return value if len(value) <= _TEXT_SHOWN else f"{value[:_TEXT_SHOWN]}…"
    if isinstance(value, list):
        more: list[Json] = [f"… {len(value) - _ROWS_SHOWN} more"]
        shown = [_short(inner) for inner in value[:_ROWS_SHOWN]]
        return shown + more if len(value) > _ROWS_SHOWN else shown
    if isinstance(value, dict):
        return {key: _short(inner) for key, inner in value.items()}
    return value


def carried_state(result: ToolEnvelope, before: JsonObject | None) -> JsonObject | None:
    """Return the state carried over from a plan that must be revised; None when the plan is over.

    A call that was refused leaves the state ``before`` unchanged.
    """
    data = result.data
    if not isinstance(data, dict) or "status" not in data:
        return before
    if data["status"] != "replan":
        return None
    return {"memory": data.get("memory"), "left": data.get("left")}


def restore_state(carried: JsonObject | None) -> tuple[Memory, int]:
    """Return the memory and the remaining steps of the plan that is replaced, or initial ones."""
    memory, left = (carried or {}).get("memory"), (carried or {}).get("left")
    if not isinstance(memory, dict) or not isinstance(left, int):
        return {}, STEPS
    kept = {name: values for name, values in memory.items() if isinstance(values, dict)}
    return kept, left
