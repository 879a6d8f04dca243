"""The SQLite file of the index: opened for its one writer and for readers, and made again.

Used by ``retrieval.word_index``. The file holds nothing that the documents do not, so one that is
damaged, of another version or of another program is deleted and built again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

VERSION = 1
"""Raised when the tables or the chunks change: an index of another version is built again."""
APPLICATION_ID = 0x4A41_4953
"""Marks the file as this package's; the header of a SQLite file has the place for it."""
_TABLES = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        digest TEXT NOT NULL,
        problem TEXT NOT NULL
    );
    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY,
        document INTEGER NOT NULL,
        cell_id TEXT,
        line INTEGER NOT NULL,
        is_output INTEGER NOT NULL,
        digest TEXT NOT NULL,
        name TEXT NOT NULL,
        heading TEXT NOT NULL,
        text TEXT NOT NULL,
        hidden TEXT NOT NULL
    );
    CREATE INDEX chunks_of_document ON chunks (document);
    CREATE INDEX chunks_by_digest ON chunks (digest);
    CREATE VIRTUAL TABLE words USING fts5(
        name, heading, text, hidden, content = 'chunks', content_rowid = 'id',
        tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
    );
    CREATE TABLE vectors (
        collection TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (collection, digest)
    ) WITHOUT ROWID;
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = {VERSION};
    COMMIT;
"""
_VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, 'row')"
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class ForeignIndex(sqlite3.DatabaseError):
    """The file is of another version or another program."""


class IndexFile:
    """The file and its companions. All methods block."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Return whether there is an index."""
        return self.path.exists()

    def identity(self) -> tuple[int, int] | None:
        """Return what changes when the file is made again; None without one."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino)

    def size(self) -> int:
        """Return the bytes on disk."""
        total = 0
        for path in self._files():
            with contextlib.suppress(OSError):
                total += path.stat().st_size
        return total

    def delete(self) -> None:
        """Delete the index. Raises ``OSError``."""
        for path in self._files():
            path.unlink(missing_ok=True)

    def open_writer(self) -> sqlite3.Connection:
        """Open the file and make the tables in a new one.

        Raises ``sqlite3.Error`` and ``OSError``; see ``is_damaged``.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            os.chmod(self.path, 0o600)  # noqa: PTH101 as elsewhere for state files
            if _pragma(connection, "user_version") == 0 and not _tables(connection):
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                connection.executescript(_TABLES)
            _verify(connection)
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise ForeignIndex("the check of the file fails")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def open_reader(self) -> sqlite3.Connection:
        """Open the file for queries. Raises ``sqlite3.Error``."""
        uri = f"{self.path.absolute().as_uri()}?mode=rw"  # readers share the log's index file
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        try:
            _verify(connection)
            connection.execute(_VOCABULARY)
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _files(self) -> list[Path]:
        return [Path(f"{self.path}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]


def is_damaged(error: Exception) -> bool:
    """Return whether the index must be built again."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, ForeignIndex) or (isinstance(code, int) and (code & 0xFF) in _DAMAGED)


def _verify(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    found = (_pragma(connection, "application_id"), _pragma(connection, "user_version"))
    if found != (APPLICATION_ID, VERSION):
        raise ForeignIndex("it is of another version or program")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return value


def _tables(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return count
