"""Tells which processes with reservations in the ledger are alive: each keeps a locked file.

The operating system releases the lock however a process ends; process ids would be ambiguous
between containers that share a home directory. Used by ``storage.ledger.sqlite_ledger``.
"""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

from jupyter_ai_shoulders.storage.process_lock import TAKEN, UNSUPPORTED, lock_exclusively

LIVENESS_TIMEOUT_S = 3600.0
"""Where files cannot be locked, an owner counts as dead after this time; no call takes so long."""


class LiveProcesses:
    """This process's lock file, and checks of those of others. For the ledger's thread."""

    def __init__(self, folder: Path) -> None:
        self.name = secrets.token_hex(8)
        self._folder = folder
        self._descriptor: int | None = None

    def register(self) -> None:
        """Mark this process as alive, before it reserves money. Raises ``OSError``."""
        if self._descriptor is not None and self._path(self.name).exists():
            return
        self.unregister()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path(self.name), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            lock_exclusively(descriptor)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                os.close(descriptor)
                raise
        self._descriptor = descriptor

    def is_alive(self, name: str) -> bool:
        """Return whether the process of this lock file may be running. Raises ``OSError``."""
        if name == self.name:
            return True
        try:
            descriptor = os.open(self._path(name), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            lock_exclusively(descriptor)
        except OSError as error:
            if error.errno in TAKEN:
                return True
            if error.errno in UNSUPPORTED:
                return time.time() - os.fstat(descriptor).st_mtime < LIVENESS_TIMEOUT_S
            raise
        else:
            return False
        finally:
            os.close(descriptor)

    def remove(self, name: str) -> None:
        """Remove the lock file of a dead process. Raises ``OSError``."""
        self._path(name).unlink(missing_ok=True)

    def unregister(self) -> None:
        """Remove this process's lock file."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
            self._path(self.name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / name
