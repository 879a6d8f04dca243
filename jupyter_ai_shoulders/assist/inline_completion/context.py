"""Selects context from the rest of the document, within a budget. Pure; used by ``prompt``.

The context is the heading above the caret's cell, definitions of the names it uses, imports, the
two cells before it and the cell after it. See docs/design/inline-completion.md#context.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from jupyter_ai_shoulders.assist.inline_completion.outline import Outline, build_outline, names_in

BUDGET = 6_000
"""Characters of context from other cells."""
NEIGHBOUR = 1_500
"""Characters of each of the two preceding cells."""
IMPORTS = 1_500
"""Characters of imports."""
NEXT = 500
"""Characters of the next cell."""
MAX_CELLS = 300
"""Cells searched before and after the caret, nearest first."""
MAX_OUTLINES = 2_000
"""Outlines cached, so that typing in one cell does not parse all others again."""

_HEADING = re.compile(r"^#{1,6}\s+\S.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ContextCell:
    """Another cell, or a part of the caret's document too far away to be in the window."""

    name: str
    """The cell's name in the prompt, such as ``cell 3``."""
    source: str
    is_code: bool = True
    key: str = ""
    """The cell's id for the caller."""
    is_own_text: bool = False
    """Whether the text belongs to the caret's own cell or file; then only parts of it are included.
    """


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """The included text of one cell; ``order`` is the cell's position."""

    order: int
    name: str
    text: str
    is_code: bool = True


class OutlineCache:
    """A least recently used cache of cell outlines."""

    def __init__(self) -> None:
        self._outlines: OrderedDict[tuple[str, str], Outline] = OrderedDict()

    def has(self, cell: ContextCell, language: str) -> bool:
        """Return whether the outline of a cell is available without parsing."""
        return not cell.is_code or (cell.source, language) in self._outlines

    def of(self, cell: ContextCell, language: str) -> Outline:
        """Return the outline of a cell."""
        if not cell.is_code:
            return Outline()
        key = (cell.source, language)
        found = self._outlines.get(key)
        if found is None:
            found = self._outlines[key] = build_outline(cell.source, language)
            if len(self._outlines) > MAX_OUTLINES:
                self._outlines.popitem(last=False)
        return found


def select_context(
    before: Sequence[ContextCell],
    after: Sequence[ContextCell],
    around: str,
    language: str,
    outlines: OutlineCache,
) -> list[ContextPiece]:
    """Return the context from other cells, in document order.

    ``before`` and ``after`` are the cells on each side of the caret; ``around`` is the text at it.
    """
    cells, own = [*before, *after], len(before)
    near = [*reversed(range(max(0, own - MAX_CELLS), own))]
    near += range(own, min(len(cells), own + MAX_CELLS))
    known = {at: outlines.of(cells[at], language) for at in near}
    chosen = _Chosen(cells)
    for at, text in _definitions(near, known, names_in(around)):
        chosen.add(at, text)
    for at, text in _imports(near, known):
        chosen.add(at, text)
    for at, text in _neighbours(cells, own):
        chosen.replace(at, text)
    heading = _heading(before)
    if heading is not None:
        chosen.add(*heading)
    return chosen.pieces()


class _Chosen:
    """Selected texts by cell, within the budget."""

    def __init__(self, cells: Sequence[ContextCell]) -> None:
        self._cells = cells
        self._texts: dict[int, list[str]] = {}
        self._room = BUDGET

    def add(self, at: int, text: str) -> None:
        """Add a text of a cell, unless it is already included or exceeds the budget."""
        told = self._texts.get(at, [])
        if text not in told and len(text) <= self._room:
            self._texts[at] = [*told, text]
            self._room -= len(text)

    def replace(self, at: int, text: str) -> None:
        """Replace the selected parts of a cell by this text."""
        room = self._room + sum(map(len, self._texts.get(at, [])))
        if len(text) <= room:
            self._texts[at] = [text]
            self._room = room - len(text)

    def pieces(self) -> list[ContextPiece]:
        """Return the selected context, in document order."""
        told = [(self._cells[at], self._texts[at], at) for at in sorted(self._texts)]
        return [
            ContextPiece(
                at, cell.name, "\n".join(sorted(texts, key=cell.source.find)), cell.is_code
            )
            for cell, texts, at in told
        ]


def _definitions(
    near: Sequence[int], known: dict[int, Outline], wanted: frozenset[str]
) -> Iterator[tuple[int, str]]:
    """Yield the nearest definition of each name in use."""
    told: set[str] = set()
    for at in near:
        for name, text in known[at].definitions.items():
            if name in wanted and name not in told:
                told.add(name)
                yield at, text


def _imports(near: Sequence[int], known: dict[int, Outline]) -> Iterator[tuple[int, str]]:
    """Yield imports, nearest cell first, within their limit."""
    room = IMPORTS
    for at in near:
        for text in known[at].imports:
            room -= len(text)
            if room < 0:
                return
            yield at, text


def _neighbours(cells: Sequence[ContextCell], own: int) -> Iterator[tuple[int, str]]:
    """Yield the cells next to the caret, nearest first."""
    before = (at for at in reversed(range(own)) if _is_included_whole(cells[at]))
    for at in islice(before, 2):
        yield at, _end(cells[at].source, NEIGHBOUR)
    after = (at for at in range(own, len(cells)) if _is_included_whole(cells[at]))
    for at in islice(after, 1):
        yield at, _beginning(cells[at].source, NEXT)


def _is_included_whole(cell: ContextCell) -> bool:
    return not cell.is_own_text and bool(cell.source.strip())


def _heading(before: Sequence[ContextCell]) -> tuple[int, str] | None:
    """Return the nearest heading above."""
    for at in range(len(before) - 1, -1, -1):
        found = [] if before[at].is_code else _HEADING.findall(before[at].source)
        if found:
            return at, found[-1]
    return None


def _end(text: str, limit: int) -> str:
    """Return the last whole lines within a limit."""
    if len(text) <= limit:
        return text
    return f"…\n{text[-limit:].partition(chr(10))[2] or text[-limit:]}"


def _beginning(text: str, limit: int) -> str:
    """Return the first whole lines within a limit."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rpartition(chr(10))[0] or text[:limit]}\n…"
