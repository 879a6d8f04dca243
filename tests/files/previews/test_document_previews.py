"""Previews of real and hostile documents."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, ShouldersError, TooLarge
from jupyter_ai_shoulders.files.previews import archives, formats
from jupyter_ai_shoulders.files.previews.document_previews import (
    SIZE_LIMIT,
    DocumentPreviews,
    document_kind,
)
from jupyter_ai_shoulders.files.previews.formats import TEXT_LIMIT, preview
from jupyter_ai_shoulders.guard.process.worker_process import WorkerResult
from tests.files.previews.sample_documents import data_frame, pdf, repacked, word, workbook

BOMB = b"<a>" + b"0" * (archives.UNPACKED_LIMIT // 4) + b"</a>"
LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">&b;</w:document>
"""
SHEET = "xl/worksheets/sheet1.xml"
FAR_CELL = b"""<?xml version="1.0"?><worksheet
xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>
</sheetData></worksheet>"""


async def read(path: str, content: bytes) -> str:
    return await DocumentPreviews().text(path, content)


async def test_spreadsheet_shows_each_sheet_with_its_size():
    rows = [["name", "value"], *([f"row {number}", number] for number in range(40))]
    text = await read("a/Book.XLSX", workbook({"data": rows, "empty": []}))
    assert "2 sheets: data, empty" in text
    assert "Sheet 'data': 41 rows × 2 columns, the first 30" in text
    assert "row 28 | 28" in text
    assert "row 29" not in text
    assert "Sheet 'empty': 0 rows × 0 columns" in text


async def test_word_document_shows_headings_lists_and_tables_in_order():
    assert await read("report.docx", word()) == (
        "## Results\n\nThe model was trained on 891 passengers.\n\n- first finding\n\n"
        "name | age\nAda | 36\n\nAfter the table."
    )


async def test_pdf_shows_its_pages_with_their_numbers():
    text = await read("paper.pdf", pdf("First page here", "Second page"))
    assert text == "[page 1 of 2]\nFirst page here\n\n[page 2 of 2]\nSecond page"


async def test_pdf_of_many_pages_shows_the_first_ones():
    text = await read("paper.pdf", pdf(*(f"Text {number}" for number in range(45))))
    assert "Text 29" in text
    assert "Text 30" not in text
    assert text.endswith("[… 15 more pages are not shown …]")


async def test_pdf_without_text_says_so():
    assert "may be scanned" in await read("scan.pdf", pdf("", ""))


async def test_parquet_shows_columns_types_and_first_rows():
    text = await read("cities.parquet", data_frame(1_000))
    assert text.startswith("1000 rows × 2 columns\n\nid: int64\ncity: string\n")
    assert "id | city\n0 | city 0\n" in text
    assert "19 | city 19" in text
    assert "20 | city 20" not in text


HOSTILE: dict[str, tuple[str, Callable[[], bytes], type[ShouldersError]]] = {
    "a member of zeros": (
        "a.docx",
        lambda: repacked(word(), {"word/document.xml": BOMB}),
        TooLarge,
    ),
    "entities": ("a.docx", lambda: repacked(word(), {"word/document.xml": LAUGHS}), InvalidRequest),
    "entities in UTF-16": (
        "a.docx",
        lambda: repacked(word(), {"word/document.xml": LAUGHS.decode().encode("utf-16")}),
        InvalidRequest,
    ),
    "a cell at the far end": (
        "a.xlsx",
        lambda: repacked(workbook({"s": [[1]]}), {SHEET: FAR_CELL}),
        TooLarge,
    ),
    "half a workbook": ("a.xlsx", lambda: workbook({"s": [[1]]})[:2_000], InvalidRequest),
    "a part of nothing": (
        "a.docx",
        lambda: repacked(word(), {"[Content_Types].xml": b""}),
        InvalidRequest,
    ),
    "no archive": ("a.docx", lambda: b"not a document", InvalidRequest),
    "no PDF": ("a.pdf", lambda: b"%PDF-1.7\n" + b"\xff" * 500, InvalidRequest),
    "a stream of zeros": ("a.pdf", lambda: pdf("", packed=bytes(300 << 20)), ShouldersError),
    "no parquet": ("a.parquet", lambda: b"PAR1" + b"\0" * 100 + b"PAR1", InvalidRequest),
    "empty": ("a.xlsx", lambda: b"", InvalidRequest),
}


@pytest.mark.parametrize(("path", "content", "error"), HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_document_is_refused_with_its_name(
    path: str, content: Callable[[], bytes], error: type[ShouldersError]
):
    with pytest.raises(error) as refused:
        await read(path, content())
    assert refused.value.info.message.startswith(f"{path} cannot be previewed: ")


def test_archive_with_very_many_members_is_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for number in range(archives.MEMBERS_LIMIT + 1):
            archive.writestr(str(number), b"")
    with pytest.raises(TooLarge, match="parts"):
        archives.check_archive(made.getvalue())


def test_archive_that_needs_a_password_is_refused():
    content = bytearray(repacked(word(), {}))
    # Bit 0 of the general purpose flags, in the local header and the directory (APPNOTE 4.4.4).
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(signature)
        while at >= 0:
            content[at + offset] |= 1
            at = content.find(signature, at + 4)
    with pytest.raises(InvalidRequest, match="password"):
        archives.check_archive(bytes(content))


def test_declaration_across_two_pieces_of_a_part_is_found():
    filler = b"<a>" + b" " * ((1 << 20) - 7)
    content = repacked(word(), {"word/document.xml": filler + b"<!DOCTYPE x></a>"})
    with pytest.raises(InvalidRequest, match="entities"):
        archives.check_archive(content)


async def test_document_that_takes_too_long_is_given_up():
    def slow(
        module: str, arguments: tuple[str, ...], content: bytes, seconds: float
    ) -> WorkerResult:
        return WorkerResult(None, b"", "")

    with pytest.raises(TooLarge, match="too much time or memory"):
        await DocumentPreviews(slow).text("a.pdf", b"%PDF")


async def test_worker_that_says_nothing_readable_is_an_error():
    def mute(
        module: str, arguments: tuple[str, ...], content: bytes, seconds: float
    ) -> WorkerResult:
        return WorkerResult(0, b"Segmentation", "")

    with pytest.raises(InvalidRequest, match="gave no answer"):
        await DocumentPreviews(mute).text("a.pdf", b"%PDF")


async def test_missing_reader_is_named_with_what_installs_it():
    said = {"code": "disabled", "message": "reading it needs the package x", "hint": "pip install"}

    def bare(
        module: str, arguments: tuple[str, ...], content: bytes, seconds: float
    ) -> WorkerResult:
        return WorkerResult(0, json.dumps(said).encode(), "")

    with pytest.raises(PolicyRefusal, match="needs the package") as refused:
        await DocumentPreviews(bare).text("a.pdf", b"%PDF")
    assert refused.value.info.code == "disabled"


def test_reader_that_is_not_installed_is_a_refusal_with_the_extra_to_install(
    monkeypatch: pytest.MonkeyPatch,
):
    def absent(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(formats.importlib, "import_module", absent)
    for kind in ("workbook", "word", "pdf", "parquet"):
        with pytest.raises(PolicyRefusal) as refused:
            preview(kind, b"")
        assert refused.value.info.code == "disabled"
        assert "jupyter-ai-shoulders[docs]" in (refused.value.info.hint or "")


async def test_document_too_large_to_open_is_not_given_to_a_reader():
    with pytest.raises(TooLarge, match="64 MB"):
        await read("a.pdf", bytes(SIZE_LIMIT + 1))


def test_long_preview_says_how_much_is_left_out():
    rows = [["x" * 70] * 30 for _ in range(29)]
    text = preview("workbook", workbook({f"s{number}": rows for number in range(10)}))
    assert len(text) < TEXT_LIMIT + 100
    assert "more characters are not shown" in text


@pytest.mark.parametrize(
    ("path", "kind"),
    [("a.XLSX", "workbook"), ("b/c.pdf", "pdf"), ("d.csv", None), ("e", None), (".docx", None)],
)
def test_kind_goes_by_the_end_of_the_name(path: str, kind: str | None):
    assert document_kind(path) == kind
