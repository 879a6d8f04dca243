r"""What is left to look through of a text that the agent changed, and the user perhaps since. Pure.

Three texts make it: as the user had it (``before``), as the agent left it (``after``), as it stands
(``current``). None is a text that is not there. Lines end with ``\n``, as in the page. Used by
``engine.review.book`` and ``engine.review.desk``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.line_diff import changed_regions
from jupyter_ai_shoulders.core.text_merge import LineChange, changed_lines, line_changes
from jupyter_ai_shoulders.wire.edits import Hunk

SHORT = 20_000
"""Characters of two texts that are compared (1 ms) while an edit is made."""

LONG = 1_000_000
"""Characters from which on they are not compared then: an edit must not wait for it."""


@dataclass(frozen=True, slots=True)
class Look:
    """A text without the agent's changes and with the user's."""

    baseline: str | None
    conflict: bool = False
    """The user changed lines of the agent's: these stay as they are."""


def look(before: str | None, after: str, current: str) -> Look:
    """Take the agent's changes out of a text as it stands.

    The user's own lines stay, also in the midst of the agent's.
    """
    if current in {after, before}:
        return Look(before)
    own, conflict = line_changes(after, current), False
    merged = list(own)
    for back in _way_back(before, after):
        if back in own:
            continue
        touching = [change for change in own if _overlap(back, change)]
        conflict = conflict or bool(touching)
        merged += _around(back, touching) if touching else [back]
    baseline = changed_lines(after, merged)
    if before is None and not baseline:
        return Look(None, conflict)
    return Look("\n".join(baseline), conflict)


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
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    whole = Hunk(
        before_from=head,
        before_to=len(old) - tail,
        after_from=head,
        after_to=len(new) - tail,
    )
    return (whole,)


def kept(baseline: str, current: str, hunks: Sequence[Hunk], chosen: Collection[int]) -> str:
    """Return the baseline with the chosen hunks accepted."""
    lines = current.split("\n")
    changes = [
        LineChange(hunk.before_from, hunk.before_to, tuple(lines[hunk.after_from : hunk.after_to]))
        for index, hunk in enumerate(hunks)
        if index in chosen
    ]
    return "\n".join(changed_lines(baseline, changes))


def undone(baseline: str, current: str, hunks: Sequence[Hunk], chosen: Collection[int]) -> str:
    """Return the text as it stands with the chosen hunks taken back."""
    lines = baseline.split("\n")
    changes = [
        LineChange(hunk.after_from, hunk.after_to, tuple(lines[hunk.before_from : hunk.before_to]))
        for index, hunk in enumerate(hunks)
        if index in chosen
    ]
    return "\n".join(changed_lines(current, changes))


def _way_back(before: str | None, after: str) -> list[LineChange]:
    if before is None:
        return [LineChange(0, after.count("\n") + 1, ())]
    return line_changes(after, before)


def _overlap(back: LineChange, own: LineChange) -> bool:
    """Return whether both touch the same lines; neighbours do not."""
    return back.start < own.end and own.start < back.end


def _around(back: LineChange, own: Sequence[LineChange]) -> list[LineChange]:
    """Return what of ``back`` can be done beside the user's changes.

    Its lines take the place of the first of the agent's that are left. Where none is, the user
    rewrote them all: theirs take the place of the lines of before.
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
    return [
        LineChange(start, end, () if index else back.lines)
        for index, (start, end) in enumerate(gaps)
    ]


def _common(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many lines both begin with."""
    pairs = enumerate(zip(some, others, strict=False))
    return next(
        (index for index, (one, other) in pairs if one != other), min(len(some), len(others))
    )
