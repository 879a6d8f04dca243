"""Word documents as numbered paragraphs and as pages, also hostile ones."""

from __future__ import annotations

import io
import re
import zipfile

import pytest

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.word.parsing.document import WordDocument
from jupyter_ai_shoulders.files.word.rendering.outline import OutlineRange, outline
from jupyter_ai_shoulders.files.word.rendering.page import word_page
from jupyter_ai_shoulders.files.word.word_files import WordFiles
from jupyter_ai_shoulders.guard.process.worker_process import WorkerResult, run_worker
from jupyter_ai_shoulders.wire.ids import Version
from tests.files.word.raw_documents import (
    deleted,
    document,
    inserted,
    paragraph,
    run_of,
    table,
    zipped,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 40
COMMENTS = (
    '<w:comment w:id="5" w:author="Ann" w:date="2024-01-02T03:04:05Z"><w:p><w:r>'
    "<w:t>Is this &lt;so&gt;?</w:t></w:r></w:p></w:comment>"
)
PICTURE = (
    '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" descr="a &quot;cat&quot;"/>'
    '<a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="rIdP"/></pic:blipFill>'
    "</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
)
FIELD = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF a</w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>Table 1</w:t></w:r>'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
)


def sample() -> bytes:
    return document(
        paragraph("Title", properties='<w:pStyle w:val="Heading1"/>')
        + paragraph(
            run_of("a <b> ", "<w:b/>"),
            inserted("new "),
            deleted("old "),
            '<w:commentRangeStart w:id="5"/>',
            "noted",
            '<w:commentRangeEnd w:id="5"/><w:r><w:commentReference w:id="5"/></w:r>',
            '<w:r><w:footnoteReference w:id="2"/></w:r>',
            f'<w:hyperlink r:id="rIdL">{run_of(" link")}</w:hyperlink>',
        )
        + table(f"{paragraph('x')}|{paragraph('y')}")
        + paragraph("see ", FIELD, PICTURE),
        {
            "comments.xml": COMMENTS,
            "footnotes.xml": '<w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote>'
            f'<w:footnote w:id="2">{paragraph("A note.")}</w:footnote>',
        },
        {"word/media/p.png": PNG},
    )


def page_of(content: bytes) -> str:
    return word_page(WordDocument(content), "a.docx", Version("v")).html


def test_page_shows_headings_changes_comments_tables_notes_and_pictures() -> None:
    html = page_of(sample())
    assert '<h1 data-paragraph="1">Title</h1>' in html
    assert "<b>a &lt;b&gt; </b>" in html
    assert '<ins data-author="Ann" data-date="2024-01-02">new </ins>' in html
    assert '<del data-author="Ann" data-date="2024-01-02">old </del>' in html
    assert '<span data-comment="5">noted</span><sup>1</sup>' in html
    assert '<td><p data-paragraph="3">x</p></td>' in html
    assert 'see Table 1<img src="data:image/png;base64,' in html
    assert 'alt="a &quot;cat&quot;"' in html
    assert html.endswith('<hr><p data-paragraph="6"><sup>1</sup> A note.</p>')


def test_outline_numbers_paragraphs_and_says_what_is_in_them() -> None:
    shown = outline(WordDocument(sample()), OutlineRange())
    assert shown.text.splitlines() == [
        "Word document (6 paragraphs; 1 table; 2 tracked changes, shown as accepted)",
        "1 [Heading 1] Title",
        "2 [Normal] a <b> new noted link",
        '    (Ann inserted "new"; Ann deleted "old"; footnote 2 after "a <b> new noted"; 1 link)',
        "Table 1:",
        "3 [row 1, column 1] x",
        "4 [row 1, column 2] y",
        "(end of table 1)",
        "5 [Normal] see Table 1",
        '    (a picture "a "cat""; fields: REF)',
        "Footnote 2:",
        "6 [Normal] A note.",
        "Comments:",
        '- Ann (paragraph 2, on "noted"): Is this <so>?',
    ]
    assert (shown.first, shown.last, shown.total) == (1, 6, 6)
    part = outline(WordDocument(sample()), OutlineRange(start=3, end=4))
    assert (part.first, part.last) == (3, 4)


def test_paragraphs_joined_by_a_deleted_mark_are_one() -> None:
    mark = '<w:rPr><w:del w:id="9" w:author="Ann"/></w:rPr>'
    read = WordDocument(document(paragraph("one ", properties=mark) + paragraph("two")))
    assert [each.text for each in read.paragraphs] == ["one two"]


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", '" onload="x', "&lt;img src=x onerror=1&gt;", "javascript:"],
)
def test_page_has_no_markup_of_the_document(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    html = page_of(
        document(
            paragraph(text, inserted("x", author=escaped))
            + paragraph(f'<w:hyperlink w:anchor="{escaped}">{run_of("y")}</w:hyperlink>')
        )
    )
    assert set(re.findall(r"<(/?[a-z0-9]+)", html)) <= {"p", "/p", "ins", "/ins", "span", "/span"}
    assert set(re.findall(r' ([a-z-]+)="', html)) <= {
        *("data-paragraph", "title", "data-author", "data-date")
    }


def bomb() -> bytes:
    with io.BytesIO() as written:
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", "<a/>")
            archive.writestr("word/document.xml", b"\0" * (150 << 20))
        return written.getvalue()


HOSTILE = {
    "zip bomb": (bomb, "archive bombs"),
    "entities": (
        lambda: zipped(
            {
                "[Content_Types].xml": b"<a/>",
                "_rels/.rels": b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
            }
        ),
        "entities",
    ),
    "nested": (lambda: document("<w:sdt>" * 20_000 + "</w:sdt>" * 20_000), "nested"),
    "not zip": (lambda: b"hello", "not a Word document"),
    "old": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "Word 97-2003"),
    "encrypted": (
        lambda: (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
            + bytes(600)
            + "EncryptedPackage".encode("utf-16-le")
        ),
        "password",
    ),
    "other zip": (lambda: zipped({"a.txt": b"x"}), "not a Word document"),
    "outside": (
        lambda: zipped(
            {
                "[Content_Types].xml": b"<a/>",
                "_rels/.rels": b'<Relationships xmlns="http://schemas.openxmlformats.org/package/'
                b'2006/relationships"><Relationship Id="a" Type="x/officeDocument" '
                b'Target="../../etc/passwd"/></Relationships>',
            }
        ),
        "not a Word document",
    ),
    "broken": (lambda: document("<w:p>"), "not well-formed"),
    "cut": (lambda: sample()[:900], "damaged"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_document_is_refused(name: str) -> None:
    make, said = HOSTILE[name]
    with pytest.raises(ShouldersError, match=said):
        WordDocument(make())


def test_worker_refuses_a_million_paragraphs_in_bounded_time() -> None:
    content = document("<w:p/>" * 1_000_000)
    with pytest.raises(ShouldersError, match=r"many\.docx cannot be read"):
        WordFiles().page(content, "many.docx")


def test_text_is_one_line_per_paragraph_and_cached() -> None:
    asked: list[str] = []

    def helper(
        module: str, arguments: tuple[str, ...], content: bytes, seconds: float
    ) -> WorkerResult:
        asked.append(module)
        return run_worker(module, arguments, content, seconds)

    files = WordFiles(helper)
    content = document(paragraph("one & <") + paragraph("<w:r><w:t>a</w:t><w:br/></w:r>", "b"))
    assert files.text(content, "a.docx") == files.text(content, "a.docx") == "one & <\na\u2028b"
    assert len(asked) == 1
