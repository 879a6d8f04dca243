r"""Reads the paragraphs of a part of a Word document, with tracked changes accepted. Pure.

A numbered paragraph is what a reader sees: several ``w:p`` are one where a tracked deletion joins
them. Its text is made of ``Piece``s, each a child of a run, so that an edit finds the bytes of a
character. Text in deletions and in field codes is not part of it. ECMA-376 part 1, 17.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from jupyter_ai_shoulders.core.errors import TooLarge
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element

PARAGRAPHS_LIMIT = 100_000

Change = Literal["inserted", "deleted"]

_TRACKED: dict[str, Change] = {
    "w:ins": "inserted",
    "w:moveTo": "inserted",
    "w:del": "deleted",
    "w:moveFrom": "deleted",
}
_TRANSPARENT = frozenset(
    {"w:hyperlink", "w:smartTag", "w:sdt", "w:sdtContent", "w:fldSimple", "w:customXml", "w:dir"}
    | {"w:bdo"}
)
_BLOCKS = frozenset({"w:sdt", "w:sdtContent", "w:customXml", "w:tbl", "w:tr", "w:tc", "w:body"})
_MARKS = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:cr": "\n",
    "w:noBreakHyphen": "\u2011",
    "w:softHyphen": "\u00ad",
}
_OBJECTS = frozenset(
    {"w:drawing", "w:pict", "w:object", "mc:AlternateContent", "w:footnoteReference"}
    | {"w:endnoteReference", "w:fldChar", "w:instrText", "w:delInstrText", "w:br"}
)
CONTENT_OBJECTS = frozenset({"w:drawing", "w:pict", "w:object", "mc:AlternateContent", "m:oMath"})
"""Things in a paragraph that are not text, besides marks of notes."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A child of a run, or another object of a paragraph (``run`` is None)."""

    element: Element
    run: Element | None
    paragraph: Element
    text: str
    """Its characters; empty for objects."""
    change: Change | None
    tracked: Element | None
    """The innermost ``w:ins``, ``w:del``, ``w:moveTo`` or ``w:moveFrom`` that has it."""
    field: int | None = None
    """The number of the field that this is a part of, other than its result."""
    in_result: bool = False
    """Whether it is in the result of a field."""


@dataclass(frozen=True, slots=True)
class CellPlace:
    """Where a paragraph is in a table; all from 1."""

    table: int
    row: int
    column: int


@dataclass(slots=True)
class Paragraph:
    """One numbered paragraph."""

    part: str
    elements: list[Element]
    """Its ``w:p``; the last one's mark ends it."""
    pieces: list[Piece]
    cell: CellPlace | None
    note: str | None = None
    """The id of the footnote or endnote it is in."""
    number: int = 0

    @property
    def text(self) -> str:
        r"""The text with tracked changes accepted; ``\n`` is a line break in the paragraph."""
        return "".join(piece.text for piece in self.pieces if piece.change != "deleted")

    @property
    def original(self) -> str:
        """The text with tracked changes rejected."""
        return "".join(piece.text for piece in self.pieces if not is_inserted(piece.element))

    @property
    def has_changes(self) -> bool:
        """Whether tracked changes of its text or of its mark wait for acceptance."""
        return any(piece.change for piece in self.pieces) or any(
            mark_change(element) for element in self.elements
        )

    @property
    def style(self) -> str:
        """The id of its style; empty for the default one."""
        found = self.elements[-1].find("w:pPr", "w:pStyle")
        return "" if found is None else found.get("w:val")


@dataclass(slots=True)
class _Field:
    number: int
    in_code: bool = True


@dataclass(slots=True)
class StoryReader:
    """Reads one part; fields may span its paragraphs."""

    part: str
    fields: list[_Field] = field(default_factory=list[_Field])
    count: int = 0
    tables: int = 0

    def read(self, root: Element, note: str | None = None) -> list[Paragraph]:
        """Return the paragraphs below an element in order. Raises ``TooLarge``."""
        found: list[Paragraph] = []
        joined: Paragraph | None = None
        for element, cell in self._blocks(root, None):
            pieces = list(self._pieces(element, element, None, None))
            if joined is None:
                joined = Paragraph(self.part, [], [], cell, note)
                found.append(joined)
            joined.elements.append(element)
            joined.pieces += pieces
            if len(found) > PARAGRAPHS_LIMIT:
                raise TooLarge(f"it has more than {PARAGRAPHS_LIMIT:,} paragraphs")
            if mark_change(element) != "deleted" or next_paragraph(element) is None:
                joined = None
        return found

    def _blocks(
        self, root: Element, cell: CellPlace | None
    ) -> Iterator[tuple[Element, CellPlace | None]]:
        for child in root.children:
            if child.name == "w:p":
                yield child, cell
            elif child.name == "w:tbl":
                yield from self._table(child)
            elif child.name in _BLOCKS:
                yield from self._blocks(child, cell)

    def _table(self, table: Element) -> Iterator[tuple[Element, CellPlace | None]]:
        self.tables += 1
        number = self.tables
        for row_number, row in enumerate(_rows(table, "w:tr"), 1):
            if row.find("w:trPr", "w:del") is not None:
                continue
            for column, cell in enumerate(_rows(row, "w:tc"), 1):
                yield from self._blocks(cell, CellPlace(number, row_number, column))

    def _pieces(
        self, parent: Element, paragraph: Element, change: Change | None, tracked: Element | None
    ) -> Iterator[Piece]:
        for child in parent.children:
            name = child.name
            if name == "w:r":
                for part in child.children:
                    piece = self._piece(part, child, paragraph, change, tracked)
                    if piece is not None:
                        yield piece
            elif name in _TRACKED:
                inner: Change = "deleted" if change == "deleted" else _TRACKED[name]
                yield from self._pieces(child, paragraph, inner, child)
            elif name in _TRANSPARENT:
                yield from self._pieces(child, paragraph, change, tracked)
            elif name in {"m:oMath", "m:oMathPara", "mc:AlternateContent"}:
                yield Piece(child, None, paragraph, "", change, tracked)

    def _piece(
        self,
        element: Element,
        run: Element,
        paragraph: Element,
        change: Change | None,
        tracked: Element | None,
    ) -> Piece | None:
        name = element.name
        number = self._field(element) if name == "w:fldChar" else self._code()
        text = ""
        if number is None:
            text = piece_text(element)
        if not text and name not in _OBJECTS:
            return None
        in_result = number is None and bool(self.fields)
        return Piece(element, run, paragraph, text, change, tracked, number, in_result)

    def _code(self) -> int | None:
        """Return the field whose code is being read; None in text and in results."""
        return next((each.number for each in self.fields if each.in_code), None)

    def _field(self, element: Element) -> int | None:
        kind = element.get("w:fldCharType")
        if kind == "begin":
            self.count += 1
            self.fields.append(_Field(self.count))
            return self.count
        if not self.fields:
            return None
        if kind == "separate":
            self.fields[-1].in_code = False
            return self.fields[-1].number
        return self.fields.pop().number


def piece_text(element: Element) -> str:
    """Return the characters of a run's child."""
    name = element.name
    if name in {"w:t", "w:delText"}:
        text = element.text.replace("\r", " ").replace("\n", " ").replace("\t", " ")
        return text if _keeps_space(element) else text.strip(" ")
    if name == "w:br":
        return "\n" if element.get("w:type", "textWrapping") == "textWrapping" else ""
    if name == "w:sym":
        return _symbol(element)
    return _MARKS.get(name, "")


def _symbol(element: Element) -> str:
    try:
        code = int(element.get("w:char"), 16)
    except ValueError:
        return ""
    return chr(code) if 0x20 < code < 0xD800 or 0xE000 <= code < 0xFFFE else ""


def _keeps_space(element: Element) -> bool:
    for each in (element, *element.ancestors()):
        space = each.get("xml:space")
        if space:
            return space == "preserve"
    return False


def mark_change(paragraph: Element) -> Change | None:
    """Return the tracked change of a paragraph's mark."""
    marks = paragraph.find("w:pPr", "w:rPr")
    found = [] if marks is None else [_TRACKED.get(child.name) for child in marks.children]
    if "deleted" in found:
        return "deleted"
    return "inserted" if "inserted" in found else None


def is_inserted(element: Element) -> bool:
    """Return whether an element is in a tracked insertion, also if it is deleted in it."""
    return any(_TRACKED.get(above.name) == "inserted" for above in element.ancestors())


def next_paragraph(paragraph: Element) -> Element | None:
    """Return the paragraph that follows as sibling with nothing but markers between."""
    if paragraph.parent is None:
        return None
    siblings = paragraph.parent.children
    position = next(at for at, each in enumerate(siblings) if each is paragraph)
    for sibling in siblings[position + 1 :]:
        if sibling.name == "w:p":
            return sibling
        if sibling.name in {"w:tbl", "w:sdt", "w:sectPr", "w:customXml", "w:altChunk"}:
            return None
    return None


def _rows(parent: Element, name: str) -> Iterator[Element]:
    """Yield rows of a table or cells of a row, also those in content controls."""
    for child in parent.children:
        if child.name == name:
            yield child
        elif child.name in {"w:sdt", "w:sdtContent", "w:customXml"}:
            yield from _rows(child, name)
