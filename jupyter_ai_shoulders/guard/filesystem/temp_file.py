"""A file written beside another one to take its place, and those that a kill left behind.

Whoever writes one holds its lock (``flock``) until it has taken the place. The system lets go of
the lock when a process dies, however it does: a file whose lock is free has no writer. Used by
``guard.filesystem.workspace`` only. Windows cannot rename a file that is open, so no lock could be
held up to there: what is left behind stays.
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
"""A file written to within this time is let alone, in case a network does not carry locks."""

_NAME = re.compile(r"\.~.+\.[0-9a-f]{12}", re.DOTALL)


@dataclass(slots=True)
class TempFile:
    """A file to write to, with its lock."""

    name: str
    descriptor: int
    _open: bool = True

    def finish(self) -> None:
        """Say that it may be renamed now."""
        if sys.platform == "win32":
            self.close()

    def close(self) -> None:
        """Let go of the file and its lock; a second time does nothing."""
        if self._open:
            self._open = False
            os.close(self.descriptor)


@contextlib.contextmanager
def open_temp_file(folder: Folder, name: str) -> Generator[TempFile]:
    """Make a file beside ``name``; when the block fails it is removed. Raises ``OSError``."""
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
    """Remove what dead processes left behind; return whether no such file is there any more.

    ``now_ns`` is the time of the folder's file system. What cannot be removed now stays.
    """
    if sys.platform == "win32":
        return True
    try:
        names = [name for name in folder.names() if _NAME.fullmatch(name)]
    except OSError:  # one may write to some folders without reading them
        return True
    removed = [_remove_if_abandoned(folder, name, now_ns) for name in names]
    return all(removed)


def _remove_if_abandoned(folder: Folder, name: str, now_ns: int) -> bool:
    """Remove a file unless somebody writes it, or did just now."""
    try:
        descriptor = folder.reopen(name)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or now_ns - facts.st_mtime_ns < QUIET_NS:
            return False
        _lock(descriptor)
        # A writer that renamed it meanwhile took the name with it; no name is made twice.
        folder.unlink(name)
    except OSError as error:  # its writer has the lock, or there are no locks here
        return isinstance(error, FileNotFoundError)
    finally:
        os.close(descriptor)
    return True


def temp_name(name: str) -> str:
    """Return a name beside ``name`` that nothing has, of the form that is swept."""
    # File systems count bytes (NAME_MAX is 255 of them), and a character has up to four.
    beginning = os.fsencode(name)[:80].decode("utf-8", "ignore")
    return f".~{beginning}.{secrets.token_hex(6)}"


def preserved_copy_name(name: str) -> str:
    """Return a name beside ``name`` that nothing has, for what is somebody's: it is not swept."""
    beginning = os.fsencode(name)[:200].decode("utf-8", "ignore")
    return f"{beginning}.kept-{secrets.token_hex(6)}"


def _create_locked(folder: Folder, beside: str) -> TempFile:
    """Return a new file whose lock is ours, where there are locks."""
    while True:
        name = temp_name(beside)
        file = TempFile(name, folder.create(name))
        if _acquire_lock(file):
            return file
        file.close()  # somebody sweeps, and took it for left behind in the moment before the lock


def _acquire_lock(file: TempFile) -> bool:
    try:
        _lock(file.descriptor)
    except BlockingIOError:
        return False
    except OSError:  # no locks here: then nobody sweeps either
        return True
    return os.fstat(file.descriptor).st_nlink > 0


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        """Do nothing: see the module."""

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        """Take the lock of an open file. Raises ``OSError`` when another has it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
