"""At least sixty varied Word documents: raw XML as Word writes it, and by python-docx.

Those that LibreOffice converts from its own formats are added by ``libreoffice_sources``.
"""

from __future__ import annotations

import importlib
import io
from typing import Any

from tests.files.word.raw_documents import (
    deleted,
    document,
    inserted,
    paragraph,
    run_of,
    table,
)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)
LONG = "The quick brown fox jumps over the lazy dog, and then it sleeps."
RTL = "<w:rtl/>"
_EXTENT = '<wp:extent cx="100000" cy="100000"/>'
PICTURE = (
    f'<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">{_EXTENT}'
    '<wp:docPr id="7" name="Picture" descr="A cat"/><a:graphic>'
    '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>'
    '<pic:nvPicPr><pic:cNvPr id="0" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>'
    '<a:blip r:embed="rIdP"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr>'
    '<a:xfrm><a:off x="0" y="0"/><a:ext cx="100000" cy="100000"/></a:xfrm>'
    '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData>'
    "</a:graphic></wp:inline></w:drawing></w:r>"
)
TEXT_BOX = (
    '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline>'
    f'{_EXTENT}<wp:docPr id="8" name="Box"/><a:graphic><a:graphicData '
    'uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp>'
    "<wps:cNvSpPr/><wps:spPr/><wps:txbx><w:txbxContent><w:p><w:r><w:t>In the box</w:t></w:r></w:p>"
    "</w:txbxContent></wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline>"
    "</w:drawing></mc:Choice><mc:Fallback><w:pict/></mc:Fallback></mc:AlternateContent></w:r>"
)
MATH = "<m:oMath><m:r><m:t>a=b</m:t></m:r></m:oMath>"
BOOKMARK = (
    '<w:bookmarkStart w:id="0" w:name="mark"/>'
    + run_of("marked text")
    + ('<w:bookmarkEnd w:id="0"/>')
)
NOTE = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>'
FOOTNOTES = (
    '<w:footnote w:id="-1" w:type="separator"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    '<w:footnote w:id="0" w:type="continuationSeparator"><w:p><w:r><w:continuationSeparator/></w:r>'
    f'</w:p></w:footnote><w:footnote w:id="2">{paragraph("The note says more.")}</w:footnote>'
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
    '<w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl><w:lvl w:ilvl="1">'
    '<w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%2."/></w:lvl>'
    '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
)
COMMENT = (
    '<w:comment w:id="3" w:author="Ann" w:date="2024-01-02T03:04:05Z" w:initials="A"><w:p><w:r>'
    "<w:t>Really?</w:t></w:r></w:p></w:comment>"
)


def field(code: str, result: str) -> str:
    """Return a complex field."""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {code} </w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run_of(result)}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def control(inner: str, properties: str = "") -> str:
    """Return a content control."""
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"


def listed(text: str, level: int = 0) -> str:
    """Return a paragraph of a list."""
    number = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
    return paragraph(text, properties=number)


def _marked(change: str, text: str) -> str:
    mark = f'<w:{change} w:id="77" w:author="Ann" w:date="2024-01-02T03:04:05Z"/>'
    return paragraph(text, properties=f"<w:rPr>{mark}</w:rPr>")


_RSID = '<w:p w14:paraId="1A2B3C4D" w14:textId="77777777" w:rsidR="00A1" w:rsidRDefault="00A1">'
_LINK = (
    f'<w:hyperlink r:id="rIdL" w:history="1">{run_of("a linked phrase", "<w:u/>")}</w:hyperlink>'
)
_COMMENTED = (
    '<w:commentRangeStart w:id="3"/>'
    + run_of("commented words")
    + '<w:commentRangeEnd w:id="3"/><w:r><w:commentReference w:id="3"/></w:r>'
)
_FORMAT_CHANGE = (
    '<w:b/><w:rPrChange w:id="55" w:author="Ann" w:date="2024-01-02T03:04:05Z"><w:rPr/>'
    "</w:rPrChange>"
)
_AFTER = paragraph(LONG) + paragraph("A last line.")

BODIES: dict[str, str] = {
    "plain": paragraph(LONG) + _AFTER,
    "many runs": paragraph(*LONG) + _AFTER,
    "formats": paragraph(run_of("bold ", "<w:b/>"), "and ", run_of("slanted words", "<w:i/>"))
    + _AFTER,
    "rsids and proofing": _RSID
    + '<w:proofErr w:type="spellStart"/><w:r w:rsidRPr="00B2"><w:t>Speling</w:t></w:r>'
    '<w:proofErr w:type="spellEnd"/><w:r><w:t xml:space="preserve"> is hard to do.</w:t></w:r>'
    "</w:p>" + _AFTER,
    "rendered breaks": paragraph(
        "<w:r><w:lastRenderedPageBreak/><w:t>After the page</w:t></w:r>", " more words"
    )
    + _AFTER,
    "tabs and breaks": paragraph(
        "<w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three four</w:t></w:r>"
    )
    + _AFTER,
    "page break": paragraph("before it", '<w:r><w:br w:type="page"/></w:r>', "after it") + _AFTER,
    "hyphens": paragraph(
        "<w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>break and soft</w:t><w:softHyphen/>"
        "<w:t>hyphen words</w:t></w:r>"
    )
    + _AFTER,
    "spaces that do not break": paragraph("10\u00a0km and 20\u202f% of it") + _AFTER,
    "arabic": paragraph(run_of("مرحبا بالعالم الكبير", RTL), properties="<w:bidi/>") + _AFTER,
    "hebrew and english": paragraph(run_of("שלום עולם ", RTL), "and hello world") + _AFTER,
    "chinese": paragraph("这是一个很长的句子,用来测试编辑。") + _AFTER,
    "japanese": paragraph("日本語の文章をテストします。カタカナも。") + _AFTER,
    "korean": paragraph("한국어 문장을 시험합니다") + _AFTER,
    "devanagari": paragraph("नमस्ते दुनिया यह परीक्षण है") + _AFTER,
    "emoji": paragraph("Family 👨‍👩‍👧 and flags 🇩🇪 and ❤️ hearts") + _AFTER,
    "combining": paragraph("Cafe\u0301 nai\u0308ve coo\u0308perate") + _AFTER,
    "entities": paragraph("a < b & c > d \"quoted\" 'too'") + _AFTER,
    "link": paragraph("Before ", _LINK, " and after it.") + _AFTER,
    "link at the end": paragraph("See ", _LINK) + _AFTER,
    "link at the start": paragraph(_LINK, " says it all") + _AFTER,
    "field": paragraph("On page ", field("PAGE", "3"), " of the text") + _AFTER,
    "date field at the end": paragraph("Written on ", field("QUOTE x", "Monday")) + _AFTER,
    "simple field": paragraph(
        "By ", f'<w:fldSimple w:instr=" QUOTE y ">{run_of("Ann Author")}</w:fldSimple>', " in May"
    )
    + _AFTER,
    "index entry": paragraph(
        "An entry",
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> XE "entry" </w:instrText>'
        '</w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>',
        " of the index here",
    )
    + _AFTER,
    "bookmark": paragraph("Some ", BOOKMARK, " in here") + _AFTER,
    "bookmark over paragraphs": paragraph('<w:bookmarkStart w:id="0" w:name="b"/>', "first words")
    + paragraph("second words", '<w:bookmarkEnd w:id="0"/>')
    + _AFTER,
    "smart tag": paragraph(
        f'In <w:smartTag w:element="place">{run_of("Berlin")}</w:smartTag>'.replace("In ", ""),
        " it rains today",
    )
    + _AFTER,
    "inline control": paragraph("Name: ", control(run_of("Ann Author")), " of it") + _AFTER,
    "block control": control(paragraph("A controlled line of text")) + _AFTER,
    "picture": paragraph("Look at ", PICTURE, " this picture") + _AFTER,
    "text box": paragraph("Beside ", TEXT_BOX, "the box here") + _AFTER,
    "equation": paragraph("We have ", MATH, " and so on") + _AFTER,
    "footnote": paragraph("A claim", NOTE, " with a note after it") + _AFTER,
    "footnote at the end": paragraph("A claim with a note", NOTE) + _AFTER,
    "comment": paragraph("Here are ", _COMMENTED, " and more") + _AFTER,
    "table": table(
        f"{paragraph('a cell of words')}|{paragraph('another cell')}",
        f"{paragraph('third cell')}{paragraph('with two lines')}|{paragraph('')}",
    )
    + _AFTER,
    "nested table": table(
        table(paragraph("inner cell text")) + paragraph("below the inner"),
        paragraph("outer cell text"),
    )
    + _AFTER,
    "list": listed("first item here") + listed("a deeper item", 1) + listed("last item") + _AFTER,
    "heading": paragraph("A heading of it", properties='<w:pStyle w:val="Heading1"/>') + _AFTER,
    "sections": paragraph("In the first section")
    + paragraph(
        "its last words here",
        properties='<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>',
    )
    + _AFTER,
    "inserted before": paragraph("It has ", inserted("some new "), "words in it") + _AFTER,
    "deleted before": paragraph("It had ", deleted("some old "), "words in it") + _AFTER,
    "replaced before": paragraph("It is ", deleted("bad"), inserted("rather good"), " now")
    + _AFTER,
    "deleted in inserted": paragraph(
        "Text ", inserted("added ", deleted("then gone ", author="Bob", number=960)), "stays here"
    )
    + _AFTER,
    "format change": paragraph(run_of("changed format of words", _FORMAT_CHANGE), " here") + _AFTER,
    "moved": paragraph(
        '<w:moveFromRangeStart w:id="40" w:author="Ann" w:name="m"/>'
        + deleted("moved words ", number=41)
        .replace("w:del ", "w:moveFrom ")
        .replace("w:del>", "w:moveFrom>")
        .replace("delText", "t")
        + '<w:moveFromRangeEnd w:id="40"/>',
        "stay in place",
    )
    + paragraph(
        "Now ",
        '<w:moveToRangeStart w:id="42" w:author="Ann" w:name="m"/>'
        + inserted("moved words ", number=43).replace("w:ins", "w:moveTo")
        + '<w:moveToRangeEnd w:id="42"/>',
        "are here",
    )
    + _AFTER,
    "inserted paragraph": _marked("ins", "kept and split") + _AFTER,
    "deleted mark": _marked("del", "first half, ") + paragraph("second half") + _AFTER,
    "inserted row": "<w:tbl><w:tblPr/><w:tblGrid/>"
    '<w:tr><w:trPr><w:ins w:id="60" w:author="Ann"/></w:trPr><w:tc><w:tcPr/>'
    f"{paragraph(inserted('a new row', number=61))}</w:tc></w:tr>"
    f"<w:tr><w:tc><w:tcPr/>{paragraph('an old row')}</w:tc></w:tr></w:tbl>" + _AFTER,
    "empty paragraphs": "<w:p/>" + paragraph("between empty ones") + "<w:p></w:p>" + _AFTER,
    "symbols": paragraph(
        '<w:r><w:t>sign </w:t><w:sym w:font="Wingdings" w:char="F0E0"/></w:r>'.replace(
            "<w:t>", '<w:t xml:space="preserve">'
        ),
        " then words",
    )
    + _AFTER,
    "long": "".join(paragraph(f"Paragraph {number}. {LONG}") for number in range(60)),
}


def _parts(name: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    if "footnote" in name:
        parts["footnotes.xml"] = FOOTNOTES
    if name == "comment":
        parts["comments.xml"] = COMMENT
    if name == "list":
        parts["numbering.xml"] = NUMBERING
    if name == "sections":
        parts["header1.xml"] = paragraph("A header line")
    return parts


def raw_corpus() -> dict[str, bytes]:
    """Return the documents of raw XML."""
    return {
        name: document(body, _parts(name), {"word/media/p.png": PNG})
        for name, body in BODIES.items()
    }


def python_docx_corpus() -> dict[str, bytes]:
    """Return documents made by python-docx, with its template and styles."""
    docx: Any = importlib.import_module("docx")
    made: dict[str, bytes] = {}

    def add(name: str, built: Any) -> None:
        written = io.BytesIO()
        built.save(written)
        made[f"python-docx: {name}"] = written.getvalue()

    report = docx.Document()
    report.add_heading("A yearly report", 0)
    report.add_heading("Findings of the year", 1)
    for number in range(4):
        report.add_paragraph(f"Finding {number}: {LONG}")
    report.add_paragraph("an item of a list", style="List Bullet")
    report.add_paragraph("a numbered item", style="List Number")
    add("report", report)
    grid = docx.Document()
    cells = grid.add_table(rows=3, cols=3)
    for row in range(3):
        for column in range(3):
            cells.cell(row, column).text = f"Cell {row} of {column}"
    cells.cell(0, 0).merge(cells.cell(0, 1))
    grid.add_paragraph(LONG)
    add("table", grid)
    edges = docx.Document()
    edges.sections[0].header.paragraphs[0].text = "The header of it"
    edges.sections[0].footer.paragraphs[0].text = "The footer of it"
    edges.add_paragraph(LONG)
    edges.add_page_break()
    edges.add_paragraph("On the next page")
    add("header and footer", edges)
    pictures = docx.Document()
    pictures.add_picture(io.BytesIO(PNG))
    pictures.add_paragraph("Below the picture is text").add_run(" in bold").bold = True
    add("picture", pictures)
    styled = docx.Document()
    words = styled.add_paragraph()
    for number, word in enumerate(LONG.split()):
        run = words.add_run(f"{word} ")
        run.bold, run.italic = number % 2 == 0, number % 3 == 0
    styled.add_paragraph("A quote of somebody", style="Intense Quote")
    add("styles", styled)
    return made


LIBREOFFICE_SOURCES = {
    "list.html": "<h1>A list of things</h1><ul><li>one thing here</li><li>another thing</li></ul>"
    "<ol><li>first of all</li><li>second of all</li></ol><p>And the end of it.</p>",
    "table.html": "<p>Before the table.</p><table border=1><tr><td>left cell text</td><td>right"
    " cell</td></tr><tr><td colspan=2>a wide cell below</td></tr></table><p>After the table.</p>",
    "formats.html": "<p>Some <b>bold words</b>, <i>slanted ones</i> and <u>lines below</u>.</p>"
    '<p>A <a href="https://example.org/">link in it</a> and <sup>high</sup> words.</p>',
    "languages.html": '<p dir="rtl" lang="ar">مرحبا بالعالم الكبير</p><p lang="he" dir="rtl">שלום'
    " עולם</p><p>日本語の文章</p><p>Ordinary words at the end.</p>",
    "lines.txt": "One line of text.\nA second line of it.\n\nA last line.\n",
    "quotes.html": "<blockquote>A quoted paragraph of text.</blockquote><pre>code = 1\nmore()</pre>"
    "<p>Closing words.</p>",
}
