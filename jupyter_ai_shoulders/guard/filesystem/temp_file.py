"""Temporary files that replace a file, and the removal of abandoned ones.

A writer holds the file's lock (``flock``) until the rename. The system releases the lock when the
process dies, so a file with a free lock has no writer. Used by ``guard.filesystem.workspace`` only.
Windows cannot rename an open file, so no lock could be held until the rename; abandoned files stay
there.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Generator
from dataclasses import dataclass

from jupyter_ai_shoulders.guard.filesystem.directory_handles import Folder

QUIET_NS = 60_000_000_000
"""Files modified within this time are left alone, in case a network file system ignores locks."""

_NAME = re.compile(r"\.~.+\.[0-9a-f]{12}", re.DOTALL)


@dataclass(slots=True)
class TempFile:
    """A writable file and its lock."""

    name: str
    descriptor: int
    _open: bool = True

    def finish(self) -> None:
        """Prepare the file for renaming."""
        if sys.platform == "win32":
            self.close()

    def close(self) -> None:
        """Close the file and release its lock; idempotent."""
        if self._open:
            self._open = False
            os.close(self.descriptor)


@contextlib.contextmanager
def open_temp_file(folder: Folder, name: str) -> Generator[TempFile]:
    """Make a temporary file beside ``name``; remove it if the block fails. Raises ``OSError``."""
    file = _create_locked(folder, name)
    try:
        yield file
    except BaseException:
        file.close()
        with contextlib.suppress(FileNotFoundError):
            folder.unlink(file.name)
        raise
    finally:
        file.close()


def sweep_temp_files(folder: Folder, now_ns: int) -> bool:
    """Remove files left by dead processes; return whether none remain.

    ``now_ns`` is the time of the folder's file system. Files that cannot be removed stay.
    """
    if sys.platform == "win32":
        return True
    try:
        names = [name for name in folder.names() if _NAME.fullmatch(name)]
    except OSError:  # some folders are writable but not readable
        return True
    removed = [_remove_if_abandoned(folder, name, now_ns) for name in names]
    return all(removed)


def _remove_if_abandoned(folder: Folder, name: str, now_ns: int) -> bool:
    """Remove a file without an active or recent writer; return whether it is gone."""
    try:
        descriptor = folder.reopen(name)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or now_ns - facts.st_mtime_ns < QUIET_NS:
            return False
        _lock(descriptor)
        # A writer that renamed the file took the name with it; names are never reused.
        folder.unlink(name)
    except OSError as error:  # its writer has the lock, or locks are not supported
        return isinstance(error, FileNotFoundError)
    finally:
        os.close(descriptor)
    return True


def temp_name(name: str) -> str:
    """Return an unused name beside ``name`` of the form that is swept."""
    # File systems count bytes (NAME_MAX is 255), and a character takes up to four.
    beginning = os.fsencode(name)[:80].decode("utf-8", "ignore")
    return f".~{beginning}.{secrets.token_hex(6)}"


def preserved_copy_name(name: str) -> str:
    """Return an unused name beside ``name`` for a file of another program; it is never swept."""
    beginning = os.fsencode(name)[:200].decode("utf-8", "ignore")
    return f"{beginning}.kept-{secrets.token_hex(6)}"


def _create_locked(folder: Folder, beside: str) -> TempFile:
    """Create a file and take its lock, where locks are supported."""
    while True:
        name = temp_name(beside)
        file = TempFile(name, folder.create(name))
        if _acquire_lock(file):
            return file
        file.close()  # a sweep took it for abandoned before the lock was taken


def _acquire_lock(file: TempFile) -> bool:
    try:
        _lock(file.descriptor)
    except BlockingIOError:
        return False
    except OSError:  # without locks nothing is swept
        return True
    return os.fstat(file.descriptor).st_nlink > 0


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        """Do nothing: see the module's docstring."""

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        """Lock an open file. Raises ``OSError`` when another process holds the lock."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
