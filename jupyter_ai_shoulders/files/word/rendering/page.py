"""A Word document as a page of safe HTML, with its paragraphs and comments. Pure.

Every text and attribute is escaped where it is written, and only fixed tags are written, so nothing
of the document can become markup. Run by ``files.word.worker`` for ``GET word``.
"""

from __future__ import annotations

import html

from jupyter_ai_shoulders.files.word.parsing.document import WordDocument, plain_text
from jupyter_ai_shoulders.files.word.parsing.paragraphs import Paragraph
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element
from jupyter_ai_shoulders.files.word.rendering.inline_html import InlineRenderer
from jupyter_ai_shoulders.wire.api.word import WordComment, WordPage, WordParagraph
from jupyter_ai_shoulders.wire.ids import Version

PARAGRAPHS_LIMIT = 5_000
HTML_LIMIT = 3_000_000
"""Characters of HTML besides pictures."""
COMMENTS_LIMIT = 1_000
_TEXT_BOX = "w:txbxContent"
_CONTAINERS = frozenset({"w:sdt", "w:sdtContent", "w:customXml"})
_REFERENCES = {"footnote": "w:footnoteReference", "endnote": "w:endnoteReference"}


def word_page(document: WordDocument, path: str, version: Version) -> WordPage:
    """Return a document as a page, cut at the limits."""
    renderer = PageRenderer(document)
    content = renderer.html()
    comments = document.comments()
    shown = document.paragraphs[:PARAGRAPHS_LIMIT]
    return WordPage(
        path=path,
        version=version,
        html=content,
        paragraphs=tuple(_paragraph(document, each) for each in shown),
        comments=tuple(
            WordComment(
                id=each.id,
                author=each.author,
                date=each.date,
                text=each.text[:10_000],
                paragraph=each.paragraph,
            )
            for each in comments[:COMMENTS_LIMIT]
        ),
        tracked_changes=document.tracked_changes(),
        truncated=renderer.truncated
        or len(shown) < len(document.paragraphs)
        or len(comments) > COMMENTS_LIMIT,
    )


def _paragraph(document: WordDocument, paragraph: Paragraph) -> WordParagraph:
    return WordParagraph(
        number=paragraph.number,
        style=document.styles.name(paragraph.style),
        text=paragraph.text,
        original=paragraph.original,
        has_changes=paragraph.has_changes,
    )


class PageRenderer:
    """Renders the blocks of a document."""

    def __init__(self, document: WordDocument) -> None:
        self.truncated = False
        self._document = document
        self._inline = InlineRenderer(document.package)
        self._first = {(each.part, each.elements[0].start): each for each in document.paragraphs}
        self._length = 0
        self._count = 0

    def html(self) -> str:
        """Return the body, then notes, headers and footers under a rule."""
        document = self._document
        body = document.package.tree(document.package.main).child("w:body")
        assert body is not None
        parts = [self._blocks(body, document.package.main)]
        rest = document.paragraphs[document.body_end :]
        if rest:
            parts.append("<hr>")
        for paragraph in rest:
            if self._is_full():
                break
            parts.append(self._outside(paragraph))
        return "".join(parts)

    def _outside(self, paragraph: Paragraph) -> str:
        """Return a paragraph of a note, a header or a footer."""
        story = self._document.story(paragraph)
        label = "" if story in _REFERENCES else f"<i>{story.capitalize()}:</i> "
        if paragraph.note is not None:
            number = self._inline.notes.get((_REFERENCES.get(story, ""), paragraph.note))
            label = "" if number is None else f"<sup>{number}</sup> "
        content = self._inline.html(paragraph)
        return self._add(f'<p data-paragraph="{paragraph.number}">{label}{content}</p>')

    def _blocks(self, parent: Element, part: str) -> str:
        lists = _OpenLists()
        parts = list(self._each(parent, part, lists))
        return "".join([*parts, lists.close(0)])

    def _each(self, parent: Element, part: str, lists: _OpenLists) -> list[str]:
        parts: list[str] = []
        for child in parent.children:
            if self._is_full():
                break
            if child.name == "w:p":
                parts.append(self._block(child, part, lists))
            elif child.name == "w:tbl":
                parts += [lists.close(0), self._table(child, part)]
            elif child.name in _CONTAINERS:
                parts += self._each(child, part, lists)
        return parts

    def _block(self, element: Element, part: str, lists: _OpenLists) -> str:
        paragraph = self._first.get((part, element.start))
        if paragraph is None:
            if (part, element.start) in self._document.numbers:
                return ""  # joined to the one before it
            return self._add(
                f"{lists.close(0)}<p><del>{html.escape(plain_text(element))}</del></p>"
            )
        self._count += 1
        content = self._inline.html(paragraph) or "<br>"
        number = f' data-paragraph="{paragraph.number}"'
        styles = self._document.styles
        heading = styles.heading_level(paragraph.style)
        boxes = "".join(self._text_boxes(paragraph))
        if heading is not None:
            tag = f"h{min(max(heading, 1), 6)}"
            return self._add(f"{lists.close(0)}<{tag}{number}>{content}</{tag}>{boxes}")
        in_list = styles.list_level(paragraph.elements[-1], paragraph.style)
        if in_list is not None:
            tag = "ul" if in_list.format in {"bullet", "none"} else "ol"
            return self._add(f"{lists.item(tag, in_list.level)}<p{number}>{content}</p>{boxes}")
        return self._add(f"{lists.close(0)}<p{number}>{content}</p>{boxes}")

    def _text_boxes(self, paragraph: Paragraph) -> list[str]:
        found: list[str] = []
        for piece in paragraph.pieces:
            chosen = piece.element.child("mc:Choice") or piece.element
            for each in () if piece.text else chosen.walk():
                if each.name == _TEXT_BOX:
                    text = html.escape(plain_text(each)).replace("\n", "<br>")
                    found.append(f"<p>[Text box] {text}</p>")
        return found

    def _table(self, table: Element, part: str) -> str:
        rows: list[str] = []
        for row in _nested(table, "w:tr"):
            cells: list[str] = []
            for cell in _nested(row, "w:tc"):
                span = cell.find("w:tcPr", "w:gridSpan")
                count = "" if span is None else span.get("w:val")
                wide = f' colspan="{int(count)}"' if count.isdecimal() and len(count) < 4 else ""
                cells.append(f"<td{wide}>{self._blocks(cell, part)}</td>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
            if self._is_full():
                break
        return f"<table><tbody>{''.join(rows)}</tbody></table>"

    def _add(self, text: str) -> str:
        self._length += len(text)
        return text

    def _is_full(self) -> bool:
        used = self._length - self._inline.pictures * 4 // 3
        full = self._count >= PARAGRAPHS_LIMIT or used > HTML_LIMIT
        self.truncated = self.truncated or full
        return full


class _OpenLists:
    """The lists that are open at a place, the outermost first; each has an open item."""

    def __init__(self) -> None:
        self._tags: list[str] = []

    def item(self, tag: str, level: int) -> str:
        """Return what opens an item at a level from 1."""
        closed = self.close(level)
        if len(self._tags) == level and self._tags[-1] != tag:
            closed += self.close(level - 1)
        if len(self._tags) == level:
            return f"{closed}</li><li>"
        opened = ""
        while len(self._tags) < level:
            self._tags.append(tag)
            opened += f"<{tag}><li>"
        return closed + opened

    def close(self, level: int) -> str:
        """Return what closes the lists deeper than a level."""
        closed = ""
        while len(self._tags) > level:
            closed += f"</li></{self._tags.pop()}>"
        return closed


def _nested(parent: Element, name: str) -> list[Element]:
    found: list[Element] = []
    for child in parent.children:
        if child.name == name:
            found.append(child)
        elif child.name in _CONTAINERS:
            found += _nested(child, name)
    return found
