"""Groups related changes of files, so that they are undone together or not at all. Pure.

Used by ``files.undo.file_undo`` for a turn or a session.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.wire.operations import Operation


def group_by_file(rows: Sequence[Operation]) -> list[list[Operation]]:
    """Return the changes grouped by the files they affect, each group in order.

    A move or a copy joins two names; a move of a folder joins everything below it. Folders that
    were made or removed come last, the latest first, after their contents. So do commands, which
    belong to no name.
    """
    groups: list[tuple[set[str], list[Operation]]] = []
    alone = [row for row in rows if row.document.endswith("/") or row.kind == "command"]
    single = {row.id for row in alone}
    for row in rows:
        if row.id in single:
            continue
        names = {row.document, *filter(None, (row.new_document,))}
        touched = [group for group in groups if _meet(group[0], names)]
        merged = [each for group in touched for each in group[1]]
        groups = [group for group in groups if group not in touched]
        groups.append((names.union(*(group[0] for group in touched)), [*merged, row]))
    position = {row.id: number for number, row in enumerate(rows)}
    files = [sorted(group, key=lambda row: position[row.id]) for _, group in groups]
    files.sort(key=lambda group: -position[group[-1].id])
    return [*files, *([each] for each in reversed(alone))]


def without_undone_pairs(rows: Sequence[Operation]) -> list[Operation]:
    """Return the changes without pairs of a change and its undo."""
    left = {row.id: row for row in rows}
    for row in reversed(rows):
        undone = row.undoes
        if row.id in left and row.state == "done" and undone is not None and undone in left:
            del left[undone], left[row.id]
    return list(left.values())


def _meet(some: set[str], others: set[str]) -> bool:
    """Return whether a name is in both, or lies below a name of the other."""
    return any(
        f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
        for one in some
        for other in others
    )
