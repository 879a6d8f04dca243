"""The ledger's file: opened lazily, migrated, and moved aside when damaged.

Used by ``storage.ledger.sqlite_ledger``, only from the ledger's thread; several processes may have
it open.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.storage.errors import is_damage, is_full
from jupyter_ai_shoulders.storage.json_encoding import decode_lenient
from jupyter_ai_shoulders.storage.ledger.migrations import migrate

_log = logging.getLogger(__name__)

BUSY_SECONDS = 2.0
"""Time a commit waits for another process that locked the ledger."""

_SWITCH_PAUSE_SECONDS = 0.005

_CHECKED_AT_OPEN = 32 << 20
"""Ledgers up to this many bytes are checked completely when opened (about 3 ms per MB)."""

COLUMNS = (
    "call",
    "owner",
    "state",
    "at",
    "day",
    "month",
    "provider",
    "model",
    "purpose",
    "session",
    "turn",
    "held_micro_usd",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cost_micro_usd",
    "estimated",
    "ok",
    "duration_ms",
)
_INSERT = (
    f"INSERT INTO calls ({', '.join(COLUMNS)}) "  # noqa: S608 constants
    f"VALUES ({', '.join('?' * len(COLUMNS))}) ON CONFLICT (call) DO "
)
OPEN = f"{_INSERT} NOTHING"
"""A settled call stays settled."""
PUT = f"{_INSERT} UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
_SAVED = f"SELECT number, {', '.join(COLUMNS)} FROM calls ORDER BY number"  # noqa: S608 constants
_TOTALS = """
    INSERT INTO spent
    SELECT 'month', month, sum(cost_micro_usd) FROM calls
      WHERE state != 'open' AND cost_micro_usd IS NOT NULL GROUP BY month
    UNION ALL SELECT 'day', day, sum(cost_micro_usd) FROM calls
      WHERE state != 'open' AND cost_micro_usd IS NOT NULL GROUP BY day
    UNION ALL SELECT 'session', session, sum(cost_micro_usd) FROM calls
      WHERE state != 'open' AND cost_micro_usd IS NOT NULL AND session IS NOT NULL GROUP BY session
    UNION ALL SELECT 'turn', turn, sum(cost_micro_usd) FROM calls
      WHERE state != 'open' AND cost_micro_usd IS NOT NULL AND turn IS NOT NULL GROUP BY turn
"""


_AT_LEAST = (
    "INSERT INTO spent VALUES (?, ?, ?) "
    "ON CONFLICT (scope, key) DO UPDATE SET micro_usd = max(micro_usd, excluded.micro_usd)"
)
"""Spent amounts are kept even if their calls can no longer be read."""


@dataclass(frozen=True, slots=True)
class _SalvagedRows:
    """Rows read from a damaged ledger."""

    calls: list[tuple[Any, ...]]
    spent: list[tuple[str, str, int]]


class _DamagedLedger(sqlite3.DatabaseError):
    """The check at opening found damage that no statement has reported."""


class LedgerDatabase:
    """One process's connection to ``usage.db``."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        self.damaged = False
        """Whether the last use found damage; the next use moves the file aside."""
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Lock the ledger against all other processes; commit all or nothing.

        Raises ``StateUnavailable``.
        """
        with self._errors():
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; the next use reopens it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            self.damaged = is_damage(error)
            raise ledger_unusable(self.path, error) from error

    def _opened(self) -> sqlite3.Connection:
        ours = self._is_ours()
        if self._connection is not None and ours and not self.damaged:
            return self._connection
        self.close()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._connection = self._repaired() if self.damaged and ours else self._sound()
        self._inode, self.damaged = self.path.stat().st_ino, False
        return self._connection

    def _sound(self) -> sqlite3.Connection:
        try:
            return self._prepared()
        except sqlite3.DatabaseError as error:
            if not (is_damage(error) or isinstance(error, _DamagedLedger)):
                raise
        return self._repaired()

    def _repaired(self) -> sqlite3.Connection:
        saved = self._move_aside()
        connection = self._prepared()
        _restore(connection, saved)
        return connection

    def _is_ours(self) -> bool:
        """Return whether the file is still the opened one: another process may move it."""
        try:
            return self.path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def _prepared(self) -> sqlite3.Connection:
        connection = _connect(self.path, "rwc")
        try:
            if os.name == "posix":
                self.path.chmod(0o600)
            mode = _switch_to_wal(connection)
            connection.execute(f"PRAGMA synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")
            if self.path.stat().st_size <= _CHECKED_AT_OPEN:
                (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if found != "ok":
                    raise _DamagedLedger(found)
            migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _move_aside(self) -> _SalvagedRows:
        """Move the damaged file aside; return its readable rows."""
        self.close()
        moment = self._clock.now().strftime("%Y%m%dT%H%M%S%fZ")
        aside = self.path.with_name(f"{self.path.name}.damaged-{moment}")
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").rename(f"{aside}{suffix}")
        saved = _readable(aside)
        _log.warning(
            "The usage ledger was damaged. It is kept as %s; %d calls were restored from it.",
            aside,
            len(saved.calls),
        )
        return saved


def query_rows(path: Path, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query, using a separate connection; none where there is no ledger.

    For any thread. Raises ``StateUnavailable``.
    """
    if not path.exists():
        return []
    try:
        with closing(_connect(path, "ro")) as connection:
            return connection.execute(query, parameters).fetchall()
    except sqlite3.Error as error:
        raise ledger_unusable(path, error) from error


def ledger_unusable(path: Path, error: Exception) -> StateUnavailable:
    """Return the error for an unusable ledger."""
    if is_full(error):
        what, hint = "the disk is full", "Free some space and try again."
    elif is_damage(error):
        what, hint = f"it is damaged ({error})", "Try again: the damaged file is moved aside."
    else:
        reason = error.strerror if isinstance(error, OSError) else None
        what = (reason or str(error)).lower()
        hint = f"Make {path.parent} writable for you."
    return StateUnavailable(
        f"Model usage cannot be counted in {path}: {what}.", hint=hint, retryable=True
    )


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_SECONDS,
    )
    connection.text_factory = decode_lenient
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> str:
    """Return the journal mode, which stays what it was where the file system has no shared memory.

    SQLite refuses at once, instead of waiting, while another process switches the same new file.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(_SWITCH_PAUSE_SECONDS)


def _readable(path: Path) -> _SalvagedRows:
    """Return the readable rows of a damaged ledger, reading each table from both ends."""
    calls: dict[int, tuple[Any, ...]] = {}
    spent: dict[tuple[str, str], int] = {}
    with (
        contextlib.suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection,
    ):
        connection.execute("PRAGMA writable_schema = ON")  # accept a truncated file
        for way in ("ASC", "DESC"):
            with contextlib.suppress(sqlite3.DatabaseError):
                calls.update((row[0], row[1:]) for row in connection.execute(f"{_SAVED} {way}"))
            with contextlib.suppress(sqlite3.DatabaseError):
                query = f"SELECT scope, key, micro_usd FROM spent ORDER BY scope {way}, key {way}"  # noqa: S608 constants
                spent.update(
                    ((scope, key), found) for scope, key, found in connection.execute(query)
                )
    return _SalvagedRows(
        [calls[number] for number in sorted(calls)],
        [(scope, key, found) for (scope, key), found in spent.items()],
    )


def _restore(connection: sqlite3.Connection, saved: _SalvagedRows) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for row in saved.calls:
        with contextlib.suppress(sqlite3.IntegrityError):  # an incomplete row
            connection.execute(PUT, row)
    connection.execute("DELETE FROM spent")
    connection.execute(_TOTALS)
    for row in saved.spent:
        with contextlib.suppress(sqlite3.IntegrityError):
            connection.execute(_AT_LEAST, row)
    connection.execute("COMMIT")
