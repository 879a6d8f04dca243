"""Ranking of paths by a short query."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.fuzzy_matching import best_matches

PATHS = (
    "README.md",
    "analysis.ipynb",
    "data/",
    "data/bikes.csv",
    "data/raw/bikes_2024.csv",
    "notebooks/bike analysis.ipynb",
    "notebooks/other.ipynb",
    "src/analyse/load.py",
    "Überblick.md",
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("bikes", ["data/bikes.csv", "data/raw/bikes_2024.csv"], id="the whole name"),
        pytest.param(
            "analysis", ["analysis.ipynb", "notebooks/bike analysis.ipynb"], id="nearest first"
        ),
        pytest.param("BIKEANA", ["notebooks/bike analysis.ipynb"], id="no case, no blanks"),
        pytest.param("bike ana", ["notebooks/bike analysis.ipynb"], id="blanks stand for anything"),
        pytest.param("data", ["data/", "data/bikes.csv", "data/raw/bikes_2024.csv"], id="folders"),
        pytest.param("sal", ["src/analyse/load.py"], id="over the path"),
        pytest.param("über", ["Überblick.md"], id="any letters"),
        pytest.param("zzz", [], id="nothing"),
        pytest.param(".*", [], id="a pattern is text"),
    ],
)
def test_the_best_match_comes_first(query: str, found: list[str]) -> None:
    matches = best_matches(query, PATHS, 3)

    assert [path for path in matches if path in found] == found
    assert matches[: len(found[:1])] == found[:1]


def test_letters_close_together_are_better() -> None:
    assert best_matches("abc", ["a-b-c.txt", "xa_bc.txt"], 5) == ["xa_bc.txt", "a-b-c.txt"]


def test_no_query_lists_what_is_nearest_to_the_root() -> None:
    assert best_matches("", PATHS, 4) == ["analysis.ipynb", "data/", "README.md", "Überblick.md"]
