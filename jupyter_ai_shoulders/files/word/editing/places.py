"""Chooses where in a paragraph's XML new text goes, and what surrounds it there. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.files.word.parsing.paragraphs import Paragraph, Piece
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element


@dataclass(frozen=True, slots=True)
class Place:
    """A place for new text: after or before a piece, or at the edge of a paragraph."""

    paragraph: Element
    """The ``w:p`` it is in."""
    formatted_as: Element | None
    """The run whose formatting new text takes; None: that of the paragraph's mark."""
    piece: Piece | None = None
    offset: int = 0
    """Characters of the piece before it."""
    byte: int | None = None
    """The position in the part, if it is not in or beside a piece's run."""

    @property
    def containers(self) -> list[Element]:
        """The elements between the paragraph and the place, the innermost first."""
        if self.piece is None or self.piece.run is None:
            return []
        found: list[Element] = []
        for above in self.piece.run.ancestors():
            if above is self.paragraph:
                break
            found.append(above)
        return found


class PlaceFinder:
    """Finds places in one numbered paragraph."""

    def __init__(self, paragraph: Paragraph) -> None:
        self._paragraph = paragraph
        self.pieces = [piece for piece in paragraph.pieces if piece.change != "deleted"]
        self.starts: list[int] = []
        """The characters before each piece."""
        length = 0
        for piece in self.pieces:
            self.starts.append(length)
            length += len(piece.text)
        self.length = length

    def after_piece(self, piece: Piece, offset: int, formatted_as: Element | None) -> Place:
        """Return the place after a part of a piece, or after a whole object."""
        return Place(piece.paragraph, formatted_as, piece, offset)

    def at(self, position: int, text: str) -> Place:
        """Return the place for a new text between two characters.

        At the paragraph's end it is after everything; otherwise it belongs to the character before
        it, unless that one is in a link, a field or a content control and the next one is not.
        """
        if position == self.length:
            return self._end()
        before, after = self._character(position - 1), self._character(position)
        assert after is not None
        following = Place(after[0].paragraph, after[0].run, after[0], after[1])
        if position == 0:
            return self._start(following, text)
        assert before is not None
        earlier = Place(before[0].paragraph, before[0].run, before[0], before[1] + 1)
        if _depth(following) < _depth(earlier):
            return following
        gap = any(
            start == position and not piece.text and piece.field is None
            for piece, start in zip(self.pieces, self.starts, strict=True)
        )
        if gap and text[:1].isspace() and _depth(following) == _depth(earlier):
            return following
        return earlier

    def edge(self, position: int, *, end: bool) -> Place:
        """Return the place of a comment's mark, never inside of a container."""
        found = self._character(position - 1 if end else position)
        if found is None:
            return self._end() if end else self._first()
        piece, offset = found
        place = Place(piece.paragraph, None, piece, offset + 1 if end else offset)
        if not place.containers:
            return place
        outer = place.containers[-1]
        return Place(piece.paragraph, None, byte=outer.end if end else outer.start)

    def _character(self, position: int) -> tuple[Piece, int] | None:
        for piece, start in zip(self.pieces, self.starts, strict=True):
            if start <= position < start + len(piece.text):
                return piece, position - start
        return None

    def _end(self) -> Place:
        last = self._paragraph.elements[-1]
        texts = [piece for piece in self.pieces if piece.text and piece.paragraph is last]
        run = texts[-1].run if texts and _is_plain(texts[-1]) else None
        return Place(last, run, byte=last.inner_end)

    def _start(self, following: Place, text: str) -> Place:
        """Return the beginning of the paragraph; before marks there, if a paragraph is added."""
        run = following.formatted_as if _depth(following) == 0 else None
        if text.endswith("\n"):
            return Place(following.paragraph, run, byte=self._first().byte)
        if not following.containers:
            return following
        return Place(following.paragraph, run, byte=following.containers[-1].start)

    def _first(self) -> Place:
        element = self._paragraph.elements[0]
        properties = element.child("w:pPr")
        return Place(
            element, None, byte=element.inner_start if properties is None else properties.end
        )


def _is_plain(piece: Piece) -> bool:
    return piece.run is not None and piece.run.parent is piece.paragraph and not piece.in_result


def _depth(place: Place) -> int:
    assert place.piece is not None
    return len(place.containers) + place.piece.in_result
