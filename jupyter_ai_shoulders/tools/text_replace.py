"""Replacing an exact piece of text that must occur once; used by the edit tools. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

NEAR_RATIO = 0.6
"""How alike lines must be to be worth naming."""
NEAR_LIMIT = 3
SEARCHED_LINES = 2_000
SHOWN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Replaced:
    """The text after the replacement."""

    text: str


@dataclass(frozen=True, slots=True)
class Missing:
    """The piece does not occur; ``near`` says where something like it stands."""

    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The piece occurs more than once, first on these 1-based lines."""

    lines: tuple[int, ...]


def replace_once(text: str, old: str, new: str) -> Replaced | Missing | Ambiguous:
    """Replace the one exact occurrence of ``old`` (not empty)."""
    positions = list(_positions(text, old))
    if not positions:
        return Missing(near_matches(text, old))
    if len(positions) > 1:
        return Ambiguous(tuple(text.count("\n", 0, position) + 1 for position in positions))
    return Replaced(text.replace(old, new))


def near_matches(text: str, wanted: str) -> tuple[str, ...]:
    """Return ``line N: text`` of the places most like ``wanted``, best first."""
    lines = text.split("\n")[:SEARCHED_LINES]
    pattern = wanted.strip("\n").split("\n")
    windows = range(max(1, len(lines) - len(pattern) + 1))
    rated = ((_likeness(lines[at : at + len(pattern)], pattern), at) for at in windows)
    best = sorted((rate for rate in rated if rate[0] >= NEAR_RATIO), key=lambda rate: -rate[0])
    return tuple(f"line {at + 1}: {_shown(lines[at])}" for _, at in best[:NEAR_LIMIT])


def _positions(text: str, old: str) -> Iterator[int]:
    """Find every occurrence, overlapping ones too: each would be a different edit."""
    position = text.find(old)
    while position >= 0:
        yield position
        position = text.find(old, position + 1)


def _likeness(lines: list[str], pattern: list[str]) -> float:
    """Compare stripped: what differs in indentation alone is the likeliest mistake."""
    found, wanted = ("\n".join(line.strip() for line in part) for part in (lines, pattern))
    matcher = difflib.SequenceMatcher(None, found, wanted, autojunk=False)
    if matcher.real_quick_ratio() < NEAR_RATIO or matcher.quick_ratio() < NEAR_RATIO:
        return 0.0
    return matcher.ratio()


def _shown(line: str) -> str:
    return line if len(line) <= SHOWN_CHARACTERS else line[:SHOWN_CHARACTERS] + " …"
