"""The order of suggestions."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.assist.inline_completion.ranking import (
    MAX_PARSED_LENGTH,
    rank_suggestions,
)


@pytest.mark.parametrize(
    ("given", "prefix", "suffix", "expected"),
    [
        (["1 +* 2", "sum(x)"], "y = ", "", ["sum(x)", "1 +* 2"]),
        (["max(x)", "sum(x)"], "y = ", "", ["max(x)", "sum(x)"]),
        (["x):", "x):\n    return x"], "def f(", "", ["x):\n    return x", "x):"]),
        (["x]", "x"], "print(", ")", ["x", "x]"]),
        (["!! no", "head()"], "%matplotlib inline\ndf.", "", ["head()", "!! no"]),
        (["sum(x", "sum(x)", ")"], "y = ", "", ["sum(x)", "sum(x", ")"]),
    ],
)
def test_what_is_no_code_comes_last_and_the_rest_stays_in_order(
    given: list[str], prefix: str, suffix: str, expected: list[str]
) -> None:
    assert rank_suggestions(given, prefix, suffix, "python") == expected


def test_other_languages_and_long_texts_are_not_judged() -> None:
    given = ["1 +* 2", "sum(x)"]

    assert rank_suggestions(given, "y <- ", "", "r") == given
    assert rank_suggestions(given, "y = 1\n" * MAX_PARSED_LENGTH, "", "python") == given
