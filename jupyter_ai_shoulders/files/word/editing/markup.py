"""Writes the XML of changes: tracked or plain runs, marks of paragraphs, unique ids. Pure.

Element names and their order follow ECMA-376 part 1, 17.13 (annotations) and 17.3 (paragraphs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from xml.sax.saxutils import escape, quoteattr

from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element

LARGEST_ID = 2**31 - 2
_MARK_CHANGES = frozenset({"w:ins", "w:del", "w:moveFrom", "w:moveTo"})
_DEFAULT_NAMESPACE = re.compile(rb"xmlns\s*=\s*[\"']([^\"']*)[\"']")


class Ids:
    """Unused ids of annotations; all of a document share one range here."""

    def __init__(self, roots: Iterable[Element]) -> None:
        self._used = {
            int(value)
            for root in roots
            for each in root.walk()
            if (value := each.get("w:id")).isascii() and value.isdecimal() and len(value) < 11
        }
        self._next = max((each for each in self._used if each < LARGEST_ID), default=0) + 1

    def new(self) -> int:
        """Return an id that nothing has."""
        while self._next in self._used or self._next > LARGEST_ID:
            self._next = 1 if self._next > LARGEST_ID else self._next + 1
        self._used.add(self._next)
        return self._next


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes changes, and whether they are tracked."""

    name: str
    date: str
    """In ISO 8601, UTC."""
    tracked: bool


def date_of(date: str, paragraph: int) -> str:
    """Return the date for the changes of a paragraph, up to six minutes before the given one.

    LibreOffice takes changes of one author within a minute at the end of a paragraph and at the
    beginning of the next for one, and then rejects the mark between them. So the changes of
    paragraphs that follow one another are at least two minutes apart.
    """
    moment = datetime.fromisoformat(date)
    even = moment - timedelta(minutes=moment.minute % 4, seconds=moment.second)
    return (even - timedelta(minutes=2 * (paragraph % 2))).strftime("%Y-%m-%dT%H:%M:%SZ")


class Markup:
    """Writes XML for one part, in the prefix that the part uses."""

    def __init__(self, content: bytes, root: Element, author: Author, ids: Ids) -> None:
        self._content = content
        self.author = author
        self.ids = ids
        self.date = author.date
        """The date of changes; ``date_of`` gives that of a paragraph."""
        self.prefix = root.prefix or "w"
        self._own_id = re.compile(
            rb"(\s%s:id\s*=\s*)(\"[^\"]*\"|'[^']*')" % re.escape(self.prefix.encode())
        )
        self._declared = ""
        if not root.prefix:
            found = _DEFAULT_NAMESPACE.search(content, root.start, root.inner_start)
            uri = found.group(1).decode() if found else ""
            self._declared = f' xmlns:w="{uri}"'

    def raw(self, element: Element) -> bytes:
        """Return an element as it is stored."""
        return self._content[element.start : element.end]

    def start_tag(self, element: Element) -> bytes:
        """Return the start tag of an element that is not empty."""
        return self._content[element.start : element.inner_start]

    def end_tag(self, element: Element) -> bytes:
        """Return the end tag of an element."""
        return self._content[element.inner_end : element.end]

    def element(self, name: str, attributes: str = "", inner: bytes | None = None) -> bytes:
        """Return an element; one tag where ``inner`` is None."""
        start = f"<{self.prefix}:{name}{self._declared}{attributes}"
        if inner is None:
            return f"{start}/>".encode()
        return f"{start}>".encode() + inner + f"</{self.prefix}:{name}>".encode()

    def attribute(self, name: str, value: str | int) -> str:
        """Return an attribute in the part's namespace."""
        return f" {self.prefix}:{name}={quoteattr(str(value))}"

    def change(self, name: str, inner: bytes | None = None) -> bytes:
        """Return ``ins`` or ``del`` by the author, with a new id."""
        attributes = (
            self.attribute("id", self.ids.new())
            + self.attribute("author", self.author.name)
            + self.attribute("date", self.date)
        )
        return self.element(name, attributes, inner)

    def text(self, text: str, name: str = "t") -> bytes:
        """Return a text element that keeps its spaces."""
        safe = escape(text, {"\r": "&#13;"}).encode()
        return self.element(name, ' xml:space="preserve"', safe)

    def run(self, text: str, properties: bytes) -> bytes:
        """Return a run with a text on one line, whose tabs become elements."""
        parts = [self.text(part) if part else b"" for part in text.split("\t")]
        return self.element("r", inner=properties + self.element("tab").join(parts))

    def inserted(self, text: str, properties: bytes, *, tracked: bool) -> bytes:
        """Return an inserted run; nothing for an empty text."""
        if not text:
            return b""
        run = self.run(text, properties)
        return self.change("ins", run) if tracked else run

    def run_properties(self, run: Element | None) -> bytes:
        """Return a run's formatting for new text, without what is tracked about it."""
        found = None if run is None else run.child("w:rPr")
        return b"" if found is None else self._formatting(found)

    def mark_formatting(self, paragraph: Element) -> bytes:
        """Return the formatting of a paragraph's mark for new text."""
        found = paragraph.find("w:pPr", "w:rPr")
        return b"" if found is None else self._formatting(found)

    def _formatting(
        self, properties: Element, before: bytes = b"", *, changes: bool = False
    ) -> bytes:
        left_out = _MARK_CHANGES if changes else _MARK_CHANGES | {"w:rPrChange"}
        kept = b"".join(
            self.raw(child) for child in properties.children if child.name not in left_out
        )
        return self.element("rPr", inner=before + kept) if before + kept else b""

    def paragraph_properties(self, paragraph: Element, mark: bytes, *, copied: bool) -> bytes:
        """Return a paragraph's properties with a changed mark.

        ``copied`` for a further paragraph before the one that keeps its own: without the section
        and without what is tracked about it.
        """
        found = paragraph.child("w:pPr")
        children = [] if found is None else found.children
        kept = b"".join(
            self.raw(child)
            for child in children
            if child.name not in {"w:rPr", "w:sectPr", "w:pPrChange"}
        )
        properties = None if found is None else found.child("w:rPr")
        marks = mark if copied or properties is None else self._marks(properties, mark)
        if properties is not None:
            formats = self._formatting(properties, marks, changes=not copied)
        else:
            formats = self.element("rPr", inner=marks) if marks else b""
        last = b""
        if not copied:
            last = b"".join(
                self.raw(child) for child in children if child.name in {"w:sectPr", "w:pPrChange"}
            )
        inner = kept + formats + last
        return self.element("pPr", inner=inner) if inner else b""

    def _marks(self, properties: Element, mark: bytes) -> bytes:
        """Return the tracked changes of a mark, with one more after those that are there."""
        there = [self.raw(each) for each in properties.children if each.name in _MARK_CHANGES]
        return b"".join([*there, mark])

    def renumbered(self, content: bytes) -> bytes:
        """Return a second copy of formatting or of a start tag, with new ids."""
        return self._own_id.sub(lambda found: found.group(1) + b'"%d"' % self.ids.new(), content)
