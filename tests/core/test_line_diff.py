from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.line_diff import COMPARED, changed_regions

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "}", "unique 1", "unique 2"]), max_size=25)


def patched(old: Sequence[str], new: Sequence[str]) -> list[str]:
    result: list[str] = []
    position = 0
    for start, end, first, last in changed_regions(old, new):
        result += [*old[position:start], *new[first:last]]
        position = end
    return [*result, *old[position:]]


@given(LINES, LINES)
def test_the_regions_make_one_text_of_the_other(old: list[str], new: list[str]):
    assert patched(old, new) == new


@given(LINES, LINES)
def test_regions_ascend_and_lines_stand_between_them(old: list[str], new: list[str]):
    regions = changed_regions(old, new)
    for (_, end, _, last), (start, _, first, _) in pairwise(regions):
        assert old[end:start] == new[last:first] != []


@pytest.mark.parametrize(
    ("old", "new", "regions"),
    [
        ("abc", "abc", []),
        ("abc", "axc", [(1, 2, 1, 2)]),
        ("abc", "abxc", [(2, 2, 2, 3)]),
        ("abc", "ac", [(1, 2, 1, 1)]),
        ("", "ab", [(0, 0, 0, 2)]),
        ("abcdef", "xbcdey", [(0, 1, 0, 1), (5, 6, 5, 6)]),
        ("abab", "ab", [(2, 4, 2, 2)]),
    ],
)
def test_what_differs_is_found(old: str, new: str, regions: list[tuple[int, int, int, int]]):
    assert changed_regions(old, new) == regions


def test_a_large_region_of_repeated_lines_changed_as_a_whole():
    old = ["{", "}"] * COMPARED
    new = ["}", "{"] * COMPARED
    assert changed_regions(["top", *old, "end"], ["top", *new, "end"]) == [
        (1, len(old) + 1, 1, len(new) + 1)
    ]


class CountedLine(str):
    """A line that counts how often lines are compared and looked up."""

    __slots__ = ()
    looks = 0

    def __eq__(self, other: object) -> bool:
        CountedLine.looks += 1
        return super().__eq__(other)

    def __hash__(self) -> int:
        CountedLine.looks += 1
        return super().__hash__()


@pytest.mark.parametrize("kind", ["every second line", "shuffled", "repeated"])
def test_the_work_grows_with_the_texts_and_not_with_their_square(
    kind: str, monkeypatch: pytest.MonkeyPatch
):
    def texts(count: int) -> tuple[list[str], list[str]]:
        old = [f"line {number}" for number in range(count)]
        match kind:
            case "every second line":
                return old, [line if place % 2 else f"{line}!" for place, line in enumerate(old)]
            case "shuffled":
                return old, Random(1).sample(old, count)
            case _:
                return ["{", "}"] * count, ["}", "", "{"] * count

    def looks(count: int) -> int:
        old, new = texts(count)
        monkeypatch.setattr(CountedLine, "looks", 0)
        changed_regions([CountedLine(line) for line in old], [CountedLine(line) for line in new])
        return CountedLine.looks

    assert looks(20_000) < 20 * looks(2_000)
