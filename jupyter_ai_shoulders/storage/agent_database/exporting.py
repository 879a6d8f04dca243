"""Writes a table of the agent's database to a CSV or Parquet file. For the worker."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.storage.agent_database.failures import RequestFailed
from jupyter_ai_shoulders.storage.agent_database.reading import opened, quoted, table_columns
from jupyter_ai_shoulders.storage.agent_database.values import Value

_BATCH = 2_000
"""Rows that are in memory at once."""
_BATCH_BYTES = 8_000_000


def export(path: Path, name: str, target: Path, form: str, seconds: float) -> dict[str, Any]:
    """Write the rows of a table; return their number. Raises ``RequestFailed``."""
    with opened(path, seconds) as connection:
        columns = [column["name"] for column in table_columns(connection, name)]
        cursor = connection.execute(f"SELECT * FROM {quoted(name)}")  # noqa: S608 a quoted name
        batches = _batches(cursor)
        if form == "csv":
            return {"rows": _csv(target, columns, batches)}
        kinds = _column_kinds(connection, name, columns)
        return {"rows": _parquet(target, columns, kinds, batches)}


def _csv(target: Path, columns: Sequence[str], batches: Iterator[list[tuple[Value, ...]]]) -> int:
    """Write CSV in UTF-8: NULL as nothing, an empty text as ``""``, bytes in hexadecimal."""
    count = 0
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(columns)
        for batch in batches:
            for row in batch:
                file.write(",".join(map(_csv_cell, row)) + "\r\n")
            count += len(batch)
    return count


def _csv_cell(value: Value) -> str:
    match value:
        case None:
            return ""
        case bytes():
            return value.hex()
        case str():
            quotes = not value or any(mark in value for mark in ',"\r\n') or value != value.strip()
            return '"' + value.replace('"', '""') + '"' if quotes else value
        case _:
            return repr(value)


def _column_kinds(
    connection: sqlite3.Connection, name: str, columns: Sequence[str]
) -> list[frozenset[str]]:
    """Return the kinds of values in each column: SQLite's columns may mix them."""
    if not columns:
        return []
    found: list[frozenset[str]] = []
    for column in columns:
        query = f"SELECT DISTINCT typeof({quoted(column)}) FROM {quoted(name)}"  # noqa: S608
        found.append(frozenset(kind for (kind,) in connection.execute(query)))
    return found


def _parquet(
    target: Path,
    columns: Sequence[str],
    kinds: Sequence[frozenset[str]],
    batches: Iterator[list[tuple[Value, ...]]],
) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise RequestFailed(
            "refused",
            "Parquet needs pyarrow, which is not installed.",
            'Install it with: pip install "jupyter_ai_shoulders[docs]"',
        ) from error
    arrow: Any = pa
    types = [_arrow_type(arrow, kind) for kind in kinds]
    names = _distinct(columns)
    schema = arrow.schema(list(zip(names, types, strict=True)))
    count = 0
    writer: Any = pq.ParquetWriter(str(target), schema)
    try:
        for batch in batches:
            values = zip(*batch, strict=True)
            arrays = [
                arrow.array([_arrow_value(value, kind) for value in column], type=kind)
                for column, kind in zip(values, types, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
            count += len(batch)
    finally:
        writer.close()
    return count


def _arrow_type(arrow: Any, found: frozenset[str]) -> Any:
    kinds = set(found) - {"null"}
    if kinds == {"integer"}:
        return arrow.int64()
    if kinds == {"blob"}:
        return arrow.binary()
    if kinds and kinds <= {"integer", "real"}:
        return arrow.float64()
    return arrow.string()


def _arrow_value(value: Value, kind: Any) -> Value:
    """Return a value of a column; in a column of mixed kinds all are texts."""
    if value is None or str(kind) in {"int64", "binary"}:
        return value
    if str(kind) == "double":
        return float(value)
    return value.hex() if isinstance(value, bytes) else str(value)


def _distinct(columns: Sequence[str]) -> list[str]:
    """Return the names of columns, numbered where a view has one twice."""
    seen: dict[str, int] = {}
    names: list[str] = []
    for column in columns:
        seen[column] = seen.get(column, 0) + 1
        names.append(column if seen[column] == 1 else f"{column}:{seen[column]}")
    return names


def _batches(cursor: sqlite3.Cursor) -> Iterator[list[tuple[Value, ...]]]:
    batch: list[tuple[Value, ...]] = []
    size = 0
    for row in cursor:
        batch.append(row)
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if len(batch) == _BATCH or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
