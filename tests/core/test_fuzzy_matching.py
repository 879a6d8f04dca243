"""Ranking of paths by a short query."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core import fuzzy_matching
from jupyter_ai_shoulders.core.fuzzy_matching import folder_names, in_order

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


def best_matches(query: str, paths: Iterable[str], limit: int) -> list[str]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rstrip("/").rpartition("/")
        folders.setdefault(folder, []).append(name + "/" * path.endswith("/"))
    names = in_order(folder_names(folder, names) for folder, names in folders.items())
    return fuzzy_matching.best_matches(query, names, limit)


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


def spread(wanted: str, text: str) -> int | None:
    """Length of the first stretch that has the characters in order."""
    at = start = -1
    for letter in wanted:
        at = text.find(letter, at + 1)
        if at < 0:
            return None
        start = at if start < 0 else start
    return at - start


def rank(wanted: str, path: str) -> tuple[int, int, int, str, str] | None:
    """The rank of one path, by itself."""
    lowered = path.lower()
    over_path = spread(wanted, lowered)
    if over_path is None:
        return None
    folder, _, name = lowered.rstrip("/").rpartition("/")
    in_name = spread(wanted, name)
    if wanted and wanted in {name, name.rpartition(".")[0]}:
        kind, distance = 0, 0
    elif wanted in lowered:
        kind, distance = 1 if name.startswith(wanted) else 2 if wanted in name else 3, 0
    else:
        kind, distance = (5, over_path) if in_name is None else (4, in_name)
    return kind, distance, folder.count("/") + bool(folder), lowered, path


COMPONENTS = st.text("abAB.-_\u0130", min_size=1, max_size=4)
TREES = st.lists(st.tuples(st.lists(COMPONENTS, min_size=1, max_size=4), st.booleans()))


@given(TREES, st.text("abB./_\u0130 ", max_size=5), st.integers(1, 6))
@example([(["A", "b"], False), (["a", "B"], False)], "b", 1)
def test_matches_are_those_of_ranking_each_path(
    tree: list[tuple[list[str], bool]], query: str, limit: int
) -> None:
    paths = {"/".join(parts) + "/" * is_folder for parts, is_folder in tree}
    wanted = "".join(query.split()).lower()
    ranks = sorted(found for path in paths if (found := rank(wanted, path)) is not None)

    assert best_matches(query, paths, limit) == [found[-1] for found in ranks[:limit]]
