"""What is checked of a tool that another package brings along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from jupyter_ai_shoulders.tools.base import ToolArguments
from jupyter_ai_shoulders.tools.installed import MAX_TEXT, contract_violation


class Good(ToolArguments):
    path: str


class Loose(ToolArguments):
    model_config = ConfigDict(extra="allow")


class Own(BaseModel):
    path: str


class Tree(ToolArguments):
    branches: list[Tree] = []  # noqa: RUF012 pydantic copies defaults


class Shapeless(ToolArguments):
    act: Callable[[], int]


class Long(ToolArguments):
    """One whose schema costs more than it is worth."""

    path: str = "x" * MAX_TEXT


def tool(**other: object) -> Any:
    """Return a tool that has everything, but for ``other``."""
    attributes: dict[str, object] = {
        "name": "count_lines",
        "description": "Counts lines.",
        "category": "installed",
        "risk": "read",
        "external": False,
        "idempotent": True,
        "toolsets": frozenset({"full"}),
        "arguments": Good,
        "subject": lambda: None,
        "run": lambda: None,
        **other,
    }
    given = {name: value for name, value in attributes.items() if value is not ...}
    return type("Brought", (), given)()


def test_a_whole_tool_has_no_fault() -> None:
    assert contract_violation(tool()) is None


@pytest.mark.parametrize(
    ("other", "fault"),
    [
        ({"name": ...}, "has no name"),
        ({"name": "Count-Lines"}, "has no name"),
        ({"name": "a" * 65}, "has no name"),
        ({"description": " "}, "has no description"),
        ({"description": "x" * (MAX_TEXT + 1)}, "has no description"),
        ({"category": "loop"}, "not of the category"),
        ({"category": ...}, "not of the category"),
        ({"risk": "none"}, "has no risk"),
        ({"risk": ["read"]}, "has no risk"),
        ({"external": 0}, "whether it is external"),
        ({"idempotent": None}, "whether it is idempotent"),
        ({"toolsets": frozenset[str]()}, "has no toolsets"),
        ({"toolsets": {"full"}}, "has no toolsets"),
        ({"toolsets": frozenset({"everything"})}, "has no toolsets"),
        ({"arguments": Own}, "subclass of ToolArguments"),
        ({"arguments": Good(path="x")}, "subclass of ToolArguments"),
        ({"arguments": Loose}, "does not name"),
        ({"arguments": Tree}, "hold themselves"),
        ({"arguments": Shapeless}, "no JSON Schema"),
        ({"arguments": Long}, "longer than"),
        ({"subject": None}, "no subject"),
        ({"run": ...}, "no run"),
    ],
    ids=str,
)
def test_a_fault_is_named(other: dict[str, object], fault: str) -> None:
    found = contract_violation(tool(**other))
    assert found is not None
    assert fault in found
