"""Edits beside what the user changed: what is merged, what overlaps, and that nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.core.text_merge import merge_words
from jupyter_ai_shoulders.tools.editing.text_replacement import (
    AmbiguousMatch,
    NoMatch,
    Replacement,
    replace_once,
)
from jupyter_ai_shoulders.tools.editing.three_way_merge import (
    ConflictingEdit,
    KnownText,
    MergedText,
    MergeOutcome,
    MissingBaseText,
    RequestedEdit,
    merge_edit,
    user_changes_diff,
)

CELL = "a = 1\nb = 2\n# notes:"
CASES = 500
"""Random pairs of edits that each property is tried with."""


def piece(old: str, new: str) -> RequestedEdit:
    return RequestedEdit(lambda text: replace_once(text, old, new))


def whole(text: str) -> RequestedEdit:
    return RequestedEdit(lambda _before: Replacement(text), whole=True)


def text_after(edit: MergeOutcome) -> str:
    assert isinstance(edit, MergedText), edit
    return edit.text


MERGED: dict[str, tuple[RequestedEdit, str, str, str]] = {
    "a line typed at the end": (
        piece("a = 1", "a = 7"),
        CELL,
        f"{CELL}\nmine",
        "a = 7\nb = 2\n# notes:\nmine",
    ),
    "a whole text": (
        whole("a = 7\nb = 2\n# notes:"),
        CELL,
        f"{CELL}\nmine",
        "a = 7\nb = 2\n# notes:\nmine",
    ),
    "the only line, and one below it": (piece("a = 1", "a = 7"), "a = 1", "a = 1\nm", "a = 7\nm"),
    "the line below": (piece("a = 1", "a = 7"), "a = 1\nb = 2", "a = 1\nb = 3", "a = 7\nb = 3"),
    "a line above": (
        piece("b = 2", "b = 3"),
        CELL,
        f"mine\n{CELL}",
        "mine\na = 1\nb = 3\n# notes:",
    ),
    "lines on both sides": (
        piece("b = 2\n", ""),
        CELL,
        "x\na = 1\nb = 2\n# notes:\ny",
        "x\na = 1\n# notes:\ny",
    ),
    "the same change": (
        piece("a = 1", "a = 7"),
        CELL,
        CELL.replace("1", "7"),
        "a = 7\nb = 2\n# notes:",
    ),
    "a piece that the user wrote too": (
        piece("a = 1", "a = 7"),
        CELL,
        f"{CELL}\na = 1",
        "a = 7\nb = 2\n# notes:\na = 1",
    ),
}


@pytest.mark.parametrize("case", MERGED)
def test_what_does_not_touch_the_users_change_is_merged(case: str) -> None:
    change, read, now, after = MERGED[case]
    assert text_after(merge_edit(change, now, KnownText(read))) == after


OVERLAPS: dict[str, tuple[RequestedEdit, str, str, ConflictingEdit]] = {
    "the same words": (
        piece("a = 1", "a = 7"),
        "a = 1",
        "a = 2",
        ConflictingEdit("a = 1", "a = 7"),
    ),
    "a number that continues": (
        piece("a = 1", "a = 7"),
        "a = 1",
        "a = 10",
        ConflictingEdit("a = 1", "a = 7"),
    ),
    "other words of the line": (
        piece("a = 1", "a = 7"),
        "a = 1",
        "a = 1  # mine",
        ConflictingEdit("a = 1  # mine", "a = 7  # mine"),
    ),
    "both insert at one place": (
        piece("a = 1\n", "a = 1\nnew\n"),
        CELL,
        "a = 1\nmine\nb = 2\n# notes:",
        ConflictingEdit("a = 1\nmine\nb = 2\n# notes:", "a = 1\nnew\nmine\nb = 2\n# notes:"),
    ),
    "both append": (
        whole("a = 1\nnew"),
        "a = 1",
        "a = 1\nmine",
        ConflictingEdit("a = 1", "a = 1\nnew"),
    ),
    "the user deleted the line": (
        piece("b = 2", "b = 3"),
        CELL,
        "a = 1\n# notes:",
        ConflictingEdit(CELL, CELL.replace("b = 2", "b = 3")),
    ),
    "the agent deletes a line that the user changed": (
        piece("b = 2\n", ""),
        CELL,
        CELL.replace("2", "mine"),
        ConflictingEdit(CELL, "a = 1\n# notes:"),
    ),
}


@pytest.mark.parametrize("case", OVERLAPS)
def test_what_both_changed_becomes_a_proposal_on_top_of_the_present_text(case: str) -> None:
    change, read, now, overlap = OVERLAPS[case]
    assert merge_edit(change, now, KnownText(read)) == overlap


def test_after_an_undo_the_edit_is_made_in_the_text_as_it_is() -> None:
    # The agent wrote 100, the user took it back; ``a = 1`` is also in ``a = 100``.
    known = KnownText("a = 100\nb = 2", ("a = 1\nb = 2",), undone=True)
    now = "a = 1\nb = 2"
    assert text_after(merge_edit(piece("a = 1", "a = 7"), now, known)) == "a = 7\nb = 2"
    assert text_after(merge_edit(whole("a = 7\nb = 2"), now, known)) == "a = 7\nb = 2"
    typed = f"{now}\nmine"
    assert text_after(merge_edit(piece("a = 1", "a = 7"), typed, known)) == "a = 7\nb = 2\nmine"
    assert text_after(merge_edit(whole("a = 7\nb = 2"), typed, known)) == "a = 7\nb = 2\nmine"
    assert text_after(merge_edit(piece("a = 1", "a = 7"), now, KnownText("a = 100\nb = 2"))) == (
        "a = 7\nb = 2"
    )


def test_a_whole_text_does_not_bring_back_what_the_model_does_not_know_is_undone() -> None:
    known = KnownText("a = 1\nb = 2", ("a = 1",))
    assert text_after(merge_edit(whole("a = 1\nb = 2\nc = 3"), "a = 1", known)) == "a = 1\nc = 3"
    assert isinstance(merge_edit(whole("a = 1\nb = 3"), "a = 1", known), ConflictingEdit)


def test_without_the_text_that_was_read_a_piece_is_found_in_the_present_one() -> None:
    assert text_after(merge_edit(piece("1", "2"), "a = 1", KnownText())) == "a = 2"
    assert merge_edit(whole("a = 2"), "a = 1", KnownText()) == MissingBaseText()
    assert merge_edit(whole("a = 2"), "a = 1", KnownText(None, ("a = 0",))) == MissingBaseText()
    assert isinstance(merge_edit(piece("x", "y"), "a = 1", KnownText()), NoMatch)
    assert isinstance(merge_edit(piece("1", "y"), "a = 1 + 1", KnownText()), AmbiguousMatch)
    assert isinstance(
        merge_edit(piece("1", "y"), "a = 1 + 2", KnownText("a = 1 + 1")), AmbiguousMatch
    )


def test_a_mask_never_takes_the_place_of_a_secret() -> None:
    read, now = "key = 'abc'\na = 1", "key = 'abc'\na = 1\nmine"
    hiding = merge_edit(whole(f"key = '{MASK}'\na = 2"), now, KnownText(read))
    assert isinstance(hiding, MergedText)
    assert hiding.hides_secret
    beside = merge_edit(piece("a = 1", "a = 2"), now, KnownText(read))
    assert isinstance(beside, MergedText)
    assert not beside.hides_secret
    assert beside.text == "key = 'abc'\na = 2\nmine"


def test_secrets_in_what_the_user_typed_are_masked_in_what_the_model_is_told() -> None:
    lines = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj" for _ in range(12))
    key = f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"
    changed = key.replace("\n", "\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggAA\n", 6)
    diff = user_changes_diff(f"{key}\na = 1", f"{changed}\na = 1\nmine")
    assert diff is not None
    assert "+mine" in diff
    assert "MIIE" not in diff


LINES = st.sampled_from(["a = 1", "b = 2", "", "print(a)", "    return b", "a = 1"])
TEXTS = st.lists(LINES, min_size=1, max_size=8).map("\n".join)


@st.composite
def typed(draw: st.DrawFn, text: str) -> tuple[str, set[str]]:
    """Return a text after some edits of the user, and the lines they wrote."""
    lines, own = text.split("\n"), set[str]()
    for number in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines)))
        kind = draw(st.sampled_from(["insert", "insert", "change", "delete"]))
        line = f"user {number}"
        if kind == "insert" or at == len(lines):
            lines.insert(at, line)
        elif kind == "change":
            lines[at] = line
        elif len(lines) > 1:
            del lines[at]
    own = {line for line in lines if line.startswith("user ")}
    return "\n".join(lines), own


@st.composite
def agents(draw: st.DrawFn, text: str) -> RequestedEdit:
    """Return an edit of the agent: a piece of the text, or a whole one."""
    lines = text.split("\n")
    start = draw(st.integers(0, len(lines) - 1))
    end = draw(st.integers(start, len(lines)))
    new = draw(st.lists(st.sampled_from(["AGENT 1", "AGENT 2", "", "a = 1"]), max_size=3))
    old = "\n".join(lines[start:end])
    if old and text.count(old) == 1 and draw(st.booleans()):
        return piece(old, "\n".join(new))
    return whole("\n".join([*lines[:start], *new, *lines[end:]]))


@settings(max_examples=CASES)
@given(st.data())
def test_no_line_of_the_user_is_ever_lost(data: st.DataObject) -> None:
    read = data.draw(TEXTS)
    now, own = data.draw(typed(read))
    change = data.draw(agents(read))
    earlier = tuple(data.draw(st.lists(TEXTS, max_size=2)))
    edit = merge_edit(change, now, KnownText(read, earlier, undone=data.draw(st.booleans())))
    if isinstance(edit, MergedText):
        assert own <= set(edit.text.split("\n"))
    elif isinstance(edit, ConflictingEdit):
        # It is merged into the text as it is, or the user has to choose.
        applied = merge_words(edit.old, now, edit.new)
        assert applied is None or own <= set(applied.split("\n"))


@settings(max_examples=CASES)
@given(st.data())
def test_a_proposal_applied_while_the_user_types_on_loses_no_line(data: st.DataObject) -> None:
    current = data.draw(TEXTS)
    change = data.draw(agents(current))
    wanted = change.applied_to(current)
    assume(isinstance(wanted, Replacement))
    assert isinstance(wanted, Replacement)
    now, own = data.draw(typed(current))
    applied = merge_words(current, now, wanted.text)
    assert applied is None or own <= set(applied.split("\n"))
