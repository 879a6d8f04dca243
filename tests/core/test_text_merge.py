"""Two changes of one text are merged, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.text_merge import line_changes, merge_texts

TEXTS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8).map("\n".join)

CASES: dict[str, tuple[str, str, str, str | None]] = {
    "nobody changed it": ("a\nb", "a\nb", "a\nb", "a\nb"),
    "one side": ("a\nb\n", "a\nB\n", "a\nb\n", "a\nB\n"),
    "the other side": ("a\nb\n", "a\nb\n", "a\nB\n", "a\nB\n"),
    "both the same": ("a\nb\n", "a\nX\n", "a\nX\n", "a\nX\n"),
    "different places": ("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n"),
    "neighbours": ("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"),
    "one the same, one not": (
        "a\nb\nc\nd\ne\n",
        "A\nb\nc\nd\ne\n",
        "A\nb\nc\nd\nE\n",
        "A\nb\nc\nd\nE\n",
    ),
    "the same line": ("a\nb\n", "A\nb\n", "AA\nb\n", None),
    "one deletes what the other changes": ("a\nb\nc\n", "a\nc\n", "a\nB\nc\n", None),
    "both put something in one place": ("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", None),
    "no line end at the end": ("a\nb", "a\nb\nc", "A\nb", "A\nb\nc"),
    "from nothing": ("", "a\n", "b\n", None),
}


@pytest.mark.parametrize("case", CASES)
def test_merge_of_two_changes(case: str) -> None:
    base, mine, theirs, merged = CASES[case]
    assert merge_texts(base, mine, theirs) == merged
    assert merge_texts(base, theirs, mine) == merged


@given(TEXTS, TEXTS)
def test_what_only_one_side_changed_is_taken(base: str, mine: str) -> None:
    assert merge_texts(base, mine, base) == mine
    assert merge_texts(base, base, mine) == mine
    assert merge_texts(base, mine, mine) == mine


@given(TEXTS, TEXTS)
def test_changes_make_the_one_text_of_the_other(before: str, after: str) -> None:
    lines = before.split("\n")
    for change in reversed(line_changes(before, after)):
        lines[change.start : change.end] = change.lines
    assert "\n".join(lines) == after
