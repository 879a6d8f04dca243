"""The files that exports are written to before they are sent, in the state directory.

Used by ``host.agent_database.service``. Blocks: for threads.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.storage.errors import storage_errors
from jupyter_ai_shoulders.storage.state_directory import StateDirectory

CHUNK = 256 << 10
_LEFT_SECONDS = 3_600
"""Age of a file that a server left when it was killed."""


class ExportFiles:
    """Makes, reads and removes the files of exports."""

    def __init__(self, directory: StateDirectory) -> None:
        self._directory = directory
        self._folder = directory.path / "agent-exports"

    def new(self, form: str) -> Path:
        """Return the path for an export; remove what is left of old ones.

        Raises ``PolicyRefusal`` for a link, which came with the folder, and ``StateUnavailable``.
        """
        if self._folder.is_symlink():
            raise PolicyRefusal(
                f"{self._folder.name} is a link, so nothing is exported.", hint="Remove the link."
            )
        with storage_errors("write an export", self._directory.path):
            self._directory.prepare()
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for path in self._folder.iterdir():
                if time.time() - path.stat().st_mtime > _LEFT_SECONDS:
                    path.unlink(missing_ok=True)
        return self._folder / f"{secrets.token_hex(8)}.{form}"

    def chunks(self, path: Path) -> Iterator[bytes]:
        """Yield the content in pieces."""
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk

    def remove(self, path: Path) -> None:
        with suppress(OSError):
            path.unlink()
