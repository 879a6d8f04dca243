"""An index of the user's messages, so that a search need not read every conversation.

Used by ``storage.sessions.table``. The index is a file of its own beside the database and can be
deleted at any time: it only names messages that may hold a text, and the table looks into those.
It is built by the first search, in a thread, and is not touched when events are logged.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from jupyter_ai_shoulders.storage.database import Database
from jupyter_ai_shoulders.storage.errors import is_damage
from jupyter_ai_shoulders.storage.schema.migrations import UNSTREAMED
from jupyter_ai_shoulders.storage.state_directory import StateDirectory

_log = logging.getLogger(__name__)

GRAM = 3
"""The characters of an indexed piece; shorter texts are searched without the index."""
MOST = 500
"""More candidates than this are not looked into: a search from the newest conversation on finds a
page of so frequent a text sooner.
"""
STEP = 200
"""Messages indexed in one transaction, in about 5 ms."""
_PAUSE_SECONDS = 0.01
"""Between two steps, in which the event loop gets the interpreter."""
_LONGEST_QUERY = 64
"""Pieces of a searched text that are looked up; the rest of a longer text is not."""

_VERSION = 1
"""Raised when the tables change: another version's index is built again."""
_TEXTS = """
    CREATE VIRTUAL TABLE texts
    USING fts5(text, content = '', columnsize = 0, detail = none, tokenize = 'trigram')
"""
_TABLES = (
    _TEXTS,
    "CREATE TABLE indexed (id INTEGER PRIMARY KEY, checksum INTEGER)",
    f"PRAGMA user_version = {_VERSION}",
)
MESSAGES = f"type = 'message-add' AND {UNSTREAMED}"
"""The condition of searched events."""
TEXT = "iif(json_valid(body), json_extract(body, '$.text'), '')"
"""The text of such an event; a damaged one has none."""


class TextIndex:
    """The index of one database. Used on the event loop; ``close`` before the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._directory = database.directory
        self._reader: sqlite3.Connection | None = None
        self._verified = False
        """Whether the index was compared with the database since this process started."""
        self._unusable = False
        self._damaged = False
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def candidates(self, text: str) -> list[int] | None:
        """Return the rows of all messages that may hold the text, in any case of its letters.

        None when all messages must be searched: the text is too short or too frequent, or the index
        is not complete yet, which a thread then completes. Raises ``StateUnavailable``.
        """
        if len(text) < GRAM or self._unusable or not self._database.allows_readers:
            return None
        if not self._verified:
            self._complete()
            return None
        try:
            found = [*self._unindexed(), *self._matching(text)]
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        return found if len(found) <= MOST else None

    def wait_until_complete(self) -> None:
        """Wait until the thread has ended. For tests and measurements."""
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """End the thread after its step; the next process continues. Raises ``OSError``."""
        self._stop.set()
        self.wait_until_complete()
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        if self._damaged:
            remove_text_index(self._directory)

    # searches

    def _matching(self, text: str) -> list[int]:
        ends = range(GRAM, min(len(text), _LONGEST_QUERY) + 1)
        pieces = (text[end - GRAM : end].replace('"', '""') for end in ends)
        query = " AND ".join(f'"{piece}"' for piece in pieces)
        rows = self._open_reader().execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? LIMIT ?", (query, MOST + 1)
        )
        return [row_id for (row_id,) in rows]

    def _unindexed(self) -> set[int]:
        """Return the messages that came after the index was completed, and have it completed."""
        (stored,) = self._database.rows(f"SELECT count(*) FROM events WHERE {MESSAGES}")  # noqa: S608 constants
        (indexed,) = self._open_reader().execute("SELECT count(*) FROM indexed")
        if stored == indexed:
            return set()
        self._complete()
        ids = self._open_reader().execute("SELECT id FROM indexed")
        rows = self._database.rows(f"SELECT id FROM events WHERE {MESSAGES}")  # noqa: S608 constants
        return {row_id for (row_id,) in rows}.difference(row_id for (row_id,) in ids)

    def _open_reader(self) -> sqlite3.Connection:
        if self._reader is None:
            self._reader = sqlite3.connect(self._directory.search, isolation_level=None)
        return self._reader

    # the thread

    def _complete(self) -> None:
        """Index what is missing, in a thread."""
        if self._thread is not None and self._thread.is_alive():
            return
        if not has_full_text_search():
            self._unusable = True
            return
        self._thread = threading.Thread(target=self._run, name="shoulders-text-index", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with closing(self._database.reader()) as source:
                if not self._verified:
                    _remove_unless_sound(self._directory, source)
                with closing(_connect(self._directory.search)) as target:
                    self._verified = self._index(source, target) or self._verified
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def _index(self, source: sqlite3.Connection, target: sqlite3.Connection) -> bool:
        """Index the missing messages step by step; return whether none is left."""
        stored = source.execute(f"SELECT id FROM events WHERE {MESSAGES} ORDER BY id")  # noqa: S608 constants
        known = {row_id for (row_id,) in target.execute("SELECT id FROM indexed")}
        missing = [row_id for (row_id,) in stored.fetchall() if row_id not in known]
        for start in range(0, len(missing), STEP):
            if self._stop.wait(_PAUSE_SECONDS if start else 0):
                return False
            step = missing[start : start + STEP]
            marks = ", ".join("?" * len(step))
            rows = source.execute(
                f"SELECT id, {TEXT}, checksum FROM events WHERE id IN ({marks})",  # noqa: S608 constants and question marks
                step,
            ).fetchall()
            with _transaction(target):
                target.executemany(
                    "INSERT INTO texts (rowid, text) VALUES (?, ?)", (row[:2] for row in rows)
                )
                target.executemany(
                    "INSERT INTO indexed VALUES (?, ?)", ((row[0], row[2]) for row in rows)
                )
        return True

    def _give_up(self, error: Exception) -> None:
        """Search without the index until the next start; a damaged one is built again then."""
        self._unusable = True
        self._damaged = is_damage(error)
        _log.warning("Conversations are searched without an index: %s", error)


@cache
def has_full_text_search() -> bool:
    """Return whether Python's SQLite has FTS5 and its trigrams (since 3.34)."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(_TEXTS)
        except sqlite3.OperationalError as error:
            _log.info("Conversations are searched without an index: %s", error)
            return False
    return True


def remove_text_index(directory: StateDirectory) -> None:
    """Delete the index, with everything it knows of deleted conversations. Raises ``OSError``."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{directory.search}{suffix}").unlink(missing_ok=True)


def _remove_unless_sound(directory: StateDirectory, source: sqlite3.Connection) -> None:
    """Delete an index that is not of this version or has messages the database does not have."""
    if not directory.search.exists():
        return
    stored = dict(source.execute(f"SELECT id, checksum FROM events WHERE {MESSAGES}"))  # noqa: S608 constants
    try:
        with closing(_connect(directory.search)) as target:
            indexed = target.execute("SELECT id, checksum FROM indexed").fetchall()
    except sqlite3.DatabaseError as error:
        _log.warning("The index of conversations is built again: %s", error)
        remove_text_index(directory)
        return
    if not all(row_id in stored and stored[row_id] == checksum for row_id, checksum in indexed):
        remove_text_index(directory)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            with _transaction(connection):
                for statement in _TABLES:
                    connection.execute(statement)
        elif version != _VERSION:
            raise sqlite3.DatabaseError(f"its version is {version}, not {_VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
