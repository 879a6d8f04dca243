"""Cells without ids, or with duplicate ids, keep their assigned ids for a session."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.notebook.formats.cell_ids import (
    Fingerprint,
    KnownCells,
    assign_ids,
    has_own_ids,
)
from jupyter_ai_shoulders.wire.ids import CellId

SOURCES = st.lists(st.sampled_from(["", "", "a", "b", "c"]), max_size=8)
FRESH = "fresh"


def prints(sources: list[str]) -> list[Fingerprint]:
    return [Fingerprint("code", source) for source in sources]


def known(sources: list[str]) -> KnownCells:
    return [(CellId(f"k{at}"), item) for at, item in enumerate(prints(sources))]


def ids(old: list[str], new: list[str]) -> list[str]:
    """Return the ids of the new cells, new ones as ``fresh``."""
    found = assign_ids([None] * len(new), prints(new), known(old))
    return [cell_id if cell_id.startswith("k") else FRESH for cell_id in found]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("abc", "abc", ["k0", "k1", "k2"], id="the same"),
        pytest.param("abc", "aXc", ["k0", "k1", "k2"], id="one changed"),
        pytest.param("abc", "XYZ", ["k0", "k1", "k2"], id="all changed"),
        pytest.param("abc", "aXbc", ["k0", FRESH, "k1", "k2"], id="one inserted"),
        pytest.param("abc", "ac", ["k0", "k2"], id="one deleted"),
        pytest.param("abc", "XaYc", [FRESH, "k0", "k1", "k2"], id="inserted and changed"),
        pytest.param("aaa", "aaaa", ["k0", "k1", "k2", FRESH], id="one more of the same"),
        pytest.param("abcd", "bcda", ["k1", "k2", "k3", FRESH], id="first moved to the end"),
        pytest.param("", "ab", [FRESH, FRESH], id="from nothing"),
        pytest.param("ab", "", [], id="to nothing"),
    ],
)
def test_cells_are_recognised_after_a_change_by_others(
    old: str, new: str, expected: list[str]
) -> None:
    assert ids(list(old), list(new)) == expected


@given(SOURCES, SOURCES)
def test_ids_are_unique_and_the_same_each_time(old: list[str], new: list[str]) -> None:
    first = assign_ids([None] * len(new), prints(new), known(old))
    assert len(set(first)) == len(new)
    assert assign_ids([None] * len(new), prints(new), known(old)) == first


@given(SOURCES)
def test_cells_that_stayed_keep_their_ids(sources: list[str]) -> None:
    assert ids(sources, sources) == [f"k{at}" for at in range(len(sources))]


def test_thousands_of_equal_cells_are_told_apart_by_their_number() -> None:
    old = ["first", *[""] * 5_000, "last"]
    new = ["new", *[""] * 2_500, "x", *[""] * 2_499, "end"]
    found = ids(old, new)
    assert found[0] == "k0"
    assert found.count(FRESH) < 10


def test_own_ids_are_kept_and_doubles_get_others() -> None:
    cells = prints(["a", "b", "c", "d"])
    found = assign_ids(["one", "one", "no good", 7], cells)
    assert found[0] == "one"
    assert len(set(found)) == 4
    assert has_own_ids(found)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ([], True),
        (["a", "B-_9"], True),
        (["a", "a"], False),
        (["a\nb"], False),
        (["a\n"], False),
        ([""], False),
        (["x" * 64], True),
        (["x" * 65], False),
        (["é"], False),
        ([None], False),
        (["a", 7], False),
    ],
)
def test_ids_count_that_nbformat_allows(stored: list[object], expected: bool) -> None:
    assert has_own_ids(stored) == expected
