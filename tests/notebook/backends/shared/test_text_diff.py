"""The smallest changes from one text to another."""

from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.notebook.backends.shared.text_diff import (
    TextSplice,
    tail_change,
    text_changes,
)

TEXTS = st.lists(st.sampled_from(["a", "b", "x = 1", "é", "😀", "\n", "\r\n", " "])).map("".join)


def applied(text: str, changes: list[TextSplice]) -> str:
    for change in reversed(changes):
        text = text[: change.start] + change.insert + text[change.end :]
    return text


@given(TEXTS, TEXTS)
def test_changes_make_the_one_text_the_other(before: str, after: str):
    changes = text_changes(before, after)
    assert applied(before, changes) == after
    ends = [0, *(change.end for change in changes)]
    assert all(end <= change.start for end, change in zip(ends, changes, strict=False))


@given(TEXTS, TEXTS)
def test_a_tail_reaches_to_the_end(before: str, after: str):
    change = tail_change(before, after)
    assert (change is None) == (before == after)
    if change is not None:
        assert change.end == len(before)
        assert applied(before, [change]) == after


def test_only_what_differs_is_changed():
    before = "import pandas\n\nx = 1\ny = x + 1\nprint(y)\n"
    after = "import numpy\nimport pandas\n\nx = 1\ny = x + 22\nprint(y)\n"
    assert text_changes(before, after) == [
        TextSplice(7, 7, "numpy\nimport "),
        TextSplice(29, 30, "22"),
    ]


def test_long_lines_are_not_compared_letter_by_letter():
    before, after = "a" + "bc" * 500 + "z", "a" + "cb" * 500 + "y" + "z"
    assert len(text_changes(before, after)) <= 2
