r"""The hunks that remain to review in a text that the agent, and perhaps the user, changed. Pure.

Computed from three texts: the user's (``before``), the agent's (``after``) and the current one
(``current``). None means a missing text. Lines end with ``\n``, as in the page. Used by
``changes.review.pending_edits`` and ``changes.review.service``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.line_diff import changed_regions
from jupyter_ai_shoulders.core.text_merge import LineChange, changed_lines, line_changes
from jupyter_ai_shoulders.wire.edits import Hunk

SHORT = 20_000
"""Characters of two texts up to which they are compared (1 ms) while an edit is made."""

LONG = 1_000_000
"""Characters of two texts beyond which an edit is not held up by a comparison."""


_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TextWithoutAgent:
    """A text without the agent's changes and with the user's."""

    baseline: str | None
    conflict: bool = False
    """Whether the user changed lines of the agent, which then stay as they are."""


def remove_agent_changes(before: str | None, after: str, current: str) -> TextWithoutAgent:
    """Remove the agent's changes from the current text.

    Lines of the user stay, also those between the agent's.
    """
    if current in {after, before}:
        return TextWithoutAgent(before)
    own, conflict, lines = line_changes(after, current), False, after.split("\n")
    merged = list(own)
    for back in _inverse_changes(before, after):
        if back in own:
            continue
        touching = [change for change in own if _overlap(back, change)]
        conflict = conflict or bool(touching)
        merged += _revert_beside(back, touching, lines) if touching else [back]
    baseline = changed_lines(after, merged)
    if before is None and not baseline:
        return TextWithoutAgent(None, conflict)
    return TextWithoutAgent("\n".join(baseline), conflict)


def hunks_between(baseline: str | None, current: str | None) -> tuple[Hunk, ...]:
    """Return the changed regions in whole lines; empty where one text is missing."""
    if baseline is None or current is None or baseline == current:
        return ()
    regions = changed_regions(baseline.split("\n"), current.split("\n"))
    return tuple(
        Hunk(before_from=start, before_to=end, after_from=first, after_to=last)
        for start, end, first, last in regions
    )


def rough_hunks(baseline: str | None, current: str | None) -> tuple[Hunk, ...]:
    """Return the hunks of short texts, and one region for all changes of a long text.

    Very long texts get none; they are compared when they are shown.
    """
    if baseline is None or current is None or len(baseline) + len(current) <= SHORT:
        return hunks_between(baseline, current)
    if len(baseline) + len(current) > LONG:
        return ()
    old, new = baseline.split("\n"), current.split("\n")
    head = _common_prefix_length(old, new)
    tail = _common_prefix_length(old[head:][::-1], new[head:][::-1])
    whole = Hunk(
        before_from=head,
        before_to=len(old) - tail,
        after_from=head,
        after_to=len(new) - tail,
    )
    return (whole,)


def accept_hunks(
    baseline: str, current: str, hunks: Sequence[Hunk], chosen: Collection[int]
) -> str:
    """Return the baseline with the chosen hunks accepted."""
    lines = current.split("\n")
    changes = [
        LineChange(hunk.before_from, hunk.before_to, tuple(lines[hunk.after_from : hunk.after_to]))
        for index, hunk in enumerate(hunks)
        if index in chosen
    ]
    return "\n".join(changed_lines(baseline, changes))


def accept_foreign_changes(
    baseline: str | None, current: str | None, written: Collection[str]
) -> str | None:
    """Return the baseline with those changes accepted that contain lines not in ``written``.

    Such lines come from a restore, not from the agent.
    """
    if baseline is None or current is None:
        return baseline
    hunks, lines = hunks_between(baseline, current), current.split("\n")
    others = {
        index
        for index, hunk in enumerate(hunks)
        if not {*lines[hunk.after_from : hunk.after_to]} <= {*written, ""}
    }
    return accept_hunks(baseline, current, hunks, others)


def revert_hunks(
    baseline: str, current: str, hunks: Sequence[Hunk], chosen: Collection[int]
) -> str:
    """Return the current text with the chosen hunks reverted."""
    lines = baseline.split("\n")
    changes = [
        LineChange(hunk.after_from, hunk.after_to, tuple(lines[hunk.before_from : hunk.before_to]))
        for index, hunk in enumerate(hunks)
        if index in chosen
    ]
    return "\n".join(changed_lines(current, changes))


def hunks_left(before: str, after: str, baseline: str, current: str) -> str:
    """Return the agent's text without the changes that a page has undone.

    The page shows ``current``; its remaining changes are relative to ``baseline``.
    """
    left = {_lines_of(hunk, baseline, current) for hunk in hunks_between(baseline, current)}
    hunks = hunks_between(before, after)
    undid = {
        index for index, hunk in enumerate(hunks) if _lines_of(hunk, before, after) not in left
    }
    return revert_hunks(before, after, hunks, undid)


def _lines_of(hunk: Hunk, before: str, after: str) -> tuple[str, str]:
    old, new = before.split("\n"), after.split("\n")
    return (
        "\n".join(old[hunk.before_from : hunk.before_to]),
        "\n".join(new[hunk.after_from : hunk.after_to]),
    )


def _inverse_changes(before: str | None, after: str) -> list[LineChange]:
    if before is None:
        return [LineChange(0, after.count("\n") + 1, ())]
    return line_changes(after, before)


def _overlap(back: LineChange, own: LineChange) -> bool:
    """Return whether both change the same lines; adjacent changes do not overlap."""
    return back.start < own.end and own.start < back.end


def _revert_beside(
    back: LineChange, own: Sequence[LineChange], lines: Sequence[str]
) -> list[LineChange]:
    """Return the part of ``back`` that can be applied to ``lines`` beside the user's changes.

    Its lines replace the agent's remaining lines, matched by their words. Where none remain and the
    user wrote nothing instead, they come back; where the user rewrote all, the user's lines stay.
    """
    if back.start == back.end:  # lines that the agent removed within text the user changed
        return [LineChange(own[-1].end, own[-1].end, back.lines)]
    gaps: list[tuple[int, int]] = []
    position = back.start
    for change in own:
        if position < change.start:
            gaps.append((position, change.start))
        position = max(position, change.end)
    if position < back.end:
        gaps.append((position, back.end))
    if not gaps and not any(change.lines for change in own):
        return [LineChange(own[-1].end, own[-1].end, back.lines)]
    shares = _split_by_words(back.lines, [lines[start:end] for start, end in gaps])
    return [LineChange(start, end, share) for (start, end), share in zip(gaps, shares, strict=True)]


def _split_by_words(
    before: tuple[str, ...], groups: Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """Divide the lines among the groups so that most words match."""
    parts: list[tuple[str, ...]] = []
    for index in range(len(groups) - 1):
        here = _words(groups[index])
        later = _words(line for group in groups[index + 1 :] for line in group)
        cut = _best_cut(
            [(len(words & here), len(words & later)) for words in map(_line_words, before)]
        )
        parts.append(before[:cut])
        before = before[cut:]
    return [*parts, before] if groups else []


def _best_cut(scores: Sequence[tuple[int, int]]) -> int:
    """Return the last index with the highest sum of scores on both sides."""
    best = total = sum(later for _, later in scores)
    cut = 0
    for index, (here, later) in enumerate(scores):
        total += here - later
        if total >= best:
            best, cut = total, index + 1
    return cut


def _words(lines: Iterable[str]) -> set[str]:
    return {word for line in lines for word in _line_words(line)}


def _line_words(line: str) -> set[str]:
    return set(_WORD.findall(line))


def _common_prefix_length(some: Sequence[str], others: Sequence[str]) -> int:
    """Return the number of equal lines at the start."""
    pairs = enumerate(zip(some, others, strict=False))
    return next(
        (index for index, (one, other) in pairs if one != other), min(len(some), len(others))
    )
