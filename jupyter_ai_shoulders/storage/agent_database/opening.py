"""Opens the agent's database, which may have come with a folder and is then hostile data.

For the worker: standard library only.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from urllib.parse import quote

from jupyter_ai_shoulders.storage.agent_database.authorizer import Authorizer
from jupyter_ai_shoulders.storage.agent_database.failures import RequestFailed

LONGEST_VALUE = 10_000_000
"""Bytes of the longest text, blob or row."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LONGEST_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 500,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 10_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 30,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_STEPS = 2_000
"""Instructions of SQLite's machine between two looks at the clock."""
_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""End of a rollback journal that names another file, which SQLite would read and may delete."""
_CODES = {
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_NOMEM: "memory",
    sqlite3.SQLITE_INTERRUPT: "time",
}


def check_files(path: Path) -> bool:
    """Return whether the database exists. Raises ``RequestFailed`` for anything but plain files."""
    for name in (path, *(Path(f"{path}{end}") for end in ("-wal", "-shm", "-journal"))):
        try:
            found = name.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise RequestFailed(
                "unusable",
                f"{name.name} is a link or no plain file, so it is not opened.",
                "Remove it; the next change makes a new database.",
            )
    journal = Path(f"{path}-journal")
    if journal.exists() and journal.read_bytes()[-8:] == _SUPER_JOURNAL:
        raise RequestFailed(
            "unusable",
            f"{journal.name} refers to another file, so the database is not opened.",
            "Remove the journal if you did not put it there.",
        )
    return path.exists()


def open_to_read(path: Path) -> sqlite3.Connection:
    """Return a read-only connection; one to an empty database if there is no file."""
    if not check_files(path):
        return _prepared(sqlite3.connect(":memory:", isolation_level=None))
    return _prepared(_connected(path, "ro"))


def open_to_write(path: Path, limit: int) -> sqlite3.Connection:
    """Return a connection that may write up to ``limit`` bytes; makes the file."""
    if check_files(path) and path.stat().st_size > 2 * limit:
        raise full(limit)
    connection = _prepared(_connected(path, "rwc"))
    with translated_errors(limit):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        _, size = _sizes(connection)
        connection.execute(f"PRAGMA max_page_count = {max(limit // size, 2)}")
        if _sizes(connection)[0] < 2:
            connection.execute("CREATE TABLE unused (a)")
            connection.execute("DROP TABLE unused")
    return connection


def _sizes(connection: sqlite3.Connection) -> tuple[int, int]:
    (count,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return count, size


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    with translated_errors(0):
        return sqlite3.connect(
            f"file:{quote(str(path))}?mode={mode}", uri=True, isolation_level=None, timeout=5.0
        )


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    if hasattr(connection, "setconfig"):  # Python 3.12
        defensive = getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE")  # noqa: B009 missing in 3.11
        getattr(connection, "setconfig")(defensive, True)  # noqa: B009
    connection.text_factory = _decoded
    with translated_errors(0):
        for pragma in (
            *("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"),
            *("mmap_size = 0", "cache_size = -4096", "threads = 0"),
        ):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    return connection


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")


@contextmanager
def restricted(
    connection: sqlite3.Connection, seconds: float, limit: int, *, writes: bool
) -> Generator[None]:
    """Let only allowed statements run, for so many seconds. Raises ``RequestFailed``."""
    modules = [name for (name,) in connection.execute("PRAGMA module_list")]
    authorizer = Authorizer(modules, writes=writes)
    until = monotonic() + seconds
    connection.set_authorizer(authorizer)
    connection.set_progress_handler(lambda: monotonic() > until, _STEPS)
    try:
        with translated_errors(limit, lambda: authorizer.reason, seconds):
            yield
    finally:
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(None)


@contextmanager
def translated_errors(
    limit: int, reason: Callable[[], str | None] = lambda: None, seconds: float = 0.0
) -> Generator[None]:
    """Raise ``RequestFailed`` for SQLite's errors."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _failure(error, limit, reason(), seconds) from error
    except MemoryError as error:
        raise _memory() from error
    except (OverflowError, ValueError) as error:  # a parameter that Python cannot bind
        raise RequestFailed("statement", f"{error}.") from error


def _failure(error: Exception, limit: int, reason: str | None, seconds: float) -> RequestFailed:
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    if reason is not None and _is_refusal(error):
        return RequestFailed("refused", reason)
    return {
        "damaged": RequestFailed(
            "damaged",
            f"agent.db is damaged or no SQLite database ({error}).",
            "The person can move it away; the next change makes a new one.",
        ),
        "busy": RequestFailed(
            "busy",
            "Another program is writing to agent.db.",
            "Try again; end a transaction that a kernel has left open.",
        ),
        "full": full(limit),
        "memory": _memory(),
        "time": out_of_time(seconds),
    }.get(_CODES.get(primary or -1, ""), RequestFailed("statement", f"SQLite: {error}."))


def _is_refusal(error: Exception) -> bool:
    """Return whether an error comes from the authorizer; its code differs."""
    return any(word in str(error) for word in ("not authorized", "prohibited", "constructor"))


def full(limit: int) -> RequestFailed:
    return RequestFailed(
        "full",
        f"agent.db is full: its limit is {limit / 1_000_000:g} MB, or the disk has no space.",
        "Delete rows, or let the person raise the limit in AI Settings.",
    )


def out_of_time(seconds: float) -> RequestFailed:
    return RequestFailed(
        "time",
        f"The statement was stopped after {seconds:g} s; nothing was changed.",
        "Read or change fewer rows, or add an index.",
    )


def _memory() -> RequestFailed:
    return RequestFailed(
        "memory",
        "The statement needs more memory than a statement may use; nothing was changed.",
        "Read or change fewer rows at once.",
    )


def fsync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
