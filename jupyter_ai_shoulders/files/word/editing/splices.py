"""Replaces bytes of a part: runs split at the edges of a change, and what is put between. Pure.

Only the runs a change touches are written again; everything else stays as it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from jupyter_ai_shoulders.files.word.editing.markup import Markup
from jupyter_ai_shoulders.files.word.parsing.paragraphs import Piece
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element


@dataclass(frozen=True, slots=True)
class Splice:
    """The bytes from ``start`` to ``end`` become ``content``."""

    start: int
    end: int
    content: bytes


def spliced(content: bytes, splices: Sequence[Splice]) -> bytes:
    """Return the content with the splices made; those at one place stay in order."""
    parts: list[bytes] = []
    position = 0
    for splice in sorted(splices, key=lambda each: (each.start, each.end)):
        assert splice.start >= position, "changes of one place overlap"
        parts += [content[position : splice.start], splice.content]
        position = splice.end
    return b"".join([*parts, content[position:]])


@dataclass(slots=True)
class RunChange:
    """The changes of one run: ranges of its children that are deleted, and what is put between."""

    run: Element
    deleted: dict[int, list[tuple[int, int]]] = field(
        default_factory=dict[int, list[tuple[int, int]]]
    )
    """By the position of the child; ranges of its characters, (0, 0) for all of an object."""
    inserted: dict[tuple[int, int], list[bytes]] = field(
        default_factory=dict[tuple[int, int], list[bytes]]
    )
    """By the position of the child and the characters of it before."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part of a run: kept, deleted, or something put between its parts."""

    kind: str
    content: bytes


class RunWriter:
    """Writes changed runs."""

    def __init__(self, markup: Markup) -> None:
        self._markup = markup

    def splice(self, change: RunChange, texts: dict[int, Piece]) -> Splice:
        """Return the new bytes of a run; ``texts`` are its pieces by position of the child."""
        run = change.run
        units: list[_Unit] = []
        for position, child in enumerate(run.children):
            if child.name == "w:rPr":
                continue
            piece = texts.get(position)
            units += self._units(change, position, child, "" if piece is None else piece.text)
        return Splice(run.start, run.end, self._written(run, units))

    def _units(self, change: RunChange, position: int, child: Element, text: str) -> list[_Unit]:
        ranges = sorted(change.deleted.get(position, []))
        puts = {at: made for (where, at), made in change.inserted.items() if where == position}
        units = [_Unit("between", made) for made in puts.pop(0, [])] if 0 in puts else []
        if len(text) < 2:
            units.append(self._whole(child, text, deleted=bool(ranges)))
            units += [_Unit("between", made) for at in sorted(puts) for made in puts[at]]
            return units
        edges = sorted({0, len(text), *puts, *(edge for each in ranges for edge in each)})
        for start, end in pairwise(edges):
            deleted = any(low <= start and end <= high for low, high in ranges)
            if start == 0 and end == len(text):
                units.append(self._whole(child, text, deleted=deleted))
            else:
                units.append(self._slice(text[start:end], deleted=deleted))
            units += [_Unit("between", made) for made in puts.get(end, [])]
        return units

    def _slice(self, text: str, *, deleted: bool) -> _Unit:
        if deleted:
            return _Unit("deleted", self._markup.text(text, "delText"))
        return _Unit("kept", self._markup.text(text))

    def _whole(self, child: Element, text: str, *, deleted: bool) -> _Unit:
        if not deleted:
            return _Unit("kept", self._markup.raw(child))
        if child.name == "w:t":
            return _Unit("deleted", self._markup.text(text, "delText"))
        if child.name == "w:instrText":
            return _Unit("deleted", self._markup.text(child.text, "delInstrText"))
        return _Unit("deleted", self._markup.raw(child))

    def _written(self, run: Element, units: Sequence[_Unit]) -> bytes:
        markup = self._markup
        found = run.child("w:rPr")
        formats = b"" if found is None else markup.raw(found)
        remove = not markup.author.tracked or is_own(run, markup.author.name)
        parts: list[bytes] = []
        group: list[bytes] = []
        kind = ""

        def close() -> None:
            nonlocal formats
            if not group or (kind == "deleted" and remove):
                group.clear()
                return
            inner = b"".join([markup.start_tag(run), formats, *group, markup.end_tag(run)])
            parts.append(markup.change("del", inner) if kind == "deleted" else inner)
            formats = markup.renumbered(formats)
            group.clear()

        for unit in units:
            if unit.kind != kind:
                close()
            kind = unit.kind
            if kind == "between":
                parts.append(unit.content)
            else:
                group.append(unit.content)
        close()
        return b"".join(parts)


def is_own(element: Element, author: str) -> bool:
    """Return whether an element is in a tracked insertion of this author."""
    return any(
        above.name == "w:ins" and above.get("w:author") == author for above in element.ancestors()
    )
