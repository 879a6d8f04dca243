"""A Word document as numbered paragraphs for a model, with what concerns them. Pure.

Run by ``files.word.worker`` for the tool ``read_file``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_ai_shoulders.files.word.parsing.document import LINE_BREAK, WordDocument, plain_text
from jupyter_ai_shoulders.files.word.parsing.paragraphs import CONTENT_OBJECTS, Paragraph
from jupyter_ai_shoulders.files.word.parsing.xml_tree import Element

MAX_CHARS = 30_000
"""Characters of an outline."""
COMMENTS_LIMIT = 100
COMMENT_LENGTH = 300
CHANGES_LIMIT = 8
"""Tracked changes of one paragraph that are listed."""
QUOTE = 60
LINES_LIMIT = 2_000
_NOTE_MARKS = {"w:footnoteReference": "footnote", "w:endnoteReference": "endnote"}


@dataclass(frozen=True, slots=True)
class Outline:
    """Numbered paragraphs; ``first`` to ``last`` of ``total`` are shown."""

    text: str
    first: int
    last: int
    total: int


@dataclass(frozen=True, slots=True)
class OutlineRange:
    """The paragraphs that are wanted, from 1 and inclusive; ``tail`` counts from the end."""

    start: int | None = None
    end: int | None = None
    tail: int | None = None
    max_chars: int = MAX_CHARS


def outline(document: WordDocument, wanted: OutlineRange) -> Outline:
    """Return the wanted paragraphs as far as they fit, with what concerns them."""
    total = len(document.paragraphs)
    start = wanted.start or 1
    if wanted.tail is not None:
        start = max(1, total - wanted.tail + 1)
    lines = [_heading(document)]
    left = wanted.max_chars
    last = start - 1
    before: Paragraph | None = None
    for paragraph in document.paragraphs[start - 1 : wanted.end]:
        added = [*_place(document, before, paragraph), *_paragraph(document, paragraph)]
        left -= sum(len(line) + 1 for line in added)
        if (left < 0 and last >= start) or last - start >= LINES_LIMIT:
            break
        lines += added
        before, last = paragraph, paragraph.number
    lines += _comments(document, start, last)
    return Outline("\n".join(lines), start, last, total)


def _heading(document: WordDocument) -> str:
    notes = [_counted(len(document.paragraphs), "paragraph")]
    if document.tables:
        notes.append(_counted(document.tables, "table"))
    changes = document.tracked_changes()
    if changes:
        notes.append(f"{_counted(changes, 'tracked change')}, shown as accepted")
    protection = document.protection()
    if protection:
        notes.append(protection)
    return f"Word document ({'; '.join(notes)})"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _place(document: WordDocument, before: Paragraph | None, paragraph: Paragraph) -> Iterator[str]:
    """Yield a heading where a table, or another part of the document, begins."""
    story = document.story(paragraph)
    if story != "body" and (
        before is None or before.part != paragraph.part or before.note != paragraph.note
    ):
        yield (
            f"{story.capitalize()} {paragraph.note}:"
            if paragraph.note
            else f"{story.capitalize()}:"
        )
    table = None if paragraph.cell is None else paragraph.cell.table
    earlier = None if before is None or before.cell is None else before.cell.table
    if table is not None and table != earlier:
        yield f"Table {table}:"
    if table is None and earlier is not None:
        yield f"(end of table {earlier})"


def _paragraph(document: WordDocument, paragraph: Paragraph) -> Iterator[str]:
    facts: list[str] = []
    if paragraph.cell is not None:
        facts.append(f"row {paragraph.cell.row}, column {paragraph.cell.column}")
    style = document.styles.name(paragraph.style)
    if style != "Normal" or not facts:
        facts.append(style)
    in_list = document.styles.list_level(paragraph.elements[-1], paragraph.style)
    if in_list is not None:
        facts.append(f"{in_list.format} list, level {in_list.level}")
    shown = paragraph.text.replace("\n", "\n    ").replace(LINE_BREAK, " ")
    yield f"{paragraph.number} [{', '.join(facts)}] {shown}"
    notes = list(_notes(paragraph))
    if notes:
        yield f"    ({'; '.join(notes)})"


def _notes(paragraph: Paragraph) -> Iterator[str]:
    """Yield what is in a paragraph besides its text."""
    yield from _changes(paragraph)
    if any("\n" in piece.text for piece in paragraph.pieces):
        yield "the indented lines are line breaks in it"
    before = ""
    for piece in paragraph.pieces:
        name = piece.element.name
        if piece.text:
            before = (before + piece.text)[-QUOTE:] if piece.change != "deleted" else before
        elif name in _NOTE_MARKS:
            yield f'{_NOTE_MARKS[name]} {piece.element.get("w:id")} after "{_end(before)}"'
        elif name in CONTENT_OBJECTS or name.startswith("m:"):
            yield _described(piece.element)
    codes = _fields(paragraph)
    if codes:
        yield f"fields: {', '.join(codes)}"
    links = sum(
        each.name == "w:hyperlink" for element in paragraph.elements for each in element.walk()
    )
    if links:
        yield _counted(links, "link")


def _changes(paragraph: Paragraph) -> Iterator[str]:
    found: list[tuple[Element, str, str]] = []
    for piece in paragraph.pieces:
        if piece.tracked is None or piece.change is None or not piece.text:
            continue
        if found and found[-1][0] is piece.tracked:
            found[-1] = (piece.tracked, piece.change, found[-1][2] + piece.text)
        else:
            found.append((piece.tracked, piece.change, piece.text))
    for element, change, text in found[:CHANGES_LIMIT]:
        yield f'{element.get("w:author") or "somebody"} {change} "{_cut(text)}"'
    if len(found) > CHANGES_LIMIT:
        yield f"{len(found) - CHANGES_LIMIT} more tracked changes"


def _fields(paragraph: Paragraph) -> list[str]:
    codes = [
        each.text if each.name == "w:instrText" else each.get("w:instr")
        for element in paragraph.elements
        for each in element.walk()
        if each.name in {"w:instrText", "w:fldSimple"}
    ]
    return [code.split()[0] for code in codes if code.split()][:10]


def _described(element: Element) -> str:
    chosen = element.child("mc:Choice") or element
    for each in chosen.walk():
        if each.name == "w:txbxContent":
            return f'a text box with "{_cut(" ".join(plain_text(each).split()))}"'
    if element.name.startswith("m:"):
        said = "".join(each.text for each in element.walk() if each.name == "m:t")
        return f'an equation "{_cut(said)}"'
    for each in chosen.walk():
        if each.name == "wp:docPr" and each.get("descr"):
            return f'a picture "{_cut(each.get("descr"))}"'
    return "a picture or an object"


def _comments(document: WordDocument, first: int, last: int) -> Iterator[str]:
    """Yield the comments on the paragraphs shown, and those whose place is not known."""
    everything = [
        each
        for each in document.comments()
        if first <= each.paragraph <= last or not each.paragraph
    ]
    if everything:
        yield "Comments:"
    for each in everything[:COMMENTS_LIMIT]:
        place = f"paragraph {each.paragraph}" if each.paragraph else "no place"
        quote = f', on "{_cut(each.quote)}"' if each.quote else ""
        text = " ".join(each.text.split())
        cut = text if len(text) <= COMMENT_LENGTH else f"{text[:COMMENT_LENGTH]}…"
        yield f"- {each.author or 'somebody'} ({place}{quote}): {cut}"
    if len(everything) > COMMENTS_LIMIT:
        yield f"[… {len(everything) - COMMENTS_LIMIT} more comments]"


def _cut(text: str) -> str:
    flat = " ".join(text.split()) or text
    return flat if len(flat) <= QUOTE else f"{flat[:QUOTE]}…"


def _end(text: str) -> str:
    return text if len(text) <= 30 else f"…{text[-30:]}"
