"""Turns documents into bounded text through the readers of the optional extra ``docs``.

Run by ``files.previews.worker`` in a process with limits, which contains the effects of hostile
bytes. Each function takes the file's bytes. Raises ``InvalidRequest``, ``TooLarge``,
``PolicyRefusal`` (``disabled``: the reader is not installed); the worker translates a reader's own
errors.
"""

from __future__ import annotations

import importlib
import io
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal
from jupyter_ai_shoulders.files.previews.archives import check_archive
from jupyter_ai_shoulders.files.previews.tables import ROWS, format_rows, format_value

TEXT_LIMIT = 36_000
"""Characters of a preview; more would be cut before it reaches the model."""
SHEETS = 10
PAGES = 30
PARQUET_ROWS = 20
PARQUET_COLUMNS = 200


def preview(kind: str, content: bytes) -> str:
    """Return a document of a kind (``KINDS``) as text, at most ``TEXT_LIMIT`` characters."""
    text = _FORMATS[kind](content)
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[:TEXT_LIMIT]}\n[… {len(text) - TEXT_LIMIT} more characters are not shown …]"


def _workbook(content: bytes) -> str:
    calamine = _reader("python_calamine", "python-calamine")
    if content.startswith(b"PK"):
        check_archive(content)
    workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    names: list[str] = workbook.sheet_names
    parts = [f"{len(names)} sheets: {', '.join(format_value(name) for name in names[:100])}"]
    for name in names[:SHEETS]:
        sheet = workbook.get_sheet_by_name(name)
        rows: list[list[object]] = sheet.to_python(nrows=ROWS)
        heading = f"Sheet {name!r}: {sheet.height} rows × {sheet.width} columns"
        if sheet.height > len(rows):
            heading += f", the first {len(rows)}"
        parts.append(f"{heading}\n{format_rows(rows)}".rstrip())
    return "\n\n".join(parts)


def _word(content: bytes) -> str:
    docx = _reader("docx", "python-docx")
    check_archive(content)
    blocks = docx.Document(io.BytesIO(content)).iter_inner_content()
    return "\n\n".join(_bounded(_word_block(block) for block in blocks))


def _word_block(block: Any) -> str:
    """Return the text of a paragraph or a table; their attributes differ (python-docx)."""
    if hasattr(block, "rows"):
        rows = [[cell.text for cell in row.cells] for row in itertools.islice(block.rows, ROWS)]
        more = len(block.rows) - len(rows)
        return format_rows(rows) + (f"\n[… {more} more rows …]" if more > 0 else "")
    text: str = block.text
    style = str(getattr(block.style, "name", "") or "")
    level = style.removeprefix("Heading ")
    if style == "Title" or (style != level and level.isdigit()):
        return f"{'#' * min(int(level), 6) if level.isdigit() else '#'} {text}"
    return f"- {text}" if style.startswith("List ") else text


def _pdf(content: bytes) -> str:
    pypdf = _reader("pypdf", "pypdf")
    reader = pypdf.PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise InvalidRequest("it is protected by a password")
    count = len(reader.pages)
    pages = (
        f"[page {number} of {count}]\n{reader.pages[number - 1].extract_text().strip()}"
        for number in range(1, min(count, PAGES) + 1)
    )
    parts = _bounded(pages)
    if count > len(parts):
        parts.append(f"[… {count - len(parts)} more pages are not shown …]")
    has_text = any(part.partition("\n")[2] for part in parts)
    return "\n\n".join(parts) if has_text else _no_text(count)


def _no_text(pages: int) -> str:
    return f"{pages} pages without any text in them; they may be scanned pictures."


def _parquet(content: bytes) -> str:
    parquet = _reader("pyarrow.parquet", "pyarrow")
    file = parquet.ParquetFile(io.BytesIO(content))
    schema = file.schema_arrow
    names: list[str] = schema.names
    heading = f"{file.metadata.num_rows} rows × {len(names)} columns"
    columns = [f"{format_value(field.name)}: {format_value(field.type)}" for field in schema][
        :PARQUET_COLUMNS
    ]
    wanted = names[:30]
    batches = file.iter_batches(batch_size=PARQUET_ROWS, columns=wanted, use_threads=False)
    first = next(iter(batches), None)
    records: list[Mapping[str, object]] = [] if first is None else first.to_pylist()
    rows = [[record.get(name) for name in wanted] for record in records]
    table = format_rows([wanted, *rows])
    return f"{heading}\n\n" + "\n".join(columns) + f"\n\nThe first {len(rows)} rows:\n{table}"


_FORMATS: Mapping[str, Callable[[bytes], str]] = {
    "workbook": _workbook,
    "word": _word,
    "pdf": _pdf,
    "parquet": _parquet,
}


def _bounded(parts: Iterator[str]) -> list[str]:
    """Return parts until they exceed the text limit."""
    taken: list[str] = []
    length = 0
    for part in parts:
        taken.append(part)
        length += len(part)
        if length > TEXT_LIMIT:
            break
    return taken


def _reader(module: str, package: str) -> Any:
    """Return a reader's module. Raises ``PolicyRefusal`` when it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PolicyRefusal(
            f"reading it needs the package {package}, which is not installed",
            code="disabled",
            hint='Ask the user to install it: pip install "jupyter-ai-shoulders[docs]".',
        ) from error
