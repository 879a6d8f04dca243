"""Ids for cells without a unique id: derived from the text, stable during the session.

Pure. Used by ``notebook.formats.notebook_file``; formats before 4.5 do not store ids, and a
duplicate id identifies nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, cast

from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.versions import well_formed

_VALID = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # nbformat.v4.5.schema.json, cell_id
_MAX_PAIRS = 100_000
"""Limit of equal cells that are compared pair by pair: about 10 ms."""
_ALL_VALID = re.compile(rf"(?:{_VALID.pattern}\n)*")


class Fingerprint(NamedTuple):
    """Identifies a cell that has no id."""

    cell_type: str
    source: str


KnownCells = Sequence[tuple[CellId, Fingerprint]]
"""The cells of a notebook as they were last seen, in order."""


def has_own_ids(stored: Sequence[object]) -> bool:
    """Return whether all ids in a file are valid and unique."""
    try:
        lines = "\n".join(cast("Sequence[str]", stored))
    except TypeError:
        return False
    if not stored:
        return True
    is_valid = _ALL_VALID.fullmatch(f"{lines}\n") and lines.count("\n") == len(stored) - 1
    return bool(is_valid) and len(set(stored)) == len(stored)


def assign_ids(
    stored: Sequence[object], cells: Sequence[Fingerprint], known: KnownCells = ()
) -> list[CellId]:
    """Return one id per cell: its own, else its known one, else one from its text.

    The same file gives the same ids each time. A cell whose text was changed outside keeps its
    known id when its neighbours show that it is the same cell.
    """
    ids = _own_ids(stored)
    taken = {item for item in ids if item is not None}
    for position, cell_id in _recognised(cells, known).items():
        if ids[position] is None and cell_id not in taken:
            ids[position] = cell_id
            taken.add(cell_id)
    counts: Counter[CellId] = Counter()
    return [
        cell_id if cell_id is not None else _derived(cell, counts, taken)
        for cell_id, cell in zip(ids, cells, strict=True)
    ]


def _own_ids(stored: Sequence[object]) -> list[CellId | None]:
    """Keep the first occurrence of each valid id."""
    seen: set[str] = set()
    ids: list[CellId | None] = []
    for item in stored:
        fresh = isinstance(item, str) and _VALID.fullmatch(item) is not None and item not in seen
        ids.append(CellId(str(item)) if fresh else None)
        seen.add(str(item))
    return ids


def _recognised(cells: Sequence[Fingerprint], known: KnownCells) -> dict[int, CellId]:
    """Align the cells with the known ones; a run of changed cells of equal length keeps its ids."""
    old = [item for _, item in known]
    start, end = _same_ends(old, cells)
    found = {position: known[position][0] for position in range(start)}
    for back in range(1, end + 1):
        found[len(cells) - back] = known[-back][0]
    ours, theirs = old[start : len(old) - end], cells[start : len(cells) - end]
    matcher = SequenceMatcher(None, *_comparable(ours, theirs), autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag in {"equal", "replace"} and old_to - old_from == new_to - new_from:
            for offset in range(new_to - new_from):
                found[start + new_from + offset] = known[start + old_from + offset][0]
    return found


def _same_ends(old: Sequence[Fingerprint], new: Sequence[Fingerprint]) -> tuple[int, int]:
    """Return how many cells are equal at the beginning and at the end, without overlap."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    backwards = range(1, shorter - start + 1)
    end = next((back - 1 for back in backwards if old[-back] != new[-back]), shorter - start)
    return start, end


def _comparable(
    old: Sequence[Fingerprint], new: Sequence[Fingerprint]
) -> tuple[Sequence[object], Sequence[object]]:
    """Return the sequences to compare: where thousands of cells are equal, each with its number."""
    counts = Counter(old)
    pairs = sum(counts[cell] for cell in new)
    return (old, new) if pairs <= _MAX_PAIRS else (_numbered(old), _numbered(new))


def _numbered(cells: Sequence[Fingerprint]) -> list[tuple[Fingerprint, int]]:
    counts: Counter[Fingerprint] = Counter()
    numbered: list[tuple[Fingerprint, int]] = []
    for cell in cells:
        counts[cell] += 1
        numbered.append((cell, counts[cell]))
    return numbered


def _derived(cell: Fingerprint, counts: Counter[CellId], taken: set[CellId]) -> CellId:
    text = f"{cell.cell_type}\0{well_formed(cell.source)}"
    base = CellId(hashlib.sha256(text.encode()).hexdigest()[:12])
    while True:
        number = counts[base]
        counts[base] += 1
        cell_id = CellId(f"{base}-{number}") if number else base
        if cell_id not in taken:
            taken.add(cell_id)
            return cell_id
