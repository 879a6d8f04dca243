"""Variables and lines of users' configuration."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.json_positions import json_line_of
from jupyter_ai_shoulders.core.variable_expansion import (
    MissingVariable,
    expand_variables,
    variables_in,
)


def test_variables_are_replaced_everywhere() -> None:
    value = {"a": "x${ONE}y${TWO}", "b": ["${ONE}", 3, None], "c": {"d": "$ONE ${}"}}
    assert expand_variables(value, {"ONE": "1", "TWO": "${ONE}"}) == {
        "a": "x1y${ONE}",
        "b": ["1", 3, None],
        "c": {"d": "$ONE ${}"},
    }


def test_missing_variable_is_named() -> None:
    with pytest.raises(MissingVariable, match="NO_SUCH_THING is not set"):
        expand_variables({"a": ["${NO_SUCH_THING}"]}, {})


def test_variables_are_listed() -> None:
    assert variables_in("${A}/x/${B_2}") == ("A", "B_2")


TEXT = """\
{
  "a": {"x": 1,
        "y":
          "${B}"},
  "models": [
    {"id": "one"},
    {"id": "two",
     "name": "a \\" } ] \\n b"}
  ]
}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("a",), 2),
        (("a", "x"), 2),
        (("a", "y"), 4),
        (("models", 0), 6),
        (("models", 1), 7),
        (("models", 1, "name"), 8),
        (("models", 9), 5),
        (("nothing", "here"), 1),
        (("a", "x", "deeper"), 2),
    ],
)
def test_line_of_a_value(path: tuple[str | int, ...], line: int) -> None:
    assert json_line_of(TEXT, path) == line
