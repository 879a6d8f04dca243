"""Recovery copies of unsaved notebooks, one small file each.

The store of ``notebook.backends.live.recovery_copies``; made by ``host``. Private like the rest of
the state directory, because they hold what the user typed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from jupyter_ai_shoulders.guard.config_files import UnusableFile, read_config
from jupyter_ai_shoulders.storage.errors import storage_errors
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.storage.state_file import replace_text_file

_log = logging.getLogger(__name__)

_FOLDER = "recovery"
_LARGEST = 1 << 30
"""Maximum bytes of a copy, which may hold a whole notebook."""


class RecoveryCopyFiles:
    """Texts by name in ``recovery/``. All methods block and may run in any thread."""

    def __init__(self, directory: StateDirectory) -> None:
        self._directory = directory
        self._folder = directory.path / _FOLDER

    def put(self, name: str, text: str) -> None:
        """Store a text atomically. Raises ``StateUnavailable``."""
        self._directory.prepare()
        with storage_errors("keep a recovery copy", self._directory.path):
            self._folder.mkdir(mode=0o700, exist_ok=True)
        with storage_errors(f"write {name}.json", self._directory.path):
            replace_text_file(self._folder / f"{name}.json", text)

    def remove(self, name: str) -> None:
        """Remove a text if it exists. Raises ``StateUnavailable``."""
        with storage_errors("remove a recovery copy", self._directory.path):
            (self._folder / f"{name}.json").unlink(missing_ok=True)

    def read_all(self) -> Mapping[str, str]:
        """Return all texts by name. Raises ``StateUnavailable``."""
        with storage_errors("read the recovery copies", self._directory.path):
            paths = sorted(self._folder.glob("*.json"))
            texts = {path.stem: _text(path) for path in paths}
        return {name: text for name, text in texts.items() if text is not None}


def _text(path: Path) -> str | None:
    """Return a copy's text; None if the file cannot be a copy."""
    try:
        return read_config(path, most_bytes=_LARGEST).decode("utf-8", "replace")
    except UnusableFile as error:
        _log.warning("%s is no recovery copy. %s", path, error)
        return None
