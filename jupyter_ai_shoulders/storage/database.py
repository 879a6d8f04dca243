"""The SQLite database of a state directory: opened late, migrated, and moved aside when broken.

Used by ``log`` and ``sessions``. One connection serves the event loop; a commit is a write to the
WAL without a sync, and both the sync and the checkpoint run in threads (``durability``).
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage import salvage
from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.failures import is_damage, storage_errors, unavailable
from jupyter_ai_shoulders.storage.lock import ProcessLock
from jupyter_ai_shoulders.storage.migrations import migrate

_log = logging.getLogger(__name__)

_BUSY_SECONDS = 1.0
"""How long a commit waits for a foreign program (a user's ``sqlite3``) that locked the database."""

_CHECKED_AT_OPEN = 32 << 20
"""Databases up to this many bytes are checked whole when they open (about 3 ms per MB)."""


class _Broken(sqlite3.DatabaseError):
    """The check at opening found damage that no statement has met yet."""


class Database:
    """One process's hold on the database of a state directory."""

    def __init__(self, directory: StateDirectory, clock: Clock, vfs: str | None = None) -> None:
        """``vfs`` names another SQLite file layer; tests use one that has no shared memory."""
        self.directory = directory
        self._clock = clock
        self._vfs = vfs
        self._lock = ProcessLock(directory.lock)
        self._connection: sqlite3.Connection | None = None
        self._wal = False

    def open(self) -> sqlite3.Connection:
        """Return the connection, opening it on first use.

        Raises ``StateUnavailable``; the next call tries again.
        """
        if self._connection is None:
            self.directory.prepare()
            with storage_errors("open the conversations", self.directory.path):
                self._lock.acquire()
                crash_point("database.lock.acquired")
                try:
                    self._connection = self._opened()
                except BaseException:
                    self._lock.release()
                    raise
        return self._connection

    def existing(self) -> sqlite3.Connection | None:
        """Return the connection, None when nothing was stored yet: reading makes no directory."""
        if self._connection is None and not self.directory.database.exists():
            return None
        return self.open()

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return a query's rows, none when nothing was ever stored. Raises ``StateUnavailable``."""
        connection = self.existing()
        if connection is None:
            return []
        try:
            return connection.execute(query, parameters).fetchall()
        except sqlite3.Error as error:
            raise self.failed("read the conversations", error) from error

    @contextmanager
    def transaction(self, doing: str) -> Generator[sqlite3.Connection]:
        """Commit all that the block did, or nothing. Raises ``StateUnavailable``."""
        connection = self.open()
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise self.failed(doing, error) from error

    def failed(self, doing: str, error: sqlite3.Error) -> StateUnavailable:
        """Return the error to raise for a failure; a broken file is repaired at the next start."""
        if is_damage(error):
            with storage_errors(doing, self.directory.path):
                self.directory.damaged.touch()
        return unavailable(doing, self.directory.path, error)

    def flush(self) -> None:
        """Bring the WAL to the disk. For a thread. Raises ``StateUnavailable``."""
        if not self._wal:
            return  # every commit synced
        with storage_errors("bring the conversations to the disk", self.directory.path):
            descriptor = os.open(self._beside("-wal"), os.O_RDWR)
            try:
                _sync_data(descriptor)
            finally:
                os.close(descriptor)

    def checkpoint(self) -> None:
        """Fold the WAL into the database. For a thread; commits go on meanwhile."""
        if not self._wal:
            return
        with (
            storage_errors("fold the log into the database", self.directory.path),
            closing(self._connect()) as connection,
        ):
            connection.execute("PRAGMA synchronous = NORMAL")
            crash_point("database.checkpoint.begun")
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            crash_point("database.checkpoint.done")

    def close(self) -> None:
        """Close the connection and let another process have the directory."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._lock.release()

    def _opened(self) -> sqlite3.Connection:
        saved = self._set_aside() if self.directory.damaged.exists() else None
        try:
            return self._prepared(saved)
        except sqlite3.DatabaseError as error:
            if saved is not None or not (isinstance(error, _Broken) or is_damage(error)):
                raise
        return self._prepared(self._set_aside())

    def _prepared(self, saved: salvage.Saved | None) -> sqlite3.Connection:
        """Return a connection to a sound database of the newest schema, ``saved`` put into it."""
        connection = self._connect()
        try:
            self._configure(connection)
            crash_point("database.file.made")
            self._check(connection)
            at = timestamp(self._clock.now())
            migrate(connection, at)
            if saved is not None:
                salvage.restore(connection, saved, at)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        location = f"file:{quote(str(self.directory.database))}"
        if self._vfs:
            location += f"?vfs={self._vfs}"
        return sqlite3.connect(
            location, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
        )

    def _configure(self, connection: sqlite3.Connection) -> None:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        self._wal = mode == "wal"
        if not self._wal:
            _log.warning(
                "%s is on a file system without shared memory (a network share?): each event is "
                "synced by itself, which is slow. Set Shoulders.state_dir to a local directory.",
                self.directory.path,
            )
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if self._wal else 'FULL'}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")

    def _check(self, connection: sqlite3.Connection) -> None:
        if self.directory.database.stat().st_size > _CHECKED_AT_OPEN:
            return
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise _Broken(found)

    def _set_aside(self) -> salvage.Saved:
        moment = self._clock.now().strftime("%Y%m%dT%H%M%SZ")
        aside = self.directory.database.with_name(f"state.db.damaged-{moment}")
        for suffix in ("", "-wal", "-shm"):
            source = self._beside(suffix)
            if source.exists():
                source.rename(f"{aside}{suffix}")
                crash_point("database.aside.renamed")
        saved = salvage.read(aside)
        self.directory.damaged.unlink(missing_ok=True)
        _log.warning(
            "The conversations' database was damaged. It is kept as %s; "
            "%d conversations were restored from it.",
            aside,
            len(saved.sessions),
        )
        return saved

    def _beside(self, suffix: str) -> Path:
        return Path(f"{self.directory.database}{suffix}")


if sys.platform == "darwin":
    import fcntl

    def _sync_data(descriptor: int) -> None:
        """``fsync`` on macOS stops at the drive's cache."""
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)

elif sys.platform == "win32":

    def _sync_data(descriptor: int) -> None:
        os.fsync(descriptor)

else:

    def _sync_data(descriptor: int) -> None:
        os.fdatasync(descriptor)
