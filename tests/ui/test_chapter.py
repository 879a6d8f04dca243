"""Each clause of the chapter on the chat panel is shown by a browser test that says so."""

from __future__ import annotations

import pytest

from tests.ui.chapter import CLAUSES, clauses, marks, shown

OPEN = """
panel.1 panel.2 panel.3 panel.4 panel.5 panel.6
places.1 places.2 places.3 places.4 places.5 places.6 places.8 places.9
calls.1 calls.2 calls.3 calls.4
approvals.1 approvals.2
waits.2 waits.4 waits.5 waits.6
status.1
input.1 input.3 input.4 input.5 input.6 input.7 input.8 input.9 input.10
context.1 context.2 context.3
empty.1
speed.3 speed.5 speed.7
notebook7.1 notebook7.2
"""
"""Clauses that no test shows yet. This list only ever shrinks, and ends empty."""


def test_every_mark_names_a_clause() -> None:
    known = clauses(CLAUSES.read_text(encoding="utf-8"))
    unknown = {name: tests for name, tests in shown().items() if name not in known}
    assert unknown == {}


def test_every_clause_is_shown() -> None:
    known = clauses(CLAUSES.read_text(encoding="utf-8"))
    missing = [name for name in known if name not in shown()]
    print("not shown yet:", *missing)  # noqa: T201  for those who work on them
    assert [name for name in missing if name not in OPEN.split()] == []


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
