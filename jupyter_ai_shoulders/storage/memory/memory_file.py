"""A memory file on the disk, changed so that nobody's text is lost. Used by ``host.memory``.

Servers lock each other out; an editor knows no lock, so the file is compared right before it is
replaced, and a change starts again from what somebody else has written. All methods block.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator
from contextlib import closing

from jupyter_ai_shoulders.core.errors import Conflict, NotFound, TooLarge
from jupyter_ai_shoulders.core.memory.memory_text import MemoryText
from jupyter_ai_shoulders.guard.filesystem.workspace import FileChanged, Workspace, WorkspacePath
from jupyter_ai_shoulders.storage.errors import storage_errors
from jupyter_ai_shoulders.storage.process_lock import TAKEN, UNSUPPORTED, lock_exclusively
from jupyter_ai_shoulders.storage.state_directory import StateDirectory

NAME = "memory.md"
LARGEST = 1 << 20
"""Maximum size of the file, in bytes; about ten thousand statements."""
_LOCK = "memory.lock"
_WAIT_S = 5.0
_PAUSE_S = 0.02
_TRIES = 10
"""Attempts while somebody else writes the file."""

Change = Callable[[MemoryText], MemoryText]


class MemoryFile:
    """``memory.md`` of a directory."""

    def __init__(self, directory: StateDirectory) -> None:
        self._directory = directory

    @property
    def signature(self) -> object:
        """Return a value that changes when the file may have changed."""
        try:
            found = (self._directory.path / NAME).stat()
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def read(self) -> MemoryText | None:
        """Return the text, or None if there is no file.

        Raises ``TooLarge``, ``InvalidRequest`` (no text, no regular file), and as the guard does.
        """
        if not self._directory.path.is_dir():
            return None
        with closing(Workspace(self._directory.path)) as folder:
            try:
                return self._read(folder, folder.path(NAME))
            except NotFound:
                return None

    def change(self, change: Change) -> MemoryText:
        """Change the text and return it; ``change`` may be called again, and may raise.

        Raises ``StateUnavailable`` (no space: the old bytes remain), ``Conflict``, and as ``read``.
        """
        self._directory.prepare()
        with self._locked(), closing(Workspace(self._directory.path)) as folder:
            for _ in range(_TRIES):
                try:
                    return self._try_change(folder, change)
                except FileChanged:
                    continue  # an editor saved it: start from its text
            raise Conflict(
                f"{NAME} in {self._directory.path} keeps changing; nothing was stored.",
                hint="Try again when nothing else is changing it.",
                retryable=True,
            )

    def _try_change(self, folder: Workspace, change: Change) -> MemoryText:
        path = folder.path(NAME)
        try:
            found = folder.stat(path)
            before = self._read(folder, path)
        except NotFound:
            found, before = None, MemoryText(b"")
        after = change(before)
        if after.content == before.content:
            return after
        if len(after.content) > LARGEST:
            raise _too_large()
        if found is None:
            try:
                folder.create(path, after.content)
            except Conflict as error:
                raise FileChanged(str(error)) from error
        else:
            folder.replace(path, after.content, found)
        return after

    def _read(self, folder: Workspace, path: WorkspacePath) -> MemoryText:
        if folder.stat(path).size > LARGEST:
            raise _too_large()
        return MemoryText(folder.read(path).content)

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the lock of all servers; where the file system has none, the comparison must do."""
        with storage_errors(f"lock {NAME}", self._directory.path):
            descriptor = os.open(self._directory.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            with storage_errors(f"lock {NAME}", self._directory.path):
                _wait_for_lock(descriptor)
            yield
        finally:
            os.close(descriptor)


def _wait_for_lock(descriptor: int) -> None:
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            lock_exclusively(descriptor)
        except OSError as error:
            if error.errno in UNSUPPORTED:
                return
            if error.errno not in TAKEN or time.monotonic() > until:
                raise
        else:
            return
        time.sleep(_PAUSE_S)


def _too_large() -> TooLarge:
    return TooLarge(
        f"{NAME} has, or would have, more than {LARGEST >> 20} MB; it is not used or changed.",
        hint="Remove statements that are no longer needed.",
    )
