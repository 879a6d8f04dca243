"""The state directory: created on first use, private, and ignored by git.

Used by ``storage.database`` and ``storage.blobs``; ``host.build`` decides its location.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from jupyter_ai_shoulders.storage.errors import storage_errors

_PRIVATE = 0o700
_NEEDED_BYTES = 256 << 10
_GITIGNORE = "# Conversations and caches of this workspace, private to you.\n*\n"


class StateDirectory:
    """The directory of everything that must survive a restart."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def database(self) -> Path:
        """Path of the database."""
        return self.path / "state.db"

    @property
    def lock(self) -> Path:
        """Path of the lock file."""
        return self.path / "state.lock"

    @property
    def last_event(self) -> Path:
        """Path of the file that names the last event known to be stored."""
        return self.path / "state.last"

    @property
    def search(self) -> Path:
        """Path of the index of messages, which can be built again from the database."""
        return self.path / "search.db"

    @property
    def words(self) -> Path:
        """Path of the index of documents and conversations (``retrieval``)."""
        return self.path / "index" / "words.db"

    @property
    def damaged(self) -> Path:
        """Path of the mark of a database that was damaged while in use."""
        return self.path / "state.damaged"

    def damage_report(self) -> str | None:
        """Return the report on the newest damaged database that is kept, or None."""
        kept = (path for path in self.path.glob("state.db.damaged-*.txt"))
        for report in sorted(kept, reverse=True):
            if report.with_suffix("").exists():
                with storage_errors("read a report", self.path):
                    return report.read_text(encoding="utf-8")
        return None

    @property
    def blobs(self) -> Path:
        """Path of the blobs."""
        return self.path / "blobs"

    @property
    def agent_database_undo(self) -> Path:
        """Path of what undo of the agent's database needs."""
        return self.path / "agent-undo"

    @property
    def trash(self) -> Path:
        """Path of the deleted files."""
        return self.path / "trash"

    def prepare_trash(self) -> Path:
        """Create the folder of deleted files; return it. Raises ``StateUnavailable``."""
        self.prepare()
        with storage_errors("use the trash", self.path):
            self.trash.mkdir(mode=_PRIVATE, exist_ok=True)
        return self.trash

    def check(self) -> None:
        """Raise ``StateUnavailable`` if the directory is not writable; creates nothing."""
        doing = "use the state directory"
        with storage_errors(doing, self.path):
            place = next(path for path in (self.path, *self.path.parents) if path.exists())
            if not place.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            if not os.access(place, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, f"{place} cannot be written")
            if shutil.disk_usage(place).free < _NEEDED_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def prepare(self) -> None:
        """Create the directory, private and ignored by git. Raises ``StateUnavailable``."""
        with storage_errors("use the state directory", self.path):
            self.path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                self.path.chmod(_PRIVATE)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                ignore.write_text(_GITIGNORE, encoding="utf-8")
