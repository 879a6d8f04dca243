"""Ranks paths by what a user typed of them, as editors do. Pure; used by ``host.context.mentions``.

A query matches a path when its characters stand in it in their order, whatever stands between and
whatever their case. Better is what matches in the name itself, at its beginning, in one piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest

Rank = tuple[int, int, int, str]
"""Kind of match (0 the best), letters it is spread over, depth, and the path for a stable order."""


def best_matches(query: str, paths: Iterable[str], limit: int) -> list[str]:
    """Return the paths that match best, the best first; with no query the nearest to the root."""
    wanted = "".join(query.split()).lower()
    ranked = ((rank, path) for path in paths if (rank := _rank(wanted, path)) is not None)
    return [path for _, path in nsmallest(limit, ranked)]


def _rank(wanted: str, path: str) -> Rank | None:
    lowered = path.lower()
    if _spread(wanted, lowered) is None:
        return None
    folder, _, name = lowered.rstrip("/").rpartition("/")
    kind, spread = _kind(wanted, lowered, name)
    return (kind, spread, folder.count("/") + bool(folder), lowered)


def _kind(wanted: str, path: str, name: str) -> tuple[int, int]:
    """Return how well it matches, and over how many characters."""
    if wanted and wanted in {name, name.rpartition(".")[0]}:
        return 0, 0
    if name.startswith(wanted):
        return 1, 0
    if wanted in name:
        return 2, 0
    if wanted in path:
        return 3, 0
    in_name = _spread(wanted, name)
    if in_name is not None:
        return 4, in_name
    return 5, _spread(wanted, path) or 0


def _spread(wanted: str, text: str) -> int | None:
    """Return the length of the stretch that holds the letters in order; None where none does."""
    at = -1
    start = -1
    for letter in wanted:
        at = text.find(letter, at + 1)
        if at < 0:
            return None
        start = at if start < 0 else start
    return at - start
