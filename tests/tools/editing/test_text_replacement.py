import time

import pytest

from jupyter_ai_shoulders.tools.editing.read_cache import ReadTextCache
from jupyter_ai_shoulders.tools.editing.text_replacement import (
    AmbiguousMatch,
    NoMatch,
    Replacement,
    replace_once,
)
from jupyter_ai_shoulders.wire.ids import Version

CODE = "def load(path):\n    return read(path)\n\nload(path)\n"


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        pytest.param("read(", "open(", Replacement(CODE.replace("read(", "open(")), id="once"),
        pytest.param("\n\nload", "\nload", Replacement(CODE.replace("\n\n", "\n")), id="lines"),
        pytest.param("def load", "", Replacement(CODE.removeprefix("def load")), id="deletion"),
        pytest.param("load", "x", AmbiguousMatch((1, 4)), id="twice"),
        pytest.param("nothing like it", "x", NoMatch(()), id="missing"),
    ],
)
def test_a_piece_of_text_is_replaced_when_it_occurs_once(
    old: str, new: str, outcome: Replacement | NoMatch | AmbiguousMatch
):
    assert replace_once(CODE, old, new) == outcome


@pytest.mark.parametrize(
    ("old", "near"),
    [
        pytest.param("returns read(path)", "line 2:     return read(path)", id="one letter"),
        pytest.param(
            "def load(path):\n  return read(path)", "line 1: def load(path):", id="indentation"
        ),
    ],
)
def test_text_that_is_missing_is_answered_with_the_most_similar_place(old: str, near: str):
    outcome = replace_once(CODE, old, "")
    assert isinstance(outcome, NoMatch)
    assert outcome.near[0] == near


def test_overlapping_occurrences_are_ambiguous():
    assert replace_once("aaa", "aa", "b") == AmbiguousMatch((1, 1))


def test_searching_a_huge_text_for_near_matches_is_bounded():
    lines = [f"value_{n} = compute(value_{n - 1}, {n}) + offset" for n in range(20_000)]
    began = time.process_time()
    assert isinstance(replace_once("\n".join(lines), "\n".join(lines[:50]) + "!", ""), NoMatch)
    assert time.process_time() - began < 2


def test_remembered_texts_are_bounded_and_the_newest_stay():
    texts = ReadTextCache(limit=10)
    for name in ("one", "two", "one", "three"):
        texts.add(Version(name), name)
    names = ("one", "two", "three")
    assert [texts.get(Version(name)) for name in names] == ["one", None, "three"]
    assert texts.get(None) is None
