"""Rows as bounded text for a model: of spreadsheets, data frames and delimited files. Pure.

Used by ``files.previews.formats`` and by the tool ``read_file`` for CSV and TSV.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ROWS = 30
COLUMNS = 30
CELL = 80
"""Characters of a value that are shown."""
_SAMPLED = 20
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class DelimitedTable:
    """The beginning of a delimited file."""

    delimiter: str
    rows: int
    columns: int
    text: str


def read_delimited(text: str, delimiter: str | None = None) -> DelimitedTable:
    """Return the beginning of a CSV or TSV text, its first row as the heading.

    Rows are counted as in the file, including the heading; a row with line ends in quotes counts
    once.
    """
    separator = delimiter or detect_delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    first: list[list[str]] = []
    rows = 0
    try:
        first = list(itertools.islice(reader, ROWS + 1))
        rows = len(first) + sum(1 for _ in reader)
    except csv.Error:  # a field exceeds the module's limit: only lines can be counted
        rows = text.count("\n") + 1
    columns = max(map(len, first), default=0)
    return DelimitedTable(separator, rows, columns, format_rows(first))


def detect_delimiter(text: str) -> str:
    """Return the delimiter that splits the first lines most evenly."""
    lines = [line for line in text[:50_000].split("\n")[:_SAMPLED] if line.strip()]

    def evenness(delimiter: str) -> tuple[bool, int]:
        counts = [line.count(delimiter) for line in lines] or [0]
        return min(counts) > 0 and max(counts) == min(counts), min(counts)

    best = max(_DELIMITERS, key=evenness)
    return best if evenness(best)[1] else ","


def format_rows(rows: Iterable[Sequence[object]]) -> str:
    """Return rows with `` | `` between the values, as many columns as are shown."""
    return "\n".join(_row(row) for row in rows)


def _row(row: Sequence[object]) -> str:
    values = [format_value(value) for value in row[:COLUMNS]]
    more = [f"… {len(row) - COLUMNS} more"] if len(row) > COLUMNS else []
    return " | ".join([*values, *more])


def format_value(value: object) -> str:
    """Return a value on one line, cut."""
    text = "" if value is None else str(value)
    flat = " ".join(text[: CELL * 4].split())
    return flat if len(flat) <= CELL and len(text) <= CELL * 4 else f"{flat[:CELL]}…"
