"""The extension's shortcuts collide with none of JupyterLab and Notebook, nor with each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupyterlab
import pytest

import jupyter_ai_shoulders

OWN = Path(jupyter_ai_shoulders.__file__).parents[1] / "labextension" / "schema"
LAB = Path(jupyterlab.__file__).parents[4] / "share" / "jupyter"
"""Settings of JupyterLab and of every installed extension."""

Keys = tuple[str, ...]


def shortcuts(schemas: Iterator[Path]) -> Iterator[dict[str, Any]]:
    """All shortcuts of some schemas."""
    for path in schemas:
        schema = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(schema, dict):
            yield from schema.get("jupyter.lab.shortcuts", [])


def own() -> list[dict[str, Any]]:
    return list(shortcuts(OWN.glob("*.json")))


def others() -> set[Keys]:
    """All shortcuts that are in use."""
    taken = [
        each
        for each in shortcuts(LAB.glob("lab*/**/schemas/**/*.json"))
        if not each["command"].startswith("jupyter-ai-shoulders:")
    ]
    assert len(taken) > 100, f"no settings of the lab in {LAB}"
    kinds = ("keys", "winKeys", "macKeys", "linuxKeys")
    return {tuple(each[kind]) for each in taken for kind in kinds if each.get(kind)}


STATES = (".shoulders-mod-ghostActive", ".shoulders-mod-ghostLoading")
"""Classes of an editor with a shown or awaited suggestion, the only state with those keys."""


def at_any_time() -> set[Keys]:
    return {tuple(each["keys"]) for each in own() if each["selector"] not in STATES}


@pytest.mark.parametrize("keys", sorted(at_any_time()), ids=" ".join)
def test_a_shortcut_is_free(keys: Keys) -> None:
    clashes = [taken for taken in others() if taken[: len(keys)] == keys[: len(taken)]]
    assert clashes == []


def test_no_shortcut_is_bound_twice_or_begins_another() -> None:
    bound = Counter((tuple(each["keys"]), each["selector"]) for each in own())
    assert [each for each, times in bound.items() if times > 1] == []
    all_keys = {keys for keys, _ in bound}
    begun = {keys[:length] for keys in all_keys for length in range(1, len(keys))}
    assert begun & all_keys == set()


def test_shortcuts_that_type_or_scroll_are_left_to_editors() -> None:
    plain = [each for each in own() if each["selector"] == "body"]
    assert [each for each in plain if not {"Accel", "Alt"} & set(each["keys"][0].split())] == []
