"""Describes all variables of a namespace within limits of time and text; entry point ``describe``.

Runs in the kernel, as the last part of the description of its variables.
"""

from __future__ import annotations

import json
import time
import types
from typing import Any

from jupyter_ai_shoulders.notebook.snippets.python.objects import (
    NAME_LENGTH,
    derives,
    genuine,
    instance_dict,
    kind_of,
    library,
    module_dict,
    plain,
    text,
    type_name,
)
from jupyter_ai_shoulders.notebook.snippets.python.tables import EXACT, INHERITED
from jupyter_ai_shoulders.notebook.snippets.python.values import (
    MAX_COLUMNS,
    Budget,
    container_base,
    head,
    is_secret,
    pairs_of,
    shown,
)

MAX_VARIABLES = 300
MAX_NAMES = 1_000
REQUESTED_COLUMNS = 400
"""Columns listed of a frame that was requested by name."""
ELEMENT_SAMPLE = 30
OUTPUT_LENGTH = 120_000
"""Characters of all descriptions."""
HIDDEN = frozenset({"In", "Out", "get_ipython", "exit", "quit"})


def container(value: Any, budget: Budget) -> dict[str, Any]:
    base = container_base(value)
    told: dict[str, Any] = {"size": base.__len__(value)}
    if base is dict:
        pairs = pairs_of(value, ELEMENT_SAMPLE)
        told["keys"] = kinds([key for key, _ in pairs])
        told["items"] = kinds([item for _, item in pairs])
    else:
        told["items"] = kinds(head(value, ELEMENT_SAMPLE))
    if budget.count and kind_of(value) is base:
        told["value"] = shown(value, budget)
    return told


def kinds(values: list[Any]) -> list[str]:
    """Return the types among some values, most frequent first."""
    counts: dict[str, int] = {}
    for value in values:
        name = type_name(value)
        counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:4]


def string(value: Any, budget: Budget) -> dict[str, Any]:
    base = str if derives(value, str) else bytes
    told: dict[str, Any] = {"size": base.__len__(value)}
    if budget.count and kind_of(value) is str:
        told["value"] = shown(value, budget)
    return told


def simple(value: Any, budget: Budget) -> dict[str, Any]:
    told: dict[str, Any] = {"value": shown(value, budget)} if budget.count else {}
    own = instance_dict(value) if budget.columns == REQUESTED_COLUMNS else None
    if kind_of(own) is dict:
        told["attributes"] = [
            [text(key, NAME_LENGTH), type_name(item)]
            for key, item in pairs_of(own, MAX_COLUMNS)
            if kind_of(key) is str and not key.startswith("_")
        ]
    return told


def description(name: str, value: Any, budget: Budget) -> dict[str, Any]:
    """Return the description of a variable."""
    told: dict[str, Any] = {"name": text(name, NAME_LENGTH), "type": type_name(value)}
    if budget.is_over():
        return {**told, "skipped": True}
    if budget.count and is_secret(name):
        quiet = Budget("schema_only")
        quiet.end, quiet.columns, quiet.null_seconds = budget.end, budget.columns, 0.0
        budget = quiet
        told["hidden"] = True
    look = looker(value)
    try:
        told.update(look(value, budget))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a library of another version, or its panic
        told["failed"] = kind_of(error).__name__
    return told


def looker(value: Any) -> Any:
    """Return the function that examines values of this type."""
    exact = EXACT.get(genuine(value) or "")
    if exact is not None:
        return exact
    for (module, name), look in INHERITED:
        if derives(value, library(module, name)):
            return look
    if container_base(value) is not None:
        return container
    return string if derives(value, str) or derives(value, bytes) else simple


def group(value: Any) -> str:
    """Return the list that a name belongs to."""
    if derives(value, types.ModuleType):
        return "modules"
    if derives(value, types.FunctionType) or derives(value, types.BuiltinFunctionType):
        return "functions"
    return "classes" if derives(value, type) else "variables"


def is_hidden(name: str, value: Any) -> bool:
    if name.startswith("_"):
        return True
    return name in HIDDEN or (name == "open" and group(value) == "functions")


def describe(namespace: dict[str, Any], level: str, names: list[str] | None = None) -> str:
    """Return as JSON the variables of a namespace, or only those named."""
    begun = time.perf_counter()
    budget = Budget(level)
    held: dict[str, list[Any]] = {"variables": [], "functions": [], "classes": [], "modules": []}
    count = 0
    for name, value in list(pairs_of(namespace, MAX_NAMES * 10)):
        if kind_of(name) is not str or (name not in names if names else is_hidden(name, value)):
            continue
        count += 1
        if count <= MAX_NAMES:
            held["variables" if names else group(value)].append((name, value))
    if names:
        budget.columns = REQUESTED_COLUMNS
    described = list(descriptions(held["variables"], budget))
    told = {
        "variables": described,
        "total": len(held["variables"]),
        "more": [text(name, NAME_LENGTH) for name, _ in held["variables"][len(described) :]],
        "functions": [text(name, NAME_LENGTH) for name, _ in held["functions"]],
        "classes": [text(name, NAME_LENGTH) for name, _ in held["classes"]],
        "modules": [
            [text(name, NAME_LENGTH), module_name(value)] for name, value in held["modules"]
        ],
        "unlisted": max(0, count - MAX_NAMES),
        "seconds": round(time.perf_counter() - begun, 4),
    }
    return json.dumps(told, ensure_ascii=True)


def descriptions(pairs: list[Any], budget: Budget) -> Any:
    length = 0
    for name, value in pairs[:MAX_VARIABLES]:
        told = description(name, value, budget)
        length += len(json.dumps(told, ensure_ascii=True))
        if length > OUTPUT_LENGTH:
            return
        yield told


def module_name(value: Any) -> str:
    if kind_of(value) is not types.ModuleType:
        return "?"
    return plain(module_dict(value).get("__name__"), NAME_LENGTH) or "?"
