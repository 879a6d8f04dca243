"""Ranks paths by a typed query, as editors do. Pure; used by ``host.context.mentions``.

A path matches if it contains the query's characters in order, ignoring case. Matches in the file
name, at its start and without gaps rank higher.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest

Rank = tuple[int, int, int, str]
"""Kind of match (0 is best), length of the matching stretch, depth, and the path for a stable
order.
"""


def best_matches(query: str, paths: Iterable[str], limit: int) -> list[str]:
    """Return the best matches, best first; without a query the paths nearest to the root."""
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
    """Return the kind of match and the length of the matching stretch."""
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
    """Return the length of the first stretch that contains the letters in order, or None."""
    at = -1
    start = -1
    for letter in wanted:
        at = text.find(letter, at + 1)
        if at < 0:
            return None
        start = at if start < 0 else start
    return at - start
