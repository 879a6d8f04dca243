"""Sample documents for tests of previews, real and hostile."""

from __future__ import annotations

import importlib
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import docx
import openpyxl

# pyarrow has no types.
ARROW: Any = importlib.import_module("pyarrow")
PARQUET: Any = importlib.import_module("pyarrow.parquet")


def workbook(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """Return an .xlsx file."""
    book: Any = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet: Any = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def word() -> bytes:
    """Return a .docx file with a heading, text, a list and a table."""
    document = docx.Document()
    document.add_heading("Results", level=2)
    document.add_paragraph("The model was trained on 891 passengers.")
    document.add_paragraph("first finding", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for row, texts in zip(table.rows, (("name", "age"), ("Ada", "36")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_paragraph("After the table.")
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def data_frame(rows: int) -> bytes:
    """Return a .parquet file."""
    table = ARROW.table(
        {"id": list(range(rows)), "city": [f"city {number}" for number in range(rows)]}
    )
    made = io.BytesIO()
    PARQUET.write_table(table, made)
    return made.getvalue()


def pdf(*pages: str, packed: bytes | None = None) -> bytes:
    """Return a PDF with a line of text on each page (ISO 32000-1, 7.5).

    ``packed`` is a compressed content stream for the first page instead (7.4.4).
    """
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    kids: list[str] = []
    for number, text in enumerate(pages):
        page, stream = 4 + 2 * number, 5 + 2 * number
        kids.append(f"{page} 0 R")
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1") if text else b""
        objects[page] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {stream} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        if packed is not None and number == 0:
            data = zlib.compress(packed, 9)
            head = b"<< /Filter /FlateDecode /Length %d >>" % len(data)
            objects[stream] = head + b"\nstream\n" + data + b"\nendstream"
            continue
        objects[stream] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn)
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    made = b"%PDF-1.4\n"
    offsets: dict[int, int] = {}
    for number in sorted(objects):
        offsets[number] = len(made)
        made += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % offsets[number] for number in sorted(offsets))
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return made + trailer % (len(objects) + 1, start)


def repacked(content: bytes, changed: Mapping[str, bytes]) -> bytes:
    """Return an archive with some members replaced."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = {info.filename: old.read(info) for info in old.infolist()}
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name, text in {**members, **changed}.items():
            new.writestr(name, text)
    return made.getvalue()
