r"""What is left to look through of a text that the agent changed, and the user perhaps since. Pure.

Three texts make it: as the user had it (``before``), as the agent left it (``after``), as it stands
(``current``). None is a text that is not there. Lines end with ``\n``, as in the page. Used by
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
"""Characters of two texts that are compared (1 ms) while an edit is made."""

LONG = 1_000_000
"""Characters from which on they are not compared then: an edit must not wait for it."""


_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TextWithoutAgent:
    """A text without the agent's changes and with the user's."""

    baseline: str | None
    conflict: bool = False
    """The user changed lines of the agent's: these stay as they are."""


def remove_agent_changes(before: str | None, after: str, current: str) -> TextWithoutAgent:
    """Take the agent's changes out of a text as it stands.

    The user's own lines stay, also in the midst of the agent's.
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
    """Return what differs in whole lines; nothing where one of the two is not there."""
    if baseline is None or current is None or baseline == current:
        return ()
    regions = changed_regions(baseline.split("\n"), current.split("\n"))
    return tuple(
        Hunk(before_from=start, before_to=end, after_from=first, after_to=last)
        for start, end, first, last in regions
    )


def rough_hunks(baseline: str | None, current: str | None) -> tuple[Hunk, ...]:
    """Return the same of texts that are short, and one region for all of a long one's changes.

    What changed in a very long one is left to be found when it is looked at.
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
    """Return the baseline with the changes accepted that have lines which are not ``written``.

    These came back by a restore, say: they are not the agent's.
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
    """Return the text as it stands with the chosen hunks taken back."""
    lines = baseline.split("\n")
    changes = [
        LineChange(hunk.after_from, hunk.after_to, tuple(lines[hunk.before_from : hunk.before_to]))
        for index, hunk in enumerate(hunks)
        if index in chosen
    ]
    return "\n".join(changed_lines(current, changes))


def hunks_left(before: str, after: str, baseline: str, current: str) -> str:
    """Return what the agent left without the changes that a page has undone.

    The page is at ``current`` now, and what is left to look through there stands behind
    ``baseline``.
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
    """Return whether both touch the same lines; neighbours do not."""
    return back.start < own.end and own.start < back.end


def _revert_beside(
    back: LineChange, own: Sequence[LineChange], lines: Sequence[str]
) -> list[LineChange]:
    """Return what of ``back`` can be done to ``lines`` beside the user's changes.

    Its lines take the place of those of the agent's that are left, each where its words are. Where
    none is left and the user wrote nothing instead, they come back; where the user rewrote them
    all, the user's lines take their place.
    """
    if back.start == back.end:  # lines the agent took out, in the midst of what the user changed
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
    """Cut lines into one part for each group of lines, where they have most words in common."""
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
    """Return the last of the places with the highest sum of scores on both sides."""
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
    """Return how many lines both begin with."""
    pairs = enumerate(zip(some, others, strict=False))
    return next(
        (index for index, (one, other) in pairs if one != other), min(len(some), len(others))
    )
