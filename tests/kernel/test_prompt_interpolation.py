"""Variables in prompts, under each egress setting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from jupyter_ai_shoulders.kernel.prompt_text import interpolate
from jupyter_ai_shoulders.wire.api.settings import DataValues

NAMESPACE: dict[str, Any] = {
    "n": 42,
    "name": "Ada Lovelace",
    "rows": [101, 102, 103, 104, 105],
    "by": {"left": "L-value", "right": "R-value"},
    "df": pd.DataFrame({"age": [31, 52], "city": ["Ulm", "Jena"]}),
    "a": np.array([[7001.5, 7002.5]]),
    "api_key": "s3cr3t-value",
    "long": "x" * 100,
}
VALUES = ("42", "Ada", "101", "L-value", "left", "31", "Ulm", "7001", "s3cr3t", "xx")


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("{n}", "<n: int>"),
        ("{name}", "<name: str of 12 characters>"),
        ("{rows}", "<rows: list of 5>"),
        ("{by}", "<by: dict of 2>"),
        ("{df}", "<df: DataFrame, 2 × 2, columns age (int64), city (object)>"),
        ("{a}", "<a: ndarray, 1 × 2 of float64>"),
        ("{api_key}", "<api_key: str of 12 characters>"),
    ],
)
def test_by_default_no_value_leaves(prompt: str, expected: str) -> None:
    filled, withheld = interpolate(prompt, NAMESPACE, "schema_only")

    assert filled.replace("(str)", "(object)") == expected
    assert withheld == (prompt.strip("{}"),)
    assert not [value for value in VALUES if value in filled.replace("api_key", "")]


@pytest.mark.parametrize(
    ("level", "prompt", "expected"),
    [
        ("samples", "{n}", "42"),
        ("samples", "{name}", "Ada Lovelace"),
        ("samples", "{long}", "x" * 60 + " […]"),
        ("full", "{long}", "x" * 100),
        ("samples", "{rows}", "<rows: list of 5>\n[101, 102, 103]"),
        ("full", "{rows}", "<rows: list of 5>\n[101, 102, 103, 104, 105]"),
        ("full", "{by}", "<by: dict of 2>\n{'left': 'L-value', 'right': 'R-value'}"),
    ],
)
def test_values_leave_as_far_as_the_setting_says(
    level: DataValues, prompt: str, expected: str
) -> None:
    assert interpolate(prompt, NAMESPACE, level) == (expected, ())


def test_rows_of_a_table_leave_with_the_setting() -> None:
    filled, _ = interpolate("{df}", NAMESPACE, "samples")

    assert filled.splitlines()[1:] == ["   age  city", "0   31   Ulm", "1   52  Jena"]


@pytest.mark.parametrize("level", ["samples", "full"])
def test_a_variable_named_as_a_secret_never_leaves(level: DataValues) -> None:
    filled, withheld = interpolate("{api_key}", NAMESPACE, level)

    assert "s3cr3t" not in filled
    assert withheld == ("api_key",)


@pytest.mark.parametrize(
    "prompt", ['{"n": 1}', "{unknown}", "{n.real}", "{ n }", "f'{n:.2f}'", "{}", "{rows[0]}"]
)
def test_other_braces_stay(prompt: str) -> None:
    assert interpolate(prompt, NAMESPACE, "full") == (prompt, ())


def test_doubled_braces_are_braces() -> None:
    assert interpolate("{{n}} is {n}", NAMESPACE, "full")[0] == "{n} is 42"


class Broken(dict[str, str]):
    """An object whose own code fails."""

    def __len__(self) -> int:
        raise RuntimeError("closed")

    def __repr__(self) -> str:
        raise RuntimeError("closed")

    def items(self) -> Any:
        raise RuntimeError("closed")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("schema_only", "<it: Broken>"),
        ("full", "<it: Broken>\n[its value cannot be shown]"),
    ],
)
def test_of_a_value_whose_own_code_fails_the_type_is_told(level: DataValues, expected: str) -> None:
    assert interpolate("{it}", {"it": Broken()}, level)[0] == expected
