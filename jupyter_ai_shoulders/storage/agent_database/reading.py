"""Reads the agent's database: queries, the schema, pages of tables. For the worker."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from jupyter_ai_shoulders.storage.agent_database.changing import split_statements
from jupyter_ai_shoulders.storage.agent_database.failures import RequestFailed
from jupyter_ai_shoulders.storage.agent_database.opening import open_to_read, restricted
from jupyter_ai_shoulders.storage.agent_database.values import (
    Cell,
    Parameters,
    decode_parameters,
    encode_cell,
)

ANSWER_BYTES = 1_000_000
"""Bytes of the rows of one answer, as JSON."""
LONGEST_CELL = 20_000
_COUNT_SECONDS = 2.0
"""How long rows beyond the limit are counted."""
MOST_TABLES = 500
_SCHEMA = """
    SELECT name, type, coalesce(sql, '') FROM sqlite_schema
    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name LIMIT ?
"""
_INDEXES = """
    SELECT type, name, coalesce(sql, '') FROM sqlite_schema
    WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY name LIMIT 100
"""
_LONGEST_DEFINITION = 4_000


@contextmanager
def opened(path: Path, seconds: float) -> Generator[sqlite3.Connection]:
    """Yield a connection that only reads, for so many seconds. Raises ``RequestFailed``."""
    with (
        closing(open_to_read(path)) as connection,
        restricted(connection, seconds, 0, writes=False),
    ):
        yield connection


def query(path: Path, sql: str, params: object, limit: int, seconds: float) -> dict[str, Any]:
    """Run one reading statement. Raises ``RequestFailed``."""
    if len(list(split_statements(sql))) != 1:
        raise RequestFailed("refused", "sql must be one statement.")
    with opened(path, seconds) as connection:
        return _rows(connection, sql, decode_parameters(params), limit, LONGEST_CELL)


def tables(path: Path, seconds: float) -> dict[str, Any]:
    """Return the tables and views with their columns. Raises ``RequestFailed``."""
    with opened(path, seconds) as connection:
        found = connection.execute(_SCHEMA, (MOST_TABLES,)).fetchall()
        listed = [_table(connection, *row) for row in found]
    size = path.stat().st_size if path.exists() else None
    return {"tables": listed, "size": size}


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Some rows of a table, in the order of a column."""

    table: str
    offset: int
    limit: int
    order: str | None
    descending: bool
    longest: int
    """Characters or bytes of a cell that are shown."""


def table_page(path: Path, wanted: PageQuery, seconds: float) -> dict[str, Any]:
    """Return some rows of a table and their total. Raises ``RequestFailed``."""
    name, order = wanted.table, wanted.order
    with opened(path, seconds) as connection:
        columns = table_columns(connection, name)
        names = [column["name"] for column in columns]
        if order is not None and order not in names:
            raise RequestFailed("statement", f"The table {name} has no column {order}.")
        (total,) = connection.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone()  # noqa: S608
        by = "" if order is None else f" ORDER BY {quoted(order)}{' DESC' * wanted.descending}"
        sql = f"SELECT * FROM {quoted(name)}{by} LIMIT ? OFFSET ?"  # noqa: S608 quoted names
        page = _rows(connection, sql, (wanted.limit, wanted.offset), wanted.limit, wanted.longest)
    return {**page, "columns": columns, "total": total, "offset": wanted.offset}


def table_columns(connection: sqlite3.Connection, name: str) -> list[dict[str, Any]]:
    """Return the columns of a table or view. Raises ``RequestFailed`` if there is none."""
    known = "SELECT 1 FROM sqlite_schema WHERE name = ? AND type IN ('table', 'view')"
    if connection.execute(known, (name,)).fetchone() is None:
        raise RequestFailed("statement", f"There is no table {name}.")
    rows = connection.execute(f"PRAGMA table_xinfo({quoted(name)})").fetchall()
    return [
        {"name": column, "type": kind, "key": bool(key), "required": bool(required)}
        for _, column, kind, required, _default, key, hidden in rows
        if hidden != 1
    ]


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _table(connection: sqlite3.Connection, name: str, kind: str, sql: str) -> dict[str, Any]:
    try:
        columns = table_columns(connection, name)
        problem = None
    except sqlite3.Error as error:  # such as a view of a table that is gone
        columns, problem = [], str(error)
    others = connection.execute(_INDEXES, (name,)).fetchall()
    definitions = [sql, *(text for _, _, text in others)]
    return {
        "name": name,
        "kind": kind,
        "columns": columns,
        "sql": "\n".join(text[:_LONGEST_DEFINITION] for text in definitions),
        "problem": problem,
    }


def _rows(
    connection: sqlite3.Connection, sql: str, parameters: Parameters, limit: int, longest: int
) -> dict[str, Any]:
    cursor = connection.execute(sql, parameters)
    columns = [name for name, *_ in cursor.description or ()]
    rows: list[list[Cell]] = []
    size = 0
    for row in cursor:
        cells = [encode_cell(value, longest) for value in row]
        size += len(json.dumps(cells))
        if len(rows) == limit or (rows and size > ANSWER_BYTES):
            return {
                "columns": columns,
                "rows": rows,
                "total": _counted(cursor, len(rows) + 1),
                "cut": "rows" if len(rows) == limit else "bytes",
            }
        rows.append(cells)
    return {"columns": columns, "rows": rows, "total": len(rows), "cut": None}


def _counted(cursor: sqlite3.Cursor, seen: int) -> int | None:
    """Return how many rows there are; None where counting takes too long."""
    until = monotonic() + _COUNT_SECONDS
    try:
        for _ in cursor:
            seen += 1
            if monotonic() > until:
                return None
    except sqlite3.Error:  # the time of the statement is over
        return None
    return seen
