"""Globs: their meaning, and bounded matching time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.guard.search.globs import Glob


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/er/a.py", True),
        ("*.py", "a.pyc", False),
        ("*.PY", "a.py", False),
        ("/a.py", "b/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/*.py", "other/src/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("**/test_*", "test_a", True),
        ("./src/a?.[ch]", "src/ab.c", True),
        ("src/", "src/b/c", True),
        ("**", "anything/at/all", True),
        ("*.{py,md}", "x/a.md", True),
        ("*.{py,md}", "x/a.rs", False),
        ("{a,b{c,d}}/*.x", "bd/1.x", True),
        ("[", "[", True),
        ("a\nb*", "a\nbc", True),
    ],
)
def test_glob_means_what_it_does_in_a_shell(glob: str, path: str, *, fits: bool):
    assert Glob(glob).matches(path) is fits


SEGMENTS = st.lists(
    st.sampled_from(["a", "b*", "*", "**", "?", "*.py", "[ab]", "{a,b.py}"]), min_size=1, max_size=5
)
PARTS = st.lists(st.sampled_from(["a", "b", "bc", "c.py", "b.py"]), min_size=1, max_size=4)


@given(SEGMENTS.map("/".join), PARTS)
def test_names_in_a_folder_are_those_of_matching_paths(glob: str, parts: list[str]):
    *folder, name = parts
    matches = Glob(glob).names_in("/".join(folder))
    assert Glob(glob).matches("/".join(parts)) is (matches is not None and bool(matches(name)))


def test_names_of_a_glob_fit_every_file_that_is_meant():
    assert Glob("src/**/*.{py,md}").names == ("*.py", "*.md")
    assert Glob("src/**").names == ("*",)


@pytest.mark.parametrize("glob", ["{a,b}" * 7, "x" * 1_001, "a\0b"])
def test_glob_that_stands_for_too_much_is_refused(glob: str):
    with pytest.raises(InvalidRequest, match="glob"):
        Glob(glob)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 400 + "*b", "a" * 250),
        ("/".join(["**", "*a*a*"] * 70), "/".join(["aaaa"] * 200) + "/b"),
    ],
    ids=["stars", "folders"],
)
def test_glob_that_would_stall_a_backtracking_engine_returns(glob: str, path: str):
    start = time.process_time()
    assert not Glob(glob).matches(path)
    assert time.process_time() - start < 5  # takes milliseconds; backtracking would take years
