"""Replaces an exact text that must occur once; used by the edit tools. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

NEAR_RATIO = 0.6
"""Minimum similarity of lines offered as near matches."""
NEAR_LIMIT = 3
SEARCHED_LINES = 1_000
PATTERN_LINES = 3
COMPARED = 20
SHOWN_CHARACTERS = 120
_WITHIN_WORD = re.compile(r"\w\w")


@dataclass(frozen=True, slots=True)
class Replacement:
    """The text after the replacement."""

    text: str
    cuts_word: bool = False
    """Whether the replaced text began or ended within a word, as ``a = 1`` does in ``a = 10``."""


@dataclass(frozen=True, slots=True)
class NoMatch:
    """The text does not occur; ``near`` lists similar lines."""

    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AmbiguousMatch:
    """The text occurs more than once, first on these 1-based lines."""

    lines: tuple[int, ...]


def replace_once(text: str, old: str, new: str) -> Replacement | NoMatch | AmbiguousMatch:
    """Replace the only exact occurrence of ``old`` (not empty)."""
    positions = list(_positions(text, old))
    if not positions:
        return NoMatch(near_matches(text, old))
    if len(positions) > 1:
        return AmbiguousMatch(tuple(text.count("\n", 0, position) + 1 for position in positions))
    return _replaced(text, positions[0], old, new)


def replace_near(
    text: str, old: str, new: str, place: tuple[int, int] | None
) -> Replacement | NoMatch | AmbiguousMatch:
    """Replace like ``replace_once``; of several occurrences, replace the one that touches
    ``place``.

    ``place`` is a half-open range of characters. It selects an occurrence if exactly one overlaps
    it, or begins or ends at a caret.
    """
    outcome = replace_once(text, old, new)
    if not isinstance(outcome, AmbiguousMatch) or place is None:
        return outcome
    start, end = place
    touching = [
        position
        for position in _positions(text, old)
        if (position < end and start < position + len(old))
        or (start == end and position <= start <= position + len(old))
    ]
    if len(touching) != 1:
        return outcome
    return _replaced(text, touching[0], old, new)


def near_matches(text: str, wanted: str) -> tuple[str, ...]:
    """Return ``line N: text`` of the places most similar to the start of ``wanted``, best first."""
    lines = text.split("\n")[:SEARCHED_LINES]
    pattern = wanted.strip("\n").split("\n")[:PATTERN_LINES]
    matcher = difflib.SequenceMatcher(None, "", _comparable(pattern), autojunk=False)
    windows = [
        _comparable(lines[at : at + len(pattern)])
        for at in range(max(1, len(lines) - len(pattern) + 1))
    ]
    # The exact ratio is expensive, so it is computed only for the most promising places.
    promising = sorted(
        ((_ratio(matcher, window, exact=False), -at) for at, window in enumerate(windows)),
        reverse=True,
    )
    rated = [
        (_ratio(matcher, windows[-at], exact=True), at)
        for likeness, at in promising[:COMPARED]
        if likeness >= NEAR_RATIO
    ]
    best = sorted((rate for rate in rated if rate[0] >= NEAR_RATIO), reverse=True)
    return tuple(f"line {1 - at}: {_shown(lines[-at])}" for _, at in best[:NEAR_LIMIT])


def _replaced(text: str, start: int, old: str, new: str) -> Replacement:
    end = start + len(old)
    cuts = any(_WITHIN_WORD.fullmatch(text[max(0, at - 1) : at + 1]) for at in (start, end))
    return Replacement(text[:start] + new + text[end:], cuts_word=cuts)


def _positions(text: str, old: str) -> Iterator[int]:
    """Find every occurrence, including overlapping ones, since each would be a different edit."""
    position = text.find(old)
    while position >= 0:
        yield position
        position = text.find(old, position + 1)


def _ratio(matcher: difflib.SequenceMatcher[str], text: str, *, exact: bool) -> float:
    matcher.set_seq1(text)
    if exact:
        return matcher.ratio()
    return matcher.quick_ratio() if matcher.real_quick_ratio() >= NEAR_RATIO else 0.0


def _comparable(lines: list[str]) -> str:
    """Strip the lines, since a difference in indentation is the likeliest mistake."""
    return "\n".join(line.strip()[:SHOWN_CHARACTERS] for line in lines)


def _shown(line: str) -> str:
    return line if len(line) <= SHOWN_CHARACTERS else line[:SHOWN_CHARACTERS] + " …"
