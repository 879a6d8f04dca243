"""Small text files of the state directory: what people edit too, and copies of unsaved notebooks.

Made by ``host``: a ``StateFile`` for the rule book, a ``StateFolder`` for the live documents.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from jupyter_ai_shoulders.core.errors import InvalidRequest
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
        with storage_errors(f"write {self._path.name}", self._directory.path):
            _replace(self._path, text)


class StateFolder:
    """A folder of texts by name. All methods block and may run in any thread."""

    def __init__(self, directory: StateDirectory, name: str) -> None:
        self._directory = directory
        self._folder = directory.path / name

    def put(self, name: str, text: str) -> None:
        """Keep a text, all or nothing, durably. Raises ``StateUnavailable``."""
        path = self._path(name)
        self._directory.prepare()
        with storage_errors(f"write {self._folder.name}/{name}", self._directory.path):
            self._folder.mkdir(exist_ok=True)
            _replace(path, text)

    def remove(self, name: str) -> None:
        """Forget a text that may not exist. Raises ``StateUnavailable``."""
        with storage_errors(f"remove {self._folder.name}/{name}", self._directory.path):
            self._path(name).unlink(missing_ok=True)

    def read_all(self) -> dict[str, str]:
        """Return all texts by name. Raises ``StateUnavailable``."""
        with storage_errors(f"read {self._folder.name}", self._directory.path):
            if not self._folder.is_dir():
                return {}
            return {
                path.name: path.read_text(encoding="utf-8", errors="replace")
                for path in sorted(self._folder.iterdir())
                if not path.name.startswith(".")
            }

    def _path(self, name: str) -> Path:
        if not name or name.startswith(".") or "/" in name or os.sep in name:
            raise InvalidRequest(f"{name!r} is not a name for a file of the state directory.")
        return self._folder / name


def _replace(path: Path, text: str) -> None:
    """Write the file so that after a crash it is the old or the new one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
