"""The lock that lets one server process at a time use a state directory.

The operating system releases it when the process ends. Used by ``storage.database``, and by
``storage.ledger.live_processes`` to detect dead processes.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
from pathlib import Path

from jupyter_ai_shoulders.core.errors import StateUnavailable

_log = logging.getLogger(__name__)

UNSUPPORTED = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""Errors of file systems without locks."""

TAKEN = frozenset({errno.EAGAIN, errno.EACCES, errno.EDEADLK})
"""Errors when another process holds the lock."""

_WINDOWS_OFFSET = 1 << 20
"""Windows locks bytes against reading, so the locked byte is far behind the text."""


class ProcessLock:
    """An exclusive lock on a file; the file names the process that holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock; does nothing if already held.

        Raises ``StateUnavailable`` when another process holds it, and ``OSError``.
        """
        if self._descriptor is not None:
            return
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._lock(descriptor)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _lock(self, descriptor: int) -> None:
        try:
            lock_exclusively(descriptor)
        except OSError as error:
            if error.errno in UNSUPPORTED:
                _log.warning(
                    "%s is on a file system without locks; do not run two servers on it", self._path
                )
                return
            if error.errno not in TAKEN:
                raise
            raise self._taken() from error

    def _taken(self) -> StateUnavailable:
        holder = ""
        with contextlib.suppress(OSError, ValueError):
            holder = f" (process {int(self._path.read_text())})"
        return StateUnavailable(
            f"Another Jupyter server{holder} keeps its conversations in {self._path.parent}.",
            hint="Use that server, or stop it, or set Shoulders.state_dir for this one.",
            retryable=True,
        )


if sys.platform == "win32":
    import msvcrt

    def lock_exclusively(descriptor: int) -> None:
        """Lock an open file. Raises ``OSError``, see ``TAKEN`` and ``UNSUPPORTED``."""
        os.lseek(descriptor, _WINDOWS_OFFSET, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def lock_exclusively(descriptor: int) -> None:
        """Lock an open file. Raises ``OSError``, see ``TAKEN`` and ``UNSUPPORTED``."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
