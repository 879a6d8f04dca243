"""Recovery copies of unsaved notebooks, one small file each; ``notebook.recovery``'s store.

Made by ``host``. Private like the rest of the state directory: they hold what the user typed.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.storage.directory import StateDirectory
from jupyter_ai_shoulders.storage.failures import storage_errors
from jupyter_ai_shoulders.storage.files import StateFile

_FOLDER = "recovery"


class RecoveryFiles:
    """Texts by name in ``recovery/``. All methods block and may run in any thread."""

    def __init__(self, directory: StateDirectory) -> None:
        self._directory = directory
        self._folder = directory.path / _FOLDER

    def put(self, name: str, text: str) -> None:
        """Keep a text, all or nothing. Raises ``StateUnavailable``."""
        self._directory.prepare()
        with storage_errors("keep a recovery copy", self._directory.path):
            self._folder.mkdir(mode=0o700, exist_ok=True)
        StateFile(self._directory, f"{_FOLDER}/{name}.json").write(text)

    def remove(self, name: str) -> None:
        """Forget a text that may not exist. Raises ``StateUnavailable``."""
        with storage_errors("remove a recovery copy", self._directory.path):
            (self._folder / f"{name}.json").unlink(missing_ok=True)

    def read_all(self) -> Mapping[str, str]:
        """Return all texts by name. Raises ``StateUnavailable``."""
        with storage_errors("read the recovery copies", self._directory.path):
            paths = sorted(self._folder.glob("*.json"))
            return {path.stem: path.read_text(encoding="utf-8", errors="replace") for path in paths}
