"""Translates errors of SQLite and the file system, with advice.

Used by every module of ``storage`` around its I/O.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from jupyter_ai_shoulders.core.errors import Conflict, NotFound, StateUnavailable

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_SQLITE_READ_ONLY = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
)
_SQLITE_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_OTHER_DIRECTORY = "set Shoulders.state_dir to another directory"


def is_damage(error: Exception) -> bool:
    """Return whether SQLite reports a damaged file."""
    return isinstance(error, sqlite3.Error) and _primary_code(error) in _SQLITE_DAMAGED


def is_full(error: Exception) -> bool:
    """Return whether no space was left."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    return isinstance(error, sqlite3.Error) and _primary_code(error) == sqlite3.SQLITE_FULL


def state_unavailable(doing: str, directory: Path, error: Exception) -> StateUnavailable:
    """Return the error to raise when ``doing`` ("store an event") failed with ``error``."""
    if is_full(error):
        return StateUnavailable(
            f"Could not {doing}: the disk that holds {directory} is full.",
            code="disk_full",
            hint=f"Free some space and try again, or {_OTHER_DIRECTORY} and restart the server.",
            retryable=True,
        )
    if is_damage(error):
        return StateUnavailable(
            f"Could not {doing}: the database in {directory} is damaged ({error}).",
            hint="Restart the server: it moves the damaged file aside and keeps what it can read.",
        )
    return StateUnavailable(
        f"Could not {doing} in {directory}: {_reason(error)}.",
        hint=f"Make the directory writable, or {_OTHER_DIRECTORY} and restart the server.",
        retryable=not _is_read_only(error),
    )


def session_not_found(session_id: str) -> NotFound:
    """Return the error for a session that does not exist, or not for this user."""
    return NotFound(
        f"There is no conversation {session_id}.",
        hint="It may have been deleted; list the conversations again.",
        session_id=session_id,
    )


def cursor_beyond_log(session_id: str, last_seq: int, after: int) -> Conflict:
    """Return the error for a client cursor beyond the end of the log."""
    return Conflict(
        f"Conversation {session_id} ends with event {last_seq}, before {after}.",
        code="stale",
        hint="Reload the page.",
        session_id=session_id,
        last_seq=last_seq,
    )


@contextmanager
def storage_errors(doing: str, directory: Path) -> Generator[None]:
    """Raise ``StateUnavailable`` for any storage failure inside the block."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise state_unavailable(doing, directory, error) from error


def _primary_code(error: sqlite3.Error) -> int | None:
    """Return the primary result code, the low byte of the extended one; None for misuse."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _is_read_only(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno in {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST}
    return isinstance(error, sqlite3.Error) and _primary_code(error) in _SQLITE_READ_ONLY


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)
