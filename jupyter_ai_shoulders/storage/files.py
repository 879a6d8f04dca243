"""Small text files of the state directory, replaced whole: permissions, copies of notebooks.

Made by ``host`` for the rule book, and used by ``recovery``.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.failures import storage_errors


class StateFile:
    """One file, read whole and replaced whole."""

    def __init__(self, directory: StateDirectory, name: str) -> None:
        self._directory = directory
        self._path = directory.path / name

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path

    def read(self) -> str | None:
        """Return the text, None when there is no file. Raises ``StateUnavailable``."""
        with storage_errors(f"read {self._path.name}", self._directory.path):
            try:
                return self._path.read_text(encoding="utf-8", errors="replace")
            except (FileNotFoundError, NotADirectoryError):
                return None

    def write(self, text: str) -> None:
        """Replace the file whole, durably. Raises ``StateUnavailable``."""
        self._directory.prepare()
        with storage_errors(f"write {self._path.name}", self._directory.path):
            _replace(self._path, text)


def _replace(path: Path, text: str) -> None:
    """Write the file so that after a crash it is the old or the new one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        crash_point("files.replace.written")
        temporary.replace(path)
        crash_point("files.replace.renamed")
    finally:
        temporary.unlink(missing_ok=True)
