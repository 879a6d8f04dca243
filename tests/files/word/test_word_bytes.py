"""An edit changes the bytes of the paragraphs it names, and no others of the archive."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.files.word.editing.changes import edited
from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.editing.markup import Author
from jupyter_ai_shoulders.files.word.parsing.document import WordDocument
from tests.files.word.corpus import raw_corpus
from tests.files.word.independent_reader import members, settled_lines
from tests.files.word.raw_documents import document, paragraph

AUTHORS = {
    "tracked": Author("AI", "2026-01-01T00:00:00Z", tracked=True),
    "plain": Author("AI", "2026-01-01T00:00:00Z", tracked=False),
}
MAIN = "word/document.xml"
_TAG = re.compile(rb"<(/?)w:p(?=[\s/>])[^>]*?(/?)>")
_DELETED_MARK = re.compile(rb"<w:pPr>(?:(?!</w:pPr>).)*<w:rPr><w:del ", re.DOTALL)


def spans(content: bytes) -> list[tuple[int, int]]:
    """Return where the numbered paragraphs are, by their tags; those in text boxes do not count."""
    found: list[tuple[int, int]] = []
    depth = start = 0
    for tag in _TAG.finditer(content):
        closing, empty = bool(tag[1]), bool(tag[2])
        if depth == 0:
            start = tag.start()
        depth += -1 if closing else 0 if empty else 1
        if depth == 0:
            found.append((start, tag.end()))
    joined: list[tuple[int, int]] = []
    goes_on = False
    for start, end in found:
        joined.append((joined.pop()[0] if goes_on else start, end))
        goes_on = _DELETED_MARK.match(content, content.index(b">", start) + 1) is not None
    return joined


def outside(content: bytes, touched: Sequence[tuple[int, int]]) -> re.Pattern[bytes]:
    """Return a pattern of the content with anything in the places that were touched."""
    kept: list[bytes] = []
    position = 0
    for start, end in touched:
        kept.append(re.escape(content[position:start]))
        position = end
    return re.compile(b"(.*?)".join([*kept, re.escape(content[position:])]), re.DOTALL)


CHANGES: dict[str, Callable[[str], str]] = {
    "first word": lambda text: text.replace(text.split(" ")[0], "changed", 1),
    "split": lambda text: f"{text[:1]}\nin two{text[1:]}",
    "paragraph after": lambda text: f"{text}\nAnother.",
    "removed": lambda _: "",
}


def edits_of(lines: Sequence[str], first: int) -> list[ParagraphEdit]:
    """Return an edit of every second paragraph with text; the kinds take turns."""
    texts = [number for number, line in enumerate(lines) if line.strip()]
    kinds = list(CHANGES.values())
    return [
        ParagraphEdit(number + 1, lines[number], kinds[(at + first) % len(kinds)](lines[number]))
        for at, number in enumerate(texts[first % 2 :: 2])
    ]


def made(
    read: WordDocument, edits: Sequence[ParagraphEdit], author: Author
) -> tuple[bytes, list[ParagraphEdit]]:
    """Make the edits that are possible; return the document and them."""
    left = list(edits)
    while True:
        try:
            return edited(read, left, author).content, left
        except InvalidRequest as error:
            number = int(re.findall(r"paragraph (\d+)", str(error))[0])
            left = [each for each in left if each.paragraph != number]


DOCUMENTS = raw_corpus()


@pytest.mark.parametrize("author", AUTHORS.values(), ids=AUTHORS)
@pytest.mark.parametrize("content", DOCUMENTS.values(), ids=DOCUMENTS)
def test_bytes_outside_of_the_edited_paragraphs_stay(content: bytes, author: Author) -> None:
    before = members(content)
    lines = settled_lines(content, "accept")
    places = spans(before[MAIN])
    assert len(places) == len(lines)
    done = 0
    for first in range(len(CHANGES)):
        after, edits = made(WordDocument(content), edits_of(lines, first), author)
        touched = [places[each.paragraph - 1] for each in edits]
        now = members(after)
        assert outside(before[MAIN], touched).fullmatch(now[MAIN]), edits
        assert {name: part for name, part in now.items() if name != MAIN} == {
            name: part for name, part in before.items() if name != MAIN
        }
        check_untouched_members(content, after, {MAIN})
        done += len(edits)
    assert done >= 4


OTHER_STORIES = {
    "footnotes.xml": ("footnotes.xml", f'<w:footnote w:id="2">{paragraph("A note")}</w:footnote>'),
    "endnotes.xml": ("endnotes.xml", f'<w:endnote w:id="2">{paragraph("A note")}</w:endnote>'),
    "header1.xml": ("header1.xml", paragraph("A note")),
    "footer1.xml": ("footer1.xml", paragraph("A note")),
}


@pytest.mark.parametrize(("part", "inner"), OTHER_STORIES.values(), ids=OTHER_STORIES)
def test_an_edit_of_a_note_or_an_edge_of_pages_leaves_the_body(part: str, inner: str) -> None:
    content = document(paragraph("The body"), {part: inner})
    edit = ParagraphEdit(2, "note", "remark")
    after = edited(WordDocument(content), [edit], AUTHORS["tracked"]).content
    check_untouched_members(content, after, {f"word/{part}"})
    [place] = spans(members(content)[f"word/{part}"])
    pattern = outside(members(content)[f"word/{part}"], [place])
    assert pattern.fullmatch(members(after)[f"word/{part}"])


# the archive


@dataclass(frozen=True, slots=True)
class Stored:
    """A member as the archive has it."""

    record: bytes
    """The local header, its extra field and the packed bytes."""
    directory: tuple[object, ...]
    """What the central directory says, other than the position."""


def stored(content: bytes) -> dict[str, Stored]:
    """Return the members in the order of the directory, read by the layout of APPNOTE 4.3."""
    found: dict[str, Stored] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            at = info.header_offset
            name, extra = struct.unpack_from("<2H", content, at + 26)
            end = at + 30 + name + extra + info.compress_size
            found[info.filename] = Stored(
                content[at:end],
                (
                    *(info.date_time, info.compress_type, info.flag_bits, info.extra, info.comment),
                    *(info.external_attr, info.internal_attr, info.create_system),
                    *(info.create_version, info.extract_version, info.CRC),
                    *(info.file_size, info.compress_size),
                ),
            )
    return found


def check_untouched_members(before: bytes, after: bytes, touched: set[str]) -> None:
    """Check order, dates, kinds of compression and packed bytes; new members come last."""
    old, new = stored(before), stored(after)
    assert list(new)[: len(old)] == list(old)
    with (
        zipfile.ZipFile(io.BytesIO(before)) as archive,
        zipfile.ZipFile(io.BytesIO(after)) as other,
    ):
        assert other.testzip() is None
        assert other.comment == archive.comment
        by_place = sorted(other.infolist(), key=lambda each: each.header_offset)
        was = sorted(archive.infolist(), key=lambda each: each.header_offset)
        assert [each.filename for each in by_place][: len(was)] == [each.filename for each in was]
        for name in old:
            assert other.getinfo(name).date_time == archive.getinfo(name).date_time
    assert {name for name in old if old[name] != new[name]} == touched


def odd_archive(content: bytes, *, streamed: bool) -> bytes:
    """Return a document packed in many ways, its main part in the middle and some dates odd."""
    written = Streamed() if streamed else io.BytesIO()
    packings = [(zipfile.ZIP_DEFLATED, 9), (zipfile.ZIP_STORED, 0), (zipfile.ZIP_DEFLATED, 1)]
    with zipfile.ZipFile(written, "w") as archive:
        archive.comment = b"about the archive"
        parts = [*members(content).items()]
        extra = [("word/vbaProject.bin", bytes(range(256)) * 9), ("custom/größe.bin", b"size" * 99)]
        for number, (name, part) in enumerate([*parts[::-1], *extra]):
            info = zipfile.ZipInfo(name, (1980 + number * 7, number % 12 + 1, 3, 4, 5, 6))
            info.compress_type, level = packings[number % 3]
            info.external_attr = 0o640 << 16 | number
            info.create_system = number % 4
            info.comment = f"comment {number}".encode()
            info.extra = struct.pack("<2H4s", 0xCAFE, 4, b"kept") if number % 2 else b""
            archive.writestr(info, part, compresslevel=level)
    return written.getvalue()


class Streamed(io.BytesIO):
    """A file without positions, for which ``zipfile`` writes sizes after the content."""

    def tell(self) -> int:
        raise io.UnsupportedOperation


@pytest.mark.parametrize("comment", [None, "Why?"], ids=["text", "with a comment"])
@pytest.mark.parametrize("streamed", [False, True], ids=["sizes before", "sizes after"])
def test_members_that_are_not_edited_are_copied_as_stored(
    comment: str | None, *, streamed: bool
) -> None:
    content = odd_archive(document(paragraph("Some words.")), streamed=streamed)
    edit = ParagraphEdit(1, "words", "text", comment)
    after = edited(WordDocument(content), [edit], AUTHORS["tracked"]).content
    registered = {"[Content_Types].xml", "word/_rels/document.xml.rels"} if comment else set[str]()
    check_untouched_members(content, after, {MAIN} | registered)
    added = {"word/comments.xml"} if comment else set[str]()
    assert stored(after).keys() - stored(content).keys() == added
    assert settled_lines(after, "accept") == ["Some text."]
    assert bool(stored(content)[MAIN].directory[2] == 8) == streamed
