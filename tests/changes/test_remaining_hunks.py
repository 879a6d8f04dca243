import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.changes.remaining_hunks import (
    LONG,
    SHORT,
    TextWithoutAgent,
    accept_hunks,
    hunks_between,
    remove_agent_changes,
    revert_hunks,
    rough_hunks,
)
from jupyter_ai_shoulders.wire.edits import Hunk

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=8).map("\n".join)


@pytest.mark.parametrize(
    ("before", "after", "current", "expected"),
    [
        ("a\nb\nc", "a\nB\nc", "a\nB\nc", TextWithoutAgent("a\nb\nc")),
        ("a\nb\nc", "a\nB\nc", "a\nb\nc", TextWithoutAgent("a\nb\nc")),
        ("a\nb\nc", "a\nB\nc", "A\nB\nc", TextWithoutAgent("A\nb\nc")),
        ("a\nb\nc", "a\nB\nc", "a\nB\nmine\nc", TextWithoutAgent("a\nb\nmine\nc")),
        ("a\nb\nc", "a\nB\nc", "a\nmine\nB\nc", TextWithoutAgent("a\nmine\nb\nc")),
        ("a\nb\nc", "A\nb\nC", "A\nb\nc", TextWithoutAgent("a\nb\nc")),
        ("a\nb\nc", "a\nB\nc", "a\nBB\nc", TextWithoutAgent("a\nBB\nc", conflict=True)),
        ("a\nz", "a\n1\n2\n3\nz", "a\n1\nII\n3\nz", TextWithoutAgent("a\nII\nz", conflict=True)),
        (
            "a\nold\nz",
            "a\n1\n2\nz",
            "a\n1\nmine\n2\nz",
            TextWithoutAgent("a\nold\nmine\nz", conflict=True),
        ),
        ("a\nx\ny\nb", "a\nb", "A B", TextWithoutAgent("A B\nx\ny", conflict=True)),
        ("", "made", "made", TextWithoutAgent("")),
        (None, "made\n", "made\n", TextWithoutAgent(None)),
        (None, "one\ntwo", "one\ntwo\nmine", TextWithoutAgent("mine")),
        (None, "one\ntwo", "one\nTWO", TextWithoutAgent("TWO", conflict=True)),
    ],
    ids=[
        "as the agent left it",
        "taken back by the user",
        "the user changed another line",
        "a line below the agent's",
        "a line above the agent's",
        "the user took back a part",
        "the user changed the agent's line",
        "the user changed one of the agent's lines",
        "a line amidst the agent's",
        "lines the agent took out amidst the user's",
        "an empty text",
        "made by the agent",
        "made, and the user added a line",
        "made, and the user changed a line",
    ],
)
def test_the_agents_changes_are_taken_out_and_the_users_stay(
    before: str | None, after: str, current: str, expected: TextWithoutAgent
):
    assert remove_agent_changes(before, after, current) == expected


@given(LINES, LINES, LINES)
def test_no_line_that_the_user_wrote_is_missing_from_the_baseline(
    before: str, after: str, current: str
):
    marked = "\n".join(
        f"user's {number}" if line not in after.split("\n") else line
        for number, line in enumerate(current.split("\n"))
    )
    baseline = remove_agent_changes(before, after, marked).baseline
    assert baseline is not None
    written = [line for line in marked.split("\n") if line.startswith("user's")]
    assert [line for line in baseline.split("\n") if line.startswith("user's")] == written


@given(LINES, LINES)
def test_all_hunks_undone_give_the_baseline_and_all_kept_the_text(baseline: str, current: str):
    hunks = hunks_between(baseline, current)
    every = range(len(hunks))
    assert revert_hunks(baseline, current, hunks, every) == baseline
    assert accept_hunks(baseline, current, hunks, every) == current


@given(LINES, LINES, st.sets(st.integers(0, 8)))
def test_a_part_undone_and_the_rest_kept_meet(baseline: str, current: str, chosen: set[int]):
    hunks = hunks_between(baseline, current)
    others = set(range(len(hunks))) - chosen
    assert revert_hunks(baseline, current, hunks, chosen) == accept_hunks(
        baseline, current, hunks, others
    )


def test_a_long_text_has_one_hunk_around_all_that_changed():
    lines = [f"line {number}" for number in range(SHORT)]
    changed = [*lines]
    changed[10], changed[-10] = "x", "y"
    long = rough_hunks("\n".join(lines), "\n".join(changed))
    last = SHORT - 9
    assert long == (Hunk(before_from=10, before_to=last, after_from=10, after_to=last),)
    assert len(rough_hunks("\n".join(lines[:20]), "\n".join([*changed[:19], "z"]))) == 2


def test_a_very_long_text_is_not_compared_while_it_is_edited():
    assert rough_hunks("a" * LONG, "b") == ()
    assert len(hunks_between("a" * LONG, "b")) == 1


def test_nothing_differs_from_what_is_not_there():
    assert hunks_between(None, "a") == hunks_between("a", None) == rough_hunks(None, None) == ()
