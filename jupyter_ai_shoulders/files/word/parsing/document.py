"""A Word document as numbered paragraphs, with its comments, notes and protection. Pure.

Numbered are the paragraphs of the body with its tables, then those of footnotes, endnotes, headers
and footers. Text boxes are not numbered. Run by ``files.word.worker``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.files.word.parsing.package import WordPackage
from jupyter_ai_shoulders.files.word.parsing.paragraphs import (
    Paragraph,
    StoryReader,
    mark_change,
)
from jupyter_ai_shoulders.files.word.parsing.styles import Styles
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element

LINE_BREAK = "\u2028"
"""A line break within a paragraph, where each line of a text is a paragraph."""
SIGNATURES = "_xmlsignatures/"
_NOTES = (("footnotes", "w:footnote"), ("endnotes", "w:endnote"))
_EDGES = (("header", "w:hdr"), ("footer", "w:ftr"))
_PASSWORDS = ("w:hash", "w:hashValue")
"""Attributes with the hash of a password (ECMA-376 part 4 and part 1, 17.15.1.93)."""
_TRUE = frozenset({"1", "true", "on"})
_CHANGES = frozenset({"w:ins", "w:del", "w:moveFrom", "w:moveTo"})


@dataclass(frozen=True, slots=True)
class StoredComment:
    """A comment of the comments part, and where its range begins."""

    id: str
    author: str
    date: str
    text: str
    paragraph: int
    quote: str


class WordDocument:
    """One document, read whole."""

    def __init__(self, content: bytes) -> None:
        """Raises ``InvalidRequest`` and ``TooLarge``."""
        self.package = package = WordPackage(content)
        body = package.tree(package.main).child("w:body")
        if body is None:
            raise InvalidRequest("it has no text body")
        self.styles = Styles(package)
        main = StoryReader(package.main)
        self.paragraphs: list[Paragraph] = main.read(body)
        self.tables = main.tables
        self.body_end = len(self.paragraphs)
        for kind, name in _NOTES:
            for part in package.related(package.main, kind):
                story = StoryReader(part)
                for note in package.tree(part).children:
                    if note.name == name and note.get("w:type", "normal") == "normal":
                        self.paragraphs += story.read(note, note.get("w:id"))
        for kind, _ in _EDGES:
            for part in dict.fromkeys(package.related(package.main, kind)):
                self.paragraphs += StoryReader(part).read(package.tree(part))
        for number, paragraph in enumerate(self.paragraphs, 1):
            paragraph.number = number

    @property
    def text(self) -> str:
        """One line per numbered paragraph, with tracked changes accepted."""
        return "\n".join(line_of(paragraph.text) for paragraph in self.paragraphs)

    @cached_property
    def numbers(self) -> dict[tuple[str, int], int]:
        """The number of the paragraph of each ``w:p``, by its part and position."""
        return {
            (paragraph.part, element.start): paragraph.number
            for paragraph in self.paragraphs
            for element in paragraph.elements
        }

    def story(self, paragraph: Paragraph) -> str:
        """Return ``body``, ``footnote``, ``endnote``, ``header`` or ``footer``."""
        if paragraph.part == self.package.main:
            return "body"
        root = self.package.tree(paragraph.part).name
        return {"w:hdr": "header", "w:ftr": "footer", "w:endnotes": "endnote"}.get(root, "footnote")

    def parts(self) -> list[str]:
        """Return the parts with numbered paragraphs."""
        return list(dict.fromkeys([self.package.main, *(each.part for each in self.paragraphs)]))

    def tracked_changes(self) -> int:
        """Return how many insertions, deletions and moves wait for acceptance."""
        return sum(
            element.name in _CHANGES
            for part in self.parts()
            for element in self.package.tree(part).walk()
        )

    def comments(self) -> list[StoredComment]:
        """Return the comments in the order of their part."""
        found: list[StoredComment] = []
        places = self._comment_ranges()
        for part in self.package.related(self.package.main, "comments"):
            for comment in self.package.tree(part).children:
                if comment.name == "w:comment":
                    number, quote = places.get(comment.get("w:id"), (0, ""))
                    found.append(
                        StoredComment(
                            id=comment.get("w:id"),
                            author=comment.get("w:author"),
                            date=comment.get("w:date"),
                            text=plain_text(comment),
                            paragraph=number,
                            quote=quote,
                        )
                    )
        return found

    def _comment_ranges(self) -> dict[str, tuple[int, str]]:
        """Return the paragraph that each comment begins in, and the text it is about there."""
        found: dict[str, tuple[int, str]] = {}
        for paragraph in self.paragraphs[: self.body_end]:
            for element in paragraph.elements:
                for each in element.walk():
                    comment = each.get("w:id")
                    if each.name == "w:commentRangeStart":
                        found[comment] = paragraph.number, _quote(paragraph, each, comment)
                    elif each.name == "w:commentReference":
                        found.setdefault(comment, (paragraph.number, ""))
        return found

    def protection(self) -> str | None:
        """Return what forbids changes: a signature, a password or the document's protection."""
        if any(name.lower().startswith(SIGNATURES) for name in self.package.names()):
            return "it has a digital signature, which a change would break"
        password = self._setting("w:writeProtection")
        if password is not None and any(password.get(name) for name in _PASSWORDS):
            return "it may be changed only with a password"
        found = self._setting("w:documentProtection")
        if found is None or found.get("w:enforcement") not in _TRUE:
            return None
        if found.get("w:edit", "none") in {"none", "trackedChanges"}:
            return None
        return f"it is protected against changes ({found.get('w:edit')})"

    def must_track(self) -> bool:
        """Return whether the document's protection demands tracked changes."""
        found = self._setting("w:documentProtection")
        return (
            found is not None
            and found.get("w:enforcement") in _TRUE
            and found.get("w:edit") == "trackedChanges"
        )

    def _setting(self, name: str) -> Element | None:
        parts = self.package.related(self.package.main, "settings")
        return self.package.tree(parts[0]).child(name) if parts else None

    def has_deleted_mark(self, paragraph: Paragraph) -> bool:
        """Return whether the mark that ends a paragraph is deleted."""
        return mark_change(paragraph.elements[-1]) == "deleted"


def line_of(text: str) -> str:
    """Return a paragraph's text on one line."""
    return text.replace("\n", LINE_BREAK)


def plain_text(element: Element) -> str:
    """Return the texts below an element, one line per paragraph."""
    lines = [
        "".join(each.text for each in paragraph.walk() if each.name == "w:t")
        for paragraph in element.walk()
        if paragraph.name == "w:p"
    ]
    return "\n".join(lines)


def _quote(paragraph: Paragraph, start: Element, comment: str) -> str:
    end = next(
        (
            each.start
            for element in paragraph.elements
            for each in element.walk()
            if each.name == "w:commentRangeEnd" and each.get("w:id") == comment
        ),
        paragraph.elements[-1].end,
    )
    return "".join(
        piece.text
        for piece in paragraph.pieces
        if start.start < piece.element.start < end and piece.change != "deleted"
    )
