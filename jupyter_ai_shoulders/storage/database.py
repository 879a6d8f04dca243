"""The SQLite database of a state directory: opened lazily, migrated, and moved aside when damaged.

Used by ``storage.sessions``. One connection serves the event loop. A commit writes to the WAL
without a sync; syncs and checkpoints run in threads (``storage.durability``).
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.errors import (
    is_damage,
    is_full,
    state_unavailable,
    storage_errors,
)
from jupyter_ai_shoulders.storage.json_encoding import decode_lenient
from jupyter_ai_shoulders.storage.process_lock import ProcessLock
from jupyter_ai_shoulders.storage.salvage import damaged_database, database_header
from jupyter_ai_shoulders.storage.salvage.restoration import restore_database
from jupyter_ai_shoulders.storage.salvage.wal_file import read_wal
from jupyter_ai_shoulders.storage.schema.migrations import SEQ_BITS, migrate, versions_are_sound
from jupyter_ai_shoulders.storage.schema.session_projection import last_id
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire.errors import ErrorInfo

_log = logging.getLogger(__name__)

_BUSY_SECONDS = 1.0
"""Time a commit waits for a foreign program (a user's ``sqlite3``) that locked the database."""

_CHECKED_AT_OPEN = 32 << 20
"""Databases up to this many bytes are checked completely when opened (about 5 ms per MB)."""


_READS_EVERY_COLUMN = (
    f"SELECT {damaged_database.SESSION} FROM sessions LIMIT 0",  # noqa: S608 constants
    "SELECT id, type, body, checksum FROM events LIMIT 0",
    f"SELECT {damaged_database.OPERATION} FROM operations LIMIT 0",  # noqa: S608 constants
    f"SELECT {damaged_database.SCHEDULE} FROM schedules LIMIT 0",  # noqa: S608 constants
    f"SELECT {damaged_database.SCHEDULE_RUN} FROM schedule_runs LIMIT 0",  # noqa: S608 constants
)


class _DamagedDatabase(sqlite3.DatabaseError):
    """The check at opening found damage that no statement has reported."""


class Database:
    """One process's exclusive access to the database of a state directory."""

    def __init__(
        self,
        directory: StateDirectory,
        clock: Clock,
        vfs: str | None = None,
        begin: Callable[[], None] = lambda: None,
    ) -> None:
        """``vfs`` names another SQLite file layer; tests use one without shared memory.

        ``begin`` is called before the database is created.
        """
        self._begin = begin
        self.directory = directory
        self._clock = clock
        self._vfs = vfs
        self._lock = ProcessLock(directory.lock)
        self._connection: sqlite3.Connection | None = None
        self._wal: bool | None = None
        self._full: ErrorInfo | None = None
        self.fullness_changed: Callable[[], None] = lambda: None
        """Called when a write finds the disk full, and when a later one succeeds."""
        self.last_event = 0
        """Row of the last committed event; ``flush`` records it."""

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
                    if not self.directory.database.exists():
                        self._begin()
                    self._connection = self._opened()
                except BaseException:
                    self._lock.release()
                    raise
        return self._connection

    def existing(self) -> sqlite3.Connection | None:
        """Return the connection, or None when nothing was stored yet; creates no directory."""
        if self._connection is None and not (
            self.directory.database.exists()
            or self.directory.damaged.exists()
            or self._beside("-wal").exists()
        ):
            return None
        return self.open()

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none when nothing was stored yet. Raises
        ``StateUnavailable``.
        """
        connection = self.existing()
        if connection is None:
            return []
        try:
            return connection.execute(query, parameters).fetchall()
        except sqlite3.Error as error:
            raise self.failed("read the conversations", error) from error

    def each_row(self, query: str, *parameters: object) -> Generator[tuple[Any, ...]]:
        """Yield the rows of a query as they are read. Raises ``StateUnavailable``."""
        connection = self.existing()
        if connection is None:
            return
        try:
            with closing(connection.execute(query, parameters)) as cursor:
                yield from cursor
        except sqlite3.Error as error:
            raise self.failed("read the conversations", error) from error

    @property
    def allows_readers(self) -> bool | None:
        """Whether a ``reader`` does not hold up commits; None before the database is open."""
        return self._wal

    def reader(self) -> sqlite3.Connection:
        """Return another connection, for reads in a thread; the caller closes it."""
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        return connection

    @contextmanager
    def transaction(self, doing: str) -> Generator[sqlite3.Connection]:
        """Commit everything the block does, or nothing. Raises ``StateUnavailable``."""
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
        self.note_success()

    def note_success(self) -> None:
        """Record a successful commit: the disk is no longer full."""
        if self._full is not None:
            self._full = None
            self.fullness_changed()

    def full(self) -> ErrorInfo | None:
        """Return the error of the last write if the disk is full, else None."""
        if self._full is not None:
            with contextlib.suppress(StateUnavailable), self.transaction("store anything") as disk:
                disk.execute("UPDATE schema_version SET applied_at = applied_at")
        return self._full

    def failed(self, doing: str, error: sqlite3.Error) -> StateUnavailable:
        """Return the error to raise for a failure; a damaged file is repaired at the next start."""
        if is_damage(error):
            with storage_errors(doing, self.directory.path):
                self.directory.damaged.touch()
        problem = state_unavailable(doing, self.directory.path, error)
        if is_full(error) and self._full is None:
            self._full = problem.info
            self.fullness_changed()
        return problem

    def flush(self) -> None:
        """Sync the WAL. For a thread. Raises ``StateUnavailable``."""
        if not self._wal:
            return  # every commit is synced already
        with storage_errors("bring the conversations to the disk", self.directory.path):
            last_event = self.last_event
            descriptor = os.open(self._beside("-wal"), os.O_RDWR)
            try:
                _sync_data(descriptor)
            finally:
                os.close(descriptor)
            if last_event:
                _overwrite(self.directory.last_event, str(last_event))

    def checkpoint(self) -> None:
        """Copy the WAL into the database. For a thread; commits can continue."""
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
        """Close the connection and release the directory."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._lock.release()

    def _opened(self) -> sqlite3.Connection:
        if self.directory.damaged.exists() or self._is_damaged():
            return self._restore()
        try:
            return self._prepare()
        except sqlite3.DatabaseError as error:
            if not (isinstance(error, _DamagedDatabase) or is_damage(error)):
                raise
        return self._restore()

    def _is_damaged(self) -> bool:
        """Detect damage SQLite does not report: it drops everything after a damaged WAL frame."""
        database, wal = self.directory.database, self._beside("-wal")
        with contextlib.suppress(FileNotFoundError):
            if wal.stat().st_size <= _CHECKED_AT_OPEN:
                content = read_wal(wal)
                empty = not database.exists() or database.stat().st_size == 0
                if content.is_damaged or (empty and content.pages):
                    return True
                if content.unverified and damaged_database.holds_unseen_events(database, content):
                    return True
        with contextlib.suppress(FileNotFoundError), database.open("rb") as file:
            header = file.read(database_header.SIZE)
            return len(header) > 0 and not database_header.is_sound(header)
        return False

    def _prepare(self) -> sqlite3.Connection:
        """Return a connection to a sound database with the current schema."""
        connection = self._connect()
        try:
            self._configure(connection)
            crash_point("database.file.made")
            self._check(connection)
            with _schema_errors():
                if not versions_are_sound(connection):
                    raise _DamagedDatabase("The versions of the schema are not in a row.")
                migrate(connection, timestamp(self._clock.now()))
                for statement in _READS_EVERY_COLUMN:
                    connection.execute(statement)
            self._verify_last_event(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _restore(self) -> sqlite3.Connection:
        """Move the damaged database aside; return a new one with the readable data."""
        aside = self._move_aside()
        saved = damaged_database.read_damaged_database(aside, self._last_event())
        connection = self._prepare()
        try:
            report = restore_database(connection, saved, timestamp(self._clock.now()))
        except BaseException:
            connection.close()
            raise
        Path(f"{aside}.txt").write_text(report.text, encoding="utf-8")
        self.directory.last_event.unlink(missing_ok=True)
        self.directory.damaged.unlink(missing_ok=True)
        crash_point("database.damage.restored")
        _log.warning("%s", report.text)
        return connection

    def _connect(self) -> sqlite3.Connection:
        location = f"file:{quote(str(self.directory.database))}"
        if self._vfs:
            location += f"?vfs={self._vfs}"
        connection = sqlite3.connect(
            location, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
        )
        connection.text_factory = decode_lenient
        return connection

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
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise _DamagedDatabase(found)

    def _verify_last_event(self, connection: sqlite3.Connection) -> None:
        """Raise ``_DamagedDatabase`` when the last stored event is missing."""
        last = self._last_event()
        number = last >> SEQ_BITS
        query = (
            "SELECT 1 FROM sessions WHERE number = ? AND deleted_at IS NULL AND NOT EXISTS "
            "(SELECT 1 FROM events WHERE id BETWEEN ? AND ?)"
        )
        if connection.execute(query, (number, last, last_id(number))).fetchone():
            raise _DamagedDatabase("The newest events are missing.")

    def _last_event(self) -> int:
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int(self.directory.last_event.read_text(encoding="ascii"))
        return 0

    def _move_aside(self) -> Path:
        """Move the damaged files aside; return their new name.

        The mark names it until everything is restored: after a crash the partial restoration is
        dropped and the damaged files are read again.
        """
        mark, database = self.directory.damaged, self.directory.database
        moment = self._clock.now().strftime("%Y%m%dT%H%M%S%fZ")
        name = mark.read_text(encoding="utf-8") if mark.exists() else ""
        if not name.startswith(f"{database.name}.damaged-"):
            name = f"{database.name}.damaged-{moment}"
            mark.write_text(name, encoding="utf-8")
        aside = database.with_name(name)
        done = aside.exists()
        for suffix in (
            "-wal",
            "-shm",
            "",
        ):  # the database last, so that its move completes the operation
            source = self._beside(suffix)
            if done:
                source.unlink(missing_ok=True)
            elif source.exists():
                source.replace(f"{aside}{suffix}")
                crash_point("database.aside.renamed")
        return aside

    def _beside(self, suffix: str) -> Path:
        return Path(f"{self.directory.database}{suffix}")


@contextmanager
def _schema_errors() -> Generator[None]:
    """Raise ``_DamagedDatabase`` for an unknown schema, which to SQLite is no damage."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
            raise _DamagedDatabase(str(error)) from error
        raise


def _overwrite(path: Path, text: str) -> None:
    """Write a short text without truncating the file first, so that a full disk changes nothing."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{text:<20}".encode())
    finally:
        os.close(descriptor)


if sys.platform == "darwin":
    import fcntl

    def _sync_data(descriptor: int) -> None:
        """Sync to the medium; on macOS ``fsync`` stops at the drive's cache."""
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)

elif sys.platform == "win32":

    def _sync_data(descriptor: int) -> None:
        os.fsync(descriptor)

else:

    def _sync_data(descriptor: int) -> None:
        os.fdatasync(descriptor)
