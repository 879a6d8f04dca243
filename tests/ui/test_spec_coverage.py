"""Each clause in ``clauses/*.txt`` is shown by a browser test."""

from __future__ import annotations

import pytest

from tests.ui.spec_coverage import clauses, every_clause, marks, shown


def test_every_mark_names_a_clause() -> None:
    known = every_clause()
    unknown = {name: tests for name, tests in shown().items() if name not in known}
    assert unknown == {}


def test_every_clause_is_shown() -> None:
    known = every_clause()
    tests = shown()
    assert [name for name in known if name not in tests] == []


def test_marks_are_read_from_tests_alone() -> None:
    source = """
@pytest.mark.shows("input.1", "input.2")
@pytest.mark.timeout(3)
def test_keys(): ...

@pytest.mark.shows("input.3")
def helper(): ...
"""
    assert list(marks(source)) == [("input.1", "test_keys"), ("input.2", "test_keys")]


def test_two_clauses_have_two_ids() -> None:
    assert clauses("# a note\n\na.1  First;\na.2  second.\n") == {"a.1": "First;", "a.2": "second."}
    with pytest.raises(ValueError, match=r"two clauses are called a\.1"):
        clauses("a.1 First\na.1 Second\n")
