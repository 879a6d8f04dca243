"""The HTML of one paragraph's text: escaped, with changes, comments and pictures. Pure.

Used by ``files.word.rendering.page``.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.word.parsing.package import Relationship, WordPackage
from jupyter_ai_shoulders.files.word.parsing.paragraphs import Paragraph, Piece
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element

PICTURE_LIMIT = 1 << 20
"""Bytes of a picture that is shown."""
PICTURES_LIMIT = 6 << 20
"""Bytes of all pictures of a page."""
_RASTERS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
_VML_IMAGE = "{urn:schemas-microsoft-com:vml}imagedata"
_OFF = frozenset({"0", "false", "off", "none"})
_NOTE_REFERENCES = frozenset({"w:footnoteReference", "w:endnoteReference"})
_SCRIPTS = {"superscript": "sup", "subscript": "sub"}


@dataclass(slots=True)
class InlineRenderer:
    """Renders the text of paragraphs; counts the bytes of pictures over all of them."""

    package: WordPackage
    pictures: int = 0
    notes: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """The number shown for each footnote and endnote, by the name of its mark and its id."""
    _relationships: dict[str, dict[str, Relationship]] = field(
        default_factory=dict[str, dict[str, Relationship]]
    )

    def html(self, paragraph: Paragraph) -> str:
        """Return a paragraph's content."""
        marks = _comment_marks(paragraph)
        parts: list[str] = []
        wrapped: tuple[str, str] | None = None
        content = ""
        for piece in paragraph.pieces:
            inner = self._piece(piece, paragraph.part)
            if not inner:
                continue
            wrapper = self._wrapper(piece, paragraph.part, _active(marks, piece))
            if wrapper != wrapped and wrapped is not None:
                parts.append(f"{wrapped[0]}{content}{wrapped[1]}")
                content = ""
            wrapped = wrapper
            content += inner
        if wrapped is not None:
            parts.append(f"{wrapped[0]}{content}{wrapped[1]}")
        return "".join(parts)

    def _piece(self, piece: Piece, part: str) -> str:
        if piece.text:
            return html.escape(piece.text).replace("\n", "<br>")
        name = piece.element.name
        if name in _NOTE_REFERENCES:
            key = (name, piece.element.get("w:id"))
            number = self.notes.setdefault(key, len(self.notes) + 1)
            return f"<sup>{number}</sup>"
        if name.startswith("m:"):
            return html.escape("".join(e.text for e in piece.element.walk() if e.name == "m:t"))
        if name in {"w:drawing", "w:pict", "w:object", "mc:AlternateContent"}:
            return self._picture(piece.element, part)
        return ""

    def _picture(self, element: Element, part: str) -> str:
        chosen = element.child("mc:Choice") or element
        for each in chosen.walk():
            reference = ""
            if each.name == "a:blip":
                reference = each.get("r:embed")
            elif each.name == _VML_IMAGE:
                reference = each.get("r:id")
            if reference:
                description = next(
                    (e.get("descr") for e in chosen.walk() if e.name == "wp:docPr"), ""
                )
                return self._image(reference, part, html.escape(description[:500]))
        return ""

    def _image(self, reference: str, part: str, description: str) -> str:
        found = self._relationship(part, reference)
        data = b""
        if found is not None and not found.external:
            try:
                data = self.package.read(found.target, PICTURE_LIMIT)
            except ShouldersError:
                data = b""
        kind = next((kind for start, kind in _RASTERS if data.startswith(start)), None)
        if kind is None or self.pictures + len(data) > PICTURES_LIMIT:
            return f"[picture: {description}]" if description else "[picture]"
        self.pictures += len(data)
        encoded = base64.b64encode(data).decode("ascii")
        return f'<img src="data:{kind};base64,{encoded}" alt="{description}">'

    def _relationship(self, part: str, reference: str) -> Relationship | None:
        if part not in self._relationships:
            known = {each.id: each for each in self.package.relationships(part)}
            self._relationships[part] = known
        return self._relationships[part].get(reference)

    def _wrapper(self, piece: Piece, part: str, comments: Sequence[str]) -> tuple[str, str]:
        opened: list[str] = []
        closed: list[str] = []

        def wrap(tag: str, attributes: str = "") -> None:
            opened.append(f"<{tag}{attributes}>")
            closed.append(f"</{tag}>")

        for comment in comments:
            wrap("span", f' data-comment="{html.escape(comment)}"')
        for above in reversed(list(piece.element.ancestors())):
            if above.name in {"w:ins", "w:moveTo"}:
                wrap("ins", _author(above))
            elif above.name in {"w:del", "w:moveFrom"}:
                wrap("del", _author(above))
            elif above.name == "w:hyperlink":
                found = self._relationship(part, above.get("r:id"))
                target = found.target if found is not None else f"#{above.get('w:anchor')}"
                wrap("span", f' title="{html.escape(target[:500])}"')
        for tag in _formats(piece.run):
            wrap(tag)
        return "".join(opened), "".join(reversed(closed))


def _author(change: Element) -> str:
    """Return the attributes with the author and the day; the page says them in its language."""
    author, day = change.get("w:author")[:200], change.get("w:date")[:10]
    return f' data-author="{html.escape(author)}" data-date="{html.escape(day)}"'


def _formats(run: Element | None) -> list[str]:
    properties = None if run is None else run.child("w:rPr")
    if properties is None:
        return []
    found: list[str] = []
    for child in properties.children:
        value = child.get("w:val")
        if child.name in {"w:b", "w:i", "w:u"} and value not in _OFF:
            found.append(child.name[2:])
        elif child.name == "w:vertAlign" and value in _SCRIPTS:
            found.append(_SCRIPTS[value])
    return found


def _comment_marks(paragraph: Paragraph) -> list[tuple[int, bool, str]]:
    """Return where ranges of comments begin and end in a paragraph."""
    return [
        (each.start, each.name == "w:commentRangeStart", each.get("w:id"))
        for element in paragraph.elements
        for each in element.walk()
        if each.name in {"w:commentRangeStart", "w:commentRangeEnd"}
    ]


def _active(marks: Sequence[tuple[int, bool, str]], piece: Piece) -> list[str]:
    active: list[str] = []
    for position, begins, comment in marks:
        if position > piece.element.start:
            break
        if begins:
            active.append(comment)
        elif comment in active:
            active.remove(comment)
    return active
