"""Parses XML into elements that know their bytes, so that a change replaces only those. Pure.

Used for the parts of a Word document, in ``files.word.worker``'s process. Entities and document
types are refused; depth and number of elements are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from jupyter_ai_shoulders.core.errors import InvalidRequest, TooLarge

ELEMENTS_LIMIT = 1_500_000
DEPTH_LIMIT = 400

_OOXML = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"
PREFIXES = {
    f"{_OOXML}/wordprocessingml/2006/main": "w",
    f"{_STRICT}/wordprocessingml/main": "w",
    f"{_OOXML}/officeDocument/2006/relationships": "r",
    f"{_STRICT}/officeDocument/relationships": "r",
    f"{_OOXML}/officeDocument/2006/math": "m",
    f"{_STRICT}/officeDocument/math": "m",
    f"{_OOXML}/drawingml/2006/main": "a",
    f"{_STRICT}/drawingml/main": "a",
    f"{_OOXML}/drawingml/2006/wordprocessingDrawing": "wp",
    f"{_STRICT}/drawingml/wordprocessingDrawing": "wp",
    f"{_OOXML}/markup-compatibility/2006": "mc",
    f"{_OOXML}/package/2006/relationships": "rel",
    f"{_OOXML}/package/2006/content-types": "ct",
    "http://www.w3.org/XML/1998/namespace": "xml",
}
"""Namespaces of ECMA-376 (transitional and strict) and the prefixes this package uses for them."""

_START_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_WITH_TEXT = frozenset({"w:t", "w:delText", "w:instrText", "w:delInstrText", "m:t"})


class Element:
    """An element and its place in the bytes of its part.

    ``start`` to ``end`` is all of it, ``inner_start`` to ``inner_end`` its content; both are equal
    to ``end`` for an empty tag.
    """

    __slots__ = (
        "attributes",
        "children",
        "end",
        "inner_end",
        "inner_start",
        "name",
        "parent",
        "prefix",
        "start",
        "text",
    )

    def __init__(self, name: str, prefix: str, attributes: dict[str, str], start: int) -> None:
        self.name = name
        self.prefix = prefix
        """As the document writes it; empty for the default namespace."""
        self.attributes = attributes
        self.children: list[Element] = []
        self.text = ""
        self.parent: Element | None = None
        self.start = start
        self.inner_start = self.inner_end = self.end = start

    @property
    def is_empty_tag(self) -> bool:
        """Whether it is written as one tag, such as ``<w:p/>``."""
        return self.inner_start == self.end

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def child(self, name: str) -> Element | None:
        """Return the first child of this name."""
        return next((child for child in self.children if child.name == name), None)

    def find(self, *path: str) -> Element | None:
        """Return the first descendant along a path of names."""
        found: Element | None = self
        for name in path:
            found = None if found is None else found.child(name)
        return found

    def walk(self) -> Iterator[Element]:
        """Yield this element and all below it, in document order."""
        waiting: list[Element] = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))

    def ancestors(self) -> Iterator[Element]:
        """Yield the parents, the nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


def parse_xml(content: bytes, what: str) -> Element:
    """Return the root of a part. Raises ``InvalidRequest`` and ``TooLarge``; ``what`` names it."""
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"} or b"\0" in content[:4]:
        raise InvalidRequest(f"{what} is not in UTF-8", hint="Save the document again with Word.")
    try:
        return _Builder(content, what).parsed()
    except expat.ExpatError as error:
        raise InvalidRequest(f"{what} is not well-formed XML ({error})") from error


class _Builder:
    def __init__(self, content: bytes, what: str) -> None:
        self._content = content
        self._what = what
        self._names: dict[str, tuple[str, str]] = {}
        self._open: list[Element] = []
        self._root: Element | None = None
        self._count = 0
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.namespace_prefixes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype

    def parsed(self) -> Element:
        self._parser.Parse(self._content, True)
        assert self._root is not None
        return self._root

    def _doctype(self, *_: Any) -> None:
        raise InvalidRequest(f"{self._what} declares a document type, which documents never do")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > ELEMENTS_LIMIT:
            raise TooLarge(f"{self._what} has more than {ELEMENTS_LIMIT} elements")
        if len(self._open) >= DEPTH_LIMIT:
            raise TooLarge(f"{self._what} is nested more than {DEPTH_LIMIT} deep")
        known, prefix = self._known(name)
        start = self._parser.CurrentByteIndex
        named = {self._known(key)[0]: value for key, value in attributes.items()}
        element = Element(known, prefix, named, start)
        tag = _START_TAG.match(self._content, start)
        assert tag is not None
        element.inner_start = tag.end()
        if self._open:
            element.parent = self._open[-1]
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        if self._content[element.inner_start - 2 : element.inner_start] == b"/>":
            element.inner_end = element.end = element.inner_start
            return
        element.inner_end = self._parser.CurrentByteIndex
        element.end = self._content.index(b">", element.inner_end) + 1

    def _characters(self, text: str) -> None:
        if self._open[-1].name in _WITH_TEXT:
            self._open[-1].text += text

    def _known(self, name: str) -> tuple[str, str]:
        """Return a name with our prefix, and the document's own prefix."""
        found = self._names.get(name)
        if found is None:
            parts = name.split(" ")
            if len(parts) == 1:
                found = (name, "")
            else:
                uri, local, prefix = parts[0], parts[1], parts[2] if len(parts) > 2 else ""
                known = PREFIXES.get(uri)
                found = (f"{known}:{local}" if known else f"{{{uri}}}{local}", prefix)
            self._names[name] = found
        return found
