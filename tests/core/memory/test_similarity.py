"""Which statements repeat, contradict or are near each other."""

import pytest

from jupyter_ai_shoulders.core.memory.memory_text import Statement
from jupyter_ai_shoulders.core.memory.similarity import find_like

ALIKE = [
    ("Prefers plotly for plots.", "Prefers seaborn for plots.", "contradicts"),
    ("The user prefers plotly for plots", "Prefers seaborn for plots.", "contradicts"),
    ("Answers in German.", "Answers in English.", "contradicts"),
    ("Prefers short answers", "Prefers long answers", "contradicts"),
    ("Uses 2 spaces for indentation", "Uses 4 spaces for indentation", "contradicts"),
    ("Does not want type hints in functions", "Wants type hints in functions", "contradicts"),
    ("Plotting library: plotly", "Plotting library: seaborn", "contradicts"),
    ("The user prefers seaborn for all plots", "Prefers seaborn for plots.", "repeats"),
    ("prefers SEABORN for plots!", "Prefers seaborn for plots.", "repeats"),
    ("Prefers short functions", "Prefers short answers", "near"),
    ("Column A is temperature", "Column B is temperature", "near"),
    ("The data of 2024 is in a.csv", "The data of 2023 is in a.csv", "near"),
    ("Prefers pandas for tables", "Prefers seaborn for plots", None),
    ("Data: b.csv holds the second half of the measurements of 2024 and its errors",
     "Data: a.csv holds the first half of the measurements of 2024 and its errors", "near"),
]  # fmt: skip


@pytest.mark.parametrize(("new", "old", "expected"), ALIKE)
def test_likeness(new: str, old: str, expected: str | None) -> None:
    found = find_like(new, [Statement("11111111", old), Statement("22222222", "Has a dog.")])

    assert [each.likeness for each in found] == ([] if expected is None else [expected])
