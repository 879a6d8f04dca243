"""Makes the changes of one numbered paragraph as splices of its part. Pure.

Deleted characters stay in their runs, marked as deleted; new text stands after them with their
formatting. Text that the same author inserted is removed without a trace. See
docs/design/word-documents.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.files.word.editing.edits import FoundEdit, TextChange
from jupyter_ai_shoulders.files.word.editing.markup import Markup
from jupyter_ai_shoulders.files.word.editing.places import Place, PlaceFinder
from jupyter_ai_shoulders.files.word.editing.splices import RunChange, RunWriter, Splice, is_own
from jupyter_ai_shoulders.files.word.parsing.paragraphs import (
    CONTENT_OBJECTS,
    Paragraph,
    Piece,
    mark_change,
    next_paragraph,
)
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element

_LOCKS = frozenset({"contentLocked", "sdtContentLocked"})
_BINDINGS = ("w:dataBinding", "{http://schemas.microsoft.com/office/word/2012/wordml}dataBinding")
"""The second is of controls with formatted text (MS-DOCX 2.5.1)."""
_REOPENED = frozenset({"w:ins", "w:moveTo", "w:hyperlink", "w:smartTag"})
_RANGE_MARKS = frozenset(
    {"w:bookmarkStart", "w:bookmarkEnd", "w:commentRangeStart", "w:commentRangeEnd"}
)


class ParagraphEditor:
    """Collects the changes of one paragraph; ``splices`` gives them all."""

    def __init__(self, paragraph: Paragraph, markup: Markup) -> None:
        self._paragraph = paragraph
        self._markup = markup
        self._places = PlaceFinder(paragraph)
        self._runs: dict[int, RunChange] = {}
        self._splices: list[Splice] = []
        self._splits: dict[int, tuple[Element, bytes]] = {}
        """The ``w:p`` that are split, with the mark of the first part."""
        self._removed: Element | None = None
        """The last ``w:p`` of the paragraph if all of it is removed."""

    def apply(self, edit: FoundEdit, comment: int | None) -> str | None:
        """Make an edit; ``comment`` is the id of its comment. Returns what was not possible.

        Edits are made from the last to the first, since the last split keeps the paragraph's mark.
        Raises ``InvalidRequest`` where the text must not be changed.
        """
        if comment is not None:
            start = self._markup.element("commentRangeStart", self._markup.attribute("id", comment))
            self._put(self._places.edge(edit.start, end=False), start)
        note = None
        if edit.removes:
            note = self._remove(edit)
        for change in reversed(edit.changes):
            self._change(change)
        if comment is not None:
            identity = self._markup.attribute("id", comment)
            reference = self._markup.element("commentReference", identity)
            end = self._markup.element("commentRangeEnd", identity)
            mark = end + self._markup.element("r", inner=reference)
            self._put(self._places.edge(edit.end, end=True), mark)
        return note

    def splices(self) -> list[Splice]:
        """Return the changes of the part."""
        without_trace = self._removed_without_trace()
        if without_trace:
            return [self._removal(element) for element in without_trace]
        writer = RunWriter(self._markup)
        made = [*self._marks(), *self._splices]
        for change in self._runs.values():
            texts = {
                change.run.children.index(piece.element): piece
                for piece in self._paragraph.pieces
                if piece.run is change.run
            }
            made.append(writer.splice(change, texts))
        for element in self._paragraph.elements:
            if element.is_empty_tag:
                made = self._filled(element, made)
        return made

    # changes

    def _change(self, change: TextChange) -> None:
        gone = self._deleted(change.start, change.end)
        for piece, start, end in gone:
            self._delete(piece, start, end)
        if not change.text:
            return
        if gone:
            piece, _, end = gone[-1]
            first = gone[0][0].run
            same = first is not None and piece.run is not None and first.parent is piece.run.parent
            place = self._places.after_piece(piece, end, first if same else piece.run)
        else:
            place = self._places.at(change.start, change.text)
        self._check_editable([*place.containers, *place.paragraph.ancestors()])
        self._insert(place, change.text)

    def _deleted(self, start: int, end: int) -> list[tuple[Piece, int, int]]:
        """Return the pieces between two positions with their ranges of characters."""
        found: list[tuple[Piece, int, int]] = []
        fields = self._fields_within(start, end)
        for piece, at in zip(self._places.pieces, self._places.starts, strict=True):
            low, high = max(start - at, 0), min(end - at, len(piece.text))
            if piece.text:
                if low < high:
                    found.append((piece, low, high))
            elif piece.run is not None and (
                piece.field in fields if piece.field is not None else start < at < end
            ):
                found.append((piece, 0, 0))
        return found

    def _fields_within(self, start: int, end: int) -> set[int]:
        """Return the fields whose whole result is between two positions."""
        return {
            number
            for number, (begin, finish) in self._complete_fields().items()
            if start <= begin < end and start < finish <= end
        }

    def _complete_fields(self) -> dict[int, tuple[int, int]]:
        """Return where the fields begin and end that do both in this paragraph."""
        places: dict[str, dict[int, int]] = {"begin": {}, "separate": {}, "end": {}}
        for piece, at in zip(self._places.pieces, self._places.starts, strict=True):
            if piece.field is not None and piece.element.name == "w:fldChar":
                places.setdefault(piece.element.get("w:fldCharType"), {})[piece.field] = at
        begins, ends = places["begin"], places["end"]
        return {number: (begins[number], ends[number]) for number in begins.keys() & ends.keys()}

    def _delete(self, piece: Piece, start: int, end: int) -> None:
        assert piece.run is not None
        self._check_editable(list(piece.run.ancestors()))
        run = self._run(piece.run)
        run.deleted.setdefault(piece.run.children.index(piece.element), []).append((start, end))

    def _check_editable(self, containers: Sequence[Element]) -> None:
        """Raise ``InvalidRequest`` if one of the containers, the nearest first, is locked."""
        controls = [each for each in containers if each.name == "w:sdt"]
        for position, control in enumerate(controls):
            properties = control.child("w:sdtPr")
            if properties is None:
                continue
            lock = properties.child("w:lock")
            number = self._paragraph.number
            grouped = position == 0 and properties.child("w:group") is not None
            if grouped or (lock is not None and lock.get("w:val") in _LOCKS):
                raise InvalidRequest(
                    f"paragraph {number} has this text in a locked content control",
                    hint="Ask the user to unlock it in Word.",
                )
            if any(properties.child(name) is not None for name in _BINDINGS):
                raise InvalidRequest(
                    f"paragraph {number} has this text in a control that shows a property of the "
                    "document, so Word would write it over",
                    hint="Ask the user to change the property in Word.",
                )

    # new text

    def _insert(self, place: Place, text: str) -> None:
        markup = self._markup
        formats = (
            markup.mark_formatting(place.paragraph)
            if place.formatted_as is None
            else markup.run_properties(place.formatted_as)
        )
        lines = text.split("\n")
        tracks = [each for each in place.containers if each.name in {"w:ins", "w:moveTo"}]
        own = bool(tracks) and is_own(tracks[0].children[0], markup.author.name)
        tracked = markup.author.tracked and not (own and len(lines) == 1)
        made = [markup.inserted(line, formats, tracked=tracked) for line in lines]
        if len(lines) == 1:
            self._put_outside(place, made[0], tracks[-1] if tracks and tracked else None)
            return
        self._split(place, made)

    def _put_outside(self, place: Place, content: bytes, track: Element | None) -> None:
        """Put content at a place, outside of the tracked change that has it."""
        if track is None:
            self._put(place, content)
            return
        piece = place.piece
        assert piece is not None
        rest = [
            each
            for each in self._paragraph.pieces
            if piece.element.start < each.element.start < track.end
        ]
        if not rest and place.offset == len(piece.text):
            self._splices.append(Splice(track.end, track.end, content))
            return
        outer = place.containers[: place.containers.index(track) + 1]
        self._put(place, self._closing(outer) + content + self._opening(outer))

    def _closing(self, containers: Sequence[Element]) -> bytes:
        return b"".join(self._markup.end_tag(each) for each in containers)

    def _opening(self, containers: Sequence[Element]) -> bytes:
        tags = [self._markup.start_tag(each) for each in reversed(containers)]
        return b"".join(
            tag if each.name == "w:hyperlink" else self._markup.renumbered(tag)
            for each, tag in zip(reversed(containers), tags, strict=True)
        )

    def _split(self, place: Place, lines: Sequence[bytes]) -> None:
        """Split the paragraph at a place; the lines stand at the ends that arise."""
        markup, element = self._markup, place.paragraph
        in_field = place.piece is not None and place.piece.in_result
        if in_field or any(each.name not in _REOPENED for each in place.containers):
            raise InvalidRequest(
                f"no paragraph can be added inside of a field or a content control of paragraph "
                f"{self._paragraph.number}",
                hint="Add it at the end of the paragraph, or without a line break.",
            )
        outer = place.containers
        tag = _tag_without_attributes(markup.start_tag(element))
        own = element.child("w:pPr")
        parts = [self._closing(outer), lines[0]]
        for line in lines[1:-1]:
            parts += [self._end_tag(element), tag, self._added(element), line]
        is_last = element.start not in self._splits
        last = b"" if own is None else markup.raw(own)
        parts += [self._end_tag(element), tag, last if is_last else self._added(element)]
        parts += [lines[-1], self._opening(outer)]
        self._put(place, b"".join(parts))
        self._splits.setdefault(element.start, (element, self._mark("ins")))

    def _added(self, element: Element) -> bytes:
        """Return the properties of a paragraph that is added before the end of another."""
        return self._markup.paragraph_properties(element, self._mark("ins"), copied=True)

    def _end_tag(self, element: Element) -> bytes:
        if element.is_empty_tag:
            return f"</{self._markup.prefix}:p>".encode()
        return self._markup.end_tag(element)

    def _mark(self, name: str) -> bytes:
        return self._markup.change(name) if self._markup.author.tracked else b""

    # whole paragraphs

    def _remove(self, edit: FoundEdit) -> str | None:
        """Remove the paragraph with its mark, or its text alone; return why not all of it."""
        last = self._paragraph.elements[-1]
        complete = self._complete_fields()
        objects = any(
            piece.element.name in CONTENT_OBJECTS
            or piece.run is None
            or (piece.field is not None and piece.field not in complete)
            for piece in self._places.pieces
        )
        whole = next_paragraph(last) is not None and not objects
        whole = whole and last.find("w:pPr", "w:sectPr") is None
        others = mark_change(last) == "inserted" and not is_own_mark(last, self._markup.author.name)
        whole = whole and not others  # LibreOffice knows no deletion of an inserted mark
        if not self._markup.author.tracked:  # what others deleted stays for their decision
            whole = whole and all(each.change != "deleted" for each in self._paragraph.pieces)
        if not whole:
            self._change(TextChange(edit.start, edit.end, ""))
            return (
                f"The text of paragraph {self._paragraph.number} was removed; the empty paragraph "
                "stays, because it has more than text, or is the last one of its cell or section."
            )
        self._check_editable(list(last.ancestors()))
        for piece in self._places.pieces:
            if piece.run is not None:
                self._delete(piece, 0, len(piece.text))
        self._removed = last
        return None

    def _marks(self) -> list[Splice]:
        """Return the changes of the marks of paragraphs that are split or removed."""
        made = [
            self._properties(element, mark, copied=True) for element, mark in self._splits.values()
        ]
        if self._removed is not None and self._markup.author.tracked:
            made.append(self._properties(self._removed, self._mark("del"), copied=False))
        return made

    def _removed_without_trace(self) -> list[Element]:
        """Return the ``w:p`` that go without a trace, with all that is in them."""
        author = self._markup.author
        if self._removed is None or any(
            piece.change == "deleted" for piece in self._paragraph.pieces
        ):
            return []
        own = is_own_mark(self._removed, author.name) and all(
            piece.run is not None and is_own(piece.run, author.name)
            for piece in self._paragraph.pieces
        )
        return self._paragraph.elements if own or not author.tracked else []

    def _removal(self, element: Element) -> Splice:
        """Return the removal of a ``w:p``; marks of ranges in it stay."""
        marks = [self._markup.raw(each) for each in element.walk() if each.name in _RANGE_MARKS]
        return Splice(element.start, element.end, b"".join(marks))

    def _properties(self, element: Element, mark: bytes, *, copied: bool) -> Splice:
        found = element.child("w:pPr")
        properties = self._markup.paragraph_properties(element, mark, copied=copied)
        if found is None:
            return Splice(element.inner_start, element.inner_start, properties)
        return Splice(found.start, found.end, properties)

    # places

    def _run(self, run: Element) -> RunChange:
        return self._runs.setdefault(run.start, RunChange(run))

    def _put(self, place: Place, content: bytes) -> None:
        if place.byte is not None:
            self._splices.append(Splice(place.byte, place.byte, content))
            return
        piece = place.piece
        assert piece is not None
        assert piece.run is not None
        key = piece.run.children.index(piece.element), place.offset
        if not piece.text:
            key = key[0], 1
        self._run(piece.run).inserted.setdefault(key, []).append(content)

    def _filled(self, element: Element, made: Sequence[Splice]) -> list[Splice]:
        """Return the changes with those in an empty tag as one that gives it content."""
        inside = [each for each in made if each.start == each.end == element.end]
        if not inside:
            return list(made)
        opened = self._markup.raw(element)[:-2].rstrip() + b">"
        content = b"".join([opened, *(each.content for each in inside), self._end_tag(element)])
        others = [each for each in made if each not in inside]
        return [*others, Splice(element.start, element.end, content)]


def _tag_without_attributes(tag: bytes) -> bytes:
    """Return a start tag without its attributes, which hold ids of their own."""
    return tag.split()[0].rstrip(b"/>") + b">"


def is_own_mark(paragraph: Element, author: str) -> bool:
    """Return whether this author inserted a paragraph's mark."""
    marks = paragraph.find("w:pPr", "w:rPr")
    if marks is None or mark_change(paragraph) != "inserted":
        return False
    found = marks.child("w:ins")
    return found is not None and found.get("w:author") == author
