"""Small text files of the state directory that people edit too: permissions, models, settings.

Made by ``host`` for the rule book and the catalogue.
"""

from __future__ import annotations

import os
import secrets

from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.failures import storage_errors


class StateFile:
    """One file, read whole and replaced whole."""

    def __init__(self, directory: StateDirectory, name: str) -> None:
        self._directory = directory
        self._path = directory.path / name

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
        temporary = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        with storage_errors(f"write {self._path.name}", self._directory.path):
            try:
                with temporary.open("w", encoding="utf-8", newline="\n") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(self._path)
            finally:
                temporary.unlink(missing_ok=True)
