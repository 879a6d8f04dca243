"""Changes of the agent's database: one transaction with its undo, and the undo itself.

For the worker: standard library only. The order makes a crash harmless: the difference is on disk
before the transaction is committed, so the database's version shows what happened.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.agent_database.failures import RequestFailed
from jupyter_ai_shoulders.storage.agent_database.images import (
    Image,
    earlier_image,
    image_of,
    read_header,
    remove_oldest,
    write_difference,
)
from jupyter_ai_shoulders.storage.agent_database.opening import (
    open_to_read,
    open_to_write,
    restricted,
    translated_errors,
)
from jupyter_ai_shoulders.storage.agent_database.values import Parameters, decode_parameters

MOST_ROWS = 10_000
"""Rows of parameters in one call."""
_KEPT = 4
"""Bytes of stored differences, as a multiple of the size limit."""


@dataclass(frozen=True, slots=True)
class Change:
    """A request that changes the database, as the server process sends it."""

    path: Path
    differences: Path
    operation: str
    limit: int
    seconds: float
    server: int
    """The process id of the server, without which nothing is committed."""


def execute(change: Change, sql: str, params: object) -> dict[str, Any]:
    """Run statements in one transaction; nothing is kept if one fails. Raises ``RequestFailed``."""
    with closing(open_to_write(change.path, change.limit)) as writer:
        with translated_errors(change.limit):
            writer.execute("BEGIN IMMEDIATE")
        with closing(open_to_read(change.path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT 1 FROM sqlite_schema").fetchone()
            changes = writer.total_changes
            with restricted(writer, change.seconds, change.limit, writes=True):
                count = _run(writer, sql, params)
                (last,) = writer.execute("SELECT last_insert_rowid()").fetchone()
            raise_memory_limit()
            before, after = image_of(reader), image_of(writer)
        done = {"rows": writer.total_changes - changes, "statements": count, "last_id": last}
        if before.content == after.content:
            writer.execute("ROLLBACK")
            return {**done, "before": None, "after": None}
        header = write_difference(before, after, change.differences, change.operation)
        del before, after
        _check_server(change)
        with translated_errors(change.limit):
            writer.execute("COMMIT")
    _after_commit(change)
    return {**done, "before": header.before, "after": header.after}


def undo(change: Change, undone: str) -> dict[str, Any]:
    """Restore the content before an operation, if the database is as that operation left it."""
    raise_memory_limit()
    with (
        closing(open_to_write(change.path, change.limit)) as target,
        closing(open_to_read(change.path)) as reader,
    ):
        (data_version,) = reader.execute("PRAGMA data_version").fetchone()
        now = image_of(reader)
        earlier = earlier_image(now, change.differences, undone)
        header = write_difference(now, earlier, change.differences, change.operation)
        del now

        def check(_status: int, remaining: int, _total: int) -> None:
            """Look again while the target holds the lock for writing."""
            if remaining == 0:
                return  # it has been committed
            if reader.execute("PRAGMA data_version").fetchone()[0] != data_version:
                raise RequestFailed("changed", "The agent's database was changed just now.")
            _check_server(change)

        _restore(earlier, target, check, change.limit)
    _after_commit(change)
    return {"before": header.before, "after": header.after}


def version(path: Path, differences: Path, operation: str) -> dict[str, Any]:
    """Return the version now, and those before and after an operation where they are stored."""
    raise_memory_limit()
    header = read_header(differences, operation)
    if header is None:
        return {"now": None, "before": None, "after": None}
    with closing(open_to_read(path)) as reader, translated_errors(0):
        now = image_of(reader).version
    return {"now": now, "before": header.before, "after": header.after}


def _restore(earlier: Image, target: sqlite3.Connection, check: Any, limit: int) -> None:
    """Copy all pages in one transaction; ``check`` is called in the middle of it."""
    pages = len(earlier.content) // earlier.page_size
    with closing(sqlite3.connect(":memory:")) as source, translated_errors(limit):
        source.deserialize(earlier.content)
        source.backup(target, pages=max(pages // 2, 1), progress=check)


def _run(writer: sqlite3.Connection, sql: str, params: object) -> int:
    statements = list(split_statements(sql))
    if not statements:
        raise RequestFailed("refused", "There is no statement.")
    if params is not None and len(statements) > 1:
        raise RequestFailed(
            "refused", "params belong to one statement; this text has several.", "Call once each."
        )
    for parameters in _rows(params):
        for statement in statements:
            cursor = writer.execute(statement, parameters)
            if cursor.description is not None and cursor.fetchone() is not None:
                raise RequestFailed(
                    "refused", "db_execute returns no rows; read them with db_query."
                )
            cursor.close()
    return len(statements)


def _rows(params: object) -> list[Parameters]:
    """Return the parameters of each execution: several for a list of lists or objects."""
    given = cast("list[object]", params) if isinstance(params, list) else []
    if not given or not all(isinstance(row, list) for row in given):
        return [decode_parameters(cast("object", params))]
    if len(given) > MOST_ROWS:
        raise RequestFailed("refused", f"At most {MOST_ROWS} rows of params in one call.")
    return [decode_parameters(row) for row in given]


def split_statements(sql: str) -> Iterator[str]:
    """Yield the statements of a text, as SQLite separates them."""
    start, at = 0, sql.find(";")
    while at >= 0:
        if sqlite3.complete_statement(sql[start : at + 1]):
            yield from _statement(sql[start : at + 1])
            start = at + 1
        at = sql.find(";", at + 1)
    yield from _statement(sql[start:])


def _statement(text: str) -> Iterator[str]:
    """Yield a text unless it is blank or a comment."""
    rest = text.strip().strip(";").strip()
    while rest.startswith(("--", "/*")):
        end = "\n" if rest.startswith("--") else "*/"
        rest = rest.partition(end)[2].strip()
    if rest:
        yield text


def _after_commit(change: Change) -> None:
    crash_point("agent_database.committed")
    remove_oldest(change.differences, _KEPT * change.limit, change.operation)


def _check_server(change: Change) -> None:
    """Commit nothing for a server that has ended: its successor decides by what it finds."""
    if os.name == "posix" and os.getppid() != change.server:
        raise RequestFailed("unusable", "The server ended; nothing was changed.")


def raise_memory_limit() -> None:
    """Allow the memory that copies of the whole database need; statements run with less."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
