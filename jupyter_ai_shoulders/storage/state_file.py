"""Small text files of the state directory, replaced atomically: permissions, recovery copies.

Made by ``host`` for the permission rules; used by ``storage.recovery_attempts`` and
``storage.state_origin``.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import StateUnavailable, TooLarge
from jupyter_ai_shoulders.core.json_limits import json_excess
from jupyter_ai_shoulders.guard.config_files import MOST_VALUES, UnusableFile, read_json_config
from jupyter_ai_shoulders.storage.errors import storage_errors
from jupyter_ai_shoulders.storage.state_directory import StateDirectory


class StateFile:
    """A file that is read and replaced as a whole."""

    def __init__(self, directory: StateDirectory, name: str) -> None:
        """``name`` is that of a JSON file."""
        self._directory = directory
        self._path = directory.path / name

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._path

    def read(self) -> str | None:
        """Return the text, or None when there is no file. Raises ``StateUnavailable``."""
        with storage_errors(f"read {self._path.name}", self._directory.path):
            try:
                return read_json_config(self._path).decode("utf-8", "replace")
            except (FileNotFoundError, NotADirectoryError):
                return None
            except UnusableFile as error:
                raise StateUnavailable(
                    f"Could not read {self._path.name} in {self._path.parent}. {error}",
                    hint="Move it away, or replace it with a smaller file.",
                ) from error

    def write(self, text: str) -> None:
        """Replace the file atomically and durably.

        Raises ``StateUnavailable``, and ``TooLarge`` for a text that could not be read again.
        """
        excess = json_excess(text.encode("utf-8", "replace"), MOST_VALUES)
        if excess is not None:
            raise TooLarge(
                f"{self._path.name} would have {excess}; nothing was stored.",
                hint="Remove what is no longer needed.",
            )
        self._directory.prepare()
        with storage_errors(f"write {self._path.name}", self._directory.path):
            replace_text_file(self._path, text)

    def remove(self) -> None:
        """Remove the file if there is one. Raises ``StateUnavailable``."""
        with storage_errors(f"remove {self._path.name}", self._directory.path):
            self._path.unlink(missing_ok=True)


def replace_text_file(path: Path, text: str) -> None:
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
